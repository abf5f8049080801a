"""What a replica's view takes of rehearsals (db/view.py)."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable

from db import view_statements as sql


class ViewRehearsals:
    """The column `rehearsed` of the table `memory`, and what follows for the salience."""

    def __init__(self, connected: Callable[[], sqlite3.Connection]) -> None:
        """`connected`: the view's connection, in the batch of now."""
        self._connected = connected

    def take(
        self, memory_id: str, namespace: str, *, factor_ppm: int, previous: int, as_of: int, every_ms: int
    ) -> None:
        """A rehearsal looked at a memory: its salience is so many millionths of what it was. `previous`: the rehearsal
        before it, by whose time it was read; `every_ms`: how long after that it counts."""
        self._connected().execute(sql.REHEARSE, (memory_id, namespace, factor_ppm, as_of, every_ms, previous))
