"""The store's reads that find memories near a question, and what is asked of memories that were found."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from db import found_rows
from db.arrays import halfvec, uuids, vector
from db.cached import Near
from db.crowd_reads import Crowds
from db.pool import Pool
from db.told import Told, taken
from memquorum.core.access import Sight
from memquorum.core.api.answers import Hit
from memquorum.core.contained import Failures
from memquorum.core.privacy.nearly import LEAST, NearText
from memquorum.core.retrieval.conflicts import Contradiction
from memquorum.core.retrieval.entities import LOOKED, Entity, Holder
from memquorum.core.retrieval.query import ALL, Filters
from memquorum.core.retrieval.ranking import Candidate, Question, Ranking
from memquorum.core.retrieval.repeated import Standing
from memquorum.core.retrieval.supports import Support

_WITHHELD_MOST, _WITHHELD_EACH = 200, 8
"""So many withheld memories an answer is compared with, and so many of them each memory of it."""


def _unheard(_: Told) -> None:
    """Takes nothing of what a statement tells besides."""


class FoundReads:
    """The part of `Reads` that finds memories. Methods raise StoreUnavailable."""

    _pool: Pool
    _crowds: Crowds
    _failures: Failures

    async def search(
        self,
        sight: Sight,
        namespace: str,
        encoder: str,
        vector: NDArray[np.float32],
        k: int,
        *,
        filters: Filters = ALL,
        exact: bool = False,
        told: Callable[[Told], None] = _unheard,
    ) -> list[Hit]:
        """The k nearest memories of a namespace that pass, by exact cosine, nearest first, ties by id.

        `vector`: shape (d,), of the encoder that made the store's; memories of other encoders are not compared.
        `told`: takes what the statement tells of them besides.
        """
        wanted = {"namespace": namespace, "encoder": encoder, "vector": halfvec(vector), "k": k}
        if filters != ALL:
            found = await self._pool.ask("search_filtered", wanted | found_rows.filters_of(filters), sight)
            await self._tell(sight, namespace, found, told, encoder)
        elif not exact and await self._crowds.near(namespace, encoder):
            found = await self._crowds.search(sight, wanted, len(vector))
            await self._tell(sight, namespace, found, told, encoder)
        else:
            found, beside = taken(await self._pool.ask("search", wanted, sight), found_rows.OWN)
            told(beside)
        return await found_rows.each(found_rows.hit_of, found)

    async def indexed(self, namespace: str, encoder: str) -> bool:
        """Whether an index finds the nearest of a namespace, nearly all of them, where `exact` does not forbid it."""
        return await self._crowds.near(namespace, encoder)

    async def search_cached(
        self, sight: Sight, near: Near, told: Callable[[Told], None] = _unheard
    ) -> tuple[list[Hit], int, int]:
        """The nearest of what a cache named and of what changed since; how many of the named are there, and how many
        changed: see core/retrieval/cache.confirmed. `told`: as of `search`."""
        rows, beside = taken(await self._pool.ask("search_cached", near.parameters(), sight), found_rows.OWN)
        told(beside)
        there, changed = rows[0][found_rows.OWN + 1 :]
        return await found_rows.each(found_rows.hit_of, [row for row in rows if row[0] is not None]), there, changed

    async def answer_again(
        self, sight: Sight, namespace: str, shard: int, after: int, *, memory_ids: Sequence[str],
        watched: Sequence[str], filters: Filters,
    ) -> tuple[dict[str, Hit], Standing] | None:  # fmt: skip
        """Returns the memories of a kept answer, by id, and how those stand that it was chosen from. None where
        something but a use was journaled in the namespace after the sequence `after`, or one is gone."""
        wanted = found_rows.filters_of(filters) | {
            "namespace": namespace, "shard": shard, "after": after, "ids": uuids(memory_ids), "watched": uuids(watched),
        }  # fmt: skip
        rows = await self._pool.ask("answer_again", wanted, sight)
        if len(rows) < len(memory_ids) or not rows:
            return None
        own = found_rows.OWN - 2
        as_of, last_access, salience = next(row[own:] for row in rows if row[own + 1] is not None or not watched)
        hits = (found_rows.hit_of((*row[:own], 0.0, None)) for row in rows)
        return {hit.memory_id: hit for hit in hits}, Standing(tuple(last_access or ()), tuple(salience or ()), as_of)

    async def candidates(
        self, sight: Sight, question: Question, given: Ranking, told: Callable[[Told], None] = _unheard
    ) -> tuple[list[Candidate], int]:
        """Returns the candidates for a query, in no order, and the time of the shard (0 without candidates).

        Memories of other encoders than the question's are not compared. `told`: as of `search`.
        """
        rows = await self._candidates(sight, question, given)
        await self._tell(sight, question.namespace, rows, told)
        return await found_rows.each(found_rows.candidate, rows), rows[0][-1] if rows else 0

    async def _candidates(self, sight: Sight, question: Question, given: Ranking) -> list[tuple[Any, ...]]:
        if await self._crowds.whole(question):
            return await self._crowds.candidates(sight, question, given)
        wanted = found_rows.asked_of(question) | {
            "vectors": [halfvec(vector) for vector in question.vectors.values()],
            "query": question.query,
            "depth": given.depth,
            "words": given.words,
            "reach": len(given.fusion.context),
        }
        return await self._pool.ask("candidates", wanted, sight, planned=question.filters == ALL)

    async def _tell(
        self,
        sight: Sight,
        namespace: str,
        rows: Sequence[tuple[Any, ...]],
        told: Callable[[Told], None],
        encoder: str | None = None,
    ) -> None:
        """Asks what `told` wants to hear of the memories of rows: in a statement of its own, for to plan it takes
        longer than to answer it, and the statements that found them are planned anew each time."""
        if rows and told is not _unheard:
            wanted = {"namespace": namespace, "ids": uuids(row[0] for row in rows), "encoder": encoder}
            told(taken(await self._pool.ask("beside", wanted, sight), 1 if encoder else None)[1])

    async def conflicts(self, sight: Sight, memory_ids: Sequence[str]) -> list[Contradiction]:
        """Finds what contradicts memories, where both are alive."""
        rows = await self._pool.ask("conflicts", {"ids": list(memory_ids)}, sight) if memory_ids else []
        return await self.contradictions(rows)

    async def contradictions(self, rows: Sequence[Sequence[Any]]) -> list[Contradiction]:
        """Reads rows of `conflicts`. Off the loop: of a summary each sentence is read."""
        return await asyncio.to_thread(found_rows.contradictions, rows, self._failures) if rows else []

    async def supports(self, sight: Sight, memory_ids: Sequence[str]) -> list[Support]:
        """Finds which of the memories are summaries of which others of them."""
        rows = await self._pool.ask("supports", {"ids": list(memory_ids)}, sight) if len(memory_ids) > 1 else []
        return [Support(*row) for row in rows]

    async def entries(self, sight: Sight, memory_ids: Sequence[str]) -> dict[str, int]:
        """Returns the position of each memory's last saying in the accepted stream."""
        rows = await self._pool.ask("entries", {"ids": list(memory_ids)}, sight) if memory_ids else []
        return {memory_id: seq for memory_id, seq in rows}

    async def said(
        self, sight: Sight, namespace: str, memory_ids: Sequence[str]
    ) -> dict[str, tuple[str, Sequence[str]]]:
        """Returns the text of each memory that is there, and its links to names."""
        wanted = {"ids": list(memory_ids), "namespace": namespace}
        rows = await self._pool.ask("names_said", wanted, sight)
        return {memory_id: (body, named or ()) for memory_id, body, named in rows}

    async def holders(
        self,
        sight: Sight,
        namespace: str,
        names: Sequence[Entity],
        filters: Filters = ALL,
        *,
        each: int,
        most: int | None = None,
    ) -> list[Holder]:
        """Returns the latest memories that have each of some names and pass all filters, `each` at most; none of a name
        that more than `most` have."""
        wanted = {
            "namespace": namespace, "looked": LOOKED, "each": each, "most": most,
            "words": [one.words for one in names], "written": [one.written for one in names],
            "any_case": [one.any_case for one in names],
        } | found_rows.filters_of(filters)  # fmt: skip
        rows = await self._pool.ask("names_shared", wanted, sight)
        return [found_rows.holder(names, row) for row in rows]

    async def withheld_near(
        self, sight: Sight, namespace: str, encoder: str, given: Sequence[str], gates: Filters
    ) -> dict[str, list[NearText]]:
        """The texts that the gates keep from a reader, near the memories that it is to be given, by the ids of these.
        Texts that a profile hides are not among them: see the row security of `memory`."""
        wanted = found_rows.filters_of(gates) | {"namespace": namespace, "encoder": encoder, "given": list(given)}
        wanted |= {"most": _WITHHELD_MOST, "each": _WITHHELD_EACH, "apart": 1 - LEAST}
        found: dict[str, list[NearText]] = {}
        for memory_id, text, distance in await self._pool.ask("withheld_near", wanted, sight) if given else []:
            found.setdefault(memory_id, []).append((text, 1.0 - distance))
        return found

    async def vectors(self, sight: Sight, encoder: str, memory_ids: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        """The vectors of memories by an encoder, of those that have one."""
        wanted = {"ids": list(memory_ids), "encoder": encoder}
        rows = await self._pool.ask("vectors", wanted, sight) if memory_ids else []
        return {memory_id: vector(sent) for memory_id, sent in rows}
