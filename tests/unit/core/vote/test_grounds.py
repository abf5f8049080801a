"""The default grounds and relevance, on vectors whose cosines can be read off."""

from __future__ import annotations

import math

import numpy as np
import pytest
from msgspec.structs import replace

from memquorum.core.policy import PPM, Policy
from memquorum.core.vote.grounds import (
    ALIKE,
    NEAR,
    RULES,
    MemberContext,
    MemoryFacts,
    cosines,
    relevance,
    rules,
)
from memquorum.core.vote.kinds import PROMOTE
from memquorum.ports import Vector


def at(cosine: float) -> Vector:
    """A vector with this cosine to the memory's."""
    return np.array([cosine, math.sqrt(1 - cosine * cosine)], np.float32)


FACTS = MemoryFacts("m", "n", "agent", 0, 0, 600_000, at(1.0), text="pressure is 3 bar")
EVIDENCE = rules(lambda a, b: {a.flat, b.flat} == {"pressure is 3 bar", "pressure is 4 bar"})


def context(*cosines: float, text: str | None = None) -> MemberContext:
    return MemberContext.of("n", [(f"e{i}", at(cosine), text) for i, cosine in enumerate(cosines)])


def test_relevance_is_the_mean_of_the_three_highest_cosines() -> None:
    assert relevance(FACTS, context(0.1, 0.9, 0.6, 0.3)) == pytest.approx(600_000, abs=1)
    assert relevance(FACTS, context(0.5)) == pytest.approx(500_000, abs=1)
    assert relevance(FACTS, context(-0.8, -0.9)) == 0
    assert relevance(FACTS, context(1.0, 1.0, 1.0)) == PPM
    assert relevance(FACTS, MemberContext.of("n", [])) == 0


def test_a_memory_is_not_relevant_to_itself() -> None:
    own = MemberContext.of("n", [("m", at(1.0), None), ("e", at(0.25), None)])
    assert relevance(FACTS, own) == pytest.approx(250_000, abs=1)
    assert cosines(FACTS, own)[1] == [1]


def test_length_does_not_matter_and_nothing_is_like_a_row_of_zeros() -> None:
    longer = MemberContext.of("n", [("e", 7 * at(0.5), None)])
    assert relevance(FACTS, longer) == pytest.approx(500_000, abs=1)
    assert relevance(FACTS, MemberContext.of("n", [("e", np.zeros(2, np.float32), None)])) == 0
    assert relevance(replace(FACTS, vector=np.zeros(2, np.float32)), context(0.5)) == 0
    assert relevance(replace(FACTS, vector=None), context(0.5)) == 0


def test_vectors_of_different_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match="same shape"):
        MemberContext.of("n", [("a", np.ones(2, np.float32), None), ("b", np.ones(3, np.float32), None)])


def test_bfs_is_half_absence_of_conflict_and_half_support() -> None:
    assert EVIDENCE.bfs(FACTS, MemberContext("n")) == 500_000
    assert EVIDENCE.bfs(FACTS, context(NEAR - 0.01)) == 500_000
    assert EVIDENCE.bfs(FACTS, context(0.6, 0.5)) == pytest.approx(800_000, abs=1)
    assert EVIDENCE.bfs(FACTS, context(1.0)) == PPM


def test_a_like_text_that_disagrees_is_a_conflict_and_no_support() -> None:
    against = context(0.9, text="pressure is 4 bar")
    assert EVIDENCE.consistency(FACTS, against) == pytest.approx(100_000, abs=1)
    assert EVIDENCE.bfs(FACTS, against) == pytest.approx(50_000, abs=1)
    # What is only near speaks of something else: no contradiction, and support.
    nearby = context(ALIKE - 0.01, text="pressure is 4 bar")
    assert EVIDENCE.consistency(FACTS, nearby) == PPM
    assert EVIDENCE.bfs(FACTS, nearby) == pytest.approx(870_000, abs=1)


def test_without_texts_there_is_no_conflict_to_see() -> None:
    assert EVIDENCE.consistency(FACTS, context(0.9)) == PPM
    assert EVIDENCE.consistency(replace(FACTS, text=None), context(0.9, text="pressure is 4 bar")) == PPM
    assert EVIDENCE.bfs(replace(FACTS, text=None), context(0.9, text="pressure is 4 bar")) == pytest.approx(
        950_000, abs=1
    )


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("The pressure in line 2 is 3 bar.", "The pressure in line 2 is 4 bar."),
        ("Valve 7 opens at dawn.", "Valve 7 does not open at dawn."),
    ],
)
def test_the_default_rules_read_numbers_and_negation(a: str, b: str) -> None:
    against = context(0.9, text=b)
    assert RULES.consistency(replace(FACTS, text=a), against) == pytest.approx(100_000, abs=1)
    assert RULES.consistency(replace(FACTS, text=a), context(0.9, text=a)) == PPM


def test_grounded_counts_the_source_and_two_repetitions() -> None:
    none = MemberContext("n")
    assert [EVIDENCE.grounded(replace(FACTS, reinforced=n), none) for n in range(4)] == [400_000, 700_000, PPM, PPM]
    assert EVIDENCE.grounded(replace(FACTS, sourced=False, reinforced=9), none) == 0
    assert EVIDENCE.grounded(replace(FACTS, agent=""), none) == 0


def test_uncertainty_is_what_the_episode_says_of_itself() -> None:
    none = MemberContext("n")
    assert EVIDENCE.uncertainty(FACTS, none) == 500_000
    assert EVIDENCE.uncertainty(replace(FACTS, confidence_ppm=900_000), none) == 100_000
    assert EVIDENCE.uncertainty(replace(FACTS, confidence_ppm=900_000, uncertainty_ppm=300_000), none) == 300_000


def test_nothing_is_promoted_on_its_own_word() -> None:
    def vote(facts: MemoryFacts, known: MemberContext) -> bool:
        terms = (
            EVIDENCE.bfs(facts, known),
            EVIDENCE.grounded(facts, known),
            EVIDENCE.consistency(facts, known),
            EVIDENCE.uncertainty(facts, known),
        )
        return PROMOTE.yes(PROMOTE.score(terms, Policy()), Policy())

    certain = replace(FACTS, uncertainty_ppm=0)
    assert not vote(certain, MemberContext("n"))
    assert vote(replace(FACTS, reinforced=1), MemberContext("n"))
    assert vote(FACTS, context(NEAR + 0.01))
    assert not vote(replace(certain, reinforced=1), context(0.95, text="pressure is 4 bar"))


def test_memories_compared_together_are_judged_as_one_by_one() -> None:
    dice = np.random.default_rng(4)
    vectors = dice.standard_normal((40, 24)).astype(np.float16).astype(np.float32)
    recent = [(f"m{i}", vector, None) for i, vector in enumerate(vectors[:16])]
    # Some of them are themselves among the episodes that they are compared with.
    memories = [
        MemoryFacts(f"m{i}", "n", "ada", 0, 0, 0, vector if i != 20 else None) for i, vector in enumerate(vectors)
    ]
    alone, together = MemberContext.of("n", recent), MemberContext.of("n", recent)
    together.compare(memories)
    assert len(together.compared) == 39
    assert [relevance(m, together) for m in memories] == [relevance(m, alone) for m in memories]
