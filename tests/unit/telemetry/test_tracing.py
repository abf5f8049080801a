"""Traces across records: who begins one, who continues one, what is linked, and what it costs when nobody looks."""

from __future__ import annotations

import time

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.semconv._incubating.attributes import messaging_attributes
from opentelemetry.semconv.schemas import Schemas
from opentelemetry.trace import SpanKind

from memquorum.telemetry import recording, tracing
from memquorum.telemetry.tracing import NOTHING, Tracing

MEMORY = "0f5fa48a-7b7f-5f2e-9d0f-0e8f66a0c1aa"
OWN = tracing.trace_of_memory(MEMORY)
FOREIGN = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


class Recorder:
    """A provider that keeps what it records."""

    def __init__(self, per_second: int = 100) -> None:
        self._kept = InMemorySpanExporter()
        self.provider: TracerProvider = recording.provider("test", InMemorySpanExporter())
        self.provider.add_span_processor(SimpleSpanProcessor(self._kept))
        self.tracing = Tracing(tracing.tracer_of(self.provider), recording.Limit(per_second).admit)

    def spans(self) -> dict[str, ReadableSpan]:
        found = self._kept.get_finished_spans()
        return {span.name: span for span in found}


@pytest.fixture
def recorder() -> Recorder:
    return Recorder()


def test_a_record_is_followed_from_hop_to_hop(recorder: Recorder) -> None:
    published = recorder.tracing.publish(OWN)
    first = published.send("a", 3, "event-1")
    published.end()
    hop = recorder.tracing.process("a", first, partition=3, offset=17)
    second = hop.send("b", 3)
    hop.tell(effect="stored")
    hop.end()
    last = recorder.tracing.process("b", second)
    last.end()
    spans = recorder.spans()
    assert list(spans) == ["send a", "send b", "process a", "process b"]
    assert {span.context.trace_id for span in spans.values() if span.context} == {OWN}
    assert [spans[n].kind for n in ("send a", "process a", "send b", "process b")] == [
        SpanKind.PRODUCER, SpanKind.CONSUMER, SpanKind.PRODUCER, SpanKind.CONSUMER
    ]  # fmt: skip
    for child, parent in (("process a", "send a"), ("send b", "process a"), ("process b", "send b")):
        above, context = spans[child].parent, spans[parent].context
        assert above is not None and context is not None and above.span_id == context.span_id
    assert spans["process a"].attributes == {
        "messaging.system": "kafka",
        "messaging.operation.name": "process",
        "messaging.operation.type": "process",
        "messaging.destination.name": "a",
        "messaging.destination.partition.id": "3",
        "messaging.kafka.offset": 17,
        "memquorum.effect": "stored",
    }
    assert (spans["send a"].attributes or {})["messaging.message.id"] == "event-1"


def test_the_header_is_w3c_s(recorder: Recorder) -> None:
    header = recorder.tracing.publish(OWN).send("a")
    assert header == f"00-{OWN:032x}-{OWN & (2**64 - 1):016x}-01"
    assert tracing.inject(tracing.extract(header)) == header  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "header", [None, "", "00-zz", "00-" + "0" * 32 + "-b7ad6b7169203331-01", FOREIGN[:-3], FOREIGN + "x", "\udcff" * 55]
)
def test_a_header_that_names_nothing_is_none(recorder: Recorder, header: str | None) -> None:
    assert tracing.extract(header) is None
    hop = recorder.tracing.process("a", header)
    assert (hop.sampled, hop.send("b")) == (False, None)


def test_a_memory_s_trace_bears_its_id_and_links_where_it_came_from(recorder: Recorder) -> None:
    hop = recorder.tracing.memory("a", FOREIGN, MEMORY, partition=0, offset=0)
    hop.end()
    span = recorder.spans()["process a"]
    assert span.context is not None and span.parent is None
    assert (span.context.trace_id, span.context.span_id) == (OWN, OWN & (2**64 - 1))
    (link,) = span.links
    assert tracing.inject(link.context) == FOREIGN


def test_a_memory_s_own_trace_goes_on(recorder: Recorder) -> None:
    header = recorder.tracing.publish(OWN).send("a")
    hop = recorder.tracing.memory("a", header, MEMORY, partition=0, offset=0)
    hop.end()
    span = recorder.spans()["process a"]
    assert span.parent is not None and span.parent.trace_id == OWN and not span.links


def test_whoever_publishes_within_a_trace_of_their_own_stays_in_it(recorder: Recorder) -> None:
    with trace.use_span(recorder.provider.get_tracer("app").start_span("app")) as mine:
        header = recorder.tracing.publish(OWN).send("a")
    context = tracing.extract(header)
    assert context is not None and context.trace_id == mine.get_span_context().trace_id != OWN


def test_links_to_memories_meet_the_root_of_their_trace(recorder: Recorder) -> None:
    root = tracing.extract(recorder.tracing.publish(OWN).send("a"))
    vote = recorder.tracing.process("b", None, begin=tracing.trace_of_vote(b"c" * 32, 1, 2))
    vote.link_memory(MEMORY, outcome="forgotten")
    vote.link([FOREIGN, None, "nonsense"])
    vote.end()
    memory, other = recorder.spans()["process b"].links
    assert root is not None
    assert (memory.context.trace_id, memory.context.span_id) == (root.trace_id, root.span_id)
    assert memory.attributes == {"memquorum.outcome": "forgotten"}
    assert tracing.inject(other.context) == FOREIGN


