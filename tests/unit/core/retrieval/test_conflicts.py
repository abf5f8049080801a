"""In which order memories that contradict each other are served."""

from __future__ import annotations

from msgspec.structs import replace

from memquorum.core.retrieval.conflicts import Contradiction, inserted, marks, missing, ordered

SYNC = Contradiction("four", "three", False, 2, 1, "short-term", "short-term")


def test_the_newer_one_comes_first_in_the_place_of_the_better_one() -> None:
    assert ordered(["x", "three", "y", "four", "z"], [SYNC]) == ["x", "four", "three", "y", "z"]


def test_what_was_promoted_stays_first_against_another_agent_and_its_challenger_stands_below() -> None:
    promoted = replace(SYNC, older_tier="long-term")
    assert ordered(["four", "x", "three"], [promoted]) == ["three", "four", "x"]
    assert ordered(["four", "x", "three"], [replace(promoted, own=True)]) == ["four", "three", "x"]


def test_a_chain_is_served_latest_first() -> None:
    off = Contradiction("off", "four", False, 3, 2, "short-term", "short-term")
    assert ordered(["three", "four", "off"], [SYNC, off]) == ["off", "four", "three"]


def test_a_ring_comes_to_an_end() -> None:
    ring = [
        Contradiction("b", "a", False, 2, 1, "short-term", "short-term"),
        Contradiction("c", "b", False, 3, 2, "short-term", "short-term"),
        Contradiction("c", "a", False, 3, 1, "short-term", "long-term"),
    ]
    assert sorted(ordered(["a", "b", "c"], ring)) == ["a", "b", "c"]


def test_what_has_to_stand_first_and_was_not_found_comes_in_before_the_other() -> None:
    assert missing(["x", "three"], [SYNC]) == ["four"]
    assert missing(["x", "four"], [SYNC]) == []
    assert inserted(["x", "three"], ["four"], [SYNC]) == ["x", "four", "three"]


def test_both_are_marked_with_each_other() -> None:
    assert marks([SYNC]) == {"four": ("three",), "three": ("four",)}
