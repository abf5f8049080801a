"""What a replica's view holds of experience: finished tasks, where decisions stood, what was admitted (db/view.py)."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from db import view_statements as sql
from db.view_rows import Admitted, Finished, Stood

EPOCHS_KEPT: Final = 4_096
"""Of so many epochs of a shard it is known what they decided on, and where: a trial refers to no older one. One an hour
is 170 days, and some 300 KB."""


class ViewExperience:
    """The tables `task`, `stood` and `admitted`: what it takes to try a candidate again as of a decision."""

    def __init__(self, connected: Callable[[], sqlite3.Connection]) -> None:
        """`connected`: the view's connection, in the batch of now."""
        self._connected = connected

    # Finished tasks --------------------------------------------------------------------------------------------------

    def finish(self, task: Finished) -> bool:
        """Whether a finished task is the first of its id: as in the journal, what is said first of it stands."""
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
        """How many tasks of a namespace were accepted before an offset of its shard."""
        (count,) = self._connected().execute(sql.TASKS_BEFORE, (namespace, before)).fetchone()
        return int(count)

    def erased(self, memory_ids: Sequence[str]) -> None:
        """Lets go of finished tasks whose keys were destroyed: nobody reads them any more, and their ids stay."""
        self._connected().execute(sql.PURGE.format(table="task", column="memory_id"), (json.dumps(memory_ids),))

    # Decisions -------------------------------------------------------------------------------------------------------

    def decided(self, shard: int, epoch: int, stood: Stood) -> None:
        """An epoch is decided; of those long before, it is not known any more on what."""
        connection = self._connected()
        connection.execute(sql.STOOD, (shard, epoch, *stood))
        connection.execute(sql.STOOD_LONG_AGO, (shard, epoch - EPOCHS_KEPT))

    def stood(self, shard: int, epoch: int) -> Stood | None:
        """Answers on what an epoch decided; None of one that is not decided, or was long ago."""
        row = self._connected().execute(sql.STANDING, (shard, epoch)).fetchone()
        return None if row is None else Stood._make(row)

    # What was admitted -----------------------------------------------------------------------------------------------

    def weigh(self, rows: Iterable[Admitted]) -> None:
        """Versions of the weights of what was admitted. One that is known stays as it is."""
        self._connected().executemany(sql.WEIGHS, rows)

    def weights(self, namespace: str, *, epoch: int) -> list[Admitted]:
        """What was admitted in a namespace, by id, each at its last version of this epoch or of one before."""
        return [Admitted._make(row) for row in self._connected().execute(sql.ADMITTED, (namespace, epoch))]


def _task(row: Sequence[object]) -> Finished:
    *said, retrieved = row
    return Finished._make((*said, tuple(str(retrieved).split(",")) if retrieved else ()))
