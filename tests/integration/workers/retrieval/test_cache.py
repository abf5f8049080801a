"""The retrieval cache on a real store and a real broker: it answers as the store does, and never with what has gone."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import psycopg
import pytest
from msgspec.structs import replace
from starlette.testclient import TestClient

from db.standing import Clear
from db.store import PostgresStore
from memquorum.core.avro import Codec
from memquorum.core.journal.rows import RowKeys
from memquorum.core.records import ErasedEpisode
from memquorum.telemetry.bundle import Telemetry
from tests.builders import erasures, genesis, votes
from tests.builders.served import bearer, stored
from tests.builders.shard import NAMESPACE, Shard, memory_id
from tests.support.kept import Encoder
from tests.support.waiting import PATIENCE_S
from workers.retrieval import caching
from workers.retrieval.app import LOOPBACK, around
from workers.retrieval.door import Door
from workers.retrieval.service import Service

GENESIS = genesis.make(**erasures.entitled(signed=()))
PLACES = ("cellar", "attic", "garden", "boat")
TEXTS = {f"m{n}": f"the key number {n} of the {PLACES[n % 4]} hangs behind door {n % 7}" for n in range(60)}
ASKED = {"query": "where is the key of the cellar", "peek": True, "namespace": NAMESPACE}


class World:
    """A shard and the store that the commit worker keeps of it, written by the commit worker's own transaction."""

    def __init__(self, dsn: str, codec: Codec) -> None:
        self.store = PostgresStore(dsn)
        self.store.start(GENESIS.cluster, GENESIS.shards)
        self.shard, self.codec = Shard(codec, GENESIS), codec
        self.shard.tick(1_000)

    def store_all(self, names: list[str]) -> None:
        for name in names:
            self.shard.episode(name, at=900)
        self.flush()

    def forget(self, name: str) -> None:
        self.shard.decide([votes.proposal(memory_id(name), "forget")])
        self.flush()

    def erase(self, name: str, was: str = "short-term") -> None:
        which = {"order_id": memory_id(name, "orders"), "selector": "memory", "value": memory_id(name)}
        order = erasures.ordered(GENESIS, **which)
        signed = erasures.signed(self.codec, GENESIS, order)
        record = erasures.accepted(order, signed, self.shard.rows.state.as_of)
        self.shard.erase(record, [ErasedEpisode(memory_id(name), was, b"c" * 32 if was == "short-term" else None)])
        self.flush()

    def flush(self) -> None:
        net = self.shard.work.net()
        texts = {memory_id(name): text for name, text in TEXTS.items()}
        clear = {i: Clear(texts[i], Encoder().encode([texts[i]])[0]) for i in net.revealed}
        with self.store.transaction({net.before: RowKeys()}) as transaction:
            transaction.write([net], clear, {})
        self.shard.work = type(self.shard.work)(replace(self.shard.rows))


@pytest.fixture
def world(databases: tuple[str, str], codec: Codec) -> Iterator[World]:
    found = World(databases[0], codec)
    found.store_all([f"m{n}" for n in range(40)])
    found.shard.tick(60_000)
    found.flush()
    yield found
    found.store.close()


Opens = Callable[[int], Any]


@pytest.fixture
def opens(databases: tuple[str, str], kafka: str, codec: Codec) -> Opens:
    """A service with a cache for so many memories of a namespace."""

    @contextmanager
    def opened(memories: int) -> Iterator[tuple[TestClient, Service]]:
        service = Service(
            databases[0], kafka, GENESIS, codec, encoder=Encoder(), before=None, door=Door(None),
            shown=Telemetry().stage("retrieval"), cache_memories=memories,
        )  # fmt: skip
        with TestClient(around(service, LOOPBACK, service.meters), base_url="http://127.0.0.1") as client:
            yield client, service

    return opened


def search(client: TestClient, **asked: Any) -> dict[str, Any]:
    answer = client.post("/search", json=ASKED | asked)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def until(client: TestClient, condition: Callable[[dict[str, Any]], bool], **asked: Any) -> dict[str, Any]:
    deadline = time.monotonic() + PATIENCE_S
    while not condition(found := search(client, **asked)):
        assert time.monotonic() < deadline, found
        time.sleep(0.01)
    return found


