"""Near-duplicates become one where every pair says the same."""

from __future__ import annotations

from itertools import permutations

from memquorum.core.experience.alike import groups
from memquorum.core.policy import ExperiencePolicy
from tests.builders.experience import held

POLICY = ExperiencePolicy()


def test_those_that_say_the_same_become_the_one_that_weighs_most() -> None:
    some = [held("a", weight_ppm=300_000), held("b", weight_ppm=500_000), held("c", "It rains.")]
    assert groups(some, POLICY) == [("b", "a")]


def test_another_number_is_another_memory_however_near() -> None:
    assert groups([held("a"), held("b", "The gateway uses port 8444.")], POLICY) == []


def test_what_is_far_away_is_not_merged() -> None:
    assert groups([held("a"), held("b", "The gateway uses port 8443.", 0.8, -0.6)], POLICY) == []


def test_no_bridge_joins_two_that_are_far_apart() -> None:
    text = "The gateway uses port 8443."
    chain = [held("a", text, 1, 0), held("b", text, 0.93, 0.3676), held("c", text, 0.7298, 0.6837)]
    assert groups(chain, POLICY) == [("a", "b")]


def test_the_order_changes_nothing() -> None:
    some = [held("a"), held("b"), held("c", "It rains."), held("d", weight_ppm=5)]
    assert {tuple(groups(order, POLICY)) for order in permutations(some)} == {(("a", "b", "d"),)}


def test_memories_of_two_encoders_are_not_compared() -> None:
    other = held("b", "The gateway uses port 8443.", 1, 0, 0, encoder="other")
    assert groups([held("a"), other], POLICY) == []
    assert groups([], POLICY) == []
