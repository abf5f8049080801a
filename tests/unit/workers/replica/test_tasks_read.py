"""A member's record of finished tasks and of decisions, with which it can try a candidate again."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from db.view_rows import Finished
from memquorum import topics
from memquorum.core import ids
from memquorum.core.experience.texts import Texts
from memquorum.core.experience.uses import UseFeedback
from memquorum.core.records import Decided, FeedbackAccepted, Task
from tests.builders.table import CODEC, Journal, Table, decision_on
from workers.replica import catchup

TASK = Task("succeeded", "ann", bytes(32), 7)
ONE, GIVEN = (str(uuid.UUID(int=at)) for at in (1, 2))


@pytest.fixture
def table(tmp_path: Path) -> Iterator[Table]:
    found = Table(tmp_path / "view.db")
    yield found
    found.view.close()


def finish(table: Table, memory: str = ONE, task: Task = TASK, **score: Any) -> int:
    at = table.accept(memory, text=Texts("open valve 3").content, at=5, task=task, derives_from=(GIVEN,))
    table.score(memory, at, at=5, **score)
    table.turn()
    return at


def kept_task(table: Table, memory: str = ONE) -> Finished | None:
    return table.view.experience.tasks("space", before=1_000, memory_ids=[memory]).get(memory)


def test_a_finished_task_is_kept_as_it_was_read_and_is_no_memory(table: Table) -> None:
    at = finish(table)
    found = kept_task(table)
    assert found is not None
    assert (found.accepted, found.agent, found.occurred_at, found.encoder) == (at, "ann", 5, "test")
    assert (found.outcome, found.said_by, found.configuration, found.seed) == ("succeeded", "ann", bytes(32), 7)
    assert found.retrieved == (GIVEN,) and found.sealed_signed is None
    assert table.view.known([ONE]) == {} and table.view.recent("space", through=1_000, most=9) == []
    assert table.view.weights.alive("space") == []


def test_what_no_journal_would_take_as_a_task_is_none(table: Table) -> None:
    finish(table, task=Task("succeeded", "ann", b"short", 7))
    assert kept_task(table) is None
    finish(table, sealed_embedding=None)
    assert kept_task(table) is None
    finish(table)
    assert kept_task(table) is not None


def assess(
    table: Table, event: str, helped: tuple[str, ...], others: tuple[str, ...] = (), *, namespace: str = "space",
    given_at: int = 5,
) -> int:  # fmt: skip
    at = table.put(topics.ACCEPTED, FeedbackAccepted(event, ONE, namespace, "ann", helped, others, given_at))
    table.turn()
    return at


def test_what_an_agent_says_of_what_a_task_was_given_is_kept(table: Table) -> None:
    finish(table)
    first = assess(table, "first", (GIVEN,))
    second = assess(table, "second", (), (GIVEN,))
    assert table.view.experience.assessed(ONE) == {
        GIVEN: [UseFeedback(first, "ann", True), UseFeedback(second, "ann", False)]
    }
    table.view.experience.erased([ONE])
    assert table.view.experience.assessed(ONE) == {}


def test_feedback_that_no_journal_would_count_counts_for_no_member(table: Table) -> None:
    assess(table, "early", (GIVEN,))
    finish(table)
    assess(table, "early", (GIVEN,))
    assess(table, "never given", (GIVEN, str(uuid.UUID(int=3))))
    assess(table, "elsewhere", (GIVEN,), namespace="attic")
    memory = ids.memory_id("space", "an episode")
    table.score(memory, table.accept(memory))
    table.turn()
    assess(table, "an episode", (GIVEN,))
    assert table.view.experience.assessed(ONE) == {}
    assess(table, "at no time", (GIVEN,), given_at=-1)
    assert table.view.experience.assessed(ONE) == {}
    assess(table, "late", (GIVEN,))
    assert list(table.view.experience.assessed(ONE)) == [GIVEN]


def test_nobody_was_given_the_task_itself(table: Table) -> None:
    at = table.accept(ONE, text=Texts("open valve 3").content, task=TASK, derives_from=(ONE, GIVEN))
    table.score(ONE, at)
    assess(table, "itself", (ONE,))
    assert table.view.experience.assessed(ONE) == {}


def test_feedback_with_the_id_of_what_failed_keeps_no_memory_away(table: Table) -> None:
    finish(table)
    memory = ids.memory_id("space", "failed at first")
    table.score(memory, table.accept(memory), sealed_embedding=None, outcome="failed")
    table.turn()
    assess(table, "failed at first", (GIVEN,))
    table.score(memory, table.accept(memory))
    table.turn()
    assert list(table.view.known([memory])) == [memory]


def test_on_what_an_epoch_decided_is_kept_whether_the_logs_tell_it_or_the_journal(table: Table, tmp_path: Path) -> None:
    pre_prepare, commits = decision_on(1)
    journal = Journal(("decided", CODEC.encode(Decided(1, 0, 1, pre_prepare, tuple(commits), ()))))
    late = Table(tmp_path / "late.db")
    late.seat.positions = dict.fromkeys(late.offsets, 0)
    catchup.Following(CODEC, journal, late.seat, late.view, "it is late").turn()  # type: ignore[arg-type]
    for data in commits:
        table.put(topics.COMMITS, data)
    table.put(topics.PRE_PREPARES, pre_prepare)
    there = [one.view.experience.stood(0, 1) for one in (table, late)]
    assert there[0] is not None and there[0] == there[1]
    late.view.close()