def cached(found: dict[str, Any]) -> bool:
    return bool(found["served_from"] == "cache")


def test_the_cache_answers_as_the_store_does(world: World, opens: Opens) -> None:
    with opens(1_000) as (client, _), opens(0) as (plain, _):
        first = until(client, cached)
        assert (first["compared"], first["cached"]) == ("all", 40)
        for k in (1, 3, 39, 40, 100):
            for query in (ASKED["query"], "door 3", "number 17", "nothing of all this"):
                mine, its = search(client, k=k, query=query), search(plain, k=k, query=query)
                assert (mine["served_from"], its["served_from"], its["cached"]) == ("cache", "store", 0)
                assert mine["hits"] == its["hits"]
        # New memories are found at once, whether the cache knows of them or not.
        world.store_all(["m41", "m42"])
        assert search(client, k=100)["hits"] == search(plain, k=100)["hits"]
        assert client.get("/readyz").json()["cache"] == "following"
        assert plain.get("/readyz").json()["cache"] == "off"
        assert search(client, namespace="elsewhere") | {"used": 0} == {
            "namespace": "elsewhere", "hits": [], "used": 0, "served_from": "store", "compared": "all", "cached": 0,
            "answerable": False,
            "left_out": {},
        }  # fmt: skip
        metrics = client.get("/metrics").text
        assert 'memquorum_cache_searches_total{served_from="cache",why="all"}' in metrics


def test_what_is_gone_is_never_served_from_the_commit_on(world: World, opens: Opens) -> None:
    """Searches race with forgets and erasures: one that began after a commit has nothing of what went with it."""
    answers: list[tuple[float, float, str, set[str]]] = []
    with opens(1_000) as (client, service):
        until(client, cached)
        stop = threading.Event()

        def ask() -> None:
            while not stop.is_set():
                began = time.monotonic()
                found = search(client, k=100)
                ids = {hit["memory_id"] for hit in found["hits"]}
                answers.append((began, time.monotonic(), found["served_from"], ids))

        asking = [threading.Thread(target=ask) for _ in range(2)]
        for thread in asking:
            thread.start()
        gone: dict[str, float] = {}
        came: dict[str, float] = {}
        try:
            for n in range(20):
                (world.erase if n % 2 else world.forget)(f"m{n}")
                gone[memory_id(f"m{n}")] = time.monotonic()
                world.store_all([f"m{40 + n}"])
                came[memory_id(f"m{40 + n}")] = time.monotonic()
        finally:
            seen = len(answers)
            until(client, lambda _: len(answers) > seen + 2)
            stop.set()
            for thread in asking:
                thread.join()
        stale = [(i, at) for began, _, _, ids in answers for i, at in gone.items() if began > at and i in ids]
        missed = [(i, at) for began, _, _, ids in answers for i, at in came.items() if began > at and i not in ids]
        assert (stale, missed) == ([], [])
        first, last = min(gone.values()), max(came.values())
        meanwhile = [source for began, _, source, _ in answers if first < began < last]
        assert meanwhile.count("cache") > len(meanwhile) / 2, "it was not the cache that answered"
        # Nor is it left in memory, as soon as the cache has read the journal.
        until(client, lambda found: found["cached"] == 40 and cached(found), k=1)
        held = service.caching._held[NAMESPACE]
        assert not gone.keys() & set(held.cache._ids) and came.keys() <= set(held.cache._ids)
        for name in list(TEXTS)[:20]:
            vector = Encoder().encode([TEXTS[name]])[0]
            cosines = held.cache._matrix @ vector
            assert cosines.max() < 0.999, f"{name} is still there"


