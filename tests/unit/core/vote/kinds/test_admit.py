"""The vote to admit: for it is who came to the same, where S reaches η; and it is told with its numbers."""

from __future__ import annotations

import numpy as np
import pytest
from msgspec.structs import replace

from memquorum.core.policy import PPM, ExperiencePolicy, Policy
from memquorum.core.vote.evidence import RULES
from memquorum.core.vote.grounds import MemberContext, MemoryFacts, Trialled
from memquorum.core.vote.kinds import ADMIT, ADMITS
from memquorum.core.vote.kinds.kind import Case, opinion_in_words
from tests.builders import votes

NOW, POLICY = 1_700_000_000_000, Policy()
FACTS = MemoryFacts("m", "plant", "ann", NOW, NOW, 600_000, np.ones(2, np.float32))


def votes_yes(trial: Trialled | None, policy: Policy = POLICY) -> bool:
    (terms,) = ADMIT.judge([(replace(FACTS, trial=trial),)], Case(MemberContext("plant"), NOW, policy, RULES))
    return bool(votes.following(ADMIT, terms or ADMIT.abstain(NOW), policy).yes)


def test_what_helps_enough_and_came_out_the_same_is_admitted() -> None:
    assert votes_yes(Trialled(held=True, score_ppm=50_000)) and not votes_yes(Trialled(held=True, score_ppm=49_999))
    assert votes_yes(Trialled(held=True, score_ppm=2 * PPM)), "what is beyond 1 counts as 1"
    assert not votes_yes(Trialled(held=True, score_ppm=-PPM))


@pytest.mark.parametrize("score", [PPM, 50_000, 0])
def test_who_comes_to_something_else_says_no_however_much_is_told(score: int) -> None:
    assert not votes_yes(Trialled(held=False, score_ppm=score)) and not votes_yes(None)


def test_where_everything_is_admitted_ignorance_still_admits_nothing() -> None:
    lenient = Policy(experience=ExperiencePolicy(eta_ppm=1))
    assert votes_yes(Trialled(held=True, score_ppm=1), lenient)
    assert not votes_yes(None, lenient) and not votes_yes(Trialled(held=False, score_ppm=PPM), lenient)


def test_it_is_told_with_its_numbers() -> None:
    def in_words(held: int, gain: int) -> str:
        found = votes.following(ADMIT, (held, gain), POLICY)
        return opinion_in_words(ADMIT, {"held": held, "gain": gain}, (found.yes, found.score_ppm), POLICY)

    assert in_words(PPM, 200_000) == "what it tried again came out the same; S = 0.2 ≥ 0.05: admit"
    assert in_words(PPM, 20_000).endswith("S = 0.02 < 0.05: it is not admitted")
    assert in_words(0, PPM) == "cannot try it again, or comes to something else: it is not admitted"


def test_it_is_about_what_is_alive_and_does_nothing_to_it() -> None:
    assert ADMITS == {"short-term": "admit", "long-term": "admit"}
    assert ADMIT.effect([], None, NOW, POLICY) == []
    assert not (ADMIT.seals or ADMIT.capped or ADMIT.revives)
