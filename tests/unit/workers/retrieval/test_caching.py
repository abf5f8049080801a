"""The caches of a process: when they are filled, how they follow, what they give up, and what the store has to say."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

import numpy as np
import pytest

from db.cached import Changed, Near
from db.queries import QUERIES
from memquorum.core import ids
from memquorum.core.access import Sight
from memquorum.core.api.answers import Hit
from memquorum.core.retrieval.cache import Cache, Rows
from memquorum.core.retrieval.query import Search
from memquorum.ports import StoreUnavailable
from memquorum.telemetry.metrics import Meters
from workers.retrieval import caching
from workers.retrieval.caching import Caching

SIGHT = Sight(("a", "b", "c"))
QUERY = np.array([1, 0, 0], np.float32)


def some(*names: str) -> Rows:
    """Memories that lie about the query, the first name nearest."""
    vectors = np.array([[1, 0.1 * n, 0] for n in range(len(names))], np.float32)
    return Rows(names, vectors.reshape(len(names), 3), [1] * len(names))


class Store:
    """The store as the caches ask it, and as a search asks it to confirm."""

    def __init__(self) -> None:
        self.seq = 5
        self.spaces: dict[str, tuple[str, ...]] = {"a": ("a1", "a2"), "b": ("b1",), "c": ("c1",)}
        self.news: dict[str, Changed] = {}
        self.erased: frozenset[str] = frozenset()
        self.down = False
        self.asked: list[str] = []
        self.near: list[Near] = []

    def _ask(self, what: str) -> None:
        self.asked.append(what)
        if self.down:
            raise StoreUnavailable("gone")

    def fill(self, shard: int, namespace: str, capacity: int) -> Cache | None:
        self._ask(f"fill {namespace}")
        assert shard == ids.shard_of(namespace, 4)
        names = self.spaces.get(namespace, ())
        return (
            Cache(self.seq, some(*names[:capacity]), whole=len(names) <= capacity, capacity=capacity) if names else None
        )

    def changed(
        self, _: int, after: int, namespaces: Sequence[str], most: int
    ) -> tuple[int, dict[str, Changed], frozenset[str]]:
        self._ask(f"changed after {after}")
        return self.seq, {name: change for name, change in self.news.items() if name in namespaces}, self.erased

    def some(self, namespace: str, memory_ids: Sequence[str]) -> Rows | None:
        self._ask(f"some of {namespace}")
        return some(*memory_ids)

    def busiest(self, _: int) -> list[str]:
        self._ask("busiest")
        return []

    def close(self) -> None:
        pass

    async def search_cached(self, sight: Sight, near: Near, told: Any) -> tuple[list[Hit], int, int]:
        assert sight is SIGHT
        self.near.append(near)
        there = [i for i in near.memory_ids if i in self.spaces[near.namespace]]
        hits = [Hit(i, "t", "short-term", "x", 0, 0, 0, 0.5, 0.9) for i in there[: near.k]]
        return hits, len(there), 0


@asynccontextmanager
async def running(store: Store, capacity: int = 100) -> AsyncIterator[Caching]:
    found = Caching("", 4, "e", Meters(), capacity)
    found._store = store  # type: ignore[assignment]
    async with found.running():
        yield found


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(4):
        while not condition():
            await asyncio.sleep(0.01)


async def search(found: Caching, store: Store, namespace: str, query: str = "q", **said: bool) -> list[str] | None:
    asked = Search(namespace, query, 1, None, True, **said)
    found.keep(namespace, query, QUERY.copy())
    answer = await found.search(store, SIGHT, asked, QUERY, lambda _: None)
    return None if answer is None else [hit.memory_id for hit in answer.hits]


async def held(found: Caching, store: Store, *namespaces: str) -> None:
    for namespace in namespaces:
        assert await search(found, store, namespace) is None
        await until(lambda n=namespace: bool(found.cached(n)))  # type: ignore[misc]


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(caching, "_PAUSE_S", 0)
    monkeypatch.setattr(caching, "_AGAIN_S", 0.0)


async def test_the_first_search_of_a_namespace_is_the_stores_and_the_next_the_caches() -> None:
    store = Store()
    async with running(store) as found:
        await held(found, store, "a")
        assert await search(found, store, "a") == ["a1"]
        (near,) = store.near
        assert (near.namespace, near.encoder, near.k, near.after, near.shard) == ("a", "e", 1, 5, ids.shard_of("a", 4))
        assert set(near.memory_ids) == {"a1", "a2"} and found.state == "following"
        # An unknown namespace is not asked for at every search.
        assert await search(found, store, "nowhere") is None
    assert found.cached("a") == 0 and found.state == "off"


async def test_without_room_there_is_no_cache() -> None:
    store = Store()
    async with running(store, 0) as found:
        assert await search(found, store, "a") is None
    assert store.asked == []


async def test_what_was_applied_is_followed_and_what_has_gone_leaves_nothing() -> None:
    store = Store()
    async with running(store) as found:
        await held(found, store, "a")
        matrix = found._held["a"].cache._matrix
        assert found.vector("a", "q") is None
        await search(found, store, "a")
        assert found.vector("a", "q") is not None and found.vector("b", "q") is None
        assert found.vector("a", "another") is None
        store.seq, store.news = 9, {"a": Changed(some("a3"), ("a1", "a2"))}
        found.heard(f"{ids.shard_of('a', 4)}:9")
        await until(lambda: found.cached("a") == 1)
        assert not matrix[1:].any() and "a3" in found._held["a"].cache and found._held["a"].cache.seq == 9
        # A query may say what was forgotten.
        assert found.vector("a", "q") is None
        store.asked.clear()
        store.seq, store.news = 10, {"a": Changed(some(), ("a3",))}
        found.heard("")
        await until(lambda: "a" not in found._held)
        assert not matrix.any()


@pytest.mark.parametrize(
    ("gone", "erased"),
    [(("a1",), ()), (("elsewhere",), ()), ((), ("a",))],
    ids=["what is held goes", "what is not held goes", "an order took no memory"],
)
async def test_no_query_outlives_what_is_gone(gone: tuple[str, ...], erased: tuple[str, ...]) -> None:
    """The vectors of queries went only where an erased memory lay in the cache itself.

    They stayed where it was not among the most used, and where the order took echoes or dropped episodes alone; and
    none was overwritten.
    """
    store = Store()
    async with running(store) as found:
        await held(found, store, "a")
        vector = QUERY.copy()
        found.keep("a", "Ada Lovelace has diabetes", vector)
        lent = found.vector("a", "Ada Lovelace has diabetes")
        store.seq, store.erased = 9, frozenset(erased)
        store.news = {"a": Changed(some(), gone)} if gone else {}
        found.heard("")
        await until(lambda: found._held["a"].cache.seq == 9)
        assert not len(found._held["a"].queries) and not vector.any()
        # A reader that compares with it meanwhile has a copy.
        assert lent is not None and lent.any()


async def test_a_query_is_known_by_a_hash_under_a_key_of_its_own_and_overwritten_when_it_is_let_go(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(caching, "_QUERIES", 2)
    one, other = caching.Queries(), caching.Queries()
    vectors = [QUERY.copy() for _ in range(4)]
    for name, vector in zip("aabc", vectors, strict=True):
        one.keep(name, vector)
        other.keep(name, QUERY.copy())
    assert [bool(vector.any()) for vector in vectors] == [False, False, True, True]
    assert not one._vectors.keys() & other._vectors.keys()
    before = set(one._vectors)
    one.clear()
    one.keep("b", QUERY.copy())
    assert not before & one._vectors.keys()


async def test_a_journal_that_runs_back_or_runs_away_empties_them() -> None:
    store = Store()
    async with running(store) as found:
        await held(found, store, "a")
        store.seq, store.spaces = 2, {"a": ("a9",)}
        found.heard("")
        await until(lambda: "a" in found._held and "a9" in found._held["a"].cache)
        store.seq, store.news = 3, {"a": Changed(some(), tuple(f"x{n}" for n in range(caching._READ_MOST)))}
        first = found._held["a"]
        found.heard("")
        await until(lambda: "a" in found._held and found._held["a"] is not first)


async def test_one_that_cannot_follow_is_emptied(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(caching, "_KEEP_S", 0)
    store = Store()
    async with running(store) as found:
        await held(found, store, "a")
        matrix, store.down = found._held["a"].cache._matrix, True
        found.heard("")
        await until(lambda: not found._held)
        assert not matrix.any() and found.state == "behind"
        # It holds nothing that could fail to follow, and the store is away still.
        store.asked.clear()
        found.heard("")
        await until(lambda: "busiest" in store.asked)
        assert found.state == "behind"
        store.down = False
        await held(found, store, "a")
        await until(lambda: found.state == "following")


async def test_one_that_fails_in_another_way_is_emptied_and_the_service_goes_on() -> None:
    store = Store()
    async with running(store) as found:
        await held(found, store, "a")
        store.news = {"a": Changed(Rows(["odd"], np.ones((1, 7), np.float32), [1]), ())}
        found.heard("")
        await until(lambda: not found._held)
        store.news = {}
        await held(found, store, "a")


async def test_those_asked_longest_ago_give_up_their_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(caching, "FULL_ONES", 3)  # a query takes as much room as a memory
    store = Store()
    async with running(store, 1) as found:
        await held(found, store, "b", "c")
        assert await search(found, store, "b") == ["b1"]
        lost = found._held["c"].cache._matrix
        await held(found, store, "a")
        assert list(found._held) == ["b", "a"] and not lost.any()


async def test_what_the_store_found_comes_into_one_that_holds_the_most_used() -> None:
    store = Store()
    store.spaces["a"] = ("a1", "a2", "a3")
    async with running(store, 2) as found:
        await held(found, store, "a")
        assert await search(found, store, "a", exact=True) is None
        hits = [Hit("a3", "t", "short-term", "x", 0, 0, 0, 0.5, 0.9)]
        found.answered("a", hits)
        await until(lambda: "a3" in found._held["a"].cache)
        assert found.cached("a") == 2


def test_what_a_search_asks_of_a_row_is_asked_of_what_the_cache_found() -> None:
    wanted = " ".join(QUERIES["search"].split()).split(" WHERE ")[1].split(" ORDER BY ")[0].split(" AND ")
    assert "e.encoder = %(encoder)s" in wanted
    for name in ("search_cached", "cache_fill", "cache_some"):
        there = " ".join(QUERIES[name].split())
        assert [condition for condition in wanted if condition not in there] == [], name


async def test_what_is_held_or_being_read_is_not_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(caching, "_AGAIN_S", 2.0)
    store, go = Store(), threading.Event()
    store.busiest = lambda _: ["a"]  # type: ignore[method-assign]
    fill = store.fill

    def slow(shard: int, namespace: str, capacity: int) -> Cache | None:
        found = fill(shard, namespace, capacity)
        go.wait(4)
        return found

    store.fill = slow  # type: ignore[method-assign]
    async with running(store) as found:
        assert await search(found, store, "a") is None
        await until(lambda: "fill a" in store.asked)
        assert await search(found, store, "a") is None
        go.set()
        await held(found, store, "b")
        assert (found.cached("a"), store.asked.count("fill a"), store.asked.count("fill b")) == (2, 1, 1)
