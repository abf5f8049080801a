"""A request's tasks end with it, and one caller's reads take no thread of another's."""

from __future__ import annotations

import asyncio
import threading
import time
from typing import Any

import pytest
from starlette.requests import ClientDisconnect, Request

from memquorum.core.retrieval.redaction import WITHHELD, Redaction
from tests.support.poison import MARK, poison
from workers.retrieval import desk
from workers.retrieval.desk import Desk, Over, check


class Client:
    """A client that is there until it is told to go."""

    def __init__(self) -> None:
        self.gone = asyncio.Event()

    @property
    def request(self) -> Request:
        async def receive() -> Any:
            await self.gone.wait()
            return {"type": "http.disconnect"}

        return Request({"type": "http", "headers": []}, receive)


# So long a read goes on at most that nothing ends: longer than any test waits for that.
PATIENCE_S = 20.0


def until_over(begun: threading.Event, ended: threading.Event) -> None:
    """Reads text after text until it is over."""
    begun.set()
    patience = time.monotonic() + PATIENCE_S
    try:
        while time.monotonic() < patience:
            check()
            ended.wait(0.001)
    except Over:
        ended.set()
        raise


async def under_way(of: Desk, client: Client, caller: str | None, reads: int) -> list[asyncio.Task[None]]:
    """So many requests that read for ever."""

    async def ask() -> None:
        async with of.serving(caller, client.request):
            await of.read(until_over, threading.Event(), threading.Event())

    return [asyncio.create_task(ask()) for _ in range(reads)]


async def idle(of: Desk) -> None:
    while of.busy:
        await asyncio.sleep(0)


async def busy(of: Desk, count: int) -> None:
    while of.busy < count:
        await asyncio.sleep(0)


def test_a_read_ends_when_its_client_has_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(desk, "_LOOK_S", 0.01)

    async def run() -> None:
        of, client = Desk(), Client()
        (task,) = await under_way(of, client, "key", 1)
        await busy(of, 1)
        client.gone.set()
        with pytest.raises(ClientDisconnect):
            await asyncio.wait_for(task, 2)
        await asyncio.wait_for(idle(of), 2)

    asyncio.run(run())


def test_a_read_ends_when_its_request_took_too_long() -> None:
    async def run() -> None:
        of, client = Desk(), Client()
        (task,) = await under_way(of, client, "key", 1)
        await busy(of, 1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.wait_for(idle(of), 2)

    asyncio.run(run())


def test_one_caller_has_so_many_threads_and_another_is_answered_meanwhile() -> None:
    async def run() -> None:
        of, client = Desk(threads=4, of_one=2), Client()
        tasks = await under_way(of, client, "mallory", 8)
        await busy(of, 2)
        async with of.serving("alice", client.request):
            assert await asyncio.wait_for(of.read(len, "text"), 2) == 4
        assert of.busy == 2
        for task in tasks:
            task.cancel()
        assert await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.wait_for(idle(of), 2)
        async with of.serving("mallory", client.request):
            assert await of.read(len, "text") == 4

    asyncio.run(run())


def test_what_waits_for_its_turn_is_not_begun_once_its_request_is_over() -> None:
    async def run() -> None:
        of, client, read = Desk(threads=1, of_one=2), Client(), list[str]()
        (first,) = await under_way(of, client, "key", 1)
        await busy(of, 1)

        async def ask() -> None:
            async with of.serving("key", client.request):
                await of.read(read.append, "late")

        second = asyncio.create_task(ask())
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        second.cancel()
        first.cancel()
        await asyncio.gather(first, second, return_exceptions=True)
        await asyncio.wait_for(idle(of), 2)
        assert read == []

    asyncio.run(run())


def test_masking_asks_before_each_text_and_withholds_what_it_fails_on(monkeypatch: pytest.MonkeyPatch) -> None:
    poison(monkeypatch, ("memquorum.core.retrieval.redaction:masked", "memquorum.core.retrieval.redaction:parts"))
    turns = list[int]()
    redaction = Redaction(turn=lambda: turns.append(1))
    mask = redaction.of("n", asked=True)
    assert mask.text("Call +49 170 1234567.") == "Call [phone]."
    assert mask.text(f"Call {MARK}.", "m1") == WITHHELD
    assert mask.part(f"Call {MARK}.", (0, 4)) == WITHHELD
    assert len(turns) == 3
    assert {one.memory_ids for one in redaction.failures.told()} == {("m1",), ()}
