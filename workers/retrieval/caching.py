"""The retrieval caches of the process, one for a namespace: filled, followed and emptied beside the searches.

    search ─► cache: candidates ─► store: confirms them, with texts, in one snapshot ─► answer
      │ no cache, too far, too much changed
      └─────► store: all memories, exactly ─► answer; the cache is filled for the next one

What was applied is heard of by the store's own notification, which comes with the commit, and read from the store. A
cache that lags gives no wrong answer, for each is confirmed; what it must not do is to keep vectors of what is gone. So
one that cannot follow is emptied.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import os
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol, TypeVar

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from db.cached import Near, PostgresCached
from db.told import Told
from memquorum.core import ids
from memquorum.core.access import Sight
from memquorum.core.api.answers import Hit
from memquorum.core.retrieval.cache import CAPACITY, Cache, Compared, answers, confirmed
from memquorum.core.retrieval.query import Search
from memquorum.core.retrieval.repeated import Chosen
from memquorum.ports import StoreUnavailable
from memquorum.telemetry import metrics
from memquorum.telemetry.metrics import Meters

_LOG = logging.getLogger("memquorum.retrieval.cache")

# Room for so many full caches; those asked longest ago give theirs up. 77 MB of vectors of 384 numbers.
FULL_ONES = 5
# So many changes since the cache's sequence the store compares beside the candidates; with more it compares all.
CHANGED_MAX = 500
# So many changes are read at once; with more the cache is filled anew.
_READ_MOST = 5_000
_WARM_UP, _WANTED_MAX, _ADMITTED_MAX = 16, 64, 1_000
# One that is empty, or that others take the room of, is not filled at every search.
_AGAIN_S = 2.0
# Heard of or not, the journal is looked at so often; not so often while much is applied.
_LOOK_S, _PAUSE_S = 5.0, 0.05
# After so long without a look nothing is kept.
_KEEP_S = 30.0
_QUERIES, _ANSWERS = 1_000, 100

T = TypeVar("T")


class Confirms(Protocol):
    """The store, as a tenant sees it."""

    async def search_cached(self, sight: Sight, near: Near, told: Callable[[Told], None]) -> tuple[list[Hit], int, int]:
        """The nearest of what a cache named and of what changed since, how many are there, how many changed."""


class Queries:
    """Vectors of queries that were asked lately, by hashes under a key that nobody else has and that goes with them.

    A bare hash would tell a reader of the process's memory if a guessed question was asked. A vector is overwritten
    when it is dropped.
    """

    def __init__(self) -> None:
        self._key = os.urandom(32)
        self._vectors: OrderedDict[bytes, NDArray[np.float32]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._vectors)

    def get(self, query: str) -> NDArray[np.float32] | None:
        """Returns a copy of a query's vector, so that it stays whole for its user if the kept one is overwritten
        meanwhile."""
        key = self._hash(query)
        if key not in self._vectors:
            return None
        self._vectors.move_to_end(key)
        return self._vectors[key].copy()

    def keep(self, query: str, vector: NDArray[np.float32]) -> None:
        """Keeps a vector, and owns it from then on: it is overwritten when it is dropped."""
        key = self._hash(query)
        before = self._vectors.pop(key, None)
        if before is not None and before is not vector:
            before[:] = 0
        self._vectors[key] = vector
        if len(self._vectors) > _QUERIES:
            self._vectors.popitem(last=False)[1][:] = 0

    def clear(self) -> None:
        """Overwrites and drops all vectors, and makes a new key."""
        for vector in self._vectors.values():
            vector[:] = 0
        self._vectors.clear()
        self._key = os.urandom(32)

    def fingerprint(self, told: bytes) -> bytes:
        """Returns the hash of what was asked, by the same key."""
        return hashlib.blake2b(told, key=self._key, digest_size=32).digest()

    def _hash(self, query: str) -> bytes:
        return self.fingerprint(query.encode())


@dataclass(frozen=True, slots=True)
class Kept:
    """An answer without content (`core.retrieval.repeated`): what stands for all of it, its items, what it was chosen
    from, and the sequence up to which the journal was known."""

    answer: Struct
    items: tuple[Any, ...]
    chosen: Chosen
    seq: int
    named: frozenset[str]


@dataclass(slots=True)
class Held:
    """A namespace's cache, and vectors of queries that were asked of it lately, and answers to them, by fingerprint."""

    cache: Cache
    queries: Queries = field(default_factory=Queries)
    answers: OrderedDict[bytes, Kept] = field(default_factory=OrderedDict)
    forgot: int = 0
    """The number of times that something was forgotten."""

    def keep(self, fingerprint: bytes, answer: Kept) -> None:
        """Keeps an answer, as the latest."""
        self.answers.pop(fingerprint, None)
        self.answers[fingerprint] = answer
        if len(self.answers) > _ANSWERS:
            self.answers.popitem(last=False)

    def forget(self) -> None:
        """Drops what may tell of a memory that is gone: queries and answers."""
        self.queries.clear()
        self.answers.clear()
        self.forgot += 1

    def clear(self) -> None:
        """Drops the cached memories, queries and answers."""
        self.cache.clear()
        self.forget()


