"""The Rehearsals port over an in-memory store."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from memquorum import topics
from memquorum.core.journal import grounds
from memquorum.core.journal.rows import Conflict, Grounds, Protection, Rows, Strength
from memquorum.core.tiers import LONG_TERM, SHORT_TERM
from memquorum.ports import Drawable, Seen
from tests.inmemory.store import InMemoryStore, InMemoryStoredOrders


class InMemoryLook:
    """The store as a rehearsal sees it now."""

    def __init__(self, store: InMemoryStore) -> None:
        self._store = store

    def shards(self) -> list[tuple[int, int, int]]:
        """Each shard with its time; see the port."""
        applied = self._store.applied(topics.ACCEPTED)
        return [(shard, state.as_of, applied.get(shard, 0)) for shard, state in sorted(self._store.states.items())]

    def configured(self, shards: int) -> dict[int, list[tuple[bytes, tuple[bytes, ...]]]]:
        """The decisions that changed the shards' configurations; see the port."""
        orders = InMemoryStoredOrders(self._store)
        return {
            shard: [(one.pre_prepare, one.commits) for one in orders.decided(shard) if one.configured]
            for shard in range(shards)
        }

    def recent(self, shard: int, before: int, most: int, namespace: str | None = None) -> list[Drawable]:
        """Short-term memories, the most salient first; see the port."""
        found = self._drawable(shard, SHORT_TERM, before, namespace)
        found.sort(key=lambda one: (-one.salience_ppm, one.memory_id))
        return [Drawable(one.memory_id, one.salience_ppm) for one in found[:most]]

    def old(self, shard: int, before: int, most: int, namespace: str | None = None) -> list[Drawable]:
        """Long-term memories, longest unused first; see the port."""
        found = self._drawable(shard, LONG_TERM, before, namespace)
        found.sort(key=lambda one: (one.last_access, one.memory_id))
        return [Drawable(one.memory_id, one.salience_ppm) for one in found[:most]]

    def seen(self, memory_ids: Sequence[str]) -> list[tuple[int, Seen]]:
        """Each memory with its shard, as it is now; see the port."""
        strengths = self._store.strengths
        return [(strengths[i].shard, self._seen(strengths[i])) for i in memory_ids if i in strengths]

    def _drawable(self, shard: int, tier: str, before: int, namespace: str | None) -> list[Strength]:
        return [
            one for one in self._store.strengths.values()
            if (one.shard, one.tier) == (shard, tier) and (not one.rehearsed or one.rehearsed <= before)
            and namespace in (None, self._store.memories[one.memory_id].namespace)
        ]  # fmt: skip

    def _seen(self, one: Strength) -> Seen:
        store, memory = self._store, self._store.memories[one.memory_id]
        known: dict[str, Grounds] = {}
        grounds.note(known, (*store.provenance.values(), *store.rows[Conflict].values()))
        rows = Rows(store.states[one.shard], store.memories, store.strengths, grounds=known)
        sources = grounds.made_of(rows, memory)
        return Seen(
            memory.id, memory.namespace, one.tier, one.salience_ppm, one.created, one.last_access,
            one.accesses + one.reinforced, one.replays, one.doubts, one.rehearsed,
            min(grounds.against(rows, memory), default=None), len(sources), len(grounds.left(rows, sources)),
            any(p.memory_id == memory.id for p in store.rows[Protection].values()), memory.seq,
            min(grounds.against(rows, memory, inferred=False), default=None),
        )  # fmt: skip


class InMemoryRehearsals:
    """The port itself: an in-memory store is always at one moment."""

    def __init__(self, store: InMemoryStore) -> None:
        self._store = store

    @contextmanager
    def look(self, patience_ms: int) -> Iterator[InMemoryLook]:
        """One moment of the store; see the port."""
        yield InMemoryLook(self._store)

    def close(self) -> None:
        """Nothing is held."""
