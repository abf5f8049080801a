"""Counts and reads the memories that another encoder has encoded, which a change of the encoder has still to encode."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from db.connection import READER, Link
from db.queries import QUERIES
from memquorum.ports import StoreUnavailable

_FIRST = "00000000-0000-0000-0000-000000000000"


class Encoded(Struct, frozen=True):
    """A memory that is alive, with its content in the clear and the name of the encoder that made its embedding.

    `seq`: of the journal entry that changed it last."""

    memory_id: str
    shard: int
    namespace: str
    encoder: str
    seq: int
    text: str
    summary: bool = False
    """Whether it is one: then each of its sentences has a vector too."""


class Waiting(Struct, frozen=True):
    """The number of memories that still have another encoder's embedding: `unchanged` of them are as they were when
    they were read. For the others, promoted meanwhile, an embedding comes too late; they need another one."""

    unchanged: int
    left: int


class Encodings:
    """Reading access to the store. Methods raise StoreUnavailable."""

    def __init__(self, dsn: str) -> None:
        """Connects at the first question."""
        self._link = Link(dsn, READER, StoreUnavailable)

    def close(self) -> None:
        """Lets the connection go."""
        self._link.close()

    def count(self, encoder: str) -> int:
        """Returns the number of memories that other encoders than this one have encoded."""
        with self._link.use() as connection:
            row = connection.execute(QUERIES["reencode_count"], {"encoder": encoder}).fetchone()
        return row[0] if row else 0

    def others(self, encoder: str, after: str | None, limit: int) -> list[Encoded]:
        """The next memories by id that another encoder than this has encoded."""
        wanted = {"encoder": encoder, "after": after or _FIRST, "limit": limit}
        with self._link.use() as connection:
            return [Encoded(*row) for row in connection.execute(QUERIES["reencode_next"], wanted)]

    def waiting(self, encoder: str, memories: Sequence[Encoded]) -> Waiting:
        """Finds those of the memories that are alive and have another encoder's embedding still."""
        with self._link.use() as connection:
            wanted = {"encoder": encoder, "ids": [m.memory_id for m in memories], "seqs": [m.seq for m in memories]}
            row = connection.execute(QUERIES["reencode_waiting"], wanted).fetchone()
        return Waiting(*row) if row else Waiting(0, 0)
