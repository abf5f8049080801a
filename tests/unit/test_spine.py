"""The spine: records in their order, each episode with its score, nothing twice, nothing past what waits."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memquorum.core.commit import spine
from memquorum.core.commit.applying import Scored
from memquorum.core.commit.spine import Item, Spine
from memquorum.core.records import ClockTicked
from tests.unit.shard import accepted, scored


def episode(offset: int):  # type: ignore[no-untyped-def]
    return accepted(f"e{offset}", 1)


def score(offset: int, at: int | None = None) -> Scored:
    return Scored(offset if at is None else at, scored(episode(offset), offset))


def offsets(items: list[Item]) -> list[int]:
    return [item.offset for item in items]


def test_an_episode_waits_and_everything_behind_it() -> None:
    line = Spine(0)
    line.accept(0, ClockTicked("t", 1))
    line.accept(1, episode(1))
    line.accept(2, ClockTicked("t", 2))
    assert offsets(line.ready(10)) == [0]
    assert line.waiting_for() is None
    line.applied(0)
    assert (line.ready(10), line.waiting_for(), line.next_offset) == ([], 1, 1)
    line.score(score(1, at=40))
    assert offsets(line.ready(10)) == [1, 2]
    assert line.ready(10)[0].scored == score(1, at=40)
    assert offsets(line.ready(1)) == [1]
    line.applied(2)
    assert (line.ready(10), line.waiting_for(), line.next_offset) == ([], None, 3)


def test_ready_takes_nothing_away() -> None:
    line = Spine(0)
    line.accept(0, episode(0), "trace")
    line.score(score(0))
    assert line.ready(5) == line.ready(5) == [Item(0, episode(0), score(0), "trace")]


def test_the_first_score_counts_and_late_ones_are_let_go() -> None:
    line = Spine(3)
    line.score(score(2))  # of what was applied before the restart
    line.score(score(3, at=7))
    line.score(score(3, at=9))
    line.accept(2, episode(2))
    line.accept(3, episode(3))
    assert [(i.offset, i.scored.offset) for i in line.ready(9) if i.scored] == [(3, 7)]


def test_an_episode_that_was_passed_over_goes_on_without_a_score() -> None:
    line = Spine(0)
    line.accept(0, episode(0))
    line.accept(1, episode(1))
    line.score(score(1))
    assert [item.scored for item in line.ready(9)] == [None, score(1)]


def test_a_score_of_another_memory_is_none() -> None:
    line = Spine(0)
    line.accept(0, episode(0))
    line.score(Scored(0, replace(score(1).record, accepted_offset=0)))
    assert [(item.offset, item.scored) for item in line.ready(9)] == [(0, None)]


def test_skipped_records_are_not_waited_for() -> None:
    line = Spine(0)
    line.skip(0)
    line.accept(0, episode(0))
    assert (line.ready(9), line.read_to) == ([], 1)


@pytest.mark.parametrize("limit", ["MOST_RECORDS", "MOST_BYTES"])
def test_it_says_when_it_is_full(limit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spine, limit, 2 if limit == "MOST_RECORDS" else 700)
    line = Spine(0)
    line.accept(0, episode(0))
    assert not line.full
    line.accept(1, episode(1))
    assert line.full
    for offset in range(4):
        line.score(score(offset))
    assert line.scores_full or limit == "MOST_BYTES"
    line.applied(1)
    assert not line.full and not line.scores_full


@given(st.data(), st.integers(1, 12), st.integers(0, 5))
def test_whatever_the_arrival_everything_is_applied_once_in_order(data: st.DataObject, count: int, start: int) -> None:
    """Accepted records and scores arrive interleaved at will, with what a restart and a crash of salience repeat."""
    line = Spine(start)
    kinds = [data.draw(st.booleans()) for _ in range(start + count)]
    records = [(o, episode(o) if is_episode else ClockTicked("t", o)) for o, is_episode in enumerate(kinds)]
    scores = [o for o, is_episode in enumerate(kinds) if is_episode]
    # Salience crashed once and answers again from an earlier point.
    again = data.draw(st.integers(0, len(scores)))
    scores = scores + scores[again:]
    applied: list[int] = []
    while records or scores:
        if records and (not scores or data.draw(st.booleans())):
            line.accept(*records.pop(0))
        else:
            line.score(score(scores.pop(0)))
        if data.draw(st.booleans()):
            found = line.ready(data.draw(st.integers(1, 4)))
            assert all(item.scored is not None for item in found if kinds[item.offset])
            applied += offsets(found)
            if found:
                line.applied(found[-1].offset)
    applied += offsets(line.ready(100))
    assert applied == list(range(start, start + count))
