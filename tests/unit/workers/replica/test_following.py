"""A seat that was left behind alone takes from the journal what the logs do not show it, while it runs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from memquorum import topics
from memquorum.core.consensus import events as t
from memquorum.core.records import Decided
from tests.builders.table import CODEC, Journal, Table, decision_on
from workers.kafka.loop import Stop
from workers.replica import catchup
from workers.replica.seat import LOGS


def decided_entry(epoch: int) -> tuple[str, bytes]:
    pre_prepare, commits = decision_on(epoch)
    return "decided", CODEC.encode(Decided(epoch, 0, epoch, pre_prepare, tuple(commits), ()))


@pytest.fixture
def table(tmp_path: Path) -> Iterator[Table]:
    found = Table(tmp_path / "view.db")
    found.seat.positions = dict.fromkeys(LOGS.values(), 0)
    yield found
    found.view.close()


def test_who_has_looked_in_vain_wants_the_journal(table: Table) -> None:
    pre_prepare, commits = decision_on(2)
    table.put(topics.PRE_PREPARES, pre_prepare)
    for data in commits:  # the others have gone on, and it was never shown what came before
        table.put(topics.COMMITS, data)
    table.read_to_the_end()
    table.turn(1.5)
    logs = (t.Message.PRE_PREPARE, t.Message.COMMIT, t.Message.VIEW_CHANGE)
    assert table.seat.rereads == dict.fromkeys(logs, 0) and not table.seat.wants_journal
    table.read_to_the_end()
    table.turn(3)
    assert table.seat.wants_journal


def test_a_seat_is_handed_a_few_decisions_in_each_turn(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catchup, "_A_TURN", 3)
    journal = Journal(("accessed", b""), ("decided", b"rubbish"), decided_entry(1), decided_entry(2), decided_entry(3))
    following = catchup.Following(CODEC, journal, table.seat, table.view, "it is late")  # type: ignore[arg-type]
    assert following.turn() and table.seat.core.seq == 2
    assert not following.turn() and table.seat.core.seq == 4
    assert table.view.progress(0).seq == 4


def test_the_journal_is_not_believed(table: Table) -> None:
    pre_prepare, commits = decision_on(1)
    few = "decided", CODEC.encode(Decided(1, 0, 1, pre_prepare, tuple(commits[:2]), ()))
    following = catchup.Following(CODEC, Journal(few), table.seat, table.view, "it is late")  # type: ignore[arg-type]
    assert not following.turn() and table.seat.core.seq == 1


def test_a_seat_that_starts_late_shows_that_it_lives_while_it_reads(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(catchup, "_A_TURN", 2)
    journal: Any = Journal(*[("accessed", b"")] * 5, decided_entry(1), decided_entry(2))
    turns: list[int] = []
    taken = catchup.follow(
        CODEC, journal, table.seat, table.view, Stop(), turned=lambda: turns.append(table.seat.core.seq)
    )
    assert (taken, turns) == (2, [1, 1, 2, 3])


def test_a_seat_that_is_told_to_stop_reads_no_further(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catchup, "_A_TURN", 1)
    journal: Any = Journal(decided_entry(1), decided_entry(2))
    stop = Stop()
    assert catchup.follow(CODEC, journal, table.seat, table.view, stop, turned=stop.set) == 1
