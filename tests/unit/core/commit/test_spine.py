"""The spine: records in their order, each episode with its score, nothing twice, nothing past what waits."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from memquorum.core.commit import answers, spine
from memquorum.core.commit.applying import Scored
from memquorum.core.commit.spine import Item, Spine
from memquorum.core.records import ClockTicked
from tests import examples
from tests.builders.shard import accepted, scored


def episode(offset: int):  # type: ignore[no-untyped-def]
    return accepted(f"e{offset}", 1)


def score(offset: int, at: int | None = None, epoch: int = 0) -> Scored:
    record = replace(scored(episode(offset), offset), writer_epoch=epoch)
    return Scored(offset if at is None else at, record)


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


def test_from_a_later_score_nobody_infers_that_an_earlier_one_will_not_come() -> None:
    line = Spine(0)
    line.accept(0, episode(0))
    line.accept(1, episode(1))
    line.score(score(1, at=0))
    assert (line.ready(9), line.waiting_for()) == ([], 0)
    line.score(score(0, at=1))
    assert [(item.offset, item.scored) for item in line.ready(9)] == [(0, score(0, at=1)), (1, score(1, at=0))]


def test_a_score_of_another_memory_is_none() -> None:
    line = Spine(0)
    line.accept(0, episode(0))
    line.score(Scored(0, replace(score(1).record, accepted_offset=0)))
    assert (line.ready(9), line.waiting_for()) == ([], 0)
    line.score(score(0, at=1))
    assert [item.scored for item in line.ready(9)] == [score(0, at=1)]


def test_who_lost_the_partition_cannot_write_on() -> None:
    line = Spine(0)
    for offset in range(3):
        line.accept(offset, episode(offset))
    line.score(score(0, at=0, epoch=5))
    line.score(score(1, at=1, epoch=6))
    assert not line.score(score(2, at=2, epoch=5))
    assert offsets(line.ready(9)) == [0, 1]
    line.score(score(2, at=3, epoch=6))
    assert [item.scored.offset for item in line.ready(9) if item.scored] == [0, 1, 3]


def test_a_restart_reads_from_the_first_score_that_is_held_or_the_last_that_counts() -> None:
    line = Spine(0)
    assert line.scores_from() is None
    for offset in range(3):
        line.accept(offset, episode(offset))
    line.score(score(2, at=4))
    line.score(score(0, at=5))
    line.score(score(0, at=6))
    assert (line.scores_from(), line.scores_from(1), line.scores_from(3)) == (4, 4, 6)


def test_scores_that_found_no_room_are_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answers, "HELD_MOST", 1)
    line = Spine(0)
    line.accept(0, episode(0))
    line.score(score(3, at=0))
    # The episode waits, so there is no stopping here; of what is further on nothing is held until it is read again.
    assert not line.scores_full
    line.score(score(1, at=1))
    line.accept(1, episode(1))
    line.score(score(1, at=2))
    line.score(score(0, at=3))
    assert (offsets(line.ready(9)), line.rewind(), line.scores_from(2)) == ([0], None, 0)
    line.applied(0)
    assert (line.rewind(), line.rewind()) == (1, None)
    line.score(score(1, at=1))
    assert [item.scored.offset for item in line.ready(9) if item.scored] == [1]


def test_skipped_records_are_not_waited_for() -> None:
    line = Spine(0)
    line.skip(0)
    line.accept(0, episode(0))
    assert (line.ready(9), line.read_to) == ([], 1)


@pytest.mark.parametrize("limit", ["MOST_RECORDS", "MOST_BYTES"])
def test_it_says_when_it_is_full(limit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spine, limit, 2 if limit == "MOST_RECORDS" else 700)
    monkeypatch.setattr(answers, "HELD_MOST", 4)
    line = Spine(0)
    line.accept(0, episode(0))
    assert not line.full
    line.accept(1, episode(1))
    assert line.full
    for offset in range(4):
        line.score(score(offset))
    assert line.scores_full
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
    for at in range(len(records) + len(scores)):
        if records and (not scores or data.draw(st.booleans())):
            line.accept(*records.pop(0))
        else:
            line.score(score(scores.pop(0), at))
        if data.draw(st.booleans()):
            found = line.ready(data.draw(st.integers(1, 4)))
            assert all(item.scored is not None for item in found if kinds[item.offset])
            applied += offsets(found)
            if found:
                line.applied(found[-1].offset)
    applied += offsets(line.ready(100))
    assert applied == list(range(start, start + count))


class Reader:
    """Reads an accepted stream and its partition of scores at its own pace, as commit and members do: bounded, with
    restarts, and again from where it is asked to."""

    def __init__(self, stream: list[object], partition: list[Scored]) -> None:
        self.stream, self.partition = stream, partition
        self.told: list[tuple[int, int | None]] = []
        self.at = 0
        self.line = Spine(0)

    def step(self, what: str) -> bool:
        """Whether it could do that: read an accepted record, a score, take what is ready, or start anew."""
        line = self.line
        if what == "accepted" and line.read_to < len(self.stream) and not line.full:
            line.accept(line.read_to, self.stream[line.read_to])  # type: ignore[arg-type]
        elif what == "score" and self.at < len(self.partition) and not line.scores_full:
            line.score(self.partition[self.at])
            self.at += 1
        elif what == "take" and (found := line.ready(3)):
            self.told += [(item.offset, item.scored.offset if item.scored else None) for item in found]
            line.applied(found[-1].offset)
        elif what == "restart":
            kept = line.scores_from()
            self.line, self.at = Spine(line.next_offset), self.at if kept is None else kept
        else:
            return False
        if (again := self.line.rewind()) is not None:
            self.at = again
        return True

    def finish(self) -> None:
        while any([self.step(what) for what in ("accepted", "score", "take")]):
            pass


@given(st.data())
@settings(max_examples=examples(300), deadline=None)
def test_readers_come_to_the_same_stream_at_whatever_pace_they_read(data: st.DataObject) -> None:
    """Scores out of order, several for one episode, of writers that follow each other or lost the partition."""
    kinds = data.draw(st.lists(st.booleans(), min_size=1, max_size=12))
    stream = [episode(o) if is_episode else ClockTicked("t", o) for o, is_episode in enumerate(kinds)]
    wanted = [o for o, is_episode in enumerate(kinds) if is_episode]
    said = data.draw(st.lists(st.tuples(st.sampled_from(wanted or [0]), st.integers(0, 2)), max_size=30))
    # In the end the owner of the partition has answered everything.
    said += [(offset, 2) for offset in data.draw(st.permutations(wanted))]
    partition = [score(offset, at, epoch) for at, (offset, epoch) in enumerate(said)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spine, "MOST_RECORDS", data.draw(st.integers(1, 4)))
        patch.setattr(answers, "HELD_MOST", data.draw(st.integers(1, 6)))
        readers = [Reader(stream, partition) for _ in range(2)]
        for reader in readers:
            for what in data.draw(st.lists(st.sampled_from(["accepted", "score", "take", "restart"]), max_size=40)):
                reader.step(what)
            reader.finish()
    highest = [max(epoch for _, epoch in said[: at + 1]) for at in range(len(said))]
    valid = [(offset, at) for at, (offset, epoch) in enumerate(said) if epoch == highest[at]]
    first = {offset: at for offset, at in reversed(valid)}
    expected = [(offset, first[offset] if is_episode else None) for offset, is_episode in enumerate(kinds)]
    assert [reader.told for reader in readers] == [expected] * 2
