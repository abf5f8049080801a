"""Changes the weights of experience at a decision, by counting the uses since the last one (SPEC E; decision 127).

A decision counts everything before the accepted offset of its nomination, or of an earlier decision's if that is
higher. The evidence consists of ids, so every reader of the journal computes the same weights, also after an erasure.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Final

from msgspec.structs import replace

from memquorum.core.experience import uses
from memquorum.core.experience.admission import ADMITTED
from memquorum.core.experience.uses import UseFeedback, UseOfMemory
from memquorum.core.experience.weights import BY_USE, DEMOTED, REMOVED, Weight, standing, written
from memquorum.core.journal.loaded import NotLoaded
from memquorum.core.journal.rows import AdmissionRow, FeedbackRow, Rows, ShardState, TaskRow, WeightRow
from memquorum.core.policy import ExperiencePolicy
from memquorum.core.records import JournalEntry

WEIGHED: Final = (ADMITTED, DEMOTED, REMOVED)
"""The statuses of memories whose weight can change. Uses of demoted and removed ones are counted as before, and they
may rise again."""

Weighed = list[AdmissionRow | WeightRow]


def upto(state: ShardState, accepted_offset: int) -> int:
    """The accepted offset up to which uses are counted once a decision is applied that was nominated as of one."""
    return max(state.weighed_to, accepted_offset)


def weighed(rows: Rows, entry: JournalEntry, epoch: int, accepted_offset: int, policy: ExperiencePolicy) -> Weighed:
    """The new versions of weights that a decision brings, of what was in experience before it, by id.

    `accepted_offset`: of its nomination. Raises NotLoaded where the uses up to there were not asked for.
    """
    counted, before = rows.state.weighed_to, upto(rows.state, accepted_offset)
    if before == counted:
        return []
    if rows.loaded is not None and rows.loaded.uses < before:
        raise NotLoaded(f"uses before accepted offset {before} were not loaded, so the weights cannot be computed")
    stand, came = dict[str, AdmissionRow](), list[UseOfMemory]()
    for row, one in _given(rows):
        stand[row.memory_id] = row
        came.append(one)
    weights = {i: (of(row), row.since) for i, row in stand.items()}
    found = Weighed()
    for later in uses.evolved(weights, came, policy, counted=counted, before=before):
        found += version(stand[later.memory_id], later, entry, epoch, BY_USE, policy)
    return found


def of(row: AdmissionRow) -> Weight:
    """Returns the current weight of an admitted memory."""
    return Weight(row.memory_id, row.weight_ppm or 0, row.version, row.gains, row.losses)


def version(  # noqa: PLR0917
    row: AdmissionRow, later: Weight, entry: JournalEntry, epoch: int, cause: str, policy: ExperiencePolicy
) -> Weighed:
    """The rows of a new version of a weight, and how the memory stands by it. `row`: how it stood."""
    told = standing(later, policy)
    now = replace(
        row, seq=entry.seq, status=told if told in WEIGHED else ADMITTED, version=later.version,
        weight_ppm=later.weight_ppm, gains=later.gains, losses=later.losses,
    )  # fmt: skip
    made = WeightRow(
        row.memory_id, later.version, entry.shard, entry.seq, row.namespace, epoch, cause, later.weight_ppm,
        later.gains, later.losses, written(later.evidence),
    )  # fmt: skip
    return [now, made]


def _given(rows: Rows) -> Iterator[tuple[AdmissionRow, UseOfMemory]]:
    """Yields the uses by tasks of memories that have a weight in the task's namespace."""
    for task in rows.tasks.values():
        for one in use_outcomes(task, rows.feedback.get(task.memory_id, ())):
            row = rows.admissions.get(one.memory_id)
            if row is not None and row.status in WEIGHED and row.namespace == task.namespace:
                yield row, one


def use_outcomes(task: TaskRow, told: Sequence[FeedbackRow]) -> Iterator[UseOfMemory]:
    """Yields each memory that a task was given, with its outcome and feedback. `told`: the feedback about the task, in
    the order of the stream."""
    spoken = min((one.accepted_offset for one in told), default=None)
    among = dict.fromkeys(task.retrieved)
    for memory_id in among:
        said = tuple(UseFeedback(f.accepted_offset, f.agent, f.helped) for f in told if f.memory_id == memory_id)
        yield UseOfMemory(memory_id, task.memory_id, task.accepted_offset, task.outcome, len(among), said, spoken)


class Uses:
    """The finished tasks of a shard with their feedback, for a reader that follows its journal without a store."""

    def __init__(self) -> None:
        self._tasks: dict[str, TaskRow] = {}
        self._feedback: dict[str, tuple[FeedbackRow, ...]] = {}
        # Tasks by where something of them stands that may not be counted yet.
        self._open: dict[str, int] = {}

    def note(self, rows: Iterable[TaskRow | FeedbackRow]) -> None:
        """Takes in tasks, and what is said of tasks that were taken in, in the order of the journal."""
        for row in rows:
            if isinstance(row, TaskRow):
                self._tasks[row.memory_id] = row
                self._open[row.memory_id] = row.accepted_offset
            else:
                self._feedback[row.task] = (*self._feedback.get(row.task, ()), row)
                self._open[row.task] = row.accepted_offset

    def uncounted(
        self, counted: int, named: Collection[str] = ()
    ) -> tuple[dict[str, TaskRow], dict[str, tuple[FeedbackRow, ...]]]:
        """The fields `tasks` and `feedback` of `Rows`: all of which something stands at `counted` or behind, and those
        that are named. Everything before that is counted already and returned only if it is named."""
        self._open = {one: offset for one, offset in self._open.items() if offset >= counted}
        wanted = [*self._open, *(one for one in named if one in self._tasks and one not in self._open)]
        return (
            {one: self._tasks[one] for one in wanted},
            {one: self._feedback[one] for one in wanted if one in self._feedback},
        )
