"""Kept traces: bounded files of OTLP lines, and the tree that is read out of them."""

from __future__ import annotations

import json
import socket
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from memquorum import __version__
from memquorum.telemetry import reading, recording, tracing
from memquorum.telemetry.recording import FileExporter
from memquorum.telemetry.tracing import Tracing

MEMORY = "0f5fa48a-7b7f-5f2e-9d0f-0e8f66a0c1aa"
HEX = MEMORY.replace("-", "")
MS = 1_000_000


class Process:
    """A process of the line that keeps its traces in a folder."""

    def __init__(self, folder: Path, name: str) -> None:
        self._provider = recording.provider(name, recording.local(folder, name))
        self.tracing = Tracing(self._provider.get_tracer(tracing.NAME))

    def end(self) -> None:
        self._provider.shutdown()


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    """A memory's trace through two processes, and a vote's that links it."""
    client, intake, streams = (Process(tmp_path, name) for name in ("client", "intake", "streams"))
    publication = client.tracing.publish(tracing.trace_of_memory(MEMORY))
    header = publication.send("episodes", event_id="e")
    publication.end()
    hop = intake.tracing.memory("episodes", header, MEMORY, partition=2, offset=7)
    hop.send("accepted", 2)
    hop.end()
    vote = streams.tracing.process("crossed", None, begin=tracing.trace_of_vote(b"c", 2, 1))
    vote.link_memory(MEMORY, outcome="forgotten")
    vote.tell(shard=2, epoch=1)
    vote.end()
    other = streams.tracing.process("crossed", None, begin=tracing.trace_of_vote(b"c", 3, 1))
    other.end()
    for process in (client, intake, streams):
        process.end()
    return tmp_path


def test_a_memory_is_found_with_what_links_it_and_nothing_else(kept: Path) -> None:
    own, vote = reading.find(kept, HEX)
    assert [span.name for span in own.spans] == ["send episodes", "process episodes", "send accepted"]
    assert [span.service for span in own.spans] == ["client", "intake", "intake"]
    (root,) = own.roots
    assert [child.name for child in root.children] == ["process episodes"]
    assert [span.name for span in vote.spans] == ["process crossed"]
    told = "\n".join(reading.lines([own, vote], HEX))
    assert f"Trace {HEX}: 3 spans in client and intake" in told
    assert "└ process episodes 2@7  [intake]" in told
    assert "(forgotten): 1 spans in streams" in told
    assert "process crossed  [streams]  shard=2 epoch=1" in told


def test_of_a_search_only_what_became_of_this_memory_is_told(tmp_path: Path) -> None:
    retrieval, intake = Process(tmp_path, "retrieval"), Process(tmp_path, "intake")
    search = retrieval.tracing.serve("POST /search", None)
    for memory_id in (MEMORY, MEMORY.replace("0f", "1f")):
        used = intake.tracing.process("accesses", search.send("accesses"))
        used.link_memory(memory_id, outcome="accessed")
        used.send("accepted")
        used.end()
    search.end()
    retrieval.end()
    intake.end()
    (trace,) = reading.find(tmp_path, HEX)
    assert [span.name for span in trace.spans] == [
        "POST /search", "send accesses", "process accesses", "send accepted"
    ]  # fmt: skip
    assert trace.spans[2].links[0].trace_id == HEX


def test_what_goes_out_aside_is_recorded_by_nobody(tmp_path: Path) -> None:
    retrieval, intake = Process(tmp_path, "retrieval"), Process(tmp_path, "intake")
    search = retrieval.tracing.serve("POST /search", None)
    told, aside = search.send("accesses"), search.aside()
    assert told is not None and aside is not None
    assert (told[:35], told[-2:], aside[-2:]) == (aside[:35], "01", "00")
    assert intake.tracing.process("accesses", told, begin=1).sampled
    passed = intake.tracing.process("accesses", aside, begin=1)
    assert not passed.sampled and passed.send("accepted") == aside
    other = "00-" + "1" * 32 + "-" + "2" * 16 + "-00"
    assert retrieval.tracing.serve("POST /search", other).aside() == other
    search.end()
    retrieval.end()
    intake.end()


def test_a_vote_that_changed_nothing_is_one_line_unless_all_is_wanted(tmp_path: Path) -> None:
    streams = Process(tmp_path, "streams")
    vote = streams.tracing.process("crossed", None, begin=9)
    vote.link_memory(MEMORY, outcome="kept")
    vote.end()
    streams.end()
    found = reading.find(tmp_path, HEX)
    (line,) = reading.lines(found, HEX)
    assert "(kept)" in line
    assert len(list(reading.lines(found, HEX, whole=True))) == 3


def test_nothing_kept_is_nothing_found(kept: Path) -> None:
    assert reading.find(kept, "0" * 32) == []
    assert reading.find(kept / "absent", HEX) == []


def test_lines_are_otlp_s(kept: Path) -> None:
    (line,) = (kept / "client.jsonl").read_text().splitlines()
    resource = json.loads(line)["resourceSpans"][0]
    told = {one["key"]: one["value"]["stringValue"] for one in resource["resource"]["attributes"]}
    assert (told["service.namespace"], told["service.name"]) == ("memquorum", "client")
    assert told["service.version"] == __version__ and told["telemetry.sdk.language"] == "python"
    assert resource["scopeSpans"][0]["spans"][0]["traceId"] == HEX


