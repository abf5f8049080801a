"""What the service reads for lists that people look at: goals, pins, holds, orders, epochs and members."""

from __future__ import annotations

from collections.abc import Callable
from itertools import groupby
from typing import Any, TypeVar

import psycopg

from db import found_rows, order_rows
from db.pool import Pool
from db.queries import QUERIES
from memquorum.core.access import Sight, covers
from memquorum.core.api.answers import Epoch, Ordered, Protector
from memquorum.core.avro import Codec
from memquorum.core.retrieval.pages import NEEDED_MOST, Decided, Given, Standing

T = TypeVar("T")
Needs = tuple[str, int, tuple[str, ...], int, tuple[str, ...]]
"""A goal's kind of protection, how many memories it needs, the first of them, when that was said last, and by whom."""


class ListedReads:
    """The part of `Reads` that lists. Each finds the entries of a page and one more, if there is one behind it; what is
    out of sight is in none. Methods raise StoreUnavailable."""

    _pool: Pool

    async def _account(self, load: Callable[[psycopg.Connection[Any]], T]) -> T:
        """What is loaded from one snapshot of the store; it may take long."""
        raise NotImplementedError

    async def goals(self, sight: Sight, page: Standing) -> list[Needs]:
        """The goals of a namespace that are active, by name."""
        if not seen(sight, page.namespace):
            return []
        wanted = _standing(page) | {"goals": page.goals and list(page.goals), "most": NEEDED_MOST}
        rows = await self._pool.ask("goals_listed", wanted, sight)
        return [(kind, count, tuple(named), said_at, tuple(by)) for kind, count, named, said_at, by in rows]

    async def protections(self, sight: Sight, page: Standing) -> list[tuple[Protector, int]]:
        """The pins or the holds of a namespace, the latest first, each with its entry of the journal."""
        if not seen(sight, page.namespace):
            return []
        asked = {"kind": page.kind, "ordered_by": page.ordered_by, "reference": page.reference}
        rows = await self._pool.ask("protectors_listed", _standing(page) | asked, sight)
        return [(Protector(*row[:-1]), row[-1]) for row in rows]

    async def orders_given(self, sight: Sight, codec: Codec, page: Given) -> list[tuple[Ordered, int]]:
        """The orders of a namespace that were answered, the latest first, each with the entry that answers it."""
        if not seen(sight, page.namespace):
            return []
        wanted = order_rows.some(page.effects) | {
            "namespace": page.namespace, "since": page.since, "until": page.until, "behind": page.behind,
            "limit": page.limit + 1,
        }  # fmt: skip
        rows = await self._pool.ask("orders_listed", wanted, sight)
        told = ((order_rows.shown(codec, [row[1:] for row in own]), seq) for seq, own in groupby(rows, lambda r: r[0]))
        return [(one, seq) for one, seq in told if one is not None]

    async def epochs(self, sight: Sight, page: Decided) -> list[Epoch]:
        """The epochs in which something of a namespace was voted on, or all of a shard where `page` names none, the
        latest first. All of them only who sees everything may ask for."""
        wanted = {
            "kinds": page.kinds and list(page.kinds), "since": page.since, "until": page.until, "behind": page.behind,
            "limit": page.limit + 1,
        }  # fmt: skip
        if page.namespace is None:
            asked = wanted | {"shard": page.shard}
            if "*" not in sight.namespaces:
                return []
            found = await self._account(lambda one: one.execute(QUERIES["epochs_in"], asked).fetchall())
        elif seen(sight, page.namespace):
            of = _gates(page) | wanted | {"namespace": page.namespace}
            found = list(await self._pool.ask("epochs_of", of, sight))
        else:
            found = []
        return [_epoch(*row) for row in found]

    async def configured_at(self, shard: int) -> dict[int, tuple[int, int]]:
        """The configurations that a shard has had beside the first: the epoch that decided on each, and its time."""
        rows = await self._account(lambda one: one.execute(QUERIES["configured_at"], {"shard": shard}).fetchall())
        return {config: (epoch, as_of) for config, epoch, as_of in rows}


def _epoch(shard: int, epoch: int, as_of: int, trigger: str, *more: Any) -> Epoch:
    """The order for which an epoch was opened may be another tenant's, so its id is not told."""
    return Epoch(shard, epoch, as_of, trigger.partition("/")[0], *more)


def seen(sight: Sight, namespace: str) -> bool:
    """Row security would show nothing of another namespace; each holds without the other."""
    return covers(sight.namespaces, namespace)


def _standing(page: Standing) -> dict[str, Any]:
    return _gates(page) | {
        "namespace": page.namespace, "memory_id": page.memory_id, "since": page.since, "until": page.until,
        "behind": page.behind, "limit": page.limit + 1,
    }  # fmt: skip


def _gates(page: Standing | Decided) -> dict[str, Any]:
    """The parameters of the gates; times are the page's own."""
    return found_rows.filters_of(page.gates)
