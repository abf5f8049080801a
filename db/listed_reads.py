"""What the service reads for lists that people look at: goals, pins, holds, orders, epochs and members."""

from __future__ import annotations

from collections.abc import Callable
from itertools import groupby
from typing import Any, TypeVar

import psycopg

from db import admission_rows, found_rows, order_rows, task_rows
from db.pool import Pool
from db.queries import QUERIES
from memquorum.core.access import Sight, covers
from memquorum.core.api.answers import Admission, Epoch, FinishedTask, Ordered, Protector, TaskInShort
from memquorum.core.avro import Codec
from memquorum.core.retrieval.pages import NEEDED_MOST, Decided, Finished, Given, Standing
from memquorum.core.retrieval.query import Filters
from memquorum.core.vote.kinds import ADMITS

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
        if not _seen(sight, page.namespace):
            return []
        wanted = _standing(page) | {"goals": page.goals and list(page.goals), "most": NEEDED_MOST}
        rows = await self._pool.ask("goals_listed", wanted, sight)
        return [(kind, count, tuple(named), said_at, tuple(by)) for kind, count, named, said_at, by in rows]

    async def protections(self, sight: Sight, page: Standing) -> list[tuple[Protector, int]]:
        """The pins or the holds of a namespace, the latest first, each with its entry of the journal."""
        if not _seen(sight, page.namespace):
            return []
        asked = {"kind": page.kind, "ordered_by": page.ordered_by, "reference": page.reference}
        rows = await self._pool.ask("protectors_listed", _standing(page) | asked, sight)
        return [(Protector(*row[:-1]), row[-1]) for row in rows]

    async def tasks(self, sight: Sight, page: Finished) -> list[TaskInShort]:
        """The finished tasks of a namespace, the latest first."""
        if not _seen(sight, page.namespace):
            return []
        wanted = _gates(page) | {
            "namespace": page.namespace, "outcomes": page.outcomes and list(page.outcomes),
            "by": page.agents and list(page.agents), "given": page.memory_id, "from": page.since, "to": page.until,
            "behind": page.behind, "limit": page.limit + 1,
        }  # fmt: skip
        return [task_rows.in_short(row) for row in await self._pool.ask("tasks_listed", wanted, sight)]

    async def task(self, sight: Sight, task_id: str, gates: Filters) -> FinishedTask | None:
        """A finished task; None for one that is out of sight, erased, or kept back by the gates."""
        rows = await self._pool.ask("task_shown", found_rows.filters_of(gates) | {"id": task_id}, sight)
        told = await self._pool.ask("task_feedback", {"id": task_id}, sight) if rows else []
        found = task_rows.whole(rows[0], told) if rows else None
        return found if found is not None and _seen(sight, found.namespace) else None

    async def admission(
        self, sight: Sight, memory_id: str, gates: Filters, least_ppm: Callable[[str], int]
    ) -> Admission | None:
        """Where a memory stands on its way into experience; None for one that is out of sight, or kept back by the
        gates. `least_ppm`: of a namespace, what S has to be."""
        asked = {"id": memory_id, "kinds": sorted(set(ADMITS.values()))}
        rows = await self._pool.ask("admission_shown", found_rows.filters_of(gates) | asked, sight)
        if not rows or not _seen(sight, rows[0][0]):
            return None
        asks = ("admission_trials", "admission_votes", "admission_weights")
        parts = [await self._pool.ask(one, asked, sight) for one in asks]
        return admission_rows.whole(memory_id, rows[0], least_ppm(rows[0][0]), *parts)

    async def orders_given(self, sight: Sight, codec: Codec, page: Given) -> list[tuple[Ordered, int]]:
        """The orders of a namespace that were answered, the latest first, each with the entry that answers it."""
        if not _seen(sight, page.namespace):
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
        elif _seen(sight, page.namespace):
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


def _seen(sight: Sight, namespace: str) -> bool:
    """Row security would show nothing of another namespace; each holds without the other."""
    return covers(sight.namespaces, namespace)


def _standing(page: Standing) -> dict[str, Any]:
    return _gates(page) | {
        "namespace": page.namespace, "memory_id": page.memory_id, "since": page.since, "until": page.until,
        "behind": page.behind, "limit": page.limit + 1,
    }  # fmt: skip


def _gates(page: Standing | Decided | Finished) -> dict[str, Any]:
    """The parameters of the gates; times are the page's own."""
    return found_rows.filters_of(page.gates)
