"""The reads of a policy's preview from the store, at one moment; it changes nothing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager

import numpy as np
import psycopg
from numpy.typing import NDArray
from psycopg.types.json import Json

from db import erasure_rows
from db.connection import READER, Link
from db.erasure_rows import Old
from db.queries import QUERIES
from db.schedule import found_held, found_weighted
from db.store import found_losses
from memquorum.core.avro import Codec
from memquorum.core.caps import Losses
from memquorum.core.consensus.certificate import follow
from memquorum.core.identity.membership import Genesis
from memquorum.core.records import JournalEntry, Standing, Stored
from memquorum.core.salience import STORED
from memquorum.core.vote.kinds import LETS_GO
from memquorum.core.vote.preview import Alive
from memquorum.core.worth import Ranks, like
from memquorum.ports import Candidate, StoreUnavailable, Weighted

_FETCH = 5_000
# halfvec_send: dimensions and a reserved field, 16 bits each, then the components as float16, big-endian.
_HEAD = 4

Embedded = tuple[str, NDArray[np.float32]]
"""Encoder and vector."""


class Moment:
    """The store in one transaction that may not write."""

    def __init__(self, connection: psycopg.Connection) -> None:
        self._connection = connection

    def shards(self) -> list[tuple[int, int, Standing]]:
        """(shard, its time, where it stands)."""
        rows = self._connection.execute(QUERIES["preview_shards"])
        return [
            (shard, as_of, Standing(epoch, epoch_at, interactions, alive, unattested))
            for shard, as_of, epoch, epoch_at, interactions, alive, unattested in rows
        ]

    def configured(self, codec: Codec, genesis: Genesis) -> dict[int, Genesis]:
        """Answers by whom and by which policy each shard's next decision is taken."""
        found = {shard: genesis for shard in range(genesis.shards)}
        wanted = {"shards": list(found), "configs": [genesis.config] * len(found)}
        for shard, pre_prepare, commits in self._connection.execute(QUERIES["configurations"], wanted):
            found[shard] = follow(codec, found[shard], [(pre_prepare, tuple(commits))])
        return found

    def namespaces(self) -> list[str]:
        """All namespaces that ever held a memory."""
        return erasure_rows.namespaces(self._connection)

    def old(self, shard: int, asked: Sequence[tuple[str, str, int]]) -> list[Old]:
        """Returns the counts of memories of a shard that are too old; see `erasure_rows.old`."""
        return erasure_rows.old(self._connection, shard, asked)

    def alive(self, shard: int, epoch: int, namespace: str | None) -> list[Alive]:
        """Yields the living memories, longest unused first. `epoch`: the next one."""
        wanted = {"shard": shard, "epoch": epoch, "namespace": namespace, "kinds": Json(LETS_GO)}
        with self._connection.cursor(name="preview") as cursor:
            cursor.itersize = _FETCH
            rows = cursor.execute(QUERIES["preview_alive"], wanted)
            return [Alive(Candidate(*row), rests, protected, type_) for *row, rests, protected, type_ in rows]

    def losses(self, namespaces: Sequence[str], since: int) -> dict[str, Losses]:
        """Returns the losses of the namespaces."""
        return found_losses(self._connection, [(name, since) for name in namespaces]) if namespaces else {}

    def held(self, shard: int, patterns: Collection[str]) -> dict[str, int]:
        """Returns the number of tokens of the living memories, for each namespace that matches one of the patterns."""
        return found_held(self._connection, shard, patterns)

    def weighted(self, shard: int, namespace: str) -> list[Weighted]:
        """Returns the living memories of a namespace with the values that a budget weighs."""
        return found_weighted(self._connection, shard, namespace)

    def vectors(self, memory_ids: Sequence[str]) -> dict[str, Embedded]:
        """The memories' embeddings."""
        rows = self._connection.execute(QUERIES["preview_vectors"], {"ids": list(memory_ids)})
        return {memory_id: (encoder, _vector(data)) for memory_id, encoder, data in rows}

    def worths(self, codec: Codec, namespace: str) -> tuple[dict[str, tuple[str, int]], dict[str, Ranks]]:
        """Returns the worth of a namespace's memories by their words, each with the group that it is ranked in; and the
        ranks of all accepted texts."""
        of: dict[str, tuple[str, int]] = {}
        ranks: defaultdict[str, Ranks] = defaultdict(Ranks)
        with self._connection.cursor(name="worths") as cursor:
            cursor.itersize = _FETCH
            for (data,) in cursor.execute(QUERIES["preview_worths"], {"namespace": namespace}):
                entry = codec.decode_as(JournalEntry, data)
                told = codec.decode_as(Stored, entry.detail)
                if told.worth_ppm is None:
                    continue
                ranks[like(told.type, told.role)].add(told.worth_ppm)
                if entry.effect == STORED:
                    of[entry.memory_id or ""] = like(told.type, told.role), told.worth_ppm
        return of, ranks

    def recent(self, namespace: str, most: int) -> list[tuple[str, str, Embedded]]:
        """(agent, memory, embedding) of the latest episodes of every agent, oldest first."""
        rows = self._connection.execute(QUERIES["preview_recent"], {"namespace": namespace, "most": most})
        return [(agent, memory_id, (encoder, _vector(data))) for agent, memory_id, encoder, data in rows]


@contextmanager
def moment(dsn: str) -> Iterator[Moment]:
    """Holds one snapshot for the length of the block. Raises StoreUnavailable."""
    link = Link(dsn, READER, StoreUnavailable, isolation=psycopg.IsolationLevel.REPEATABLE_READ)
    try:
        with link.use() as connection, connection.transaction():
            connection.execute(QUERIES["read_only"])
            yield Moment(connection)
    finally:
        link.close()


def _vector(data: bytes) -> NDArray[np.float32]:
    return np.frombuffer(data[_HEAD:], ">f2").astype(np.float32)
