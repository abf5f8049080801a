"""The retrieval service's reads of the store: searches, memories, outcomes, accounts."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

import psycopg
from msgspec.structs import asdict
from psycopg.types.json import Json

from db import (
    decision_rows,
    explain_rows,
    found_rows,
    order_rows,
    receipt_rows,
    rollup_rows,
    session_rows,
)
from db.connection import ACCOUNTS, Link
from db.crowd_reads import Crowds
from db.erasure_reads import ErasureReads
from db.event_reads import EventReads
from db.experience_reads import ExperienceReads
from db.found_reads import FoundReads
from db.listed_reads import ListedReads
from db.past_reads import PastReads
from db.pool import Pool, bounded, in_time
from db.profile_reads import ProfileReads
from db.queries import QUERIES
from memquorum.core import ids, names
from memquorum.core.access import NOWHERE, Sight, covers
from memquorum.core.accounts import decisions as decided
from memquorum.core.accounts.explain import Facts, gated
from memquorum.core.accounts.forgetting import Used
from memquorum.core.accounts.restoring import Resting
from memquorum.core.audit.receipts import Proof
from memquorum.core.avro import Codec
from memquorum.core.caps import NOTHING, Losses
from memquorum.core.contained import Failures
from memquorum.core.journal.rows import Guarded
from memquorum.core.policy import Policy
from memquorum.core.retrieval import buffer
from memquorum.core.retrieval.bounds import DEFAULTS, Bounds
from memquorum.core.retrieval.buffer import Trace
from memquorum.core.retrieval.listing import KEPT, Branch, Listing, Slot
from memquorum.core.retrieval.query import ALL, GATED, Filters, passes
from memquorum.core.retrieval.ranking import Question
from memquorum.core.retrieval.recall import Neighbour, Reach
from memquorum.core.retrieval.walking import EACH, Edge
from memquorum.core.vote.kinds import LETS_GO
from memquorum.ports import Logged, StoreUnavailable

_LOG = logging.getLogger("memquorum.reads")


T = TypeVar("T")


class Reads(FoundReads, ErasureReads, EventReads, ListedReads, PastReads, ExperienceReads, ProfileReads):
    """Reading access to the database `memory` for one event loop. Methods raise StoreUnavailable.

    It reads as a tenant: what is out of sight is answered as what is not there, by the same statements.
    """

    def __init__(self, dsn: str, bounds: Bounds = DEFAULTS, failures: Failures | None = None) -> None:
        self._bounds, self._failures = bounds, failures or Failures()
        self._pool = Pool(dsn, bounds)
        self._crowds = Crowds(self._pool.ask)
        # Accounts need one snapshot over several statements, and are rare: a few connections and threads of their own,
        # since asyncio's threads are for work that is sure to end. An account of a whole erasure takes seconds, and
        # must not hold up every account of a memory.
        self._accounts = ThreadPoolExecutor(bounds.accounts, thread_name_prefix="accounts")
        self._links: SimpleQueue[Link] = SimpleQueue()
        for _ in range(self._bounds.accounts):
            self._links.put(
                Link(bounded(dsn, bounds), ACCOUNTS, StoreUnavailable, isolation=psycopg.IsolationLevel.REPEATABLE_READ)
            )

    async def open(self) -> None:
        """Fills the pool in the background; the first question waits for a connection."""
        await self._pool.open()

    async def close(self) -> None:
        """Lets all connections go."""
        await self._pool.close()
        await asyncio.wait({self._in_accounts(self._let_go) for _ in range(self._bounds.accounts)}, timeout=1)
        self._accounts.shutdown(wait=False, cancel_futures=True)

    async def ping(self) -> None:
        """Raises StoreUnavailable unless the database answers."""
        await self._pool.ask("ping", {}, NOWHERE)

    async def passed(self, sight: Sight, question: Question) -> tuple[dict[str, int], dict[str, int]]:
        """Returns the number of memories that pass the question's filters, by encoder; and of those that do not, by
        filter."""
        through: dict[str, int] = {}
        kept: dict[str, int] = {}
        if await self._crowds.whole(question):
            sizes = await self._crowds.sizes(sight, question.namespace)
            through = {name: sizes.get(name, (0, 0))[0] for name in question.vectors}
            others = sum(free for name, (free, _) in sizes.items() if name not in through)
            left = {"purpose": sum(bound for _, bound in sizes.values()), "encoder": others}
            return through, {name: count for name, count in left.items() if count}
        for encoder, reason, count in await self._pool.ask(
            "passed", found_rows.asked_of(question), sight, planned=question.filters == ALL
        ):
            of, name = (through, encoder) if reason is None else (kept, reason)
            of[name] = of.get(name, 0) + count
        return through, kept

    async def around(
        self, sight: Sight, namespace: str, memory_ids: Sequence[str], reach: Reach, filters: Filters = ALL
    ) -> list[Neighbour]:
        """Memories and what surrounds them, in no order; those that are not alive, or elsewhere, are left out."""
        wanted = {"namespace": namespace, "ids": list(memory_ids), **asdict(reach)} | found_rows.filters_of(filters)
        statement = "around_then" if reach.past else "around"
        return [found_rows.neighbour(row) for row in await self._pool.ask(statement, wanted, sight)]

    async def related(
        self,
        sight: Sight,
        namespace: str,
        memory_ids: Sequence[str],
        within_ms: int = 0,
        filters: Filters = ALL,
        *,
        first: bool = False,
    ) -> list[Edge]:
        """Returns the relations of memories to others that pass all filters, in no order. `first`: without neighbours
        in sessions and in time; `within_ms`: how near these are."""
        told = {"ids": list(memory_ids), "within_ms": within_ms, "first": first, "each": EACH}
        wanted = {"namespace": namespace, **told} | found_rows.filters_of(filters)
        return [found_rows.edge(row) for row in await self._pool.ask("walked", wanted, sight)]

    async def traces(
        self, sight: Sight, namespace: str, agent: str, session: str | None, filters: Filters = ALL
    ) -> list[Trace]:
        """The agent's traces in a session, or in all: those of the newest that can be read, in no order.

        Applies these filters: sensitivity, purpose, jurisdiction, path, attributes, and as of which time."""
        wanted = {"namespace": namespace, "agent": agent, "session": session, "places": buffer.PLACES}
        wanted |= found_rows.filters_of(filters)
        rows = await self._pool.ask("traces", wanted, sight, planned=filters == ALL)
        own = [ids.memory_id(namespace, row[-2]) for row in rows]
        # A repetition may have been erased while its memory was not.
        echoes = [episode for episode, row in zip(own, rows, strict=True) if episode != row[0]]
        gone = {episode for _, episode in await self._pool.ask("erased", {"ids": echoes}, sight)} if echoes else set()
        return [found_rows.trace(row) for episode, row in zip(own, rows, strict=True) if episode not in gone]

    async def encoded(self, sight: Sight, namespace: str) -> dict[str, int]:
        """Returns the number of a namespace's living memories by encoder."""
        return dict(await self._pool.ask("encoded", {"namespace": namespace}, sight))

    async def memory(self, sight: Sight, memory_id: str, gates: Filters | None = None) -> dict[str, Any] | None:
        """A memory as a client sees it; its text only while it is alive. None for one that `gates` keep back."""
        rows = await self._pool.ask("memory_shown", found_rows.one_of(memory_id, gates or ALL), sight)
        found = found_rows.shown(rows[0]) if rows else None
        if found is not None and gates is not None and not passes(gates, **{name: found[name] for name in GATED}):
            return None
        # Row security has shown no other; each holds without the other.
        return found if found is not None and covers(sight.namespaces, found["namespace"]) else None

    async def memories(self, sight: Sight, listing: Listing) -> list[dict[str, Any]]:
        """The memories of a page and one more, if there is one behind it, each as `Listed` has it but for `due_at`."""
        behind, behind_id = listing.behind or (None, None)
        wanted = found_rows.page_of(listing) | {"behind": behind, "behind_id": behind_id, "kept": list(KEPT)}
        return [found_rows.listed(row) for row in await self._pool.ask("memories_listed", wanted, sight)]

    async def slot(self, sight: Sight, slot: Slot) -> dict[str, Any] | None:
        """Returns the memory that fills a slot, as `memory` shows it; None if the slot is empty or the gates keep the
        memory back."""
        wanted = found_rows.filters_of(slot.filters) | {
            "namespace": slot.namespace, "slot_keys": list(names.spellings(slot.key)),
            "slot_paths": None if slot.path is None else list(names.spellings(slot.path)), "kept": list(KEPT),
        }  # fmt: skip
        rows = await self._pool.ask("slot_shown", wanted, sight)
        return found_rows.shown(rows[0]) if rows else None

    async def paths(self, sight: Sight, branch: Branch) -> list[str]:
        """The paths of a page and one more, if there is one behind it."""
        return sorted(path for (path,) in await self._pool.ask("paths_listed", found_rows.page_of(branch), sight))

    async def facts(
        self,
        sight: Sight,
        codec: Codec,
        memory_id: str,
        gates: Filters = ALL,
        policy: Callable[[int], Policy] = explain_rows.first,
    ) -> Facts | None:
        """Returns the facts for an account of the memory. None for one that `gates` keep back. `policy`: by shard."""
        found = await self._account(
            lambda c: explain_rows.load(c, codec, memory_id, sight, policy, gates=gates, failures=self._failures)
        )
        return found if found is not None and passes(gates, **gated(found)) else None

    async def decisions(self, sight: Sight, wanted: decided.Wanted) -> decided.Found:
        """Returns a page of the decisions about a namespace's memories, with the certificates."""
        return await self._account(lambda connection: decision_rows.load(connection, wanted, sight))

    async def configured(self, known: Sequence[int]) -> list[tuple[int, bytes, tuple[bytes, ...]]]:
        """The decisions that changed the shards' configurations: shard, pre-prepare, commits, in their order. `known`:
        by shard, the number of the configuration that is known; what follows from that is answered."""
        wanted = {"shards": list(range(len(known))), "configs": list(known)}
        rows = await self._account(lambda connection: connection.execute(QUERIES["configurations"], wanted).fetchall())
        return [(shard, pre_prepare, tuple(commits)) for shard, pre_prepare, commits in rows]

    async def resting(self, sight: Sight, namespace: str, memory_ids: Sequence[str]) -> list[Resting]:
        """Those of the memories that the namespace has, and what keeps them from coming back."""
        wanted = {"namespace": namespace, "ids": list(memory_ids)}
        return [Resting(*row) for row in await self._pool.ask("restore_asked", wanted, sight)]

    async def used(self, sight: Sight, codec: Codec, namespace: str, memory_ids: Sequence[str]) -> list[Used]:
        """Those of the memories that the namespace has, and what a vote to forget them would look at."""
        if not covers(sight.namespaces, namespace):
            return []
        wanted = {"namespace": namespace, "ids": list(memory_ids), "kinds": Json(LETS_GO)}
        # A tenant does not see how many epochs a shard had.
        rows = await self._account(lambda connection: connection.execute(QUERIES["forget_asked"], wanted).fetchall())
        ranked = ((*row[:-1], order_rows.rank_ppm(codec, row[-1])) for row in rows)
        return [Used(*row) for row in ranked]

    async def rewards(
        self, sight: Sight, namespace: str, agent: str | None, limit: int
    ) -> list[tuple[str, str, int, int]]:
        """Returns the rewards of a namespace's agents, or of one: agent, kind, how often, and millionths in all."""
        rows = await self._pool.ask("rewards", {"namespace": namespace, "agent": agent, "limit": limit}, sight)
        return [(agent, kind, count, amount) for agent, kind, count, amount in rows]

    async def rollup_log(
        self, sight: Sight, namespace: str, gates: Filters, near: Sequence[str] | None = None
    ) -> list[Logged]:
        """The patches of a namespace's roll-ups in the order of the journal, with what may be read of their
        sentences. `near`: of roll-ups alone that have a sentence of one of these memories, or of what one sums up."""
        wanted = {"namespace": namespace, "gated": True, "limit": rollup_rows.LOG_MOST, "sources": None}
        wanted |= {"near": None if near is None else list(near)} | found_rows.filters_of(gates)
        rows = await self._pool.ask("rollup_log", wanted, sight)
        if near is not None:
            wanted["sources"] = rollup_rows.unread(rows)
        wanted["limit"] = rollup_rows.SAID_MOST
        read = bool(rows) and wanted["sources"] != []
        quotes = await self._pool.ask("rollup_quotes", wanted, sight) if read else []
        return rollup_rows.logged(rows, rollup_rows.quoted(quotes, self._failures))

    async def session(self, sight: Sight, codec: Codec, place: session_rows.Place) -> session_rows.Found:
        """Returns the episodes of a session, and the position of its shard."""
        return await session_rows.load(self._pool.ask, sight, codec, place)

    async def protectors(self, sight: Sight, memory_ids: Sequence[str]) -> list[tuple[Any, ...]]:
        """The orders that protect memories: memory, kind, order, who, reference, since when, and who signed."""
        if not memory_ids:
            return []
        rows = await self._pool.ask("protections", {"ids": list(memory_ids)}, sight)
        return [
            (row[0], row[1], row[5], row[7], row[8], row[9], row[6]) for row in rows if covers(sight.namespaces, row[4])
        ]

    async def guarded(self, sight: Sight, namespace: str) -> Guarded:
        """Returns the counts of protected memories of a namespace."""
        if not covers(sight.namespaces, namespace):
            return Guarded()
        rows = await self._pool.ask("guarded", {"namespaces": [namespace]}, sight)
        return Guarded(*rows[0][1:]) if rows else Guarded()

    async def quota(self, sight: Sight, namespace: str, since: int) -> Losses:
        """Returns a namespace's quota: the living memories, and those forgotten after `since`."""
        if not covers(sight.namespaces, namespace):
            return NOTHING
        rows = await self._pool.ask("losses", {"namespaces": [namespace], "since": [since]}, sight)
        return Losses(rows[0][1], tuple(zip(*rows[0][2:], strict=True))) if rows else NOTHING

    async def needed(self, sight: Sight, namespace: str, kind: str) -> dict[str, str]:
        """The memories of a namespace that a goal needs, by its kind of protection; of each the order."""
        if not covers(sight.namespaces, namespace):
            return {}
        return dict(row[:2] for row in await self._pool.ask("needed", {"namespace": namespace, "kind": kind}, sight))

    async def required(self, sight: Sight, namespace: str, memory_ids: Sequence[str], most: int) -> list[str]:
        """Memories of a namespace with those that they require, over any number of steps; one more than the most, if
        there are more."""
        wanted = {"namespace": namespace, "ids": list(memory_ids), "limit": most + 1}
        return [memory_id for (memory_id,) in await self._pool.ask("required", wanted, sight)]

    async def receipt(self, sight: Sight, order_id: str) -> Proof | None:
        """Returns the proof of an erasure; None where no such order was carried out."""
        found = await self._account(lambda connection: receipt_rows.load(connection, order_id))
        return found[1] if found and covers(sight.namespaces, found[0]) else None

    async def _account(self, load: Callable[[psycopg.Connection[Any]], T]) -> T:
        def snapshot() -> T:
            link = self._links.get()
            try:
                return link.ask(load)
            finally:
                self._links.put(link)

        asked = self._in_accounts(snapshot)
        try:
            return await in_time(asked, self._bounds)
        finally:
            # A question that still waits for a thread is cancelled, and never gets one.
            asked.cancel()

    def _let_go(self) -> None:
        # Not put back: the next thread closes another one. A connection in use stays with its user.
        with suppress(Empty):
            self._links.get_nowait().close()

    def _in_accounts(self, work: Callable[[], T]) -> asyncio.Future[T]:
        return asyncio.get_running_loop().run_in_executor(self._accounts, work)
