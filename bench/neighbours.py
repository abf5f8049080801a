"""Episodes, erasures and ticks of others beside one namespace's flood, and beside agents' transactions."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager
from itertools import pairwise
from statistics import median

import httpx

from bench.ingest import STORE_ALL, outcomes, send, wait
from bench.kept import Row
from bench.parts import WHOLE, Parts, parts
from bench.texts import sentences
from memquorum import topics
from memquorum.core import ids
from memquorum.core.records import EpisodeRecorded
from tests.support.disturbing import beside, transactions

FLOOD = "flood"
_PATIENCE_S = 90.0
_ENDS = ("committed", "aborted", "open")


def measure(quick: bool) -> Row:
    """Seconds until an episode of another namespace has its outcome, and until an erasure is done, before and during a
    flood; then erasures and ticks beside transactions in every partition of a topic that intake reads."""
    size, tries = (300, 2) if quick else (1_500, 5)
    row = Row("neighbours", f"others beside {size:,} episodes of one namespace, and beside agents' transactions")
    # Members vote on orders alone meanwhile.
    policy = STORE_ALL | {"epoch": {"interval_ms": 10**12, "interactions": 10**9, "capacity": 10**9}}
    with parts(*WHOLE, policy=policy, clock="wall") as running:
        line = _Line(running)
        line.told("warm")
        line.erased("warm")
        alone = [line.told(line.beside) for _ in range(tries)]
        row.figure("nobody else publishes: outcome, p50", median(alone), "s")
        row.figure("nobody else publishes: erasure, p50", median(line.erased("calm") for _ in range(tries)), "s")
        _flood(line, row, size, tries)
        _transactions(line, row, 1 if quick else 3)
    row.compare("in the flood's shard: outcome, p50", "the same while nobody else publishes", median(alone), "s")
    row.note("4 shards; an erasure is of one agent with one memory, ordered over HTTP until its receipt")
    return row


class _Line:
    """A running line, asked over HTTP as a client asks."""

    def __init__(self, running: Parts) -> None:
        self.running, self._said = running, 0
        shards = running.genesis.shards
        busy = ids.shard_of(FLOOD, shards)
        names = [f"quiet-{at}" for at in range(99)]
        self.beside = next(name for name in names if ids.shard_of(name, shards) == busy)
        self.apart = next(name for name in names if ids.shard_of(name, shards) != busy)

    def told(self, namespace: str, agent: str = "ada") -> float:
        """Publishes an episode; the seconds until it has an outcome."""
        self._said += 1
        event, began = f"said-{self._said}", time.perf_counter()
        text = f"Fact {self._said} of gate {self._said * 7} in Bergen was noted by {agent}."
        send(self.running, [EpisodeRecorded(agent, text, namespace, event, occurred_at=time.time_ns() // 1_000_000)])
        with self._client() as client:
            while True:
                found = client.get(f"/events/{namespace}/{event}", params={"wait_ms": 20_000}).json()
                if found.get("outcome") is not None:
                    return time.perf_counter() - began
                assert time.perf_counter() - began < _PATIENCE_S, f"{event} of {namespace} has no outcome"

    def erased(self, namespace: str) -> float:
        """Has all of an agent erased that said one thing; the seconds until that is done."""
        agent = f"agent-{self._said}"
        self.told(namespace, agent)
        began = time.perf_counter()
        with self._client() as client:
            asked = {"namespace": namespace, "agent": agent, "dry_run": False}
            done = client.post("/orders/erase", params={"wait_ms": 60_000}, json=asked)
            while done.status_code == 202:
                assert time.perf_counter() - began < _PATIENCE_S, done.text
                done = client.get(f"/orders/{done.json()['order_id']}", params={"wait_ms": 20_000})
            assert done.status_code == 200, done.text
            assert done.json()["memories"] == 1, done.text
        return time.perf_counter() - began

    def _client(self) -> httpx.Client:
        return httpx.Client(base_url=self.running.settings.retrieval_url, timeout=80)


def _flood(line: _Line, row: Row, size: int, tries: int) -> None:
    with line.running.reader() as connection:
        before = outcomes(connection)
    began = time.perf_counter()
    send(line.running, _episodes(size))
    beside, apart, erased = list[float](), list[float](), list[float]()
    for _ in range(tries):
        beside.append(line.told(line.beside))
        apart.append(line.told(line.apart))
        erased.append(line.erased(line.apart))
    with line.running.reader() as connection:
        left = before + size + 3 * tries - outcomes(connection)
    wait(line.running, before + size + 3 * tries)
    row.figure("the flood: stored", size / (time.perf_counter() - began), "episodes/s")
    row.figure("the flood: still waiting after what others did", left, "episodes")
    for name, took, what in (
        ("in the flood's shard", beside, "outcome"),
        ("in another shard", apart, "outcome"),
        ("beside the flood", erased, "erasure"),
    ):
        row.figure(f"{name}: {what}, p50", median(took), "s")
        row.figure(f"{name}: {what}, largest", max(took), "s")
        row.at_most(f"{name}: {what}, largest", 3)


def _episodes(size: int) -> Iterator[EpisodeRecorded]:
    now = time.time_ns() // 1_000_000
    for at, text in enumerate(sentences(size, 3)):
        yield EpisodeRecorded(agent="ben", content=text, namespace=FLOOD, event_id=f"flood-{at}", occurred_at=now)


def _transactions(line: _Line, row: Row, tries: int) -> None:
    bootstrap = line.running.bootstrap
    with _traffic(line.running):
        for how in _ENDS:
            took, late = list[float](), list[float]()
            for _ in range(tries):
                with transactions(bootstrap, topics.PROTECTIONS, line.running.genesis.shards, how):
                    took.append(line.erased("calm"))
                    late.append(_ticked(line.running))
            row.figure(f"a transaction {how}: erasure, largest", max(took), "s")
            row.at_most(f"a transaction {how}: erasure, largest", 10 if how == "open" else 1)
            row.figure(f"a transaction {how}: longest between two ticks ÷ as set", max(late), "")
            row.at_most(f"a transaction {how}: longest between two ticks ÷ as set", 1.2)


def _traffic(running: Parts) -> AbstractContextManager[None]:
    """An agent says two things a second meanwhile: topics that stand still are told from those that do not."""

    def publish(over: threading.Event) -> None:
        at = 0
        while not over.wait(0.5):
            send(running, [EpisodeRecorded("dan", f"Noise {at} at the gate.", f"noise-{at % 7}", f"noise-{at}")])
            at += 1

    return beside(publish)


def _ticked(running: Parts) -> float:
    """The longer of the next two times between ticks that the store has of every shard, ÷ the time that is set."""
    came, before = list[float](), None
    with running.reader() as connection:
        began = time.perf_counter()
        while len(came) < 3:
            assert time.perf_counter() - began < _PATIENCE_S, "no tick comes"
            as_of = connection.execute("SELECT min(as_of) FROM shard").fetchone()
            if as_of != before:
                came.append(time.perf_counter())
                before = as_of
            for _ in connection.notifies(timeout=0.1, stop_after=1):
                pass
    # The first look is no tick: what is between it and the next one is a part of the time that is set.
    gaps = [later - earlier for earlier, later in pairwise(came)]
    return max(gaps) / (running.settings.tick_ms / 1_000)