@dataclass(frozen=True, slots=True)
class Answer:
    """Hits that the store has confirmed, and with what the query was compared."""

    hits: list[Hit]
    compared: Compared


class Caching:
    """All caches of the process. Its methods run on the event loop; what asks the store, in a thread of its own."""

    def __init__(self, dsn: str, shards: int, encoder: str, meters: Meters, capacity: int = CAPACITY) -> None:
        """`encoder`: whose vectors are compared. `capacity`: memories of a namespace; 0 keeps no caches."""
        self._store = PostgresCached(dsn, encoder)
        self._shards, self._encoder, self._capacity = shards, encoder, capacity
        self._searches = meters.cache_searches
        self._held: OrderedDict[str, Held] = OrderedDict()
        self._wanted: dict[str, bool] = {}
        self._admitted: dict[str, set[str]] = {}
        self._tried: dict[str, float] = {}
        self._dirty: set[int] = set()
        self._news = asyncio.Event()
        self._running = self._fails = False
        meters.follow(metrics.CACHED, lambda: {(): float(sum(len(held.cache) for held in [*self._held.values()]))})
        meters.follow(metrics.CACHES, lambda: {(): float(len(self._held))})

    @property
    def state(self) -> str:
        """off, following, or behind: the store could not be looked at."""
        return "off" if not (self._running and self._capacity) else "behind" if self._fails else "following"

    def cached(self, namespace: str) -> int:
        """Returns the number of a namespace's memories that are held."""
        held = self._held.get(namespace)
        return len(held.cache) if held else 0

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Fills and follows for the duration; empties everything afterwards."""
        if not self._capacity:
            yield
            return
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="cache")
        work = asyncio.create_task(self._work())
        self._running = True
        try:
            yield
        finally:
            self._running = False
            work.cancel()
            await asyncio.wait({work})
            self._drop(list(self._held))
            self._thread.submit(self._store.close)
            self._thread.shutdown(wait=False)

    def heard(self, payload: str) -> None:
        """The journal's notification, '<shard>:<seq>'; anything else may be about every shard."""
        shard = payload.partition(":")[0]
        self._dirty.update({int(shard)} if shard.isdecimal() else range(self._shards))
        self._news.set()

    def vector(self, namespace: str, query: str) -> NDArray[np.float32] | None:
        """The vector of a query that was asked of the namespace lately."""
        held = self._held.get(namespace)
        return held.queries.get(query) if held else None

    def keep(self, namespace: str, query: str, vector: NDArray[np.float32]) -> None:
        """Takes the vector of a query over, if there is a cache of the namespace; it is overwritten in time."""
        held = self._held.get(namespace)
        if held is not None:
            held.queries.keep(query, vector)

    def held(self, namespace: str) -> Held | None:
        """Returns what is kept of a namespace that is read, where answers of it may be given again."""
        if not self._running:
            return None
        held = self._held.get(namespace)
        if held is None:
            self._want(namespace)
        else:
            self._held.move_to_end(namespace)
        return held

    def given_again(self, held: Held, hits: Sequence[Hit]) -> None:
        """An answer was given again: its memories count as used."""
        self._searches.labels("cache", "kept answer").inc()
        held.cache.use([hit.memory_id for hit in hits])

    async def search(
        self,
        store: Confirms,
        sight: Sight,
        wanted: Search,
        vector: NDArray[np.float32],
        told: Callable[[Told], None],
    ) -> Answer | None:
        """The answer, if the cache may give it and the store has confirmed it; None where the store has to be asked.
        `told`: takes what the store tells of the hits besides."""
        if not self._running:
            return None
        held = self._held.get(wanted.namespace)
        if held is None:
            self._want(wanted.namespace)
            return self._no("not cached")
        self._held.move_to_end(wanted.namespace)
        # As the store rounds it.
        found = held.cache.nearest(vector.astype(np.float16).astype(np.float32), wanted.k)
        if found is None or not answers(found, exact=wanted.exact):
            return self._no("not near enough")
        shard = ids.shard_of(wanted.namespace, self._shards)
        near = Near(wanted.namespace, self._encoder, vector, wanted.k, shard, found.seq, CHANGED_MAX, found.memory_ids)
        hits, there, changed = await store.search_cached(sight, near, told)
        if changed:
            self.heard(f"{shard}:")
        if not confirmed(found, there, changed, CHANGED_MAX, hits[0].score if hits else None):
            return self._no("changed")
        held.cache.use([hit.memory_id for hit in hits])
        self._searches.labels("cache", found.compared).inc()
        return Answer(hits, found.compared)

    def answered(self, namespace: str, hits: Sequence[Hit]) -> None:
        """The store has answered: what it found counts as used, and may come in where only the most used are held."""
        held = self._held.get(namespace)
        if held is None:
            return
        found = [hit.memory_id for hit in hits]
        held.cache.use(found)
        if not held.cache.whole:
            waiting = self._admitted.setdefault(namespace, set())
            waiting.update([i for i in found if i not in held.cache][: _ADMITTED_MAX - len(waiting)])
            self._news.set()

    def _no(self, why: str) -> Answer | None:
        self._searches.labels("store", why).inc()
        return None

    def _want(self, namespace: str) -> None:
        now = asyncio.get_running_loop().time()
        if now - self._tried.get(namespace, -_AGAIN_S) >= _AGAIN_S and len(self._wanted) < _WANTED_MAX:
            self._wanted.setdefault(namespace, False)
            self._news.set()

    async def _work(self) -> None:
        clock = asyncio.get_running_loop().time
        looked, warm = clock(), False
        while True:
            try:
                # Also what nobody has told of.
                if clock() - looked >= _LOOK_S:
                    self._dirty.update(range(self._shards))
                await self._follow()
                await self._fill()
                await self._admit()
                if self._fails:
                    # With no namespace held, nothing has asked the store yet: it may still be away.
                    await self._ask(partial(self._store.busiest, 1))
                looked, self._fails = clock(), False
                if not warm:
                    # Once: where it takes too long it would each time.
                    warm, busiest = True, await self._ask(partial(self._store.busiest, _WARM_UP))
                    self._wanted = dict.fromkeys(busiest, True) | self._wanted
                    await self._fill()
            except StoreUnavailable as error:
                self._fails = True
                if self._held and clock() - looked > _KEEP_S:
                    _LOG.warning("the caches are emptied, for they cannot follow the journal: %s", error)
                    self._drop(list(self._held))
                self._dirty.update(range(self._shards))
            except Exception:
                # A cache is not worth a service that stands still.
                _LOG.exception("the caches are emptied")
                self._drop(list(self._held))
            await asyncio.sleep(_PAUSE_S)
            try:
                # Not wait_for, which lets a cancellation fall where news comes at the same moment.
                async with asyncio.timeout(_LOOK_S):
                    await self._news.wait()
            except TimeoutError:
                self._dirty.update(range(self._shards))
            self._news.clear()

    async def _follow(self) -> None:
        """Brings the caches of the reported shards to the end of the journal, one by one."""
        of: dict[int, list[str]] = {}
        for namespace in self._held:
            of.setdefault(ids.shard_of(namespace, self._shards), []).append(namespace)
        dirty, self._dirty = self._dirty, set()
        for shard in sorted(dirty & of.keys()):
            await self._bring(shard, of[shard])

    async def _bring(self, shard: int, namespaces: list[str]) -> None:
        after = min(self._held[namespace].cache.seq for namespace in namespaces)
        seq, changed, erased = await self._ask(partial(self._store.changed, shard, after, namespaces, _READ_MOST))
        if seq < after or sum(len(c.there.memory_ids) + len(c.gone) for c in changed.values()) >= _READ_MOST:
            self._drop(namespaces)
            self._wanted |= dict.fromkeys(namespaces, False)
            return
        for namespace in namespaces:
            held = self._held[namespace]
            found = changed.get(namespace)
            # A query may say what is gone, whether that was held here or not; and of an erasure it may be that only
            # echoes went, or what became no memory.
            if namespace in erased or (found is not None and found.gone):
                held.forget()
            if found is not None:
                held.answers.clear()
                held.cache.remove(found.gone)
                held.cache.put(found.there)
            held.cache.seq = seq
            if held.cache.crowded and len(held.cache) < self._capacity * 0.9:
                # Others of the namespace have room now.
                self._wanted.setdefault(namespace, False)
        self._drop([namespace for namespace in namespaces if not len(self._held[namespace].cache)])

    async def _fill(self) -> None:
        wanted, self._wanted = self._wanted, {}
        for namespace, warming in wanted.items():
            if warming and (namespace in self._held or self._taken() >= FULL_ONES * self._capacity):
                continue
            if len(self._tried) > 10_000:
                self._tried.clear()
            # Before it is read: who searches meanwhile need not ask for it again.
            self._tried[namespace] = asyncio.get_running_loop().time()
            shard = ids.shard_of(namespace, self._shards)
            cache = await self._ask(partial(self._store.fill, shard, namespace, self._capacity))
            self._drop([namespace])
            if cache is None:
                continue
            self._held[namespace] = Held(cache)
            while self._taken() > FULL_ONES * self._capacity and len(self._held) > 1:
                self._drop([next(iter(self._held))])

    async def _admit(self) -> None:
        admitted, self._admitted = self._admitted, {}
        for namespace, memory_ids in admitted.items():
            rows = await self._ask(partial(self._store.some, namespace, sorted(memory_ids)))
            held = self._held.get(namespace)
            if rows is not None and held is not None:
                held.cache.put(rows)

    def _taken(self) -> int:
        return sum(held.cache.size + len(held.queries) for held in self._held.values())

    def _drop(self, namespaces: Sequence[str]) -> None:
        for namespace in namespaces:
            held = self._held.pop(namespace, None)
            if held is not None:
                held.clear()

    async def _ask(self, question: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, question)
