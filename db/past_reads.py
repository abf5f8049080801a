"""The store's reads of the past: superseded memories, and the contradictions of a time."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from db import found_rows
from db.arrays import halfvec
from db.pool import Pool
from memquorum.core.access import Sight
from memquorum.core.contained import Failures
from memquorum.core.retrieval.conflicts import Contradiction
from memquorum.core.retrieval.ranking import Question, Ranking
from memquorum.core.retrieval.replaced import Replaced


class PastReads:
    """The part of `Reads` that finds what is out of service. Methods raise StoreUnavailable."""

    _pool: Pool
    _failures: Failures

    async def replaced(self, sight: Sight, question: Question, given: Ranking) -> list[Replaced]:
        """Finds what may answer a query of what newer memories took the place of, in no order: with `as_of` what was in
        service then."""
        wanted = found_rows.asked_of(question) | {
            "vectors": [halfvec(vector) for vector in question.vectors.values()],
            "query": question.query,
            "depth": given.depth,
            "words": given.words,
        }
        rows = await self._pool.ask("replaced_candidates", wanted, sight)
        return await found_rows.each(found_rows.replaced, rows)

    async def conflicts_then(self, sight: Sight, memory_ids: Sequence[str], as_of: int) -> list[Contradiction]:
        """Finds what contradicted memories at a time, of what was in service then."""
        wanted = {"ids": list(memory_ids), "as_of": as_of}
        rows = await self._pool.ask("conflicts_then", wanted, sight) if memory_ids else []
        return await asyncio.to_thread(found_rows.contradictions, rows, self._failures) if rows else []
