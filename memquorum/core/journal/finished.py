"""Records finished tasks and the feedback on them: the rows that they leave, and what is refused (SPEC E, SCEC).

A task's record is an episode of its own kind, with a row of its own beside the memory's. The first outcome that is
recorded stays. Feedback counts if the task was given the memory that it is about; otherwise the journal says why it
does not count.
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
    """True if an episode records another outcome of a finished task than the first record."""
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
    """Returns why feedback about a task does not count, or an empty text if it does. `named`: the memories that it
    speaks of."""
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
    """Returns why a task cannot be stored, or None. Intake rejects such tasks already."""
    if ENDED + record.outcome not in EVENTS or len(record.configuration) != _DIGEST or not 0 <= record.seed < 2**63:
        return "a task with an unknown outcome, an invalid seed, or a configuration that is no digest"
    return "NUL in said_by" if "\0" in record.said_by else None


_DIGEST = 32
