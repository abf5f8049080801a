"""What the service reads of erasures: what one would take and leave, and what has come of age by a rule."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import psycopg

from db import erasure_rows
from db.erasure_rows import Named, Staying
from db.queries import QUERIES
from memquorum.core.access import Sight

T = TypeVar("T")


class ErasureReads:
    """The part of `Reads` that is about erasures. Methods raise StoreUnavailable."""

    async def _account(self, load: Callable[[psycopg.Connection[Any]], T]) -> T:
        """What is loaded from one snapshot of the store; it may take long."""
        raise NotImplementedError

    async def going(self, sight: Sight, namespace: str, selector: str, value: str) -> list[Named]:
        """Everything that an erasure would take, by id."""
        return await self._account(
            lambda connection: erasure_rows.found(connection, namespace, selector, value, sight=sight)
        )

    async def staying(self, sight: Sight, namespace: str, selector: str, value: str, taken: list[str]) -> list[Staying]:
        """What says the same as what an erasure takes, and stays; by age, what is as old and stays."""
        return await self._account(
            lambda connection: erasure_rows.staying(connection, namespace, selector, value, taken, sight=sight)
        )

    async def times(self, shards: Sequence[int]) -> dict[int, int]:
        """The time of each shard, in milliseconds."""
        wanted = {"shards": list(shards)}
        return dict(await self._account(lambda one: one.execute(QUERIES["retention_times"], wanted).fetchall()))

    async def namespaces(self, sight: Sight) -> list[str]:
        """All namespaces that ever held a memory."""
        return await self._account(lambda connection: erasure_rows.namespaces(connection, sight=sight))

    async def old(self, sight: Sight, shard: int, asked: Sequence[tuple[str, str, int]]) -> dict[tuple[str, str], int]:
        """Answers by namespace and type when the oldest occurred that is too old and not spared; see `erasure_rows`."""
        found = await self._account(lambda one: erasure_rows.old(one, shard, asked, all=False, sight=sight))
        return {(one.namespace, one.type): one.oldest for one in found}
