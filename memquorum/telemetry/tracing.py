"""Traces across Kafka: a `process` span for a record that a stage handles, a `send` span for each that it writes.

The published instrumentations end the consumer's span before the record is handled, so this is our own small module on
OpenTelemetry's API; names and attributes are the semantic conventions' for messaging (DESIGN 18), and for memories of
agents (`gen_ai`) where a span stores, searches or deletes some. `SCHEMA` says of which version.

**A memory's trace bears the memory's id**: its 128 bits are the trace id, their lower half the id of the root span. So
a memory id gives its trace, and a nomination links to the traces of all its memories without any stored data. A record
that belongs to a trace of its publisher is linked to that, which is the conventions' default. A vote's trace id follows
from cluster, shard and epoch.

If it is off, or not sampled, a hop is one shared object that does nothing and passes the parent along.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import Any
from uuid import UUID

from opentelemetry import trace
from opentelemetry.trace import Span, SpanContext, SpanKind, TraceFlags, Tracer
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from memquorum import __version__

NAME = "memquorum"
HEADER = "traceparent"
STAGE = "memquorum.stage"
SCHEMA = "https://opentelemetry.io/schemas/1.44.0"
"""The version of the semantic conventions that the attributes are of: a collector translates from it."""
UPSERT, SEARCH, DELETE = "upsert_memory", "search_memory", "delete_memory"
"""The conventions' operations on memories. A publication is an upsert: the fleet decides whether it makes a memory, or
makes one stronger."""

_W3C = TraceContextTextMapPropagator()
_LOWER = (1 << 64) - 1
_VOTE = b"memquorum/epoch/1"
_UNSAMPLED = "00"
_LENGTH = 55  # of a traceparent of version 00

# The ids of the next trace and of its root, for the generator of ids (`recording.TraceIds`); 0: any.
wanted: ContextVar[tuple[int, int]] = ContextVar("memquorum_trace", default=(0, 0))


def trace_of_memory(memory_id: str) -> int:
    """The trace id of a memory, or of any event of that id. Raises ValueError if it is no UUID."""
    return UUID(memory_id).int


def trace_of_vote(cluster: bytes, shard: int, epoch: int) -> int:
    """The trace id of one epoch of one shard."""
    place = shard.to_bytes(4, "big") + epoch.to_bytes(8, "big")
    return int.from_bytes(hashlib.sha256(_VOTE + cluster + place).digest()[:16], "big")


def extract(traceparent: str | None) -> SpanContext | None:
    """The context that a header names; None without one, and for one that is malformed."""
    if traceparent is None:
        return None
    found = trace.get_current_span(_W3C.extract({HEADER: traceparent})).get_span_context()
    return found if found.is_valid else None


def inject(context: SpanContext) -> str:
    """The header for a context."""
    carrier: dict[str, str] = {}
    _W3C.inject(carrier, trace.set_span_in_context(trace.NonRecordingSpan(context)))
    return carrier[HEADER]


def exemplar(traceparent: str | None) -> dict[str, str] | None:
    """The labels that lead from a sample of a histogram to a trace; None for one that is not recorded."""
    if traceparent is None or unsampled(traceparent):
        return None
    context = extract(traceparent)
    if context is None or not context.trace_flags.sampled:
        return None
    return {"trace_id": f"{context.trace_id:032x}", "span_id": f"{context.span_id:016x}"}


def tracer_of(provider: trace.TracerProvider) -> Tracer:
    """Our tracer of a provider."""
    return provider.get_tracer(NAME, __version__, SCHEMA)


def caller() -> str | None:
    """The header for the span of the surrounding program; None if that traces nothing."""
    found = _current()
    return None if found is None else inject(found)


@contextmanager
def joined(traceparent: str | None) -> Iterator[None]:
    """Puts the program in the trace of a header during the block, if there is one."""
    context = extract(traceparent)
    if context is None:
        yield
        return
    with trace.use_span(trace.NonRecordingSpan(context)):
        yield


class Hop:
    """The processing of one record or decision in a stage: a `process` span and the records sent in it.

    Every method may be called on a hop that is not recorded; `sampled` avoids building values in vain.
    """

    __slots__ = ("_passed", "_sends", "_span", "_stage", "_tracer")

    def __init__(self, tracer: Tracer | None, span: Span | None, passed: str | None = None) -> None:
        """`passed`: the traceparent to pass on if nothing is recorded."""
        self._tracer, self._span, self._passed = tracer, span, passed
        self._sends: list[Span] = []
        self._stage: str | None = None

    @property
    def sampled(self) -> bool:
        """True if it is recorded."""
        return self._span is not None

    def send(self, topic: str, partition: int | None = None, event_id: str | None = None) -> str | None:
        """Begins the span of a record to write; returns its header's traceparent. It ends with the hop."""
        if self._span is None or self._tracer is None:
            return self._passed
        attributes = _attributes("send", topic, partition)
        if event_id is not None:
            attributes["messaging.message.id"] = event_id
        if self._stage is not None:
            attributes[STAGE] = self._stage
        parent = trace.set_span_in_context(self._span)
        span = self._tracer.start_span(f"send {topic}", parent, SpanKind.PRODUCER, attributes)
        self._sends.append(span)
        return inject(span.get_span_context())

    def aside(self) -> str | None:
        """A traceparent for a record sent beside a `send` that suffices for the trace: its consequences are not
        recorded."""
        if self._span is None:
            return self._passed
        return inject(self._span.get_span_context())[: -len(_UNSAMPLED)] + _UNSAMPLED

    def link(self, traceparents: Iterable[str | None]) -> None:
        """Links the records that this one follows from, beside its parent."""
        if self._span is not None:
            for context in map(extract, traceparents):
                if context is not None:
                    self._span.add_link(context)

    def link_memory(self, memory_id: str, **attributes: str) -> None:
        """Links a memory's trace. `attributes`: the outcome for the memory here. Ignores an id that is no memory's."""
        if self._span is None:
            return
        told = {f"memquorum.{name}": value for name, value in attributes.items()}
        with suppress(ValueError):
            self._span.add_link(_root(trace_of_memory(memory_id)), told)

    def tell(self, **attributes: str | int) -> None:
        """Adds attributes of our own: ids, counts, outcomes; never content."""
        if self._span is not None:
            self._span.set_attributes({f"memquorum.{name}": value for name, value in attributes.items()})

    def operates(self, operation: str, *, count: int | None = None, memory_id: str | None = None) -> None:
        """Says which operation on memories it is, on how many, or on which one. Neither texts nor namespaces: the
        conventions' id of a memory store would be the name of a tenant."""
        if self._span is None:
            return
        self._span.set_attribute("gen_ai.operation.name", operation)
        if count is not None:
            self._span.set_attribute("gen_ai.memory.record.count", count)
        if memory_id is not None:
            self._span.set_attribute("gen_ai.memory.record.id", memory_id)

    def within(self, stage: str) -> None:
        """Sets the stage in a process that runs several, also for records sent from now on."""
        if self._span is not None:
            self._stage = stage
            self._span.set_attribute(STAGE, stage)

    def end(self, at_ns: int | None = None) -> None:
        """Ends the spans: the sent records are confirmed, and the record is processed. A second call does nothing."""
        span, self._span = self._span, None
        if span is not None:
            for sent in self._sends:
                sent.end(at_ns)
            span.end(at_ns)
            self._passed = None