def test_an_erasure_that_takes_no_memory_leaves_no_query(world: World, opens: Opens) -> None:
    world.shard.episode("m50", at=900, outcome="below_threshold")
    world.flush()
    with opens(1_000) as (client, service):
        until(client, cached)
        (kept,) = service.caching._held[NAMESPACE].queries._vectors.values()
        assert kept.any()
        world.erase("m50", "dropped")
        deadline = time.monotonic() + PATIENCE_S
        while kept.any():
            assert time.monotonic() < deadline
            time.sleep(0.01)


def test_a_cache_that_has_heard_of_nothing_is_right_all_the_same(
    world: World, opens: Opens, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It does not follow: the store says what changed, and where that is too much it answers itself."""

    async def follow(_: caching.Caching) -> None:
        pass

    monkeypatch.setattr(caching.Caching, "_follow", follow)
    monkeypatch.setattr(caching, "CHANGED_MAX", 12)
    with opens(1_000) as (client, _), opens(0) as (plain, _):
        until(client, cached)
        for n in range(8):
            (world.erase if n % 2 else world.forget)(f"m{n}")
        world.store_all([f"m{n}" for n in range(40, 44)])
        found = search(client, k=20)
        assert cached(found) and found["hits"] == search(plain, k=20)["hits"] and found["cached"] == 40
        world.store_all(["m44"])
        found = search(client, k=20)
        assert not cached(found) and found["hits"] == search(plain, k=20)["hits"]


def test_one_with_too_little_room_says_what_it_compared(world: World, opens: Opens, databases: tuple[str, str]) -> None:
    with psycopg.connect(databases[0], autocommit=True) as connection:
        used = [memory_id(f"m{n}") for n in range(10)]
        connection.execute("UPDATE strength SET accesses = 5 WHERE memory_id = ANY(%s)", [used])
    with opens(12) as (client, service):
        found = until(client, cached, query=TEXTS["m3"], k=3)
        assert (found["compared"], found["cached"]) == ("most used", 12)
        assert found["hits"][0]["memory_id"] == memory_id("m3")
        held = service.caching._held[NAMESPACE].cache
        assert all(i in held for i in used)
        exact = search(client, query=TEXTS["m3"], k=3, exact=True)
        assert (exact["served_from"], exact["compared"]) == ("store", "all")
        # No cached memory is near, so the store is asked; what was found there often enough enters the cache.
        rare = search(client, query="boat boat boat", k=3)
        assert rare["served_from"] == "store"
        world.forget("m3")
        again = search(client, query=TEXTS["m3"], k=3)
        assert memory_id("m3") not in {hit["memory_id"] for hit in again["hits"]}
        assert again["served_from"] == "store" or again["hits"][0]["score"] >= 0.85


def test_what_is_busiest_is_warm_at_the_start(world: World, opens: Opens, databases: tuple[str, str]) -> None:
    with psycopg.connect(databases[0], autocommit=True) as connection:
        connection.execute("UPDATE strength SET accesses = 1 WHERE memory_id = %s", [memory_id("m1")])
    with opens(1_000) as (client, service):
        deadline = time.monotonic() + PATIENCE_S
        while not service.caching.cached(NAMESPACE):
            assert time.monotonic() < deadline
            time.sleep(0.01)
        assert cached(search(client))
        assert np.count_nonzero(service.caching._held[NAMESPACE].cache._matrix) > 0


def test_what_is_for_certain_purposes_is_not_in_the_cache(world: World, opens: Opens) -> None:
    with opens(1_000) as (client, _):
        until(client, cached)
        world.shard.episode("m40", at=900, purposes=("billing",))
        world.flush()
        secret = memory_id("m40")
        given = search(client, query=TEXTS["m40"], purpose="billing")
        assert (given["hits"][0]["memory_id"], given["served_from"]) == (secret, "store")
        assert search(client, query=TEXTS["m40"], types=["task"])["left_out"] == {
            "type": {"count": 41, "memory_ids": []}
        }
        world.store_all(["m41"])
        found = until(client, lambda found: found["cached"] == 41, k=60)
        assert cached(found) and len(found["hits"]) == 41
        assert secret not in {hit["memory_id"] for hit in found["hits"]}
    with opens(1_000) as (client, _):
        found = until(client, cached, k=60)
        assert found["cached"] == 41 and secret not in {hit["memory_id"] for hit in found["hits"]}


QUESTION = {"namespace": NAMESPACE, "query": "where is the key of the cellar", "agent": "ann", "peek": True}
READS = {
    "/retrieve": QUESTION | {"budget_tokens": 200},
    "/recall": QUESTION,
    "/context": QUESTION | {"budget_tokens": 400},
}


def given_again(client: TestClient, headers: dict[str, str] | None = None) -> float:
    """The number of answers that were kept and given again. `headers`: a key's that may see the metrics."""
    head = 'memquorum_cache_searches_total{served_from="cache",why="kept answer"} '
    page = client.get("/metrics", headers=headers).text
    return sum(float(line.removeprefix(head)) for line in page.splitlines() if line.startswith(head))


class Readers:
    """A service with a cache, and one without, which are asked the same."""

    def __init__(self, client: TestClient, plain: TestClient) -> None:
        self.client, self._plain = client, plain

    def read(self, path: str, **more: Any) -> tuple[dict[str, Any], bool]:
        """The answer, which is that of the service without a cache; and whether it was a kept one."""
        before = given_again(self.client)
        answers = [one.post(path, json=READS[path] | more) for one in (self.client, self._plain)]
        assert [one.status_code for one in answers] == [200, 200], answers[0].text
        mine, its = (one.json() for one in answers)
        assert mine == its
        return mine, given_again(self.client) > before

    def twice(self, path: str, **more: Any) -> dict[str, Any]:
        """The answer that is kept now."""
        deadline = time.monotonic() + PATIENCE_S
        while True:
            found, again = self.read(path, **more)
            if again:
                return found
            assert time.monotonic() < deadline


@pytest.fixture
def readers(world: World, opens: Opens) -> Iterator[Readers]:
    with opens(1_000) as (client, _), opens(0) as (plain, _):
        until(client, cached)
        yield Readers(client, plain)


def order(found: dict[str, Any]) -> list[str]:
    return [one["memory_id"] for one in found["items"]]


def told(found: dict[str, Any]) -> set[str]:
    return {*order(found)}


@pytest.mark.parametrize("path", READS)
def test_an_answer_is_kept_without_what_went_meanwhile(world: World, readers: Readers, path: str) -> None:
    first = readers.twice(path)
    gone = [item["event_id"] if "event_id" in item else item["memory_id"] for item in first["items"]][:3]
    names = [name for name in TEXTS if memory_id(name) in gone]
    assert len(names) == len(gone)
    for name, leave in zip(names, (world.forget, world.erase, world.forget), strict=False):
        readers.twice(path)
        leave(name)
        found, again = readers.read(path)
        assert not again and memory_id(name) not in told(found)
    # A new memory is found, too.
    readers.twice(path)
    world.store_all(["m44"])
    assert not readers.read(path)[1]


@pytest.mark.parametrize("path", READS)
def test_a_kept_answer_has_the_marks_of_now(world: World, readers: Readers, path: str) -> None:
    first = readers.twice(path)
    older = first["items"][0]["memory_id"]
    assert first["items"][0].get("overtaken") in (None, [])
    world.shard.episode("m48", at=950, contradicts=(older,))
    world.flush()
    found, again = readers.read(path)
    assert not again
    (item,) = [one for one in found["items"] if one["memory_id"] == older]
    assert item["overtaken"][0]["by"] == memory_id("m48")
    assert readers.twice(path) == found


def test_uses_leave_a_kept_answer_as_long_as_the_order_stays(
    world: World, readers: Readers, databases: tuple[str, str]
) -> None:
    first = readers.twice("/retrieve")
    best, last = first["items"][0]["memory_id"], first["items"][-1]["memory_id"]
    with psycopg.connect(databases[0], autocommit=True) as connection:
        used = "UPDATE strength SET last_access = last_access + 1, accesses = accesses + 1 WHERE memory_id = %s"
        connection.execute(used, [best])
        found, again = readers.read("/retrieve")
        assert again and found["items"][0]["accesses"] == first["items"][0]["accesses"] + 1
        connection.execute("UPDATE strength SET salience_ppm = 1 WHERE memory_id <> %s", [last])
        found, again = readers.read("/retrieve")
        assert not again and order(found) != order(first)
        # As commit does where a model compared two memories, which moves no memory.
        readers.twice("/retrieve")
        connection.execute(
            "INSERT INTO journal SELECT shard, seq + 1, as_of, 'compared', 'other', %s, NULL, source_topic,"
            " source_partition, source_offset + 1, entry, hash, hash FROM journal ORDER BY seq DESC LIMIT 1",
            [NAMESPACE],
        )
        assert not readers.read("/retrieve")[1]


@pytest.mark.parametrize("path", READS)
def test_no_reader_is_given_what_was_kept_for_another(world: World, readers: Readers, path: str) -> None:
    world.shard.episode("m52", at=990, agent="ann", purposes=("billing",))
    world.flush()
    secret = memory_id("m52")
    bound = READS[path] | {"query": TEXTS["m52"]}
    assert secret in told(readers.twice(path, **bound, purpose="billing"))
    found, again = readers.read(path, **bound)
    assert not again and secret not in told(found)
    assert secret not in told(readers.twice(path, **bound))
    assert secret in told(readers.twice(path, **bound, purpose="billing"))
    # Masked answers are made anew each time, and nobody gets a whole text for a masked one.
    for _ in range(2):
        assert not readers.read(path, redact=True)[1]
    assert readers.client.post(path, json=READS[path] | {"namespace": "elsewhere"}).json()["items"] == []


def test_two_keys_of_one_namespace_are_given_their_own(
    world: World, databases: tuple[str, str], kafka: str, codec: Codec, tmp_path: Path
) -> None:
    keys = tmp_path / "api-keys.json"
    # One reads here alone, one reads everywhere, one may not read, and one reads elsewhere.
    stored(
        keys,
        (1, ("read",), (NAMESPACE,)),
        (2, ("read", "audit"), ("*",)),
        (3, ("forget",), (NAMESPACE,)),
        (4, ("read",), ("elsewhere",)),
    )
    world.shard.episode("m56", at=990, agent="ann", purposes=("billing",))
    world.flush()
    secret = memory_id("m56")

    def service(memories: int) -> Any:
        made = Service(
            databases[0], kafka, GENESIS, codec, encoder=Encoder(), before=None, door=Door(keys),
            shown=Telemetry().stage("retrieval"), cache_memories=memories,
        )  # fmt: skip
        return TestClient(around(made, LOOPBACK, made.meters), base_url="http://127.0.0.1")

    with service(1_000) as client, service(0) as plain:

        def read(key: int, path: str, **more: Any) -> tuple[Any, bool]:
            """The answer to a key, which a service without a cache gives it too; and whether it was a kept one."""
            before = given_again(client, bearer(2))
            asked = READS[path] | {"query": TEXTS["m56"]} | more
            mine, its = (one.post(path, json=asked, headers=bearer(key)) for one in (client, plain))
            assert (mine.status_code, mine.json()) == (its.status_code, its.json())
            return mine, given_again(client, bearer(2)) > before

        deadline = time.monotonic() + PATIENCE_S
        for path in READS:
            while not read(2, path, purpose="billing")[1]:
                assert time.monotonic() < deadline
            found, again = read(1, path)
            assert not again and secret not in told(found.json())
            # Both keys see the same of this namespace, so they share the kept answer.
            found, again = read(1, path, purpose="billing")
            assert again and secret in told(found.json())
            found, again = read(1, path, purpose="billing", redact=True)
            assert not again and found.json() == read(1, path, purpose="billing", redact=True)[0].json()
            for key in (3, 4):
                refused, again = read(key, path, purpose="billing")
                assert (refused.status_code, again) == (403, False)
            assert read(2, path, purpose="billing")[1]
        world.erase("m56")
        for path in READS:
            found, again = read(2, path, purpose="billing")
            assert not again and secret not in told(found.json())
            assert secret not in told(read(1, path, purpose="billing")[0].json())
