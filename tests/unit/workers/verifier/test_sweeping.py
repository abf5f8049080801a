"""Namespaces take turns, and a sweep that a decision overtakes ends before another one begins."""

from __future__ import annotations

from collections.abc import Iterator

from memquorum.core.experience.ports import News
from workers.verifier.candidate_schedule import ShardProgress, Sweep, Sweeps


def pages(sweeps: Sweeps, lines: dict[int, ShardProgress], left: dict[str, int]) -> Iterator[str]:
    """Goes through so many pages of each namespace, and tells whose turn it was."""
    while (found := sweeps.next()) is not None:
        key, sweep = found
        if sweep.after is None:
            sweep.begin(lines[key[0]].epoch, 1, (1, 1))
        left[key[1]] -= 1
        yield key[1]
        sweeps.went(key, sweep, (left[key[1]], "") if left[key[1]] > 0 else None, lines[key[0]].epoch)


def test_a_namespace_with_many_candidates_keeps_no_other_waiting() -> None:
    sweeps, lines = Sweeps(), {0: ShardProgress(epoch=1)}
    sweeps.decided(0, 1, ["flooded", "small", "tiny"])
    left = {"flooded": 50, "small": 2, "tiny": 1}
    turns = list(pages(sweeps, lines, left))
    assert turns[:5] == ["flooded", "small", "tiny", "flooded", "small"]
    assert turns[5:] == ["flooded"] * 48 and len(sweeps) == 0


def test_each_decision_is_swept_for_once_and_no_sweep_begins_anew_for_one() -> None:
    sweeps, lines = Sweeps(), {0: ShardProgress(epoch=1)}
    sweeps.decided(0, 1, ["n"])
    sweeps.decided(0, 1, ["n"])
    key, sweep = sweeps.next() or ((0, ""), None)
    assert sweep is not None and sweeps.next() is None
    sweep.begin(1, 10, (3, 9))
    sweeps.went(key, sweep, (7, "m"), 1)
    lines[0].epoch = 2
    sweeps.decided(0, 2, ["n"])
    _, again = sweeps.next() or (key, None)
    assert again is sweep and again.after == (7, "m"), "what waits behind has its turn"
    sweeps.went(key, sweep, None, 2)
    assert sweep.done == 1 and len(sweeps) == 1, "and then the later decision has"
    assert (sweeps.next() or (key, None))[1] is sweep
    sweep.begin(2, 20, (3, 9))
    sweeps.went(key, sweep, None, 2)
    assert sweep.done == 2 and len(sweeps) == 0
    sweeps.decided(0, 2, ["n"])
    assert len(sweeps) == 0


def test_a_namespace_whose_tasks_are_gone_has_no_turn() -> None:
    sweeps, lines = Sweeps(), {0: ShardProgress(epoch=2), 1: ShardProgress(epoch=1)}
    sweeps.decided(0, 1, ["gone", "stays"])
    sweeps.decided(1, 1, ["other"])
    sweeps.decided(0, 2, ["stays"])
    assert sorted(pages(sweeps, lines, {"stays": 1, "other": 1})) == ["other", "stays"]


def test_with_the_same_tasks_only_what_is_new_or_had_tasks_enough_is_gone_through() -> None:
    sweep = Sweep()
    sweep.begin(1, 10, (3, 9))
    assert sweep.news is None, "all, the first time"
    sweep.opens("m")
    sweep.begin(1, 15, (3, 9))
    assert sweep.news is None, "the first one did not end"
    sweep.opens("m")
    sweep.end()
    sweep.begin(2, 20, (3, 9))
    assert sweep.news == News(15, frozenset({"m"}))
    sweep.end()
    sweep.begin(3, 30, (3, 9))
    assert sweep.news == News(20)
    sweep.begin(4, 40, (4, 12))
    assert sweep.news is None, "another task may be near to any"
    for at in range(6_000):
        sweep.opens(str(at))
    sweep.end()
    sweep.begin(5, 50, (4, 12))
    assert sweep.news is None, "too many to be named"