NOTHING = Hop(None, None)


class Tracing:
    """Begins hops. Without a tracer every hop only passes its parent along."""

    def __init__(self, tracer: Tracer | None = None, admit: Callable[[], bool] = lambda: True) -> None:
        """`admit` is called before a trace is begun, and is cheaper than a sampler of the SDK's that declines."""
        self._tracer, self._admit = tracer, admit

    @property
    def on(self) -> bool:
        """True if anything may be recorded."""
        return self._tracer is not None

    def process(
        self,
        topic: str,
        parent: str | None,
        *,
        partition: int | None = None,
        offset: int | None = None,
        begin: int | None = None,
        rooted: bool = False,
        since_ns: int | None = None,
    ) -> Hop:
        """Begins the hop of a record that a stage handles, since `since_ns` (default: now).

        `begin`: the trace to begin if the record belongs to none; without it such a record is not traced. `rooted`: it
        can be linked to from elsewhere, so its root has the id that follows from the trace's.
        """
        if parent is None and begin is None:
            return NOTHING
        if self._tracer is None or (parent is not None and unsampled(parent)):
            return Hop(None, None, parent)
        context = extract(parent)
        if context is None and (begin is None or not self._admit()):
            return NOTHING
        attributes = _attributes("process", topic, partition)
        if offset is not None:
            attributes["messaging.kafka.offset"] = offset
        name = f"process {topic}"
        ids = None if begin is None else (begin, root_span(begin) if rooted else 0)
        span = _start(self._tracer, name, SpanKind.CONSUMER, attributes, parent=context, begin=ids, since_ns=since_ns)
        return Hop(self._tracer, span) if span.is_recording() else Hop(None, None, parent)

    def memory(
        self,
        topic: str,
        parent: str | None,
        memory_id: str,
        *,
        partition: int,
        offset: int,
        since_ns: int | None = None,
    ) -> Hop:
        """Begins a hop as `process` does, for the first record of a memory: in the memory's own trace, whatever trace
        it came from."""
        if self._tracer is None:
            return Hop(None, None, parent)
        own = trace_of_memory(memory_id)
        if parent is not None and unsampled(parent):
            # Our own client sampled it already.
            return NOTHING if parent[3:35] == f"{own:032x}" else Hop(None, None, parent)
        came = extract(parent)
        if came is not None and came.trace_id == own:
            return self.process(topic, parent, partition=partition, offset=offset, since_ns=since_ns)
        hop = self.process(topic, None, partition=partition, offset=offset, begin=own, rooted=True, since_ns=since_ns)
        if came is None or parent is None:
            return hop
        if not hop.sampled:
            return Hop(None, None, parent[:-2] + _UNSAMPLED)
        hop.link([parent])
        return hop

    def publish(self, begin: int) -> Hop:
        """Begins a publication outside of any hop: `send` of the result begins the trace, or joins the caller's."""
        return _Publication(self._tracer, begin, self._admit) if self._tracer is not None else NOTHING

    def serve(self, name: str, parent: str | None) -> Hop:
        """Begins the hop of a request to a service, in its caller's trace if the caller names one. `name`: its method
        and route."""
        context = extract(parent)
        if self._tracer is None or (context is None and not self._admit()):
            return Hop(None, None, parent)
        method, _, route = name.partition(" ")
        attributes = {"http.request.method": method, "http.route": route}
        span = _start(self._tracer, name, SpanKind.SERVER, attributes, parent=context)
        return Hop(self._tracer, span) if span.is_recording() else Hop(None, None, parent)

    def work(self, name: str, begin: int) -> Hop:
        """Begins the hop of work that no record causes: a span that begins a trace."""
        if self._tracer is None or not self._admit():
            return NOTHING
        span = _start(self._tracer, name, SpanKind.INTERNAL, {}, begin=(begin, 0))
        return Hop(self._tracer, span) if span.is_recording() else NOTHING