def test_a_line_that_was_cut_off_is_left_out(kept: Path) -> None:
    file = kept / "streams.jsonl"
    file.write_text(file.read_text() + '{"resourceSpans": [{"' + HEX)
    assert len(reading.find(kept, HEX)) == 2


def test_files_are_bounded_and_the_latest_is_kept(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    exporter = FileExporter(file, bytes_max=4_000)
    for number in range(40):
        exporter._write(f"{number} {'x' * 200}\n".encode())
    kept = recording.earlier(file).read_text() + file.read_text()
    assert recording.earlier(file).name == "a.1.jsonl"
    assert 2_000 < len(kept) <= 4_000
    assert [line.split()[0] for line in kept.splitlines()] == [str(n) for n in range(40)][-len(kept.splitlines()) :]


def test_a_folder_that_cannot_be_written_costs_the_trace_alone(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "traces").write_text("a file where a folder should be")
    process = Process(tmp_path / "traces", "a")
    for _ in range(2):
        process.tracing.work("x", 1).end()
        process._provider.force_flush()
    process.end()
    assert caplog.text.count("does not accept traces: 1 spans are lost so far") == 1


def test_a_failure_that_goes_on_is_said_once_a_minute(caplog: pytest.LogCaptureFixture, tmp_path: Path) -> None:
    now = [0.0]
    (tmp_path / "traces").write_text("a file where a folder should be")
    told = recording.LoggedExporter(FileExporter(tmp_path / "traces" / "a.jsonl"), "there", clock=lambda: now[0])
    for second in range(150):
        now[0] = second
        told.export([])
    assert caplog.text.count("there does not accept traces") == 3


def test_a_collector_that_is_away_does_not_hold_up_a_stop(caplog: pytest.LogCaptureFixture) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:  # takes connections and never answers
        made, end = recording.start("a", 10, recording.otlp(f"http://127.0.0.1:{silent.getsockname()[1]}"))
        made.work("x", 1).end()
        began = time.monotonic()
        end()
        assert time.monotonic() - began < 2
    assert "Transient" not in caplog.text


def test_a_collector_that_is_away_keeps_nothing_from_the_folder(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        there = f"http://127.0.0.1:{silent.getsockname()[1]}"
        made, end = recording.start("intake", 10, *recording.exporters(tmp_path, "intake", there))
        made.process("a", None, begin=tracing.trace_of_memory(MEMORY)).end()
        end()
    (kept,) = reading.find(tmp_path, HEX)
    assert [span.name for span in kept.spans] == ["process a"]


def test_a_collector_is_sent_the_same(tmp_path: Path) -> None:
    bodies: list[tuple[str, bytes]] = []

    class Collector(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            bodies.append((self.path, self.rfile.read(int(self.headers["content-length"]))))
            self.send_response(200)
            self.end_headers()

        def log_message(self, format: str, *arguments: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Collector) as server:
        thread = threading.Thread(target=server.handle_request)
        thread.start()
        made = recording.provider("intake", recording.otlp(f"http://127.0.0.1:{server.server_port}/"))
        hop = Tracing(made.get_tracer(tracing.NAME)).process("a", None, begin=5)
        hop.end()
        made.shutdown()
        thread.join(5)
    ((path, body),) = bodies
    request = ExportTraceServiceRequest.FromString(body)
    (span,) = request.resource_spans[0].scope_spans[0].spans
    assert (path, span.name, int.from_bytes(span.trace_id, "big")) == ("/v1/traces", "process a", 5)


def _span(span_id: str, parent: str, name: str, start_ms: int, end_ms: int) -> reading.Span:
    kind = 4 if name.startswith("send") else 5
    return reading.Span(HEX, span_id, parent, name, kind, "intake", start_ms * MS, end_ms * MS, {}, ())


def test_waits_are_told_along_the_path_that_ended_last() -> None:
    spans = [
        _span("1", "", "send a", 0, 10),
        _span("2", "1", "process a", 60, 80),
        _span("3", "2", "send b", 70, 80),
        _span("4", "3", "process b", 79, 90),  # had it before the producer knew that it was there
        _span("5", "3", "process b", 81, 85),
    ]
    told = list(reading.lines([reading._tree(HEX, spans)], HEX))
    assert told[1:] == [
        "      at ms   waited     took",
        "        0.0              10.0  send a  [intake]",
        "       60.0     50.0     20.0  └ process a  [intake]",
        "       70.0              10.0    └ send b  [intake]",
        "       79.0      0.0     11.0      ├ process b  [intake]",
        "       81.0      1.0      4.0      └ process b  [intake]",
        "  Of 90.0 ms it waited 50.0 ms in topics; longest, 50.0 ms, in a before intake.",
    ]


def test_ids_come_with_hyphens_or_without() -> None:
    assert reading.normal(MEMORY.upper()) == reading.normal(f" {HEX}\n") == HEX
    assert reading.normal("nonsense") is reading.normal(HEX[:-1] + "g") is None
