"""Finished tasks, and what is said to have helped in them: which rows they leave, and what is refused (SPEC E, SCEC).

A task's record is an episode of its own kind, with a row of its own beside the memory's. What is said first of how it
ended stands. Feedback counts where the task was given what it speaks of; else the journal says why it does not.
"""

from __future__ import annotations

from memquorum.core.experience.texts import ENDED, EVENTS
from memquorum.core.journal.grounds import NOTHING
from memquorum.core.journal.rows import FeedbackRow, Rows, TaskRow
from memquorum.core.records import Assessed, JournalEntry, Stored, Task
from memquorum.core.tiers import FINISHED, GONE

NO_TASK = "no finished task of this namespace has the id"
ERASED = "what has the id is gone: it was erased"


def event(task: Task) -> str:
    """The outcome of the event that is a finished task."""
    return ENDED + task.outcome


def contradicts(rows: Rows, namespace: str, event_id: str, detail: Stored) -> bool:
    """Whether an episode says of a finished task that it ended otherwise than was said before."""
    before = rows.events.get((namespace, event_id))
    if detail.task is None or before is None or before.outcome not in EVENTS:
        return False
    return before.outcome != event(detail.task)


def row(entry: JournalEntry, detail: Stored) -> TaskRow:
    """The row of a finished task."""
    assert detail.task is not None and entry.memory_id is not None and entry.namespace is not None
    task = detail.task
    return TaskRow(
        entry.memory_id, entry.shard, entry.seq, entry.namespace, task.outcome, task.said_by, task.configuration,
        task.seed, detail.derives_from, entry.source_offset,
    )  # fmt: skip


def unfounded(rows: Rows, namespace: str, task: str, named: tuple[str, ...]) -> str:
    """Why feedback about a task does not count; empty where it does. `named`: the memories that it speaks of."""
    memory = rows.memories.get(task)
    if memory is None or memory.namespace != namespace or memory.tier not in (FINISHED, GONE):
        return NO_TASK
    if memory.tier == GONE:
        return ERASED
    given = rows.grounds.get(task, NOTHING).sources
    never = sorted(one for one in named if one not in given)
    return (
        f"never retrieved in the task: {', '.join(never[:_TOLD])}{', …' if len(never) > _TOLD else ''}" if never else ""
    )


_TOLD = 3


def feedback(entry: JournalEntry, detail: Assessed) -> tuple[FeedbackRow, ...]:
    """The rows of feedback that counts."""
    assert entry.memory_id is not None and entry.namespace is not None
    said = [(one, True) for one in detail.helped] + [(one, False) for one in detail.did_not_help]
    return tuple(
        FeedbackRow(
            entry.shard, entry.seq, entry.namespace, entry.memory_id, one, detail.agent, helped, detail.given_at,
            entry.source_offset,
        )
        for one, helped in said
    )  # fmt: skip


def storable(record: Task) -> str | None:
    """What keeps a task from being stored, or None. Intake lets none of that in."""
    if ENDED + record.outcome not in EVENTS or len(record.configuration) != _DIGEST or not 0 <= record.seed < 2**63:
        return "a task that ended in no known way, or ran under nothing that is a digest"
    return "NUL in said_by" if "\0" in record.said_by else None


_DIGEST = 32
