"""How a batch is carried: order, patience, isolation, and no acknowledgement before the broker's word."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from faust.types import TP

from memquorum.ports import StoreUnavailable, VaultUnavailable
from streams import stage
from streams.stage import Arrival, Output


@dataclass
class Broker:
    """Stands for the app: takes records in, confirms or refuses them, and notes what happened in which order."""

    notes: list[str] = field(default_factory=list)
    refuse: list[bytes] = field(default_factory=list)  # values whose next record is not confirmed
    headers: list[dict[str, bytes]] = field(default_factory=list)

    def topic(self, name: str, **_: Any) -> Broker:
        self.notes.append(f"topic {name}")
        return self

    async def send(
        self, *, key: bytes, value: bytes, partition: int, headers: dict[str, bytes]
    ) -> asyncio.Future[None]:
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        if value in self.refuse:
            self.refuse.remove(value)
            self.notes.append(f"lost {value.decode()}")
            done.set_exception(ConnectionError("the broker is away"))
        else:
            self.notes.append(f"sent {value.decode()}")
            self.headers.append(headers)
            done.set_result(None)
        return done


@dataclass
class Message:
    partition: int
    offset: int
    value: bytes
    headers: list[tuple[str, bytes]]


class Event:
    def __init__(self, broker: Broker, value: str) -> None:
        self.message = Message(1, 7, value.encode(), [("traceparent", b"00-trace")])
        self._broker = broker

    def ack(self) -> bool:
        self._broker.notes.append(f"ack {self.message.value.decode()}")
        return True


class Echo:
    """Repeats its arrivals; raises what it was told to for a value, once or always."""

    def __init__(self, *, once: dict[str, Exception] | None = None, always: dict[str, Exception] | None = None) -> None:
        self.once, self.always = once or {}, always or {}
        self.calls: list[str] = []
        self.threads: set[int] = set()

    def process(self, arrivals: Sequence[Arrival]) -> list[Output]:
        self.threads.add(threading.get_ident())
        values = [arrival.value.decode() for arrival in arrivals]
        self.calls.append("".join(values))
        for value in values:
            if value in self.once:
                raise self.once.pop(value)
            if value in self.always:
                raise self.always[value]
        return [self._output(arrival, value) for arrival, value in zip(arrivals, values, strict=True)]

    def poisoned(self, arrival: Arrival, error: Exception) -> list[Output]:
        return [self._output(arrival, f"{arrival.value.decode()}:{type(error).__name__}")]

    def assigned(self, partitions: frozenset[int]) -> None:
        self.threads.add(threading.get_ident())
        self.calls.append(f"assigned {sorted(partitions)}")

    def _output(self, arrival: Arrival, value: str) -> Output:
        return Output("out", arrival.partition, b"k", value.encode(), "Kind", "id", arrival.traceparent)


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stage, "_BACKOFF_S", (0.0,))


async def carry(processor: Echo, broker: Broker, *batches: str, transient: tuple[type[Exception], ...] = ()) -> None:
    known = (VaultUnavailable, StoreUnavailable, *transient)
    runner = stage._Runner(broker, processor, "echo", "in", known)  # type: ignore[arg-type]
    await runner.assigned(None, {TP("in", 1), TP("other", 2)})
    for batch in batches:
        await runner.handle([Event(broker, value) for value in batch])  # type: ignore[misc]


async def test_everything_is_sent_in_order_before_anything_is_acknowledged() -> None:
    broker, echo = Broker(), Echo()
    await carry(echo, broker, "ab", "c")
    assert broker.notes == ["topic out", "sent a", "sent b", "ack a", "ack b", "sent c", "ack c"]
    assert broker.headers[0] == {
        "ce_specversion": b"1.0",
        "ce_id": b"id",
        "ce_type": b"Kind",
        "ce_source": b"memquorum/echo",
        "content-type": b"application/avro",
        "traceparent": b"00-trace",
    }


async def test_an_assignment_is_heard_of_before_the_next_batch_in_the_same_thread() -> None:
    echo = Echo()
    await carry(echo, Broker(), "a", "b")
    assert echo.calls == ["assigned [1]", "a", "b"]
    assert len(echo.threads) == 1
    assert threading.get_ident() not in echo.threads


async def test_what_the_broker_does_not_confirm_is_sent_again() -> None:
    broker = Broker(refuse=[b"b"])
    await carry(Echo(), broker, "abc")
    assert broker.notes == [
        "topic out", "sent a", "lost b", "sent c", "sent a", "sent b", "sent c", "ack a", "ack b", "ack c"
    ]  # fmt: skip


@pytest.mark.parametrize("error", [VaultUnavailable("away"), StoreUnavailable("away"), TimeoutError("away")])
async def test_an_outage_is_waited_out_with_the_whole_batch(error: Exception) -> None:
    broker, echo = Broker(), Echo(once={"b": error})
    await carry(echo, broker, "abc", transient=(TimeoutError,))
    assert echo.calls == ["assigned [1]", "abc", "abc"]
    assert broker.notes[1:] == ["sent a", "sent b", "sent c", "ack a", "ack b", "ack c"]


async def test_a_poison_record_takes_no_other_with_it(caplog: pytest.LogCaptureFixture) -> None:
    broker, echo = Broker(), Echo(always={"b": KeyError("a secret")})
    with caplog.at_level(logging.DEBUG):
        await carry(echo, broker, "abc")
    assert broker.notes[1:] == ["sent a", "sent b:KeyError", "sent c", "ack a", "ack b", "ack c"]
    assert "KeyError" in caplog.text
    assert "secret" not in caplog.text


async def test_an_outage_between_poison_is_still_an_outage() -> None:
    broker, echo = Broker(), Echo(always={"b": KeyError()}, once={"c": StoreUnavailable("away")})
    await carry(echo, broker, "abc")
    assert broker.notes[1:] == ["sent a", "sent b:KeyError", "sent c", "ack a", "ack b", "ack c"]
    assert echo.calls[-2:] == ["c", "c"]


async def test_a_stop_is_not_taken_for_an_outage() -> None:
    task = asyncio.create_task(carry(Echo(always={"a": StoreUnavailable("away")}), broker := Broker(), "a"))
    while not task.done() and not broker.notes:
        await asyncio.sleep(0)
        task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert broker.notes == []