def test_a_vote_s_trace_follows_from_its_place() -> None:
    ids = {tracing.trace_of_vote(b"c" * 32, shard, epoch) for shard in range(4) for epoch in range(4)}
    assert len(ids) == 16
    assert tracing.trace_of_vote(b"c" * 32, 1, 2) != tracing.trace_of_vote(b"d" * 32, 1, 2)


def test_what_nobody_samples_is_passed_along_and_not_recorded(recorder: Recorder) -> None:
    unsampled = FOREIGN[:-2] + "00"
    for hop in (
        recorder.tracing.process("a", unsampled),
        recorder.tracing.memory("a", unsampled, MEMORY, partition=0, offset=0),
        Tracing().process("a", unsampled),
    ):
        assert (hop.sampled, hop.send("b")) == (False, unsampled)
        hop.end()
    assert Tracing().process("a", FOREIGN).send("b") == FOREIGN
    assert Tracing().publish(OWN).send("b") is None
    assert recorder.spans() == {}


def test_so_many_traces_a_second_begin_and_those_are_whole() -> None:
    now = [0.0]
    limit = recording.Limit(2, clock=lambda: now[0])
    assert [limit.admit() for _ in range(30)] == [True] * 20 + [False] * 10  # ten seconds' worth at once
    now[0] = 1.0
    assert [limit.admit() for _ in range(3)] == [True, True, False]
    # A continued trace follows its parent, not the limit.
    recorder = Recorder(per_second=0)
    assert recorder.tracing.process("a", FOREIGN).sampled
    assert not recorder.tracing.process("a", None, begin=OWN).sampled
    dropped = recorder.tracing.memory("a", FOREIGN, MEMORY, partition=0, offset=0)
    assert dropped.send("b") == FOREIGN[:-2] + "00"  # so that nobody downstream records pieces of it
    assert not recorder.tracing.work("x", 1).sampled
    assert not recorder.tracing.serve("x", None).sampled
    assert recorder.tracing.serve("x", FOREIGN).sampled


def test_intake_begins_no_trace_that_the_client_has_not_begun() -> None:
    header = Recorder(per_second=0).tracing.publish(OWN).send("a")
    assert header is not None and tracing.unsampled(header)
    hop = Recorder().tracing.memory("a", header, MEMORY, partition=0, offset=0)
    assert (hop.sampled, hop.send("b")) == (False, None)


def test_an_operation_on_memories_is_named_by_the_conventions_and_holds_no_namespace(recorder: Recorder) -> None:
    published = recorder.tracing.publish(OWN)
    published.send("episodes")
    published.operates(tracing.UPSERT, memory_id=MEMORY)
    published.end()
    search = recorder.tracing.serve("POST /search", None)
    search.operates(tracing.SEARCH, count=3)
    search.end()
    NOTHING.operates(tracing.DELETE, count=1)
    spans = recorder.spans()
    told = spans["send episodes"].attributes or {}
    assert (told["gen_ai.operation.name"], told["gen_ai.memory.record.id"]) == ("upsert_memory", MEMORY)
    assert spans["POST /search"].attributes == {
        "http.request.method": "POST", "http.route": "/search",
        "gen_ai.operation.name": "search_memory", "gen_ai.memory.record.count": 3,
    }  # fmt: skip


def test_attributes_are_of_the_version_that_the_tracer_names(recorder: Recorder) -> None:
    """The package of conventions is that of the installed SDK: with a newer one, look what was renamed."""
    hop = recorder.tracing.process("a", None, partition=0, offset=1, begin=OWN)
    hop.send("b", 1, "event-1")
    hop.end()
    assert Schemas.V1_44_0.value == tracing.SCHEMA == list(Schemas)[-1].value
    current = {
        value
        for name, value in vars(messaging_attributes).items()
        if isinstance(value, str) and name.startswith("MESSAGING_")
    }
    for span in recorder.spans().values():
        assert span.instrumentation_scope is not None and span.instrumentation_scope.schema_url == tracing.SCHEMA
        assert {name for name in span.attributes or {} if name.startswith("messaging.")} <= current


def test_an_exemplar_names_a_trace_that_is_recorded_and_no_other() -> None:
    assert tracing.exemplar(FOREIGN) == {"trace_id": FOREIGN[3:35], "span_id": FOREIGN[36:52]}
    for other in (None, FOREIGN[:-2] + "00", FOREIGN[:-2] + "02", "x" * 55, FOREIGN + "-x", "\udcff" * 55):
        assert tracing.exemplar(other) is None, other


def test_an_untraced_record_costs_next_to_nothing() -> None:
    off = Tracing()
    assert off.process("a", None) is NOTHING
    began = time.process_time()
    for _ in range(20_000):
        hop = off.process("a", None)
        hop.send("b")
        hop.end()
    assert (time.process_time() - began) / 20_000 < 20e-6  # some 0.3 µs on an idle machine
