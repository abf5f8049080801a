"""The part of a replica's view for experience: finished tasks, positions of decisions, admissions (db/view.py)."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from db import view_statements as sql
from db.view_rows import Admitted, Finished
from memquorum.core import ids
from memquorum.core.experience.rounds import Round, made_of
from memquorum.core.experience.uses import UseFeedback
from memquorum.core.records import FeedbackAccepted

EPOCHS_KEPT: Final = 4_096
"""The number of a shard's last epochs whose decisions and positions are kept: a trial refers to no older one. One an
hour is 170 days, and some 300 KB."""


class ViewExperience:
    """The tables `task`, `feedback`, `said`, `stood`, `admitted` and `united`: what it takes to try a candidate
    again as of a decision."""

    def __init__(self, connected: Callable[[], sqlite3.Connection]) -> None:
        """`connected`: the view's connection, in the batch of now."""
        self._connected = connected

    # Finished tasks --------------------------------------------------------------------------------------------------

    def finish(self, task: Finished) -> bool:
        """True if a finished task is the first of its id: as in the journal, the first record stands."""
        row = (*task[:-1], ",".join(task.retrieved))
        if self._connected().execute(sql.FINISH, row).rowcount != 1:
            return False
        self._connected().execute(sql.KEEP_ID, (task.memory_id, None))
        return True

    def tasks(self, namespace: str, *, before: int, memory_ids: Iterable[str]) -> dict[str, Finished]:
        """Finished tasks of a namespace that were accepted before an offset of its shard, of those asked for."""
        found = self._connected().execute(sql.TASKS, (json.dumps(list(memory_ids)), namespace, before))
        return {row[0]: _task(row) for row in found}

    def finished(self, namespace: str, *, before: int) -> int:
        """Returns the number of a namespace's tasks that were accepted before an offset of its shard."""
        (count,) = self._connected().execute(sql.TASKS_BEFORE, (namespace, before)).fetchone()
        return int(count)

    def assess(self, given: FeedbackAccepted, offset: int) -> None:
        """Takes an agent's feedback on the memories of a task, where the journal would count it. It would if the task
        was given all of them and no earlier record of this kind or memory has the event's id."""
        if self._connected().execute(sql.SAY, (ids.memory_id(given.namespace, given.event_id),)).rowcount != 1:
            return
        row = self._connected().execute(sql.GIVEN_TO, (given.memory_id, given.namespace)).fetchone()
        said = dict.fromkeys(given.helped, True) | dict.fromkeys(given.did_not_help, False)
        # A task is never given itself, whatever its record names.
        if row is not None and said.keys() <= set(row[0].split(",")) - {given.memory_id}:
            rows = [(given.memory_id, offset, one, given.agent, helped) for one, helped in said.items()]
            self._connected().executemany(sql.ASSESS, rows)

    def assessed(self, task: str) -> dict[str, list[UseFeedback]]:
        """Returns the agents' feedback on the memories of a task, by memory, in the order of the accepted stream."""
        found: dict[str, list[UseFeedback]] = {}
        for one, offset, agent, helped in self._connected().execute(sql.ASSESSED, (task,)):
            found.setdefault(one, []).append(UseFeedback(offset, agent, bool(helped)))
        return found

    def erased(self, memory_ids: Sequence[str]) -> None:
        """Lets go of finished tasks whose keys were destroyed, and of what was said of them: nobody reads them any
        more, and their ids stay."""
        for table, column in (("task", "memory_id"), ("feedback", "task")):
            self._connected().execute(sql.PURGE.format(table=table, column=column), (json.dumps(memory_ids),))

    # Decisions -------------------------------------------------------------------------------------------------------

    def decided(self, shard: int, at: Round) -> None:
        """An epoch is decided; of those long before, it is not known any more on what."""
        connection = self._connected()
        connection.execute(sql.STOOD, (shard, at.epoch, at.nomination, at.accepted_offset))
        connection.execute(sql.STOOD_LONG_AGO, (shard, at.epoch - EPOCHS_KEPT))

    def stood(self, shard: int, epoch: int) -> Round | None:
        """Answers on what an epoch decided; None of one that is not decided, or was long ago."""
        row = self._connected().execute(sql.STANDING, (shard, epoch)).fetchone()
        return None if row is None else Round(epoch, *row)

    # Admissions

    def weigh(self, rows: Iterable[Admitted]) -> None:
        """Versions of the weights of what was admitted. One that is known stays as it is."""
        self._connected().executemany(sql.WEIGHS, (one[:-1] for one in rows))

    def unite(self, kept: str, others: Iterable[str], epoch: int) -> None:
        """One memory stands for others from an epoch on, while it is alive; and none stands for it any more."""
        self._connected().execute(sql.STAYS, (kept,))
        self._connected().executemany(sql.UNITE, ((one, kept, epoch) for one in others))

    def generalise(self, namespace: str, memory_id: str) -> None:
        """The general form of a memory is in a namespace's experience: no trial reads it, and its weight may be rolled
        back."""
        self._connected().execute(sql.GENERALISE, (namespace, memory_id))

    def admitted(self, namespace: str, memory_ids: Sequence[str]) -> bool:
        """Whether all of the memories were admitted in a namespace, whatever became of them since."""
        rows = self._connected().execute(sql.STOOD_FOR, (namespace, json.dumps(memory_ids))).fetchall()
        return {name for name, _ in rows} == set(memory_ids)

    def gone(self, memory_ids: Sequence[str]) -> bool:
        """True if one of the memories is known to rest sealed, or to be deleted. A memory that was not read yet, or was
        forgotten so lately that a use may have voided it, counts as unknown."""
        return self._connected().execute(sql.ONE_GONE, (json.dumps(memory_ids),)).fetchone() is not None

    def held(self, namespace: str, memory_ids: Iterable[str]) -> set[str]:
        """Those of the memories that are in a namespace's experience: they were admitted and are alive, and nothing
        that is alive stands for them."""
        rows = self._connected().execute(sql.STOOD_FOR, (namespace, json.dumps(list(memory_ids))))
        stands: dict[str, str | None] = dict(rows.fetchall())
        alive = set(self.standing({*stands, *filter(None, stands.values())}))
        return {one for one, kept in stands.items() if one in alive and kept not in alive}

    def refuse(self, memory_id: str, epoch: int) -> None:
        """Records that members did not admit a memory in an epoch: it may be tried again, as of a later decision."""
        self._connected().execute(sql.REFUSE, (memory_id, epoch))

    def refused(self, memory_id: str) -> int:
        """The last epoch in which members did not admit a memory; 0 before the first."""
        row = self._connected().execute(sql.REFUSED, (memory_id,)).fetchone()
        return 0 if row is None else int(row[0])

    def weights(self, namespace: str, *, epoch: int) -> list[Admitted]:
        """Returns the memories admitted in a namespace, by id, each at its last version up to this epoch, with the
        memory that stands for it by then."""
        return [Admitted._make(row) for row in self._connected().execute(sql.ADMITTED, (namespace, epoch))]

    def holds(self, namespace: str, memory_id: str) -> bool:
        """Whether a memory is in the namespace's experience, also as a general form, and alive, as far as was read and
        decided."""
        admitted = self._connected().execute(sql.WAS_ADMITTED, (namespace, memory_id)).fetchone() is not None
        return admitted and bool(self.standing([memory_id]))

    def standing(self, memory_ids: Iterable[str]) -> list[str]:
        """Those of the memories that are alive, as far as was read and decided."""
        found = self._connected().execute(sql.STANDS, (json.dumps(list(memory_ids)),))
        return [memory_id for (memory_id,) in found]

    def sources(self, memory_ids: Iterable[str]) -> dict[str, tuple[str, ...]]:
        """The finished tasks that memories were made of, of those that were made of any."""
        connection = self._connected()
        needs = {one: told.split(",") for one, told in connection.execute(sql.NEEDS, (json.dumps(list(memory_ids)),))}
        named = sorted({each for told in needs.values() for each in told})
        tasks = {one for (one,) in connection.execute(sql.ARE_TASKS, (json.dumps(named),))} if named else set()
        found = {one: made_of(told, tasks) for one, told in needs.items()}
        return {one: made for one, made in found.items() if made}


def _task(row: Sequence[object]) -> Finished:
    *said, retrieved = row
    return Finished._make((*said, tuple(str(retrieved).split(",")) if retrieved else ()))
