"""A rebalance waits for batches in flight, and ends the process where they never end; a stop waits for one alone."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from faust.transport.drivers.aiokafka import Consumer

from streams import faust_app, stage
from streams.stage import Arrival, Output
from streams.waiting import Bounded


@pytest.mark.parametrize("ends", [True, False])
async def test_a_process_whose_batches_never_end_does(monkeypatch: pytest.MonkeyPatch, ends: bool) -> None:
    over, ended = asyncio.Event(), list[int]()

    async def wait_empty(_: Any) -> None:
        while not over.is_set():
            with suppress(asyncio.CancelledError):  # as Faust's own does
                await over.wait()

    monkeypatch.setattr(Consumer, "wait_empty", wait_empty)
    monkeypatch.setattr(Bounded, "limit_s", 5.0 if ends else 0.01)
    monkeypatch.setattr(Bounded, "end", staticmethod(ended.append))
    if ends:
        over.set()
    try:
        await asyncio.wait_for(Bounded.wait_empty(object.__new__(Bounded)), 2)
    finally:
        over.set()  # whatever still waits
    assert ended == ([] if ends else [1])


def test_what_is_let_go_is_not_waited_for() -> None:
    consumer = object.__new__(Bounded)
    waited, other = object(), object()
    consumer._unacked_messages = {waited, other}  # type: ignore[arg-type]
    consumer.let_go([other])  # type: ignore[list-item]
    assert consumer._unacked_messages == {waited}


async def test_what_is_acknowledged_is_committed_soon_and_nothing_is_done_while_nothing_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    done, futures = list[str](), list[asyncio.Future[None]]()
    consumer, stopped = object.__new__(Bounded), asyncio.Event()

    async def under_way(_: Any) -> bool:
        done.append("waited")
        return True

    async def commit(_: Any) -> bool:
        done.append("committed")
        return True

    monkeypatch.setattr(Consumer, "ack", lambda _, message: message == "mine")
    monkeypatch.setattr(Consumer, "maybe_wait_for_commit_to_finish", under_way)
    monkeypatch.setattr(Consumer, "commit", commit)
    monkeypatch.setattr(Consumer, "should_stop", property(lambda _: stopped.is_set()))
    monkeypatch.setattr(Consumer, "add_future", lambda _, coming: futures.append(asyncio.ensure_future(coming)))
    assert not consumer.ack("another's")  # type: ignore[arg-type]
    assert consumer._coming is None, "nothing was acknowledged"
    assert all(consumer.ack("mine") for _ in range(100))  # type: ignore[arg-type]
    async with asyncio.timeout(20):
        while len(done) < 2:
            await asyncio.sleep(0.01)
    assert (done, consumer._coming) == (["waited", "committed"], None)
    stopped.set()
    consumer._begin_commit()
    assert len(futures) == 1, "a stop commits by itself"


class App:
    """An agent of Faust: keeps the function of the agent, and the events that were released."""

    def __init__(self) -> None:
        self.conf, self.should_stop, self.consumer = SimpleNamespace(id="group"), False, self
        self.on_partitions_assigned = self.on_partitions_revoked = SimpleNamespace(connect=lambda *_, **__: None)
        self.gone: list[str] = []

    def topic(self, *_: Any, **__: Any) -> None:
        pass

    def agent(self, *_: Any, **__: Any) -> Callable[[Any], None]:
        return partial(setattr, self, "read")

    def let_go(self, messages: Iterable[Any]) -> None:
        self.gone += [message.value.decode() for message in messages]


class Held:
    """Processes nothing until it is told to go on."""

    def __init__(self) -> None:
        self.begun, self.go = threading.Event(), threading.Event()
        self.calls: list[str] = []

    def process(self, arrivals: Sequence[Arrival]) -> list[Output]:
        self.begun.set()
        assert self.go.wait(20)
        self.calls.append("".join(arrival.value.decode() for arrival in arrivals))
        return []

    def poisoned(self, *_: object) -> list[Output]:
        raise AssertionError("nothing is wrong with any")

    def assigned(self, _: frozenset[int]) -> None:
        pass


async def test_a_stop_waits_for_the_batch_that_is_processed_and_no_other_begins() -> None:
    app, held, acknowledged = App(), Held(), list[str]()

    async def events() -> AsyncIterator[Any]:
        for value in "abcdefghijklmnopqrstuvwxyz":
            message = SimpleNamespace(partition=1, offset=7, value=value.encode(), headers=[], timestamp=1.0)
            yield SimpleNamespace(message=message, ack=partial(acknowledged.append, value))
        await asyncio.Event().wait()

    stage.attach(app, held, name="echo", source="in", batch=8)  # type: ignore[arg-type]
    reading = asyncio.ensure_future(app.read(SimpleNamespace(events=events)))  # type: ignore[attr-defined]
    try:
        assert await asyncio.to_thread(held.begun.wait, 20)
        await asyncio.sleep(0.05)  # the next batch has come meanwhile
        app.should_stop = True
        held.go.set()
        async with asyncio.timeout(20):
            while not app.gone:
                await asyncio.sleep(0.01)
        assert held.calls == ["abcdefgh"] and app.gone == list("ijklmnop")
        assert acknowledged == list("abcdefgh")
        assert not reading.done(), "Faust starts an agent again that has ended"
    finally:
        held.go.set()
        reading.cancel()
        with suppress(asyncio.CancelledError):
            await reading


def test_the_app_waits_so(tmp_path: Path) -> None:
    assert faust_app.create("127.0.0.1:9", tmp_path, 4).transport.Consumer is Bounded
