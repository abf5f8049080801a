"""The grounds by rules, term by term, on vectors whose cosines can be read off."""

from __future__ import annotations

import math

import numpy as np
import pytest
from msgspec.structs import replace

from memquorum.core.policy import PPM, Policy
from memquorum.core.reading import agreement, claims
from memquorum.core.vote.evidence import NAMED, RULES
from memquorum.core.vote.grounds import NEAR, Grounds, MemberContext, MemoryFacts
from memquorum.core.vote.kinds import PROMOTE
from memquorum.ports import Vector

CREATED = 1000
ALONE = MemberContext("n")
OTHERS = NAMED["others"]


def at(cosine: float) -> Vector:
    """A vector with this cosine to the memory's."""
    return np.array([cosine, math.sqrt(1 - cosine * cosine)], np.float32)


# Four words that state something: valve, 7, leak, grease.
FACTS = MemoryFacts("m", "n", "ann", CREATED, CREATED, 600_000, at(1.0), text="Valve 7 leaks grease.")


def heard(*episodes: tuple[float, str], by: str = "bob", when: int = CREATED + 1) -> MemberContext:
    recent = [(f"e{place}", at(cosine), text) for place, (cosine, text) in enumerate(episodes)]
    return MemberContext.of("n", recent, {name: (by, when) for name, *_ in recent})


def score(facts: MemoryFacts, known: MemberContext, grounds: Grounds = RULES) -> int:
    terms = (
        grounds.bfs(facts, known),
        grounds.grounded(facts, known),
        grounds.consistency(facts, known),
        grounds.uncertainty(facts, known),
    )
    found: int = PROMOTE.score(terms, Policy())
    return found


def promotes(facts: MemoryFacts, known: MemberContext, grounds: Grounds = RULES) -> bool:
    return bool(PROMOTE.yes(score(facts, known, grounds), Policy()))


def test_of_what_nobody_else_spoke_of_there_is_no_ground() -> None:
    assert (RULES.bfs(FACTS, ALONE), RULES.grounded(FACTS, ALONE), RULES.consistency(FACTS, ALONE)) == (500_000, 0, PPM)
    assert score(replace(FACTS, uncertainty_ppm=0), ALONE) == 450_000


def test_bfs_is_support_less_conflict_and_support_is_as_much_as_is_said_again() -> None:
    assert RULES.bfs(FACTS, heard((0.8, "Grease leaks at valve 7."))) == 900_000
    assert RULES.bfs(FACTS, heard((0.8, "Valve 7 was painted."))) == 700_000  # two of four
    assert RULES.bfs(FACTS, heard((0.8, "It rained."))) == 500_000
    assert RULES.bfs(FACTS, heard((NEAR - 0.01, "Grease leaks at valve 7."))) == 500_000
    assert RULES.bfs(FACTS, heard((0.8, "Valve 7 does not leak grease."))) == pytest.approx(100_000, abs=1)
    both = heard((0.8, "Grease leaks at valve 7."), (0.9, "Valve 7 does not leak grease."))
    assert RULES.bfs(FACTS, both) == pytest.approx(450_000, abs=1)


def test_grounded_is_the_share_of_words_found_elsewhere() -> None:
    assert RULES.grounded(FACTS, heard((0.6, "Valve 7 was painted."))) == 500_000
    assert RULES.grounded(FACTS, heard((0.6, "Valve 7 was painted."), (0.5, "Grease is on the floor."))) == 750_000
    assert RULES.grounded(FACTS, heard((0.8, "Grease leaks at valve 7."))) == PPM
    # The memory's own agent counts half, and not at all where only others count.
    own = heard((0.8, "Grease leaks at valve 7."), by="ann")
    assert (RULES.grounded(FACTS, own), OTHERS.grounded(FACTS, own)) == (500_000, 0)
    assert OTHERS.grounded(FACTS, heard((0.8, "Grease leaks at valve 7."))) == PPM


@pytest.mark.parametrize(
    "other",
    [
        "I miscounted before, in truth it is 108 boxes of printer paper that the stock room has.",
        "The 118 boxes of printer paper are not in stock.",
        "108 boxes of printer paper",
    ],
)
def test_what_gives_another_number_or_denies_bears_nothing_out_whether_or_not_it_is_found_to_contradict(
    other: str,
) -> None:
    """A contradiction that the rules miss would be support otherwise: most of its words are the same."""
    paper = replace(FACTS, text="There are 118 boxes of printer paper in stock.")
    assert RULES.grounded(paper, heard((0.8, other))) == 0
    assert RULES.bfs(paper, heard((0.8, other))) <= 500_000
    assert RULES.grounded(paper, heard((0.8, "I counted 118 boxes of printer paper in shelf 4."))) > 500_000


def test_grounded_counts_repetitions_and_readings() -> None:
    again = replace(FACTS, reinforced=1)
    assert (RULES.grounded(again, ALONE), OTHERS.grounded(again, ALONE)) == (500_000, 0)
    assert OTHERS.grounded(replace(again, witnessed=1), ALONE) == PPM
    assert [RULES.grounded(replace(FACTS, reads=n), ALONE) for n in range(4)] == [0, 250_000, 500_000, 500_000]
    assert RULES.grounded(replace(again, reads=9), ALONE) == PPM


