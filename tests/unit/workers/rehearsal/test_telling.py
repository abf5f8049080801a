"""The rehearsal worker's report to an operator: its last rehearsal, its findings, and why it rests."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

import pytest

from memquorum.core.avro import Codec
from memquorum.ports import StoreUnavailable
from memquorum.telemetry.bundle import Telemetry
from tests.builders import genesis, rehearsals
from tests.inmemory.rehearsals import InMemoryRehearsals
from tests.inmemory.store import InMemoryStore
from tests.support.turns import Turns
from workers.rehearsal import worker
from workers.rehearsal.idle import Idleness
from workers.rehearsal.worker import Publisher, Rehearsing

GENESIS = genesis.make(**rehearsals.entitled())


class Nobody:
    """Publishes nothing, as there is nothing."""

    def publish(self, _: object) -> int:
        return 0

    def flush(self, _: float) -> bool:
        return True

    def close(self) -> None:
        pass


class Away(InMemoryRehearsals):
    """A store that does not answer."""

    def look(self, patience_ms: int) -> Any:
        raise StoreUnavailable("away")


def run(codec: Codec, monkeypatch: pytest.MonkeyPatch, *, busy: float, memory: InMemoryRehearsals) -> list[str]:
    times: Iterator[float] = iter(range(100, 10_000, 6))
    monkeypatch.setattr(worker.os, "nice", lambda _: 0)
    monkeypatch.setattr(worker.time, "monotonic", lambda: next(times))
    spent = iter((54.0 * at, 100.0 * at) for at in range(1, 100))
    shown = Telemetry()
    stop = Turns(shown, 3, "rehearsals")
    Rehearsing(
        GENESIS, codec, memory=memory, publisher=cast(Publisher, Nobody()), idle=Idleness(busy, 0, lambda: next(spent)),
        stop=stop, every_s=300, budget_ms=500, telemetry=shown,
    ).run()  # fmt: skip
    return stop.told


@pytest.fixture
def memory() -> InMemoryRehearsals:
    store = InMemoryStore()
    store.start(GENESIS.cluster, GENESIS.shards)
    return InMemoryRehearsals(store)


def test_a_busy_machine_is_told_of(codec: Codec, monkeypatch: pytest.MonkeyPatch, memory: InMemoryRehearsals) -> None:
    first, second, _ = run(codec, monkeypatch, busy=0.3, memory=memory)
    waits = "it waits: the machine's processors have to work less than 30% of the time for 0 s"
    assert first == f"none since this process began; {waits}"
    assert second == f"none since this process began; {waits}, and they worked 54% of it just now"


def test_the_last_rehearsal_is_told_of(
    codec: Codec, monkeypatch: pytest.MonkeyPatch, memory: InMemoryRehearsals
) -> None:
    *_, last = run(codec, monkeypatch, busy=1, memory=memory)
    assert last.startswith("the last at 20") and " UTC: 0 memories in " in last
    assert "; the next in " in last and last.endswith(" s at the earliest")


def test_a_store_that_does_not_answer_is_told_of(
    codec: Codec, monkeypatch: pytest.MonkeyPatch, memory: InMemoryRehearsals
) -> None:
    *_, last = run(codec, monkeypatch, busy=1, memory=Away(memory._store))
    assert last.startswith("none at 20") and ", as the store did not answer; the next in " in last
