"""The real line under the same texts and questions: Kafka, Postgres, four members, the service over HTTP."""

from __future__ import annotations

import asyncio
import http.client
import json
import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import urlsplit

import psycopg

from bench.parts import Parts, difference
from bench.peers.driver import BATCH, DELETED, K, ms
from bench.peers.questions import Task
from memquorum.client import AsyncMemory

NAMESPACE = "peers"
_SINGLE, _WARM = 100, 10
_PACED, _PACE_S = 100, 0.1
# Large enough that `k_max` alone decides.
_BUDGET = 20_000


class Service:
    """The retrieval service as a program of any language meets it: one connection that stays, JSON both ways."""

    def __init__(self, url: str) -> None:
        address = urlsplit(url)
        assert address.hostname is not None
        self._link = http.client.HTTPConnection(address.hostname, address.port, timeout=30)

    def ask(self, method: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        """The answer to a request. Raises where it is no success."""
        data = None if body is None else json.dumps(body).encode()
        try:
            answer = self._answer(method, path, data)
        except ConnectionError:  # the service ends a connection on which nothing was asked for 5 s
            self._link.close()
            answer = self._answer(method, path, data)
        told = answer.read()
        assert answer.status == 200, (path, answer.status, told[:300])
        found: dict[str, Any] = json.loads(told)
        return found

    def _answer(self, method: str, path: str, data: bytes | None) -> http.client.HTTPResponse:
        self._link.request(method, path, data, {"Content-Type": "application/json"})
        return self._link.getresponse()

    def search(self, query: str, *, peek: bool = False) -> dict[str, Any]:
        """The nearest, as agents ask by default: what is given counts as used."""
        return self.ask("POST", "/search", _reading(query, peek) | {"k": K})

    def retrieve(self, query: str) -> dict[str, Any]:
        """Returns the best answers, by meaning and by words."""
        return self.ask("POST", "/retrieve", _reading(query, False) | {"k_max": K, "budget_tokens": _BUDGET})

    def erase(self, memory_id: str) -> dict[str, Any]:
        """From the order to its logical receipt."""
        return self.ask("POST", "/orders/erase", {"namespace": NAMESPACE, "memory_id": memory_id, "dry_run": False})


def _reading(query: str, peek: bool) -> dict[str, Any]:
    return {"namespace": NAMESPACE, "query": query, "peek": peek, "agent": "ada"}


def measure(running: Parts, task: Task, canary: str) -> dict[str, Any]:
    """All that is measured of the others, and what they have not: retrievals, searches that do not count as uses."""
    told = asyncio.run(_added(running, task))
    place = {id_: at for at, id_ in enumerate(told.pop("ids"))}
    service = Service(running.settings.retrieval_url)
    questions = [asked.text for asked in task.questions]
    for text in task.warm:
        service.search(text)
        service.retrieve(text)

    def each(call: Callable[[str], Any], texts: Sequence[str] = questions) -> tuple[list[tuple[Any, float]], float]:
        """Returns each call's result and time, and the processor time of all, with its consequences in the fleet."""
        settled(running)
        before = running.cpu_s()
        asked = [ms(lambda text=text: call(text)) for text in texts]
        settled(running)
        return asked, sum(difference(before, running.cpu_s()).values()) / len(texts) * 1_000

    cold, told["cpu ms"] = each(service.search)
    again, _ = each(service.search)
    # In other words, for else it would not be the first time that they are asked.
    paced, _ = each(lambda text: _after(_PACE_S, lambda: service.search(f"Tell me: {text}")), questions[:_PACED])
    peeked, told["peek cpu ms"] = each(lambda text: service.search(f"{text} Please.", peek=True))
    peeked_again, _ = each(lambda text: service.search(f"{text} Please.", peek=True))
    retrieved, _ = each(service.retrieve)
    told["sdk ms"] = asyncio.run(_by_sdk(running, questions))
    told["http ms"] = [ms(lambda: service.ask("GET", "/livez"))[1] for _ in questions]
    erased, _ = each(service.erase, list(place)[:DELETED])
    assert all(answer["status"] == "erased" for answer, _ in erased), "an erasure was not carried out in time"
    asyncio.run(_canary(running, service, canary))
    return told | {
        "search ms": [taken for _, taken in cold],
        "again ms": [taken for _, taken in again],
        "paced ms": [taken for (_, taken), _ in paced],
        "peek ms": [taken for _, taken in peeked],
        "peek again ms": [taken for _, taken in peeked_again],
        "retrieve ms": [taken for _, taken in retrieved],
        "delete ms": [taken for _, taken in erased],
        "found": [[place[hit["memory_id"]] for hit in answer["hits"]] for answer, _ in cold],
        "retrieved": [[place[item["memory_id"]] for item in answer["items"]] for answer, _ in retrieved],
        "served": {"first": _served(cold), "again": _served(again)},
    }


def _after(pause_s: float, call: Callable[[], Any]) -> tuple[Any, float]:
    """As `ms`, after a pause in which the line does what was asked of it before."""
    time.sleep(pause_s)
    return ms(call)


def settled(running: Parts) -> None:
    """Waits until nothing has been journalled for a second: what was asked before is not to slow down what comes."""
    with running.reader() as connection:
        while any(True for _ in connection.notifies(timeout=1.0, stop_after=1)):
            pass


def _served(answers: Sequence[tuple[dict[str, Any], float]]) -> dict[str, int]:
    """From where answers came, where they say so."""
    return dict(Counter(str(answer["served_from"]) for answer, _ in answers if "served_from" in answer))


async def _added(running: Parts, task: Task) -> dict[str, Any]:
    """Some one by one, each awaited until it can be found, in a namespace apart; then all, in batches."""
    address = {"agent": "ada", "kafka": running.bootstrap, "url": running.settings.retrieval_url}
    single = []
    async with AsyncMemory(namespace="single", **address) as memory:
        for at, text in enumerate(task.texts[: _SINGLE + _WARM]):
            began = time.perf_counter()
            receipt = await memory.add(text, wait=True)
            assert receipt.outcome == "stored", receipt
            if at >= _WARM:
                single.append((time.perf_counter() - began) * 1000)
    ids, seconds = await stored(running, NAMESPACE, task.texts, task.sessions)
    return {"add ms": single, "batched s": seconds, "ids": ids}


async def stored(
    running: Parts, namespace: str, texts: Sequence[str], sessions: Sequence[str]
) -> tuple[list[str], float]:
    """Publishes texts in batches and waits until they are stored; returns their ids, and the seconds that it took."""
    # A second apart, for a retrieval looks at the turns before and after.
    start = time.time_ns() // 1_000_000 - len(texts) * 1_000
    episodes = [
        {"content": text, "session": session, "occurred_at": start + at * 1_000}
        for at, (text, session) in enumerate(zip(texts, sessions, strict=True))
    ]
    ids = list[str]()
    address = {"agent": "ada", "kafka": running.bootstrap, "url": running.settings.retrieval_url}
    async with AsyncMemory(namespace=namespace, **address) as memory:
        began = time.perf_counter()
        for first in range(0, len(episodes), BATCH):
            ids += [str(receipt.memory_id) for receipt in await memory.add_all(episodes[first : first + BATCH])]
        # The same text again makes the memory stronger that is there.
        await asyncio.to_thread(_until_stored, running, namespace, len({*texts}))
        return ids, time.perf_counter() - began


def _until_stored(running: Parts, namespace: str, count: int, patience_s: float = 300) -> None:
    """Waits until the store has them, and a search finds them."""
    deadline = time.monotonic() + patience_s
    asked = "SELECT count(*) FROM memory WHERE namespace = %s"
    with running.reader() as connection:
        while (found := _count(connection, asked, namespace)) < count:
            running.check()
            assert time.monotonic() < deadline, f"{found} of {count} are stored after {patience_s:.0f} s"
            for _ in connection.notifies(timeout=0.5, stop_after=1):
                pass


def _count(connection: psycopg.Connection, asked: str, namespace: str) -> int:
    row = connection.execute(asked, [namespace]).fetchone()
    assert row is not None
    return int(row[0])


async def _by_sdk(running: Parts, questions: Sequence[str]) -> list[float]:
    taken = []
    async with AsyncMemory(namespace=NAMESPACE, agent="ada", url=running.settings.retrieval_url) as memory:
        await memory.search(questions[0], K)
        for text in questions:
            began = time.perf_counter()
            await memory.search(text, K)
            taken.append((time.perf_counter() - began) * 1000)
    return taken


async def _canary(running: Parts, service: Service, text: str) -> None:
    address = {"kafka": running.bootstrap, "url": running.settings.retrieval_url}
    async with AsyncMemory(namespace=NAMESPACE, agent="ada", **address) as memory:
        receipt = await memory.add(text, wait=True)
    assert receipt.outcome == "stored", receipt

    def found() -> bool:
        return receipt.memory_id in {hit["memory_id"] for hit in service.search(text)["hits"]}

    assert found(), "what was just added is not found"
    service.erase(str(receipt.memory_id))
    assert not found(), "what was just erased is found"
