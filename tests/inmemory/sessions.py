"""The Sessions port over an in-memory store."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from db.session_reads import memory_of_entry
from memquorum import topics
from memquorum.core.avro import Codec
from memquorum.core.experience import ended
from memquorum.core.journal import anew
from memquorum.core.journal.rows import Conflict, Disclosure, Event, Memory, Protection, Provenance, TaskRow, UseRow
from memquorum.core.records import JournalEntry
from memquorum.core.tiers import GONE, SHORT_TERM
from memquorum.ports import Placed, SessionMemory
from tests.inmemory.store import InMemoryStore


class InMemorySessions:
    """Answers from what the store holds now."""

    def __init__(self, store: InMemoryStore, codec: Codec) -> None:
        self._store, self._codec = store, codec

    def close(self) -> None:
        """Nothing is held."""

    def applied(self, shard: int) -> int:
        """Returns the offset up to which the accepted stream is applied; see the port."""
        return self._store.applied(topics.ACCEPTED).get(shard, 0)

    def answered(self, namespace: str, event_ids: Collection[str]) -> frozenset[str]:
        """Returns the events that have an outcome; see the port."""
        return frozenset(one for one in event_ids if (namespace, one) in self._store.rows[Event])

    def disclosed(self, recipient: str, memory_ids: Collection[str]) -> frozenset[str]:
        """Returns the memories whose text may be sent to the recipient; see the port."""
        sent = {one.memory_id for one in self._store.rows[Disclosure].values() if one.recipient == recipient}
        return frozenset(i for i in sent.intersection(memory_ids) if self._short_term(i))

    def memories(self, shard: int, namespace: str, agent: str | None, session: str) -> list[SessionMemory]:
        """Returns the memories of a session that no summary covers yet; see the port."""
        of = [
            m for m in self._store.memories.values()
            if (m.shard, m.namespace, m.session) == (shard, namespace, session) and agent in (None, m.agent)
            and m.made_by is None and not m.explicit and self._free(m) and not self._summed_up(m)
        ]  # fmt: skip
        of.sort(key=lambda m: (m.said, m.said_offset, m.id))
        return [self._memory(m) for m in of]

    def unused(self, shard: int, namespace: str, limit: int) -> list[Placed]:
        """Returns the episodic memories of a namespace that a summary may replace; see the port."""
        of = [
            m for m in self._store.memories.values()
            if (m.shard, m.namespace, m.type) == (shard, namespace, "episodic")
            and m.made_by is None and not m.explicit and self._free(m) and not self._summed_up(m)
        ]  # fmt: skip
        of.sort(key=lambda m: (self._store.strengths[m.id].last_access, m.id))
        vectors = {m.id: np.atleast_2d(self._store.contents[m.id].vector)[0].astype(np.float16) for m in of[:limit]}
        return [Placed(self._memory(m), m.encoder, vectors[m.id].astype(np.float32)) for m in of[:limit]]

    def left(self, shard: int, summary: str) -> list[SessionMemory]:
        """Returns the sources of an erased summary from which it may be made again; see the port."""
        draft = self._store.memories.get(summary)
        if draft is None or draft.shard != shard or draft.tier != GONE:
            return []
        parents = (self._store.memories[p.parent] for p in self._provenance() if p.child == summary)
        as_of = self._store.states[shard].as_of
        found = [
            m for m in parents
            if m.made_by is None and not self._summed_up(m)
            and (self._free(m) or anew.stub(m, (draft.id, draft.renews), as_of))
        ]  # fmt: skip
        return [self._memory(m) for m in sorted(found, key=lambda m: (m.said, m.said_offset, m.id))]

    def _provenance(self) -> Collection[Provenance]:
        return self._store.rows[Provenance].values()

    def _short_term(self, memory_id: str) -> bool:
        strength = self._store.strengths.get(memory_id)
        return strength is not None and strength.tier == SHORT_TERM

    def _free(self, m: Memory) -> bool:
        """Whether it is alive, and nothing keeps it from being summed up."""
        alive = self._store.strengths
        disputed = (
            one.newer in alive and one.older in alive and m.id in (one.newer, one.older)
            for one in self._store.rows[Conflict].values()
        )  # fmt: skip
        kept = any(p.memory_id == m.id for p in self._store.rows[Protection].values())
        return self._short_term(m.id) and m.id in self._store.contents and not kept and not any(disputed)

    def _summed_up(self, m: Memory) -> bool:
        """Whether a summary that is not gone was made of it."""
        children = (self._store.memories.get(p.child) for p in self._provenance() if p.parent == m.id)
        return any(one is not None and one.made_by is not None and one.tier != GONE for one in children)

    def _memory(self, m: Memory) -> SessionMemory:
        of_it = [entry for entry, _ in self._store.entries[m.shard] if entry.memory_id == m.id]
        strength, clear = self._store.strengths.get(m.id), self._store.contents.get(m.id)
        uses = sum(entry.effect == "reinforced" for entry in of_it)
        uses += sum(one.memory_id == m.id for one in self._store.rows[UseRow].values())
        row = (
            m.id, "" if clear is None else clear.text, m.created, m.agent, m.subject, m.commitment,
            uses if strength is None else strength.accesses + strength.reinforced,
            m.sensitivity_ppm, m.purposes, m.jurisdictions, m.said,
        )  # fmt: skip
        stored: JournalEntry | None = next((entry for entry in reversed(of_it) if entry.effect == "stored"), None)
        task = None if m.session is None else ended.task_of(m.namespace, m.agent, m.session)
        came = next((one for one in self._store.rows[TaskRow].values() if one.memory_id == task), None)
        return memory_of_entry(
            self._codec, row, stored, sealed=clear is None, outcome=None if came is None else came.outcome
        )
