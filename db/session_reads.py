"""The Sessions port on Postgres: the memories of a session for the consolidator."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from db.arrays import vector
from db.connection import READER, Link
from db.queries import QUERIES
from memquorum import topics
from memquorum.core.avro import Codec
from memquorum.core.consolidation.importance import positive
from memquorum.core.experience import ended
from memquorum.core.records import JournalEntry, Stored
from memquorum.ports import Placed, SessionMemory, StoreUnavailable

_AGENT = 3
"""The column of a row of `session_memories` with who said it."""


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
            tasks = tasks_of(namespace, session, rows)
            found = connection.execute(QUERIES["session_outcomes"], {"ids": [*tasks]}).fetchall() if tasks else []
        return with_outcomes(self._codec, rows, tasks, found)

    def unused(self, shard: int, namespace: str, limit: int) -> list[Placed]:
        """Returns the episodic memories of a namespace that a summary may replace, with their embeddings; see the
        port."""
        parameters = {"shard": shard, "namespace": namespace, "limit": limit}
        with self._link.use() as connection:
            rows = connection.execute(QUERIES["session_unused"], parameters).fetchall()
        return [Placed(session_memory(self._codec, row), encoder, vector(sent)) for encoder, sent, *row in rows]

    def left(self, shard: int, summary: str) -> list[SessionMemory]:
        """Returns the sources of an erased summary from which it may be made again; see the port."""
        with self._link.use() as connection:
            rows = connection.execute(QUERIES["session_left"], {"shard": shard, "summary": summary}).fetchall()
        return [session_memory(self._codec, row[:-1], sealed=row[-1]) for row in rows]


def tasks_of(namespace: str, session: str, rows: Iterable[Sequence[Any]]) -> dict[str, str]:
    """The tasks that a session was, with whose they are. `rows`: of `session_memories`."""
    return {ended.task_of(namespace, agent, session): agent for agent in {row[_AGENT] for row in rows}}


def with_outcomes(
    codec: Codec, rows: Iterable[Sequence[Any]], tasks: Mapping[str, str], found: Iterable[Sequence[Any]]
) -> list[SessionMemory]:
    """The memories of `rows`, each with what the session of its agent came to. `found`: rows of `session_outcomes`."""
    outcomes = {tasks[task]: outcome for task, outcome in found}
    return [session_memory(codec, row, outcome=outcomes.get(row[_AGENT])) for row in rows]


def session_memory(
    codec: Codec, row: Sequence[Any], *, sealed: bool = False, outcome: str | None = None
) -> SessionMemory:
    """A memory of its row, of which the last column is the entry that it came in with. `outcome`: of its session."""
    *row, entry = row
    born = None if entry is None else codec.decode_as(JournalEntry, entry)
    return memory_of_entry(codec, row, born, sealed=sealed, outcome=outcome)


def memory_of_entry(
    codec: Codec, row: Sequence[Any], entry: JournalEntry | None, *, sealed: bool, outcome: str | None = None
) -> SessionMemory:
    """A memory of its row, of which the last column is when it was said last, and of the entry that it came in with."""
    *row, said = row
    stored = None if entry is None else codec.decode_as(Stored, entry.detail)
    stands = None if entry is None else entry.source_offset
    good = positive(None if stored is None else stored.reward_ppm, ended.succeeded(outcome))
    rank_ppm, sure = (None, None) if stored is None else (stored.rank_ppm, stored.confidence_ppm)
    return SessionMemory(*(*row, good, stands if sealed else None, stands or 0, rank_ppm, said, sure))
