"""The statements of the retrieval cache: a namespace's most used vectors, and the changes since. No texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray
from psycopg import conninfo

from db.arrays import halfvec, uuids
from db.connection import ACCOUNTS, Link
from db.queries import QUERIES
from memquorum.core.retrieval.cache import Cache, Rows
from memquorum.ports import StoreUnavailable

# A namespace of ten thousand takes a fraction of a second. No search waits for it: searches go to the store meanwhile.
_ANSWER_MS = 20_000


class Near(Struct, frozen=True):
    """A question of a search to the store: whether these are the `k` nearest to a vector of shape (d,) among the
    candidates and the memories of the shard that changed after `after`. Up to `most` changes are compared."""

    namespace: str
    encoder: str
    vector: NDArray[np.float32]
    k: int
    shard: int
    after: int
    most: int
    memory_ids: Sequence[str]

    def parameters(self) -> dict[str, Any]:
        """The parameters, as the statement names them."""
        wanted = {"namespace": self.namespace, "encoder": self.encoder, "vector": halfvec(self.vector)}
        near = {"shard": self.shard, "after": self.after, "most": self.most, "ids": uuids(self.memory_ids)}
        return wanted | near | {"k": self.k}


class Changed(Struct, frozen=True):
    """The changes in a namespace: the memories that are there now, and those that have left."""

    there: Rows
    gone: tuple[str, ...]


class PostgresCached:
    """One thread at a time. Raises StoreUnavailable while the store cannot be reached.

    It reads all tenants' rows, of tables without content: ids and vectors, of which no caller ever gets any.
    """

    def __init__(self, dsn: str, encoder: str) -> None:
        """Connects at the first question. `encoder`: whose vectors are wanted."""
        options = conninfo.conninfo_to_dict(dsn).get("options")
        bounded = f"{options or ''} -c statement_timeout={_ANSWER_MS} -c jit=off".strip()
        self._link = Link(conninfo.make_conninfo(dsn, options=bounded), ACCOUNTS, StoreUnavailable)
        self._encoder = encoder

    def close(self) -> None:
        """Lets the connection go."""
        self._link.close()

    def fill(self, shard: int, namespace: str, capacity: int) -> Cache | None:
        """A cache of the namespace's most used memories, as of this moment; None for a namespace without memories."""
        # One more tells whether those are all.
        rows = self._ask("cache_fill", shard=shard, namespace=namespace, most=capacity + 1)
        found = [row[1:] for row in rows if row[1] is not None]
        if not found:
            return None
        taken = _rows(found[:capacity])
        assert taken is not None
        whole = len(found) <= capacity and len(taken.memory_ids) == len(found)
        return Cache(rows[0][0], taken, whole=whole, capacity=capacity)

    def changed(
        self, shard: int, after: int, namespaces: Sequence[str], most: int
    ) -> tuple[int, dict[str, Changed], frozenset[str]]:
        """Returns the last sequence of the shard's journal, the changes in the namespaces after `after`, and the
        namespaces in which an order to erase was carried out since.

        With as many rows as `most` in all, there may be more.
        """
        rows = self._ask("cache_changed", shard=shard, after=after, namespaces=list(namespaces), most=most)
        of: dict[str, list[tuple[Any, ...]]] = {}
        for _, _, memory_id, namespace, vector, accesses in rows:
            if memory_id is not None:
                of.setdefault(namespace, []).append((memory_id, vector, accesses))
        seq, erased = rows[0][:2] if rows else (0, ())
        return seq, {name: _changed(found) for name, found in of.items()}, frozenset(erased)

    def some(self, namespace: str, memory_ids: Sequence[str]) -> Rows | None:
        """Those of the memories that are there; None where none is."""
        return _rows(self._ask("cache_some", namespace=namespace, ids=uuids(memory_ids)))

    def busiest(self, most: int) -> list[str]:
        """Returns the namespaces whose memories were used most."""
        return [namespace for (namespace,) in self._ask("cache_busiest", most=most)]

    def _ask(self, name: str, **parameters: Any) -> list[tuple[Any, ...]]:
        with self._link.use() as connection, connection.cursor(binary=True) as cursor:
            return cursor.execute(QUERIES[name], {"encoder": self._encoder, **parameters}).fetchall()


def _changed(found: Sequence[tuple[Any, ...]]) -> Changed:
    there = _rows([row for row in found if row[1] is not None])
    gone = tuple(memory_id for memory_id, vector, _ in found if vector is None)
    return Changed(there or Rows((), np.zeros((0, 0), np.float32), ()), gone)


def _rows(found: Sequence[tuple[Any, ...]]) -> Rows | None:
    """Ids, vectors and accesses, of the vectors that are as long as the first; None where there is nothing."""
    if not found:
        return None
    length = len(found[0][1])
    alike = [row for row in found if len(row[1]) == length]
    return Rows([row[0] for row in alike], _vectors([row[1] for row in alike]), [row[2] for row in alike])


def _vectors(sent: Sequence[bytes]) -> NDArray[np.float32]:
    """Halfvecs as `halfvec_send` writes them: two numbers of two bytes, then float16s, big-endian."""
    return np.frombuffer(b"".join(sent), ">f2").reshape(len(sent), -1)[:, 2:].astype(np.float32)
