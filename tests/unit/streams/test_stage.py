"""A batch's processing: order, patience, isolation, and no acknowledgement before the broker's."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest
from faust.types import TP
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from memquorum.core.identity.stamps import HEADER, Writer
from memquorum.ports import StoreUnavailable, VaultUnavailable
from memquorum.telemetry import recording
from memquorum.telemetry.bundle import Telemetry
from memquorum.telemetry.tracing import Tracing
from streams import stage
from streams.assignments import Displaced
from streams.stage import Arrival, Output


@dataclass
class Broker:
    """Stands for the app: takes records in, confirms or refuses them, and notes what happened in which order."""

    notes: list[str] = field(default_factory=list)
    refuse: list[bytes] = field(default_factory=list)  # values whose next record is not confirmed
    headers: list[dict[str, bytes]] = field(default_factory=list)

    @property
    def conf(self) -> Any:
        return SimpleNamespace(id="group")

    def topic(self, name: str, **_: Any) -> Broker:
        self.notes.append(f"topic {name}")
        return self

    async def crash(self, error: BaseException) -> None:
        self.notes.append(f"crashed {type(error).__name__}")

    async def send(self, *, key: bytes, value: bytes, partition: int, headers: dict[str, bytes]) -> asyncio.Future[Any]:
        done: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        if value in self.refuse:
            self.refuse.remove(value)
            self.notes.append(f"lost {value.decode()}")
            done.set_exception(ConnectionError("the broker is away"))
        else:
            self.notes.append(f"sent {value.decode()}")
            self.headers.append(headers)
            done.set_result(SimpleNamespace(topic="out", partition=partition, offset=len(self.headers) - 1))
        return done


@dataclass
class Message:
    partition: int
    offset: int
    value: bytes
    headers: list[tuple[str, bytes]]
    timestamp: float | None = 1_700_000_000.5


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


async def carry(
    processor: Echo,
    broker: Broker,
    *batches: str,
    transient: tuple[type[Exception], ...] = (),
    telemetry: Telemetry | None = None,
) -> None:
    known = (VaultUnavailable, StoreUnavailable, *transient)
    runner = stage._Runner(broker, processor, "echo", "in", transient=known, telemetry=telemetry)  # type: ignore[arg-type]
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


async def test_who_is_displaced_acknowledges_nothing_and_ends() -> None:
    broker, places = Broker(refuse=[b"b"]), list[object]()

    def wrote(told: Sequence[tuple[str, int, int]]) -> None:
        places.append(told)
        if len(places) == 2:
            raise Displaced("shard 1")

    runner = stage._Runner(broker, Echo(), "echo", "in", transient=(), wrote=wrote)  # type: ignore[arg-type]
    await runner.handle([Event(broker, value) for value in "ab"])  # type: ignore[misc]
    assert broker.notes[-2:] == ["ack a", "ack b"]
    # For records sent twice, the offsets that the broker confirmed in the end.
    assert places == [[("out", 1, 1), ("out", 1, 2)]]
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(runner.handle([Event(broker, "c")]), 0.2)  # type: ignore[list-item]
    assert broker.notes[-2:] == ["sent c", "crashed Displaced"]


async def test_a_partition_that_was_given_and_taken_again_does_not_begin() -> None:
    echo, broker = Echo(), Broker()
    runner = stage._Runner(broker, echo, "echo", "in", transient=())  # type: ignore[arg-type]
    await runner.assigned(None, {TP("in", 1), TP("in", 2)})
    await runner.revoked(None, {TP("in", 2)})
    await runner.handle([Event(broker, "a")])  # type: ignore[list-item]
    assert echo.calls == ["assigned [1]", "a"]


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


class Opening(Echo):
    """Begins a trace with every output, as the nomination does."""

    def _output(self, arrival: Arrival, value: str) -> Output:
        begins = stage.Begin(7, ["0f5fa48a-7b7f-5f2e-9d0f-0e8f66a0c1aa", "no id"], {"epoch": 3})
        return Output("out", arrival.partition, b"k", value.encode(), "Kind", "id", None, begins)


PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


@pytest.mark.parametrize("echo", [Echo(), Opening()])
async def test_a_batch_continues_its_records_traces_or_begins_one(echo: Echo, monkeypatch: pytest.MonkeyPatch) -> None:
    kept, broker = InMemorySpanExporter(), Broker()
    provider = recording.provider("streams", kept)
    telemetry = Telemetry(tracing=Tracing(provider.get_tracer("x")))
    monkeypatch.setattr(stage, "_arrival", lambda event: Arrival(1, 7, event.message.value, PARENT, 1))
    await carry(echo, broker, "a", telemetry=telemetry)
    provider.shutdown()
    spans = {span.name: span for span in kept.get_finished_spans()}
    process, send = spans["process in"].context, spans["send out"].context
    assert process is not None and send is not None
    assert broker.headers[0]["traceparent"].decode() == f"00-{send.trace_id:032x}-{send.span_id:016x}-01"
    told = spans["process in"]
    if isinstance(echo, Opening):
        assert process.trace_id == 7 and told.parent is None
        assert (told.attributes or {})["memquorum.epoch"] == 3
        assert [link.context.trace_id for link in told.links] == [0x0F5FA48A7B7F5F2E9D0F0E8F66A0C1AA]
    else:
        assert f"00-{process.trace_id:032x}-{told.parent.span_id:016x}-01" == PARENT  # type: ignore[union-attr]


async def test_what_a_stage_did_is_counted_and_what_it_waits_for_is_told() -> None:
    telemetry = Telemetry()
    value = telemetry.meters.registry.get_sample_value
    broker, echo = Broker(), Echo(always={"b": KeyError()}, once={"c": StoreUnavailable("away")})
    waits: list[dict[str, str]] = []

    class Watched(Echo):
        def process(self, arrivals: Sequence[Arrival]) -> list[Output]:
            waits.append(telemetry.health.waits)
            return echo.process(arrivals)

    await carry(Watched(), broker, "abc", telemetry=telemetry)
    assert value("messaging_client_consumed_messages_total", {"stage": "echo", "topic": "in"}) == 3
    assert value("messaging_client_sent_messages_total", {"stage": "echo", "topic": "out"}) == 3
    assert value("memquorum_refused_total", {"stage": "echo", "reason": "KeyError"}) == 1
    assert value("memquorum_latency_seconds_count", {"stage": "echo"}) == 3
    assert {"start": "it starts", "echo": "StoreUnavailable; tried 1 times"} in waits
    assert telemetry.health.waits == {"start": "it starts"}
    assert dict(telemetry.places.now()) == {("echo", "in", 1): 8}


async def test_partitions_that_went_to_another_process_have_no_place() -> None:
    telemetry = Telemetry()
    runner = stage._Runner(Broker(), Echo(), "echo", "in", transient=(), telemetry=telemetry)  # type: ignore[arg-type]
    assert "echo's partitions" in telemetry.health.waits
    await runner.assigned(None, {TP("in", 1), TP("in", 2)})
    assert dict(telemetry.places.now()) == {("echo", "in", 1): None, ("echo", "in", 2): None}
    assert (telemetry.places.group("echo"), telemetry.health.waits) == ("group", {"start": "it starts"})
    await runner.revoked(None, {TP("in", 1), TP("other", 2)})
    await runner.handle([Event(Broker(), "a")])  # type: ignore[list-item]
    assert dict(telemetry.places.now()) == {("echo", "in", 2): None}


async def test_strangers_records_are_passed_over_and_counted(caplog: pytest.LogCaptureFixture) -> None:
    broker, echo, writer, telemetry = Broker(), Echo(), Writer(b"s" * 32, members=4), Telemetry()
    known = (VaultUnavailable, StoreUnavailable)
    runner = stage._Runner(
        broker,  # type: ignore[arg-type]
        echo,
        "echo",
        "in",
        transient=known,
        stamps=writer,
        telemetry=telemetry,
    )
    events = [Event(broker, value) for value in "abcde"]
    for event, bears in zip(events, (True, False, True, False, False), strict=True):
        of = b"another" if event.message.value == b"e" else event.message.value
        if bears or of == b"another":
            event.message.headers.append((HEADER, writer.stamp("in", 1, of)))
    await runner.handle(events)  # type: ignore[arg-type]
    assert echo.calls == ["ac"]
    # All are acknowledged: what a stranger wrote is not met again.
    assert [note for note in broker.notes if note.startswith("ack")] == [f"ack {value}" for value in "abcde"]
    assert telemetry.meters.refused.labels("echo", "stranger")._value.get() == 3
    assert caplog.text.count("left out") == 3
    # Readers can recognise the stage's records.
    sent = [headers[HEADER] for headers in broker.headers]
    for value, stamp in zip((b"a", b"c"), sent, strict=True):
        assert writer.reader().genuine("out", 1, value, stamp)


async def test_a_record_of_a_later_version_ends_the_process_before_anything_is_acknowledged() -> None:
    broker, writer = Broker(), Writer(b"s" * 32, members=4)
    runner = stage._Runner(broker, Echo(), "echo", "in", transient=(), stamps=writer)  # type: ignore[arg-type]
    event = Event(broker, "a")
    event.message.value = b"\xc3\x01" + bytes(range(8)) + b"a body"
    event.message.headers.append((HEADER, writer.stamp("in", 1, event.message.value)))
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(runner.handle([event]), 0.2)  # type: ignore[list-item]
    assert broker.notes == ["crashed UnknownSchema"]


async def test_a_batch_that_does_not_end_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stage, "STUCK_S", 0.05)
    answered, shown = threading.Event(), Telemetry()
    runner = stage._Runner(Broker(), Echo(), "echo", "in", transient=(), telemetry=shown)  # type: ignore[arg-type]
    call = asyncio.ensure_future(runner._call(answered.wait, 10))
    async with asyncio.timeout(5):
        while "echo's batch" not in shown.health.waits:
            await asyncio.sleep(0.01)
    answered.set()
    await call
    assert "echo's batch" not in shown.health.waits


class Ahead(Echo):
    """Notes which batches it was given ahead."""

    def ahead(self, arrivals: Sequence[Arrival]) -> None:
        self.threads.add(threading.get_ident())
        self.calls.append("ahead " + "".join(arrival.value.decode() for arrival in arrivals))
        self.given.append(arrivals)

    def __init__(self) -> None:
        super().__init__()
        self.given: list[Sequence[Arrival]] = []

    def process(self, arrivals: Sequence[Arrival]) -> list[Output]:
        if self.given and arrivals is self.given[-1]:
            self.calls.append("the same list")
        return super().process(arrivals)


async def test_the_next_batch_is_given_ahead_after_the_one_that_is_processed() -> None:
    broker, echo = Broker(), Ahead()
    runner = stage._Runner(broker, echo, "echo", "in", transient=(), ahead=echo.ahead)  # type: ignore[arg-type]
    first, second = ([Event(broker, value) for value in values] for values in ("ab", "c"))
    await runner.handle(first, lambda: second)  # type: ignore[arg-type]
    await runner.handle(second)  # type: ignore[arg-type]
    await runner.handle([Event(broker, "d")])  # type: ignore[list-item]
    assert echo.calls == ["ahead ab", "ahead c", "ab", "the same list", "c", "d"]
    assert len(echo.threads) == 1
    assert [note for note in broker.notes if note.startswith("ack")] == ["ack a", "ack b", "ack c", "ack d"]
