"""A namespace's or a shard's memories in the order in which they go, read from a replica's view as far as a vote needs
them (`core.budgets.lazily`)."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from db import view_holding_statements as sql
from memquorum.core.budgets import due_statements
from memquorum.core.budgets.items import Item
from memquorum.core.budgets.weighing import item
from memquorum.ports import Candidate, Weighted


class ViewShelf:
    """The Shelf of one vote: what it has read of a memory it does not read again."""

    def __init__(
        self,
        connected: Callable[[], sqlite3.Connection],
        ranking: int,
        weighted: Callable[[Iterable[str]], Mapping[str, Weighted]],
        held: Sequence[int],
        here: Callable[[str], bool],
        *,
        at: tuple[int, Sequence[str]] = (0, ()),
    ) -> None:
        """`here`: whether a namespace belongs to it; `at`: the time of the vote, and the tasks with a deadline."""
        self._as_of, self._dated = at
        self._connected, self._ranking, self._weighted, self._held, self._here = (
            connected,
            ranking,
            weighted,
            held,
            here,
        )
        self._items: dict[str, Item | None] = {}
        self._told: dict[str, Weighted] = {}
        self._supporters: dict[str, Sequence[str]] = {}

    def held(self) -> Sequence[int]:
        """See `lazily.Shelf`."""
        return self._held

    def heads(self, line: int) -> Iterable[tuple[int, int]]:
        """See `lazily.Shelf`."""
        return self._connected().execute(due_statements.HEADS, (self._ranking, line)).fetchall()

    def entries(self, line: int, step: int) -> Iterator[tuple[int, int, str]]:
        """See `lazily.Shelf`."""
        yield from self._connected().execute(due_statements.ENTRIES, (self._ranking, line, step))

    def values(self, line: int, step: int, above: int) -> Iterator[int]:
        """See `lazily.Shelf`."""
        while True:
            (value,) = self._connected().execute(sql.NEXT_VALUE, (self._ranking, line, step, above)).fetchone()
            if value is None:
                return
            yield value
            above = value

    def run(self, line: int, step: int, value: int) -> Iterator[str]:
        """See `lazily.Shelf`."""
        rows = self._connected().execute(sql.RUN, (self._ranking, line, step, value))
        yield from (memory_id for (memory_id,) in rows)

    def read(self, memory_ids: Sequence[str]) -> None:
        """Reads memories at once that will be asked for."""
        found = self._weighted(memory_ids)
        for memory_id in memory_ids:
            told = found.get(memory_id)
            if told is not None and self._here(told.candidate.namespace):
                self._told[memory_id], self._items[memory_id] = told, item(told, self._as_of)
            else:
                self._items[memory_id] = None

    def dated(self) -> Sequence[str]:
        """See `lazily.Shelf`."""
        self.read([one for one in self._dated if one not in self._items])
        return self._dated

    def told(self, memory_id: str) -> Weighted | None:
        """Returns a memory as it is weighed; None of one that is not here."""
        if memory_id not in self._items:
            self.read([memory_id])
        return self._told.get(memory_id)

    def item(self, memory_id: str) -> Item | None:
        """See `lazily.Shelf`."""
        if memory_id not in self._items:
            self.read([memory_id])
        return self._items[memory_id]

    def candidate(self, memory_id: str) -> Candidate:
        """Returns a memory that is here."""
        told = self.told(memory_id)
        assert told is not None
        return told.candidate

    def supporters(self, memory_id: str) -> Sequence[str]:
        """See `lazily.Shelf`."""
        if memory_id not in self._supporters:
            told = self.told(memory_id)
            namespace = told.candidate.namespace if told is not None else ""
            rows = self._connected().execute(sql.SUPPORTERS, (namespace, memory_id))
            self._supporters[memory_id] = [child for (child,) in rows]
        return self._supporters[memory_id]
