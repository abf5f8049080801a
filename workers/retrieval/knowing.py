"""Knows what one request found out about memories: a read asks for their contradictions, supports, vectors and
places, and most of it came with them (`db.told`)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from db.reads import Reads
from db.told import Told
from memquorum.core.access import Sight
from memquorum.core.retrieval.conflicts import Contradiction
from memquorum.core.retrieval.query import Filters
from memquorum.core.retrieval.repeated import Chosen
from memquorum.core.retrieval.supports import Support


class Known:
    """The answers of one request about memories; the store is asked about memories that no one statement found."""

    def __init__(self, reads: Reads, sight: Sight) -> None:
        self.sight = sight
        self.chosen: Chosen | None = None
        """The choice behind the answer, where it may be kept."""
        self._reads = reads
        self._told: list[Told] = []

    def take(self, told: Told) -> None:
        """Takes what came with memories that were found."""
        self._told.append(told)

    async def entries(self, memory_ids: Sequence[str]) -> dict[str, int]:
        """Returns the position of each memory's last saying in the accepted stream."""
        told = self._of(memory_ids)
        if told is None:
            return await self._reads.entries(self.sight, memory_ids)
        return {memory_id: told.entries[memory_id] for memory_id in memory_ids}

    async def supports(self, memory_ids: Sequence[str]) -> Sequence[Support]:
        """Finds which of the memories are summaries of which others of them; and perhaps of memories beside them."""
        told = self._of(memory_ids)
        return await self._reads.supports(self.sight, memory_ids) if told is None else told.supports

    async def vectors(self, encoder: str, memory_ids: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        """The vectors of memories by an encoder, of those that have one."""
        told = self._of(memory_ids)
        if told is None or not told.vectors:
            return await self._reads.vectors(self.sight, encoder, memory_ids)
        return told.vectors_of(memory_ids)

    async def contradicted(self, memory_ids: Sequence[str], filters: Filters) -> list[Contradiction]:
        """Finds what contradicts memories, or did at the time that is asked for."""
        if filters.as_of is not None:
            return await self._reads.conflicts_then(self.sight, memory_ids, filters.as_of)
        told = self._of(memory_ids)
        if told is None:
            return await self._reads.conflicts(self.sight, memory_ids)
        pairs = told.pairs_of(memory_ids)
        return await self._reads.contradictions(pairs) if pairs else []

    def unrolled(self, memory_ids: Sequence[str]) -> bool:
        """Whether it is known that no roll-up has a sentence of any of the memories."""
        told = self._of(memory_ids)
        return told is not None and told.rolled.isdisjoint(memory_ids)

    async def lists(self, namespace: str) -> Sequence[tuple[str, list[str]]]:
        """Returns what the subjects of the namespace want never kept, as of the snapshot of what was found last."""
        told = next((told.lists for told in reversed(self._told) if told.lists is not None), None)
        return await self._reads.profile_lists(self.sight, namespace) if told is None else told

    def _of(self, memory_ids: Iterable[str]) -> Told | None:
        """Returns what one statement told of all of them."""
        return next((told for told in reversed(self._told) if told.has(memory_ids)), None)
