"""Intake's reading before it accepts the parked records: it ends, whatever the partitions give."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import pytest

from memquorum import topics
from memquorum.core.avro import Codec
from tests.builders import genesis
from tests.inmemory.store import InMemoryVault
from workers.intake import worker
from workers.intake.worker import Intake
from workers.kafka import loop

STUCK, MOVES, NOISE = (topics.PROTECTIONS, 0), (topics.PROTECTIONS, 1), (topics.EPISODES, 0)


class Reads:
    """A partition that gives nothing, one that moves on, and others where there is always something new."""

    def __init__(self, clock: list[float]) -> None:
        self.next = {STUCK: 0, MOVES: 0, NOISE: 0}
        self.clock, self.seen = clock, list[set[tuple[str, int]] | None]()

    def ends(self, places: Collection[tuple[str, int]], *_: object) -> dict[tuple[str, int], int]:
        assert set(places) == {STUCK, MOVES}
        return {STUCK: 1, MOVES: 50}

    def only(self, places: Collection[tuple[str, int]] | None) -> None:
        self.seen.append(None if places is None else set(places))

    def records(self, *_: object) -> list[Any]:
        self.clock[0] += 0.2
        assert self.clock[0] < 100, "it waits for ever"
        for place in (MOVES, NOISE):
            self.next[place] += 1
        return []

    def note(self, _: object) -> None: ...

    def full(self, _: object) -> None: ...


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    found = [0.0]
    monkeypatch.setattr(worker.time, "monotonic", lambda: found[0])
    return found


@pytest.fixture
def drained(monkeypatch: pytest.MonkeyPatch, clock: list[float]) -> Reads:
    monkeypatch.setattr(loop, "consumer", lambda *_, **__: None)
    monkeypatch.setattr(loop, "producer", lambda *_, **__: None)
    client: Any = Intake("nowhere:1", genesis.make(), Codec([]), InMemoryVault(), stop=loop.Stop())
    client.reading = Reads(clock)
    client._drain((topics.PROTECTIONS,))
    found = client.reading
    assert isinstance(found, Reads)
    return found


def test_a_drain_passes_over_a_partition_that_gives_nothing(drained: Reads) -> None:
    assert drained.next[STUCK] == 0 and drained.next[MOVES] == 50


def test_a_drain_reads_nothing_but_what_it_waits_for(drained: Reads) -> None:
    assert drained.seen[0] == {STUCK, MOVES} and drained.seen[-2:] == [{MOVES}, None]