class _Publication(Hop):
    """A hop without a span of its own: its one `send` is the root."""

    __slots__ = ("_admit", "_begins")

    def __init__(self, tracer: Tracer, begins: int, admit: Callable[[], bool]) -> None:
        super().__init__(tracer, None)
        self._begins, self._admit = begins, admit

    def send(self, topic: str, partition: int | None = None, event_id: str | None = None) -> str | None:
        assert self._tracer is not None
        caller = _current()
        begin = (self._begins, root_span(self._begins))
        if caller is None and not self._admit():
            # Passed on, so that intake does not begin another trace.
            return f"00-{begin[0]:032x}-{begin[1]:016x}-{_UNSAMPLED}"
        attributes = _attributes("send", topic, partition)
        if event_id is not None:
            attributes["messaging.message.id"] = event_id
        name = f"send {topic}"
        span = _start(self._tracer, name, SpanKind.PRODUCER, attributes, parent=caller, begin=begin)
        if span.is_recording():
            self._span = span
        # A caller's trace is passed on even if it is not recorded.
        return inject(span.get_span_context()) if span.is_recording() or caller is not None else None


def _start(
    tracer: Tracer,
    name: str,
    kind: SpanKind,
    attributes: Mapping[str, Any],
    *,
    parent: SpanContext | None = None,
    begin: tuple[int, int] | None = None,
    since_ns: int | None = None,
) -> Span:
    around = trace.set_span_in_context(trace.INVALID_SPAN if parent is None else trace.NonRecordingSpan(parent))
    token = wanted.set((0, 0) if parent is not None or begin is None else begin)
    try:
        return tracer.start_span(name, around, kind, attributes, start_time=since_ns)
    finally:
        wanted.reset(token)


def _current() -> SpanContext | None:
    """The current span of the surrounding program, if it traces too."""
    found = trace.get_current_span().get_span_context()
    return found if found.is_valid else None


def _root(trace_id: int) -> SpanContext:
    """The root span of a trace with a given id: its span id is the lower half."""
    return SpanContext(trace_id, root_span(trace_id), is_remote=True, trace_flags=TraceFlags(TraceFlags.SAMPLED))


def root_span(trace_id: int) -> int:
    """The id of the root span in a trace with a given id."""
    return trace_id & _LOWER or 1


def unsampled(traceparent: str) -> bool:
    """True if a header says that its trace is not recorded; cheap, as every record is checked."""
    return len(traceparent) == _LENGTH and traceparent.endswith(_UNSAMPLED)


def _attributes(operation: str, topic: str, partition: int | None) -> dict[str, Any]:
    found: dict[str, Any] = {
        "messaging.system": "kafka",
        "messaging.operation.name": operation,
        "messaging.operation.type": operation,
        "messaging.destination.name": topic,
    }
    if partition is not None:
        found["messaging.destination.partition.id"] = str(partition)
    return found
