"""The Comparisons port on an in-memory store."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from memquorum.core.journal.rows import Answered, Disclosure, Memory
from memquorum.core.showing.comparing import Side
from memquorum.ports import ComparableMemory
from tests.inmemory.store import InMemoryStore


class InMemoryComparisons:
    """Never fails."""

    def __init__(self, store: InMemoryStore) -> None:
        self._store = store

    def close(self) -> None:
        """Nothing is held."""

    def near(
        self, shard: int, memory_id: str, least: float, limit: int
    ) -> tuple[str, ComparableMemory, list[ComparableMemory]] | None:
        """A memory, and those near it that were said before; see the port."""
        own = self._store.memories.get(memory_id)
        if own is None or own.shard != shard or not self._said(own):
            return None
        found = [
            (self._cosine(own, one), one)
            for one in self._store.memories.values()
            if self._said(one) and (one.namespace, one.encoder) == (own.namespace, own.encoder)
            and (one.said, one.said_offset) < (own.said, own.said_offset)
        ]  # fmt: skip
        near = sorted((-cosine, one.id) for cosine, one in found if cosine >= least)[:limit]
        return own.namespace, self._told(own), [self._told(self._store.memories[one]) for _, one in near]

    def answered(self, shard: int, digests: Collection[bytes]) -> frozenset[bytes]:
        """Returns the digests that are answered; see the port."""
        known = {one.digest for one in self._store.rows[Answered].values() if one.shard == shard}
        return frozenset(digests) & known

    def disclosed(self, recipient: str, memory_ids: Collection[str]) -> frozenset[str]:
        """Returns the memories whose text may be sent to the recipient; see the port."""
        sent = {one.memory_id for one in self._store.rows[Disclosure].values() if one.recipient == recipient}
        return frozenset(one for one in memory_ids if one in sent and one in self._store.strengths)

    def _said(self, one: Memory) -> bool:
        alive = one.id in self._store.strengths and one.id in self._store.contents
        return alive and one.made_by is None and one.general_of is None

    def _cosine(self, one: Memory, other: Memory) -> float:
        a, b = (self._store.contents[m.id].vector.astype(np.float16).astype(np.float64) for m in (one, other))
        return float(a @ b / (np.linalg.norm(a) * np.linalg.norm(b)))

    def _told(self, one: Memory) -> ComparableMemory:
        text = self._store.contents[one.id].text
        side = Side(text, one.agent, one.subject, one.said, one.slot, one.label)
        return ComparableMemory(one.id, side, one.sensitivity_ppm, one.purposes, one.jurisdictions)
