"""The service's reads for lists that people look at: goals, pins, holds, orders, epochs and members."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Any, TypeVar

import psycopg

from db import found_rows, order_rows
from db.pool import Pool
from db.queries import QUERIES
from memquorum.core.access import Sight, covers
from memquorum.core.accounts.chronicle import Line, wanted
from memquorum.core.accounts.pages import (
    NEEDED_MOST,
    Checked,
    Contradicted,
    Decided,
    Entries,
    Given,
    Standing,
    Talked,
    Tenants,
)
from memquorum.core.api.answers import (
    AgentInShort,
    Conflict,
    Epoch,
    NamespaceInShort,
    Ordered,
    Protector,
    SessionInShort,
)
from memquorum.core.avro import Codec
from memquorum.core.records import JournalAppended
from memquorum.core.retrieval.conflicts import Pair
from memquorum.core.retrieval.query import Filters

T = TypeVar("T")
_LINKS = 8 * 1024 * 1024
"""So many bytes of the journal are read at once, and one entry more."""
_SPEAKERS = 20
"""So many agents of a session are named."""
AGENTS_MOST = 100
"""The agents of a namespace that are named."""
Counted = tuple[dict[str, int], list[AgentInShort], tuple[int, int, int | None, int]]
"""The numbers by tier, the agents, and of the shard its time, its last epoch and when that was decided."""
Needs = tuple[str, int, tuple[str, ...], int, tuple[str, ...]]
"""A goal's kind of protection, how many memories it needs, the first of them, when that was said last, and by whom."""


