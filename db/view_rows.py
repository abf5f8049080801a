"""The rows of a replica's own view of memories (db/view.py)."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from typing import NamedTuple

from db import view_statements as sql
from memquorum.core.merging import Marks
from memquorum.core.worth import Ranks, step


class Known(NamedTuple):
    """A memory as the replica has read it; content and embedding sealed. Times in milliseconds."""

    memory_id: str
    namespace: str
    agent: str
    created: int
    last_access: int
    touched: int
    salience_ppm: int
    reinforced: int
    reward_ppm: int | None
    confidence_ppm: int | None
    uncertainty_ppm: int | None
    commitment: bytes
    sealed_content: bytes
    sealed_embedding: bytes | None
    encoder: str
    sealed_signed: bytes | None = None
    """The bytes that the agent signed, where the namespace takes nothing unsigned; not read elsewhere."""
    witnessed: int = 0
    """The number of times that another agent said the same, before or after, in an episode that may be a memory of its
    own."""
    reads: int = 0
    sealed_counts: bytes | None = None
    """The number of earlier texts for each of its words (`core.worth`)."""
    like: str | None = None
    """The group of texts that its worth is ranked in."""
    accepted: int = 0
    """The position of its episode in the accepted stream."""
    role: str | None = None
    """As whom its agent said it, in a conversation."""
    said: int = 0
    """When it was said last (`core.journal.repetitions.again`)."""
    said_offset: int = 0
    """The position of that saying in the accepted stream."""
    vouchers: str = ""
    """Other agents that said the same, each once with the end of a line behind it, as many as count."""
    marks: Marks = Marks("")
    """The marks that a repetition of it has to agree on."""

    @property
    def vouched(self) -> int:
        """The number of other agents that bear it out."""
        return self.vouchers.count("\n")


class Recent(NamedTuple):
    """A late episode of one of the member's own agents."""

    memory_id: str
    sealed_content: bytes
    sealed_embedding: bytes
    encoder: str
    agent: str
    sealed_signed: bytes | None = None
    occurred_at: int = 0
    repeats: bool = False
    """Whether it only repeats a memory."""


class Fading(NamedTuple):
    """The columns of a memory for a vote that looks only at its age, words and embedding."""

    at: int
    """Its place among those asked for."""
    memory_id: str
    namespace: str
    last_access: int
    sealed_embedding: bytes | None
    encoder: str
    sealed_content: bytes
    sealed_counts: bytes | None
    like: str | None


class Finished(NamedTuple):
    """A finished task as it was read: texts and vector sealed under its own key."""

    memory_id: str
    namespace: str
    accepted: int
    """Its position in the accepted stream."""
    agent: str
    occurred_at: int
    outcome: str
    said_by: str
    configuration: bytes
    seed: int
    encoder: str
    sealed_content: bytes
    sealed_embedding: bytes
    sealed_signed: bytes | None
    """The bytes that the agent signed, where the namespace takes nothing unsigned."""
    commitment: bytes
    retrieved: tuple[str, ...]


class Admitted(NamedTuple):
    """A version of the weight of a memory that was admitted to experience, from the decision of an epoch on."""

    namespace: str
    memory_id: str
    version: int
    epoch: int
    weight_ppm: int
    kept: str | None = None
    """The memory that stands for it while that one is alive, since they say the same."""


class ViewForgotten:
    """Holds the table `forgotten` in memory, as it is read often: the memories that the last decisions of each shard
    forgot, each with the offset of its decision."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._offsets: dict[int, dict[str, int]] = {}
        self.load()

    def load(self) -> None:
        """Reads the decisions of all shards."""
        self._offsets.clear()
        for (shard,) in self._connection.execute(sql.FORGETTING_SHARDS).fetchall():
            self.load_shard(shard)

    def load_shard(self, shard: int) -> None:
        """Reads the decisions of a shard."""
        rows = self._connection.execute(sql.FORGOTTEN_OF, (shard,))
        found = {memory_id: offset for offset, memory_ids in rows for memory_id in json.loads(memory_ids)}
        self._offsets[shard] = found

    def at(self, memory_id: str) -> int:
        """Returns the offset of the last decision that forgot a memory, -1 if none did lately."""
        return max((of_shard[memory_id] for of_shard in self._offsets.values() if memory_id in of_shard), default=-1)


class ViewRehearsals:
    """The column `rehearsed` of the table `memory`, and what follows for the salience."""

    def __init__(self, connected: Callable[[], sqlite3.Connection]) -> None:
        """`connected`: the view's connection, in the batch of now."""
        self._connected = connected

    def take(
        self, memory_id: str, namespace: str, *, factor_ppm: int, previous: int, as_of: int, every_ms: int
    ) -> None:
        """Applies a rehearsal of a memory: scales its salience by a factor in millionths. `previous`: the rehearsal
        before it, by whose time it was read; `every_ms`: how long after that it counts."""
        self._connected().execute(sql.REHEARSE, (memory_id, namespace, factor_ppm, as_of, every_ms, previous))


class ViewWorths:
    """The table `worth`. Ranks are taken among all of like type and author kind (`core.worth`), stored or not."""

    def __init__(self, connected: Callable[[], sqlite3.Connection]) -> None:
        """`connected`: the view's connection, in the batch of now."""
        self._connected = connected

    def add(self, namespace: str, like: str, worth_ppm: int) -> None:
        """An episode of this worth was accepted."""
        self._connected().execute(sql.WEIGHED, (namespace, like, step(worth_ppm)))

    def ranks(self, namespace: str) -> dict[str, Ranks]:
        """The worths of a namespace, by what they are ranked among."""
        steps: dict[str, dict[int, int]] = {}
        for like, at, texts in self._connected().execute(sql.WORTHS, (namespace,)):
            steps.setdefault(like, {})[at] = texts
        return {like: Ranks(of_like) for like, of_like in steps.items()}
