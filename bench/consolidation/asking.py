"""A store with namespaces of its own, asked as `retrieve` asks: Postgres, the ranking, the best read again."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import psycopg
from numpy.typing import NDArray

from db import copying
from db.migrate import migrate
from db.reads import Reads
from infra.embedded.postgres import Postgres
from memquorum.core.access import EVERYONE, READ
from memquorum.core.consolidation.rendering import sentences
from memquorum.core.identity.membership import CONSOLIDATOR
from memquorum.core.journal.rows import Memory, Strength
from memquorum.core.policy import Policy
from memquorum.core.retrieval import rereading
from memquorum.core.retrieval.ranking import DEFAULTS, Question, Scored, rank

_SALIENCE = 500_000


@dataclass(frozen=True)
class Held:
    """A memory of the store. `made_by`: of a summary, who made it."""

    memory_id: str
    text: str
    created: int
    session: str | None = None
    made_by: str | None = None
    importance_ppm: int = _SALIENCE


class Store:
    """Holds memories with their vectors, of one encoder, and answers."""

    def __init__(self, dsn: str, encoder: str, policy: Policy) -> None:
        self._dsn, self._encoder, self._policy = dsn, encoder, policy

    def put(self, namespace: str, held: Sequence[Held], of: Callable[[Sequence[str]], NDArray[np.float32]]) -> None:
        """A namespace with all that is in it. `of`: the vectors of texts, shape (texts, dimensions)."""
        vectors = of([one.text for one in held])
        lines = [(at, place, line) for at, one in enumerate(held) if one.made_by
                 for place, line in enumerate(sentences(one.text))]  # fmt: skip
        below = of([line for *_, line in lines])
        raw = [copying.raw_id(one.memory_id) for one in held]
        with psycopg.connect(self._dsn, autocommit=True) as connection:
            copying.copy(connection, "memory_copy", (
                copying.raw(Memory(
                    one.memory_id, 0, namespace, CONSOLIDATOR if one.made_by else "scribe", "scribe", f"e{at}",
                    "short-term", one.created, len(one.text), bytes(32), self._encoder, False, None, 0, None, at,
                    session=one.session, made_by=one.made_by,
                )) for at, one in enumerate(held)
            ))  # fmt: skip
            spaces = [namespace] * len(raw)
            copying.copy(connection, "content_copy", zip(raw, (one.text for one in held), spaces, strict=True))
            copying.copy(connection, "embedding_copy", (
                (m, namespace, copying.raw_vector(vector), self._encoder)
                for m, vector in zip(raw, vectors, strict=True)
            ))  # fmt: skip
            copying.copy(connection, "sentence_copy", (
                (raw[at], place, namespace, copying.raw_vector(vector), self._encoder)
                for (at, place, _), vector in zip(lines, below, strict=True)
            ))  # fmt: skip
            copying.copy(connection, "strength_copy", (
                copying.raw(Strength(one.memory_id, 0, "short-term", one.importance_ppm, one.created, one.created, 0))
                for one in held
            ))  # fmt: skip
            connection.execute("ANALYZE")

    def ask(self, namespace: str, questions: Sequence[str], vectors: NDArray[np.float32]) -> list[list[Scored]]:
        """Returns each question's memories, best first, as `retrieve` has them before packing."""
        return asyncio.run(self._ask(namespace, questions, vectors))

    async def _ask(self, namespace: str, questions: Sequence[str], vectors: NDArray[np.float32]) -> list[list[Scored]]:
        reads, found = Reads(self._dsn), []
        await reads.open()
        sight = EVERYONE.sight(READ)
        try:
            for text, vector in zip(questions, vectors, strict=True):
                question = Question(namespace, text, {self._encoder: vector})
                candidates, as_of = await reads.candidates(sight, question, DEFAULTS)
                passed, _ = await reads.passed(sight, question)
                ranked = rank(candidates, {self._encoder: passed.get(self._encoder, 0)}, as_of, self._policy)
                by_id = {one.candidate.hit.memory_id: one for one in ranked}
                best = rereading.best_first(text, [one.candidate.hit for one in ranked[: rereading.HEAD]])
                found.append([*(by_id[hit.memory_id] for hit in best), *ranked[rereading.HEAD :]])
        finally:
            await reads.close()
        return found


@contextmanager
def store(encoder: str, policy: Policy) -> Iterator[Store]:
    """An empty one; it goes afterwards."""
    with tempfile.TemporaryDirectory() as folder, Postgres(Path(folder) / "postgres", throwaway=True) as server:
        dsn = server.dsn("memory")
        migrate(dsn, "memory")
        with psycopg.connect(dsn, autocommit=True) as connection:
            connection.execute("INSERT INTO shard (shard, hash) VALUES (0, '')")
        yield Store(dsn, encoder, policy)