class ListedReads:
    """The part of `Reads` that lists. Each finds the entries of a page and one more, if there is one behind it; what is
    out of sight is in none. Methods raise StoreUnavailable."""

    _pool: Pool

    async def _account(self, load: Callable[[psycopg.Connection[Any]], T]) -> T:
        """Loads an account from one snapshot of the store; this may take long."""
        raise NotImplementedError

    async def goals(self, sight: Sight, page: Standing) -> list[Needs]:
        """The goals of a namespace that are active, by name."""
        if not seen(sight, page.namespace):
            return []
        wanted = found_rows.page_of(page) | {"most": NEEDED_MOST}
        rows = await self._pool.ask("goals_listed", wanted, sight)
        return [(kind, count, tuple(named), said_at, tuple(by)) for kind, count, named, said_at, by in rows]

    async def protections(self, sight: Sight, page: Standing) -> list[tuple[Protector, int]]:
        """The pins or the holds of a namespace, the latest first, each with its entry of the journal."""
        if not seen(sight, page.namespace):
            return []
        rows = await self._pool.ask("protectors_listed", found_rows.page_of(page), sight)
        return [(Protector(*row[:-1]), row[-1]) for row in rows]

    async def orders_given(self, sight: Sight, codec: Codec, page: Given) -> list[tuple[Ordered, int]]:
        """The orders of a namespace that were answered, the latest first, each with the entry that answers it."""
        if not seen(sight, page.namespace):
            return []
        asked = found_rows.page_of(page) | order_rows.some(page.effects)
        rows = await self._pool.ask("orders_listed", asked, sight)
        told = ((order_rows.shown(codec, [row[1:] for row in own]), seq) for seq, own in groupby(rows, lambda r: r[0]))
        return [(one, seq) for one, seq in told if one is not None]

    async def order(self, sight: Sight, codec: Codec, order_id: str) -> Ordered | None:
        """Returns the outcome of an order; None until the journal has answered it."""
        rows = await self._pool.ask("order_shown", order_rows.order_parameters(order_id), sight)
        found = order_rows.shown(codec, rows)
        return found if found is not None and covers(sight.namespaces, found.namespace) else None

    async def epochs(self, sight: Sight, page: Decided) -> list[Epoch]:
        """The epochs in which something of a namespace was voted on, or all of a shard where `page` names none, the
        latest first. All of them only who sees everything may ask for."""
        asked = found_rows.page_of(page)
        if page.namespace is None:
            if "*" not in sight.namespaces:
                return []
            found = await self._account(lambda one: one.execute(QUERIES["epochs_in"], asked).fetchall())
        elif seen(sight, page.namespace):
            found = list(await self._pool.ask("epochs_of", asked, sight))
        else:
            found = []
        return [_epoch(*row) for row in found]

    async def journal(self, sight: Sight, page: Entries, after: int = -1) -> list[Line]:
        """The journal's entries about a namespace, the latest first; only those `after` a sequence."""
        if not seen(sight, page.namespace):
            return []
        effects, decisions = wanted(page.effects)
        asked = {
            "namespace": page.namespace, "shard": page.shard, "effects": effects, "decisions": decisions,
            "memory_id": page.memory_id, "since": page.since, "until": page.until, "before": page.behind,
            "after": after, "limit": page.limit + 1,
        }  # fmt: skip
        rows = await self._pool.ask("journal_listed", asked, sight)
        return [_line(*row) for row in rows]

    async def links(self, sight: Sight, page: Checked) -> tuple[list[JournalAppended], int]:
        """All entries of a shard's journal behind one, as links of its chain, and the last entry that there is. Only
        who sees everything may ask for them."""
        if "*" not in sight.namespaces:
            return [], 0
        asked = {
            "shard": page.shard, "after": page.behind[0] if page.behind else 0, "limit": page.limit, "bytes": _LINKS,
        }  # fmt: skip

        def load(connection: psycopg.Connection[Any]) -> tuple[list[JournalAppended], int]:
            rows = connection.execute(QUERIES["journal_links"], asked).fetchall()
            (ends,) = connection.execute(QUERIES["journal_ends"], {"shard": page.shard}).fetchone() or (None,)
            return [JournalAppended(entry, before, own) for _, entry, before, own in rows], ends or 0

        return await self._account(load)

    async def journal_latest(self, sight: Sight, namespace: str, shard: int) -> int:
        """The sequence of the last entry about a namespace."""
        if not seen(sight, namespace):
            return 0
        ((latest,),) = await self._pool.ask("journal_latest", {"namespace": namespace, "shard": shard}, sight)
        return int(latest)

    async def namespaces_seen(self, sight: Sight, page: Tenants) -> list[NamespaceInShort]:
        """The namespaces in sight, by name."""
        rows = await self._pool.ask("namespaces_listed", {"behind": page.behind, "limit": page.limit + 1}, sight)
        return [NamespaceInShort(*row) for row in rows]

    async def namespace(self, sight: Sight, namespace: str, shard: int) -> Counted:
        """The numbers of a namespace, and the time of its shard."""
        if not seen(sight, namespace):
            return {}, [], (0, 0, None, 0)
        tiers = await self._pool.ask("namespace_tiers", {"namespace": namespace}, sight)
        agents = await self._pool.ask("namespace_agents", {"namespace": namespace, "limit": AGENTS_MOST}, sight)
        times = await self._pool.ask("shard_clock", {"shard": shard}, sight)
        return dict(tiers), [AgentInShort(*row) for row in agents], times[0] if times else (0, 0, None, 0)

    async def contradicted(self, sight: Sight, page: Contradicted) -> list[Conflict]:
        """The open contradictions of a namespace, the last found first."""
        if not seen(sight, page.namespace):
            return []
        before, older = page.behind or (None, None)
        asked = found_rows.page_of(page) | {"before": before, "before_older": older}
        return [_conflict(*row) for row in await self._pool.ask("conflicts_listed", asked, sight)]

    async def sessions(self, sight: Sight, page: Talked) -> list[tuple[SessionInShort, str]]:
        """The sessions of a namespace, the one in which something was said last first, each with its place."""
        if not seen(sight, page.namespace):
            return []
        before, offset = page.behind or (None, None)
        asked = found_rows.page_of(page) | {"before": before, "before_offset": offset, "agents_most": _SPEAKERS}
        rows = await self._pool.ask("sessions_listed", asked, sight)
        return [
            (SessionInShort(session, tuple(agents), first_at, said, *counts), f"{said}/{offset}")
            for said, offset, session, agents, first_at, *counts in rows
        ]

    async def last_epoch(self, sight: Sight, shard: int) -> int:
        """The last decided epoch of a shard; 0 before there is one."""
        times = await self._pool.ask("shard_clock", {"shard": shard}, sight)
        return times[0][1] if times else 0

    async def kept_back(self, sight: Sight, memory_ids: Sequence[str], gates: Filters) -> set[str]:
        """The memories among these that the gates keep back."""
        asked = {"ids": list(memory_ids)} | found_rows.filters_of(gates)
        return {one for (one,) in await self._pool.ask("kept_back", asked, sight)}

    async def configured_at(self, shard: int) -> dict[int, tuple[int, int]]:
        """The configurations that a shard has had beside the first: the epoch that decided on each, and its time."""
        rows = await self._account(lambda one: one.execute(QUERIES["configured_at"], {"shard": shard}).fetchall())
        return {config: (epoch, as_of) for config, epoch, as_of in rows}


def _line(  # noqa: PLR0917 - a row of the store
    seq: int, as_of: int, effect: str, event_id: str, memory_id: str | None, entry: bytes | None, epoch: int | None,
    outcomes: dict[str, int] | None,
) -> Line:  # fmt: skip
    return Line(seq, as_of, effect, event_id, memory_id, entry, epoch, outcomes or {})


def _conflict(seq: int, *row: Any) -> Conflict:
    newer, older, own, newer_at, older_at, newer_tier, older_tier, stated, compared, agent, older_agent, *texts = row
    pair = Pair(newer, older, own, newer_at, older_at, newer_tier, older_tier, stated=stated, compared=compared)
    return Conflict(
        newer=newer, older=older, first=pair.first, disputed=not (own or stated), stated=stated, compared=compared,
        agent=agent, older_agent=older_agent, newer_at=newer_at, older_at=older_at, newer_tier=newer_tier,
        older_tier=older_tier, newer_text=texts[0], older_text=texts[1], journal_seq=seq,
    )  # fmt: skip


def _epoch(shard: int, epoch: int, as_of: int, trigger: str, *more: Any) -> Epoch:
    """The order for which an epoch was opened may be another tenant's, so its id is not told."""
    return Epoch(shard, epoch, as_of, trigger.partition("/")[0], *more)


def seen(sight: Sight, namespace: str) -> bool:
    """Row security would show nothing of another namespace; each holds without the other."""
    return covers(sight.namespaces, namespace)
