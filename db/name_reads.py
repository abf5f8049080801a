"""The store's reads by names: what texts say, and which memories have a name."""

from __future__ import annotations

from collections.abc import Sequence

from db import found_rows
from db.pool import Pool
from memquorum.core.access import Sight
from memquorum.core.retrieval.entities import LOOKED, Entity, Holder
from memquorum.core.retrieval.query import ALL, Filters


class NameReads:
    """The part of `Reads` that finds memories by names. Methods raise StoreUnavailable."""

    _pool: Pool

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
