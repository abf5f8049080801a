"""The shared part of stream processors: arrivals in, outputs out, and an order in which nothing gets lost.

A processor is a plain synchronous object (`Processor`): decode, call the core, encode. It runs in a thread of its own,
one batch at a time, so that it may block on a port and never holds up the event loop. `attach` hangs it on a Faust app:

    def attach(app: faust.App, codec: Codec, ...ports...) -> None:
        stage.attach(app, Decay(codec, ...), name="decay", source=topics.JOURNAL)

The rules come from losses that were measured (DESIGN 2): no tables, one coroutine per agent, batches of which Faust
acknowledges nothing (`batching.Batches`): one is acknowledged only when the broker has confirmed every output of it.
A failure because something outside is down (the port says so: `VaultUnavailable`, `EncoderUnavailable` and their like)
is retried for as long as it takes; a record that fails by itself goes to `Processor.poisoned`.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol, TypeVar

import faust
from faust.types import TP, EventT, TopicT
from msgspec import Struct, field

from memquorum import cloudevents
from memquorum.core.avro import UnknownSchema, later_record
from memquorum.core.identity.stamps import HEADER, Writer
from memquorum.ports import EncoderUnavailable, StoreUnavailable, StreamUnavailable, VaultBehind, VaultUnavailable
from memquorum.schema_files import shared_codec
from memquorum.telemetry.bundle import STRANGER, Telemetry
from memquorum.telemetry.health import STUCK_S
from memquorum.telemetry.leftout import LeftOut, reason
from memquorum.telemetry.tracing import Hop
from streams.assignments import Displaced
from streams.batching import Batches, Pace

log = logging.getLogger(__name__)

T = TypeVar("T")

Ahead = Callable[[Sequence["Arrival"]], None]
"""Begins what takes long of a batch that is processed soon. Changes no outcome, and does not raise."""

Wrote = Callable[[Sequence[tuple[str, int, int]]], None]
"""Is told where outputs stand: topic, partition, offset. May raise what the ports raise, and Displaced."""

# Waits between tries; the last repeats for ever.
_BACKOFF_S = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0)
# An outage is logged when it begins and then every so many tries.
_LOG_EVERY = 15


class Arrival(Struct, frozen=True):
    """A record as it was read. `traceparent` is passed along to what it causes; `written_ms`: its time, 0: unknown."""

    partition: int
    offset: int
    value: bytes
    traceparent: str | None = None
    written_ms: int = 0


class Begin(Struct, frozen=True):
    """The trace that an output begins: its id, the memories that it speaks of, and what to say of it."""

    trace: int
    memories: Sequence[str] = ()
    told: Mapping[str, str | int] = field(default_factory=dict)


class Output(Struct, frozen=True):
    """A record to be written to an explicit partition; `kind` is the record's name, `event_id` the idempotency key.

    It stands in the trace of the arrival whose `traceparent` it bears, unless it `begins` one.
    """

    topic: str
    partition: int
    key: bytes
    value: bytes
    kind: str
    event_id: str
    traceparent: str | None = None
    begins: Begin | None = None


class Processor(Protocol):
    """One stage. Every method is called from the same thread, never two at a time."""

    def process(self, arrivals: Sequence[Arrival]) -> Sequence[Output]:
        """The outputs of a batch, in the order in which they are to be written.

        The batch may hold several partitions; within one, offsets rise. A call that raised is made again with the same
        arrivals (`VaultUnavailable`, `StoreUnavailable`, what `attach` was told is transient), or with each arrival
        alone (anything else), so state must not suffer from a second try.
        """
        ...

    def poisoned(self, arrival: Arrival, error: Exception) -> Sequence[Output]:
        """Returns what to write instead for an arrival whose processing raised even alone. May raise the exceptions for
        outside failures that `process` may."""
        ...

    def assigned(self, partitions: frozenset[int]) -> None:
        """These partitions begin here, perhaps again: forget what was known of them."""
        ...


def attach(
    app: faust.App,
    processor: Processor,
    *,
    name: str,
    source: str,
    batch: int = 64,
    batch_bytes: int = 1 << 20,
    batch_s: float = 60.0,
    within_s: float = 0.01,
    transient: tuple[type[Exception], ...] = (),
    stamps: Writer | None = None,
    telemetry: Telemetry | None = None,
    wrote: Wrote | None = None,
    ahead: Ahead | None = None,
) -> None:
    """Hangs a processor on the app as the agent `name` that reads the topic `source`.

    `batch` is how many arrivals are processed at once at most, `batch_bytes` how much they hold, where it is more than
    one, and `batch_s` how long they take, as those before them took. `within_s` is how long an arrival waits at most
    for others to share its batch: the stage's idle latency. `transient` are further exceptions that mean "try again",
    beside those of the ports. `stamps`: what the line's records bear; a record without them is counted and passed over.
    None, for tests: every writer is believed. `wrote` is told, in the processor's thread, where a batch's outputs stand
    before it is acknowledged; where it raises Displaced the process ends. `ahead` is given a batch before `process` is,
    in the same thread: first the one to be processed, then the one after it, where that is whole already.
    """
    away = VaultUnavailable, StoreUnavailable, StreamUnavailable, EncoderUnavailable
    patient: tuple[type[Exception], ...] = (*away, *transient)
    pace = Pace(batch, batch_s)
    runner = _Runner(
        app, processor, name, source, transient=patient, stamps=stamps, telemetry=telemetry, wrote=wrote, ahead=ahead
    )

    # `Any`: Faust's types know not how a signal calls.
    async def read(stream: Any) -> None:
        async with Batches(stream, pace, within_s, batch_bytes) as batches:
            while events := await batches.next():
                began = time.monotonic()
                await runner.handle(events, batches.whole)
                pace.took(len(events), time.monotonic() - began)
                if app.should_stop:
                    # A stop waits for what was taken from the stream, and what it did not begin is not worth that.
                    consumer: Any = app.consumer  # a `waiting.Bounded`
                    consumer.let_go(event.message for event in batches.drop())
                    await asyncio.Event().wait()  # Faust cancels it

    on_assigned: Any = runner.assigned
    on_revoked: Any = runner.revoked
    app.on_partitions_assigned.connect(on_assigned, weak=False)
    app.on_partitions_revoked.connect(on_revoked, weak=False)
    app.agent(raw(app, source), name=name, concurrency=1)(read)


def raw(app: faust.App, topic: str) -> TopicT:
    """A topic of bytes: records are decoded by the codec, where an error can be handled."""
    return app.topic(topic, key_type=bytes, value_type=bytes, key_serializer="raw", value_serializer="raw")


class _Runner:
    """Carries batches through a processor: its thread, its second tries, its outputs, its acknowledgements."""

    def __init__(
        self,
        app: faust.App,
        processor: Processor,
        name: str,
        source: str,
        *,
        transient: tuple[type[Exception], ...],
        stamps: Writer | None = None,
        telemetry: Telemetry | None = None,
        wrote: Wrote | None = None,
        ahead: Ahead | None = None,
    ) -> None:
        self._app, self._wrote, self._ahead = app, wrote, ahead
        self._processor = processor
        self._name = name
        self._source = source
        self._transient = transient
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=name)
        self._following: tuple[Sequence[EventT[bytes]], list[Arrival]] | None = None
        self._begun: set[int] = set()
        self._mine: set[int] = set()
        self._topics: dict[str, TopicT] = {}
        self._stamps, self._reader = stamps, stamps.reader() if stamps else None
        self._left_out = LeftOut(log)
        self._shown = (telemetry or Telemetry()).stage(name)
        self._shown.health.wait(f"{name}'s partitions", "the group has not assigned any yet")

    async def assigned(self, _app: Any, assigned: set[TP], **_: Any) -> None:
        """Faust's signal. The processor hears of it in its own thread, before its next batch."""
        own = [tp.partition for tp in assigned if tp.topic == self._source]
        self._begun.update(own)
        self._mine.update(own)
        self._shown.places.begin(self._name, self._source, own, self._app.conf.id)
        self._shown.health.go(f"{self._name}'s partitions")

    async def revoked(self, _app: Any, revoked: set[TP], **_: Any) -> None:
        """Faust's signal: these partitions may go to another process."""
        gone = [tp.partition for tp in revoked if tp.topic == self._source]
        self._mine.difference_update(gone)
        self._begun.difference_update(gone)
        self._shown.places.leave(self._name, self._source, gone)

    async def handle(
        self, events: Sequence[EventT[bytes]], following: Callable[[], Sequence[EventT[bytes]] | None] = lambda: None
    ) -> None:
        """Processes, writes, and only then acknowledges. Ends only by success or by cancellation. `following` returns
        the events that are handled next, if they have come."""
        if self._begun:
            partitions, self._begun = frozenset(self._begun), set()
            await self._call(self._processor.assigned, partitions)
        arrivals = self._arrivals(events)
        if self._reader is not None:
            await self._refuse_later(arrivals)
        if self._ahead is not None and (coming := following()) is not None:
            await self._call(self._ahead, arrivals)
            self._following = coming, self._arrivals(coming)
            await self._call(self._ahead, self._following[1])
        began, since_ns = time.monotonic(), time.time_ns()
        self._shown.took([(self._source, len(arrivals))])
        outputs = await self._outputs(arrivals)
        hops = self._hops(arrivals, outputs, since_ns)
        await self._told(await self._written([(output, self._headers(output, hops)) for output in outputs]))
        for event in events:
            event.ack()
        for hop in hops.values():
            hop.end()
        self._count(arrivals, outputs, time.monotonic() - began)

    def _arrivals(self, events: Sequence[EventT[bytes]]) -> list[Arrival]:
        """Returns what the line wrote of some events; the same list where it was asked for them before."""
        if self._following is not None and self._following[0] is events:
            arrivals, self._following = self._following[1], None
            return arrivals
        return [_arrival(event) for event in events if self._genuine(event)]

    def _genuine(self, event: EventT[bytes]) -> bool:
        """Whether the line wrote the record."""
        if self._reader is None:
            return True
        message = event.message
        stamp = dict(message.headers or {}).get(HEADER)
        if self._reader.genuine(self._source, message.partition, message.value or b"", stamp):
            return True
        self._left_out.note(self._source, message.partition, message.offset, reason(stamp))
        self._shown.refused(STRANGER)
        return False

    async def _refuse_later(self, arrivals: Sequence[Arrival]) -> None:
        """Ends the process where a later version of this installation wrote a record; nothing is acknowledged."""
        for arrival in arrivals:
            if shared_codec().later(arrival.value):
                place = f"{self._source}, partition {arrival.partition}, offset {arrival.offset}"
                await self._end(UnknownSchema(later_record(place)))

    def _headers(self, output: Output, hops: Mapping[str, Hop]) -> dict[str, bytes]:
        found = _headers(output, self._name, self._parent(output, hops))
        if self._stamps is not None:
            found[HEADER] = self._stamps.stamp(output.topic, output.partition, output.value)
        return found

    def _hops(self, arrivals: Sequence[Arrival], outputs: Sequence[Output], since_ns: int) -> dict[str, Hop]:
        """The spans of a batch: of arrivals by their traceparent, of outputs that begin a trace by their event id.

        An arrival that a stage passes over, as the decay stage does most of the journal, has none.
        """
        tracing, answered = self._shown.tracing, {output.traceparent for output in outputs}
        hops = {
            a.traceparent: tracing.process(
                self._source, a.traceparent, partition=a.partition, offset=a.offset, since_ns=since_ns
            )
            for a in arrivals
            if a.traceparent is not None and a.traceparent in answered
        }
        for output in outputs:
            if output.begins is None:
                continue
            hop = tracing.process(
                self._source, None, partition=output.partition, begin=output.begins.trace, since_ns=since_ns
            )
            if hop.sampled:
                hop.link([output.traceparent])
                hop.tell(**output.begins.told)
                for memory_id in output.begins.memories:
                    hop.link_memory(memory_id)
                hops[output.event_id] = hop
        for hop in hops.values():
            hop.within(self._name)
        return hops

    def _parent(self, output: Output, hops: Mapping[str, Hop]) -> str | None:
        hop = hops.get(output.event_id) or hops.get(output.traceparent or "")
        return output.traceparent if hop is None else hop.send(output.topic, output.partition, output.event_id)

    def _count(self, arrivals: Sequence[Arrival], outputs: Sequence[Output], seconds: float) -> None:
        for topic, count in Counter(output.topic for output in outputs).items():
            self._shown.sent(topic, count)
        for partition, offset in {a.partition: a.offset for a in arrivals}.items():
            if partition in self._mine:
                self._shown.at(self._source, partition, offset + 1)
        self._shown.worked(seconds)
        self._shown.done(((one.written_ms, one.traceparent) for one in arrivals), time.time_ns() // 1_000_000)

    async def _outputs(self, arrivals: Sequence[Arrival]) -> list[Output]:
        try:
            return list(await self._patiently(self._processor.process, arrivals))
        except Exception as error:
            if len(arrivals) > 1:
                # Only the error's type: its words may hold content.
                log.warning("%s: %s, so %d records one by one now", self._name, type(error).__name__, len(arrivals))
                return [output for arrival in arrivals for output in await self._outputs([arrival])]
            self._shown.refused(type(error).__name__)
            return list(await self._patiently(self._processor.poisoned, arrivals[0], error))

    async def _patiently(self, function: Callable[..., T], *arguments: Any) -> T:
        """The function's answer, however long what it needs is away."""
        tries = 0
        while True:
            try:
                answer = await self._call(function, *arguments)
                self._shown.health.go(self._name)
                return answer
            except self._transient as error:
                await self._wait(tries, error)
                tries += 1

    async def _told(self, places: Sequence[tuple[str, int, int]]) -> None:
        """Says where the outputs stand. Does not return where another process has been assigned what they are of."""
        if self._wrote is None or not places:
            return
        try:
            await self._patiently(self._wrote, places)
        except Displaced as error:
            await self._end(error)

    async def _end(self, error: Exception) -> None:
        """Ends the process, and does not return."""
        log.error("%s: %s: this process ends, and what it has not acknowledged is answered anew", self._name, error)
        await self._app.crash(error)
        await asyncio.Event().wait()

    async def _written(self, outputs: Sequence[tuple[Output, dict[str, bytes]]]) -> list[tuple[str, int, int]]:
        """Writes in order and waits for the broker's word on every record; all again if it is not given. Answers where
        they stand: topic, partition, offset.

        So a reader may see a record of the batch twice, and one that failed after those that followed it.
        """
        tries = 0
        while True:
            try:
                confirmed = [await self._send(output, headers) for output, headers in outputs]
                places = await asyncio.gather(*confirmed)
                self._shown.health.go(self._name)
                return [(place.topic, place.partition, place.offset) for place in places]
            except Exception as error:
                await self._wait(tries, error)
                tries += 1

    async def _send(self, output: Output, headers: dict[str, bytes]) -> Any:
        topic = self._topics.get(output.topic)
        if topic is None:
            topic = self._topics[output.topic] = raw(self._app, output.topic)
        return await topic.send(key=output.key, value=output.value, partition=output.partition, headers=headers)

    async def _call(self, function: Callable[..., T], *arguments: Any) -> T:
        # The app's loop turns on meanwhile, so health hears of a call that does not end from here.
        loop, health, what = asyncio.get_running_loop(), self._shown.health, f"{self._name}'s batch"
        late = loop.call_later(
            STUCK_S, health.wait, what, f"no end after {STUCK_S:.0f} s: what it asks does not answer"
        )
        try:
            return await loop.run_in_executor(self._thread, function, *arguments)
        finally:
            late.cancel()
            health.go(what)

    async def _wait(self, tries: int, error: Exception) -> None:
        if tries % _LOG_EVERY == 0:
            log.warning("%s: waiting (try %d): %r", self._name, tries + 1, error)
        what = f"the vault: {error.why}" if isinstance(error, VaultBehind) else type(error).__name__
        self._shown.health.wait(self._name, f"{what}; tried {tries + 1} times")
        await asyncio.sleep(_BACKOFF_S[min(tries, len(_BACKOFF_S) - 1)])


def _arrival(event: EventT[bytes]) -> Arrival:
    message = event.message
    parent = dict(message.headers or {}).get("traceparent")
    return Arrival(
        partition=message.partition,
        offset=message.offset,
        value=message.value or b"",
        traceparent=parent.decode("ascii", "replace") if isinstance(parent, bytes) else None,
        written_ms=int((message.timestamp or 0) * 1000),
    )


def _headers(output: Output, stage: str, parent: str | None) -> dict[str, bytes]:
    told = cloudevents.headers(output.kind, f"memquorum/{stage}", output.event_id, parent)
    return {name: value.encode() for name, value in told}
