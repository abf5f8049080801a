"""Accounts that wait for a store that stands still: they end, and hold up nobody else."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from dataclasses import replace
from queue import SimpleQueue
from typing import Any

import pytest

from db import pool
from db.pool import Pool
from db.reads import Reads
from memquorum.core.access import Sight
from memquorum.core.api.answers import Hit
from memquorum.core.avro import Codec
from memquorum.core.retrieval.bounds import DEFAULTS
from memquorum.core.retrieval.query import Filters, Search
from memquorum.encoders.hashing import HashingEncoder
from memquorum.ports import StoreUnavailable
from memquorum.telemetry.bundle import Telemetry
from tests.builders import genesis
from workers.retrieval.door import Door
from workers.retrieval.knowing import Known
from workers.retrieval.search import find
from workers.retrieval.service import Service

EVERYTHING = Sight(("*",))
MORE = 2 * min(32, (os.cpu_count() or 1) + 4)  # than asyncio has threads


class Frozen:
    """A connection that waits until `gate`."""

    def __init__(self) -> None:
        self.gate, self.used = threading.Event(), 0

    def ask(self, _: object) -> None:
        self.used += 1
        self.gate.wait(10)
        raise StoreUnavailable("it went on")

    def close(self) -> None:
        pass

    def links(self) -> SimpleQueue[Any]:
        made: SimpleQueue[Any] = SimpleQueue()
        for _ in range(DEFAULTS.accounts):
            made.put(self)
        return made


async def test_accounts_end_and_leave_asyncio_its_threads(codec: Codec, monkeypatch: pytest.MonkeyPatch) -> None:
    asked, frozen = Reads("", replace(DEFAULTS, store_ms=300)), Frozen()
    monkeypatch.setattr(asked, "_links", frozen.links())
    began = time.monotonic()
    accounts = [asyncio.ensure_future(asked.facts(EVERYTHING, codec, "m")) for _ in range(MORE)]
    assert await asyncio.wait_for(asyncio.to_thread(lambda: 1), 5) == 1
    for account in accounts:
        with pytest.raises(StoreUnavailable, match="no answer in"):
            await account
    assert time.monotonic() - began < 5
    await asyncio.sleep(0)
    frozen.gate.set()
    await asyncio.wait_for(asked.close(), 5)
    assert frozen.used == DEFAULTS.accounts  # nobody wants the others' answers any more


async def test_a_search_is_encoded_though_asyncio_has_no_thread_free(codec: Codec) -> None:
    gate = threading.Event()
    busy = [asyncio.ensure_future(asyncio.to_thread(gate.wait, 10)) for _ in range(MORE)]
    encoder, shown = HashingEncoder(), Telemetry().stage("retrieval")
    service = Service("", "", genesis.make(), codec, encoder=encoder, before=None, door=Door(None), shown=shown)

    class Store:
        async def search(self, *asked: Any, exact: bool, filters: Filters, told: Any) -> list[Hit]:
            assert asked[3].shape == (encoder.dimensions,) and not exact
            return []

        async def indexed(self, *_: str) -> bool:
            return True

    service.reads = Store()  # type: ignore[assignment]
    try:
        found = await asyncio.wait_for(
            find(service, Known(service.reads, EVERYTHING), Search("n", "what?", 3, "ann", True)), 5
        )
        assert (found.hits, found.served_from, found.compared) == ([], "store", "by index")
    finally:
        gate.set()
        await asyncio.gather(*busy)


async def test_what_lost_its_server_is_asked_once_more(monkeypatch: pytest.MonkeyPatch) -> None:
    asked, lost, drained = Pool(""), set(range(6)), list[int]()

    async def once(name: str, *_: Any, **__: Any) -> list[tuple[Any, ...]]:
        await asyncio.sleep(0)
        if int(name) in lost:
            lost.discard(int(name))
            raise pool._Broken("the server closed the connection")
        if name == "9":
            raise pool._Broken("again")
        return [(name,)]

    async def drain() -> None:
        drained.append(len(lost))

    monkeypatch.setattr(asked, "_once", once)
    monkeypatch.setattr(asked.connections, "drain", drain)
    found = await asyncio.gather(*(asked.ask(str(one), {}, EVERYTHING) for one in range(6)))
    assert found == [[(str(one),)] for one in range(6)]
    assert drained == [5]  # by the first: the others' were thrown away with it
    lost.add(9)
    with pytest.raises(StoreUnavailable, match="again"):
        await asked.ask("9", {}, EVERYTHING)
