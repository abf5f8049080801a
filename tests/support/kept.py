"""Memories that tests of reading put into a store, and their queries."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import psycopg
from numpy.typing import NDArray

from db import copying
from db.reads import Reads
from memquorum.core.access import EVERYONE, READ
from memquorum.core.ids import memory_id
from memquorum.core.journal.rows import LinkRow, Memory, Strength
from memquorum.core.retrieval.query import Filters
from memquorum.core.retrieval.ranking import DEFAULTS, Candidate, Question
from memquorum.encoders.hashing import HashingEncoder


class Encoder(HashingEncoder):
    """An encoder with the name that the tests' shard uses."""

    @property
    def name(self) -> str:
        return "hashing"


SPACE = "greenhouse"
ENCODER = HashingEncoder(64)
NOW = 1_000_000
ALL = Filters()
SIGHT = EVERYONE.sight(READ)


@dataclass
class StoredMemory:
    """A memory to be stored. Its place in the list is its time, in seconds."""

    text: str
    agent: str = "ann"
    session: str | None = "s1"
    tier: str = "short-term"
    namespace: str = SPACE
    encoder: str = ENCODER.name
    vector: Any = field(default=None)
    type: str = "episodic"
    sensitivity: float = 0.0
    purposes: str | None = None
    jurisdictions: str = ""


def put(dsn: str, told: list[StoredMemory]) -> list[str]:
    """Stores memories; returns their ids."""
    ids = [memory_id(one.namespace, f"e{at}") for at, one in enumerate(told)]
    rows = list(enumerate(zip(map(copying.raw_id, ids), told, strict=True)))
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("INSERT INTO shard (shard, hash, as_of) VALUES (0, '', %s) ON CONFLICT DO NOTHING", [NOW])
        connection.execute(
            "INSERT INTO living SELECT 0, name, 1 FROM unnest(%s::text[]) AS t (name) ON CONFLICT DO NOTHING",
            [list({one.namespace for one in told})],
        )
        copying.copy(connection, "memory_copy", (
            copying.raw(Memory(
                m, 0, t.namespace, t.agent, t.agent, f"e{at}", t.tier, 1_000 * at, len(t.text),
                b"c" * 32, t.encoder, False, None, 0, None, at, t.type,
                round(t.sensitivity * 1e6), t.purposes, t.jurisdictions, session=t.session,
                said=1_000 * at, said_offset=at,
            )) for at, (m, t) in enumerate(zip(ids, told, strict=True))
        ))  # fmt: skip
        alive = [(at, (m, t)) for at, (m, t) in rows if t.tier in ("short-term", "long-term")]
        copying.copy(connection, "content_copy", ((m, t.text, t.namespace) for _, (m, t) in alive))
        copying.copy(connection, "embedding_copy", (
            (m, t.namespace, copying.raw_vector(_vector(t)), t.encoder) for _, (m, t) in alive
        ))  # fmt: skip
        copying.copy(connection, "strength_copy", (
            copying.raw(Strength(ids[at], 0, t.tier, 500_000, 1_000 * at, 1_000 * at, 0)) for at, (_, t) in alive
        ))  # fmt: skip
    return ids


def linked(dsn: str, ids: list[str], *links: tuple[int, str, int]) -> None:
    """Stores links between memories, by their numbers: from, kind, to."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        rows = [LinkRow(0, at, SPACE, ids[a], kind, ids[b]) for at, (a, kind, b) in enumerate(links)]
        copying.copy(connection, "link_copy", map(copying.raw, rows))


def _vector(told: StoredMemory) -> NDArray[np.float32]:
    vector: NDArray[np.float32] = ENCODER.encode([told.text])[0] if told.vector is None else told.vector
    return vector


def question(query: str, filters: Filters = ALL, **more: Any) -> Question:
    vectors = more.get("vectors", {ENCODER.name: ENCODER.encode([query])[0]})
    return Question(more.get("namespace", SPACE), query, vectors, filters)


async def ask(reads: Reads, query: str, filters: Filters = ALL, **more: Any) -> dict[str, Candidate]:
    candidates, _ = await reads.candidates(SIGHT, question(query, filters, **more), DEFAULTS)
    return {one.hit.memory_id: one for one in candidates}
