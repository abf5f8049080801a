"""The service's reads about erasures: the memories that one would take and leave, with all that is known of them, and
those too old by a rule."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import psycopg

from db import erasure_rows, report_rows
from db.erasure_rows import Named, Naming, Staying
from db.queries import QUERIES
from memquorum.core.access import Sight
from memquorum.core.accounts.reporting import Asked, Found
from memquorum.core.avro import Codec
from memquorum.core.contained import Failures
from memquorum.core.policy import Policy

T = TypeVar("T")


class ErasureReads:
    """The part of `Reads` that is about erasures. Methods raise StoreUnavailable."""

    _failures: Failures

    async def _account(self, load: Callable[[psycopg.Connection[Any]], T]) -> T:
        """Loads an account from one snapshot of the store; this may take long."""
        raise NotImplementedError

    async def taken(self, sight: Sight, namespace: str, selector: str, value: str) -> list[Named]:
        """Everything that an erasure would take, by id."""
        return await self._account(
            lambda connection: erasure_rows.taken(connection, namespace, selector, value, sight=sight)
        )

    async def staying(self, sight: Sight, namespace: str, selector: str, value: str, taken: list[str]) -> list[Staying]:
        """Returns the memories that say the same as those that an erasure takes and that stay; by age, those that are
        as old and stay."""
        return await self._account(
            lambda connection: erasure_rows.staying(connection, namespace, selector, value, taken, sight=sight)
        )

    async def mentions(self, sight: Sight, namespace: str, name: str, but: list[str]) -> list[Naming]:
        """Returns what stays of a namespace and may have a name in its words, but for these ids; see `erasure_rows`."""
        return await self._account(
            lambda connection: erasure_rows.mentions(connection, namespace, name, but, sight=sight)
        )

    async def report(
        self, sight: Sight, codec: Codec, asked: Asked, shard: int, policy: Callable[[int], Policy]
    ) -> Found:
        """Returns a page of all that concerns a person. `shard`: of the namespace; `policy`: by shard."""
        return await self._account(
            lambda c: report_rows.load(c, codec, asked, sight, shard=shard, policy=policy, failures=self._failures)
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
