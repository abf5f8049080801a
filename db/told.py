"""Reads what a statement tells of the memories that it finds: the questions that a read would ask next, answered in the
same snapshot (`$beside` of queries.sql)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct, field
from numpy.typing import NDArray

from db.arrays import vector
from memquorum.core.late_numpy import np
from memquorum.core.retrieval.supports import Support

_COLUMNS = 2
"""The number of columns of `$beside`, which are the last ones of a row."""


class Told(Struct, frozen=True):
    """The answers about the memories of one statement. `entries`: by id, where each was said last in the accepted
    stream. `vectors`: by id, of a search. `pairs`: rows of `conflicts`. `rolled`: those that a roll-up has a sentence
    of. `lists`: what subjects of the namespace want never kept; None where the statement found no memory."""

    entries: Mapping[str, int]
    vectors: Mapping[str, bytes | None] = field(default_factory=dict)
    supports: Sequence[Support] = ()
    pairs: Sequence[Sequence[Any]] = ()
    rolled: frozenset[str] = frozenset()
    lists: Sequence[tuple[str, list[str]]] | None = None

    def has(self, memory_ids: Iterable[str]) -> bool:
        """Whether the statement found all of these memories."""
        return self.entries.keys() >= set(memory_ids)

    def vectors_of(self, memory_ids: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        """Returns the vectors of those of the memories that have one."""
        return {one: vector(sent) for one in memory_ids if (sent := self.vectors.get(one)) is not None}

    def pairs_of(self, memory_ids: Iterable[str]) -> list[Sequence[Any]]:
        """Returns the rows of `conflicts` that it would have for these memories."""
        ids = set(memory_ids)
        return [row for row in self.pairs if not ids.isdisjoint(row[:2])]


def taken(rows: Sequence[tuple[Any, ...]], vector_at: int | None = None) -> tuple[list[tuple[Any, ...]], Told]:
    """Splits the rows of a statement that ends with `$beside`: the rest of each row, and what was told. `vector_at`:
    the column of the memory's own vector, if there is one. A row without a memory stays."""
    there = [row for row in rows if row[0] is not None]
    besides = next((row[-1] for row in there if row[-1] is not None), None)
    supports, pairs, rolled, lists = besides or (None,) * 4
    told = Told(
        entries={row[0]: row[-2] for row in there},
        vectors={} if vector_at is None else {row[0]: row[vector_at] for row in there},
        supports=[Support(*one) for one in supports or ()],
        pairs=pairs or (),
        rolled=frozenset(rolled or ()),
        lists=None if besides is None else [(subject, entries) for subject, entries in lists or ()],
    )
    return [row[:-_COLUMNS] for row in rows], told