def test_without_a_source_nothing_is_grounded() -> None:
    found = heard((0.8, "Grease leaks at valve 7."))
    assert RULES.grounded(replace(FACTS, sourced=False, witnessed=2), found) == 0
    assert RULES.grounded(replace(FACTS, agent="", witnessed=2), found) == 0
    assert RULES.grounded(replace(FACTS, text=None, witnessed=2), found) == 0


def test_consistency_is_over_time() -> None:
    denial = (0.8, "Valve 7 does not leak grease.")
    assert RULES.consistency(FACTS, heard(denial)) == pytest.approx(200_000, abs=1)
    # The memory may well correct an earlier statement.
    assert RULES.consistency(FACTS, heard(denial, when=CREATED - 1)) == pytest.approx(800_000, abs=1)
    assert RULES.consistency(FACTS, heard((0.8, "Valve 9 does not leak grease."))) == PPM
    assert RULES.consistency(FACTS, heard((NEAR - 0.01, denial[1]))) == PPM


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("The pressure in line 2 is 3 bar.", "The pressure in line 2 is 4 bar."),
        ("Valve 7 opens at dawn.", "Valve 7 does not open at dawn."),
        ("The door code is 4821.", "The door code was changed to 9930."),
    ],
)
def test_numbers_negations_and_corrections_contradict(a: str, b: str) -> None:
    said = replace(FACTS, text=a)
    assert RULES.consistency(said, heard((0.75, b))) == pytest.approx(PPM // 4, abs=1)
    assert RULES.consistency(said, heard((0.75, a))) == PPM


def test_uncertainty_is_the_episodes_own_or_how_its_evidence_spreads() -> None:
    yes, no = (0.8, "Grease leaks at valve 7."), (0.8, "Valve 7 does not leak grease.")
    assert RULES.uncertainty(replace(FACTS, confidence_ppm=900_000), heard(no)) == 100_000
    assert RULES.uncertainty(replace(FACTS, confidence_ppm=900_000, uncertainty_ppm=300_000), ALONE) == 300_000
    doubts = [RULES.uncertainty(replace(FACTS, confidence_ppm=600_000, vouched=n), ALONE) for n in range(3)]
    assert doubts == [400_000, 200_000, 100_000]
    assert RULES.uncertainty(replace(FACTS, uncertainty_ppm=300_000, vouched=2), ALONE) == 300_000
    assert RULES.uncertainty(FACTS, ALONE) == 500_000
    assert RULES.uncertainty(FACTS, heard(yes, yes)) == 250_000
    assert RULES.uncertainty(FACTS, heard(no)) == 666_666
    assert RULES.uncertainty(replace(FACTS, witnessed=2), heard(no)) == 400_000


@pytest.mark.parametrize("text", ["Can you assist with that?", "ok", "Thanks a lot!", "Where does valve 7 leak?"])
def test_small_talk_and_questions_have_no_ground_whoever_repeats_them(text: str) -> None:
    said = replace(FACTS, text=text, reinforced=9, witnessed=9, reads=9, uncertainty_ppm=0)
    assert not promotes(said, heard((1.0, text), (0.9, "I can assist with valve 7, it leaks.")))


def test_nothing_is_promoted_on_its_own_word() -> None:
    certain = replace(FACTS, uncertainty_ppm=0)
    assert not promotes(certain, ALONE)
    assert not promotes(replace(FACTS, reinforced=1), ALONE)
    assert promotes(replace(FACTS, reinforced=1, witnessed=1), ALONE)
    assert promotes(FACTS, heard((0.8, "Grease leaks at valve 7.")))
    assert not promotes(FACTS, heard((0.8, "Grease leaks at valve 7."), by="ann"), OTHERS)
    assert not promotes(replace(certain, reinforced=1, witnessed=1), heard((0.95, "Valve 7 does not leak grease.")))


@pytest.mark.parametrize("characters", [claims.LONG + 1, agreement.LONGEST + 1, 60_000])
def test_what_is_too_long_to_be_read_for_a_denial_bears_nothing_out(characters: int) -> None:
    """A text of that length may give another number, or deny, unread: its words are no support then."""
    for said in ("Grease leaks at valve 7.", "Valve 7 does not leak grease."):
        long = f"{said} {'It rained on the day of the visit. ' * 2_000}"[:characters]
        assert RULES.grounded(FACTS, heard((0.8, long))) == 0
        assert RULES.bfs(FACTS, heard((0.8, long))) == 500_000
        assert RULES.consistency(FACTS, heard((0.8, long))) == PPM
        assert RULES.grounded(replace(FACTS, text=long), heard((0.8, "Grease leaks at valve 7."))) == 0
    # A repetition word for word, or a use, counts as for any other.
    assert RULES.grounded(replace(FACTS, text=long, witnessed=1), ALONE) == PPM


def test_a_text_that_is_read_as_a_whole_bears_out_what_it_says() -> None:
    short = f"Grease leaks at valve 7. {'It rained on the day of the visit. ' * 2_000}"[: claims.LONG]
    assert RULES.grounded(FACTS, heard((0.8, short))) == PPM
