"""A rebalance waits for batches in flight, and ends the process where they never end."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from faust.transport.drivers.aiokafka import Consumer

from streams import faust_app
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


def test_the_app_waits_so(tmp_path: Path) -> None:
    assert faust_app.create("127.0.0.1:9", tmp_path, 4).transport.Consumer is Bounded
