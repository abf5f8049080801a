"""The Sessions port on Postgres: the memories of a session for the consolidator."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from db.connection import READER, Link
from db.queries import QUERIES
from memquorum import topics
from memquorum.core.avro import Codec
from memquorum.core.consolidation.importance import POSITIVE_PPM
from memquorum.core.records import JournalEntry, Stored
from memquorum.ports import SessionMemory, StoreUnavailable


class PostgresSessions:
    """This class answers one thread. Every method raises StoreUnavailable while the store cannot be reached."""

    def __init__(self, dsn: str, codec: Codec) -> None:
        """Connects at the first question."""
        self._link, self._codec = Link(dsn, READER, StoreUnavailable), codec

    def close(self) -> None:
        """Lets the connection go."""
        self._link.close()

    def applied(self, shard: int) -> int:
        """Returns the offset up to which the accepted stream is applied; see the port."""
        with self._link.use() as connection:
            row = connection.execute(QUERIES["session_applied"], {"topic": topics.ACCEPTED, "shard": shard}).fetchone()
        return int(row[0]) if row else 0

    def answered(self, namespace: str, event_ids: Collection[str]) -> frozenset[str]:
        """Returns the events that have an outcome; see the port."""
        wanted = {"namespace": namespace, "ids": list(event_ids)}
        with self._link.use() as connection:
            return frozenset(one for (one,) in connection.execute(QUERIES["session_answered"], wanted))

    def disclosed(self, recipient: str, memory_ids: Collection[str]) -> frozenset[str]:
        """Returns the memories whose text may be sent to the recipient; see the port."""
        wanted = {"recipient": recipient, "ids": list(memory_ids)}
        with self._link.use() as connection:
            return frozenset(one for (one,) in connection.execute(QUERIES["session_disclosed"], wanted))

    def memories(self, shard: int, namespace: str, agent: str | None, session: str) -> list[SessionMemory]:
        """Returns the memories of a session that no summary covers yet; see the port."""
        parameters = {"shard": shard, "namespace": namespace, "agent": agent, "session": session}
        with self._link.use() as connection:
            rows = connection.execute(QUERIES["session_memories"], parameters).fetchall()
        return [session_memory(self._codec, row) for row in rows]

    def left(self, shard: int, summary: str) -> list[SessionMemory]:
        """Returns the sources of an erased summary from which it may be made again; see the port."""
        with self._link.use() as connection:
            rows = connection.execute(QUERIES["session_left"], {"shard": shard, "summary": summary}).fetchall()
        return [session_memory(self._codec, row[:-1], sealed=row[-1]) for row in rows]


def session_memory(codec: Codec, row: Sequence[Any], *, sealed: bool = False) -> SessionMemory:
    """A memory of its row, of which the last column is the entry that it came in with."""
    *row, entry = row
    return memory_of_entry(codec, row, None if entry is None else codec.decode_as(JournalEntry, entry), sealed=sealed)


def memory_of_entry(codec: Codec, row: Sequence[Any], entry: JournalEntry | None, *, sealed: bool) -> SessionMemory:
    """A memory of its row, of which the last column is when it was said last, and of the entry that it came in with."""
    *row, said = row
    stored = None if entry is None else codec.decode_as(Stored, entry.detail)
    stands = None if entry is None else entry.source_offset
    positive = stored is not None and (stored.reward_ppm or 0) >= POSITIVE_PPM
    rank_ppm = None if stored is None else stored.rank_ppm
    return SessionMemory(*(*row, positive, stands if sealed else None, stands or 0, rank_ppm, said))
