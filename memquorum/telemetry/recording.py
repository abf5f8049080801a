"""Exports spans: as OTLP in JSON lines into a bounded file of the run folder, and by OTLP to a collector if one is
named.

The lines are those of OpenTelemetry's file exporter, so that a collector's `otlpjsonfile` receiver reads them too. Its
cost is bounded twice: by the new traces per second, and by the bytes kept.

Needs OpenTelemetry's SDK; nothing else of the telemetry does.
"""

from __future__ import annotations

import atexit
import fcntl
import json
import logging
import os
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, SpanLimits, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.id_generator import RandomIdGenerator
from opentelemetry.sdk.trace.sampling import ALWAYS_ON, ParentBased

from memquorum import __version__
from memquorum.telemetry import tracing
from memquorum.telemetry.tracing import Tracing

_LOG = logging.getLogger(__name__)

# The limit of one process, in two files of half of it: some 20,000 spans.
RING_BYTES = 16 * 1024 * 1024
# An epoch of 256 proposals links to as many memories.
_LINKS_MAX = 1_024
_EXPORT_EVERY_MS = 500
_QUEUE_MAX = 4_096
# The seconds' worth of traces that may begin at once.
_BURST_S = 10
_END_S = 1.0
# The interval at which a lasting failure is logged again.
_AGAIN_S = 60.0


def provider(service: str, *exporters: SpanExporter) -> TracerProvider:
    """Records spans of a process named `service`. Each exporter has a queue of its own: a collector that is away keeps
    no span from the file. The variable OTEL_RESOURCE_ATTRIBUTES adds attributes, as everywhere."""
    resource = {"service.namespace": tracing.NAME, "service.name": service, "service.version": __version__}
    made = TracerProvider(
        sampler=ParentBased(ALWAYS_ON),
        resource=Resource.create(resource),
        id_generator=TraceIds(),
        span_limits=SpanLimits(max_links=_LINKS_MAX),
        shutdown_on_exit=False,
    )
    for exporter in exporters:
        made.add_span_processor(
            BatchSpanProcessor(exporter, max_queue_size=_QUEUE_MAX, schedule_delay_millis=_EXPORT_EVERY_MS)
        )
    return made


def start(service: str, per_second: int, *exporters: SpanExporter) -> tuple[Tracing, Callable[[], None]]:
    """Starts a process's tracing, limited to so many new traces a second; returns it with the function to call at its
    end."""
    made = provider(service, *exporters)

    def end() -> None:
        """Exports the remaining spans, within a second: an unavailable collector must not delay a stop."""
        atexit.unregister(end)
        ending = threading.Thread(target=made.shutdown, daemon=True)
        ending.start()
        ending.join(_END_S)

    # For programs that never say that they are done.
    atexit.register(end)
    return Tracing(tracing.tracer_of(made), Limit(per_second).admit), end


def exporters(folder: Path, service: str, endpoint: str) -> list[SpanExporter]:
    """Exporters to the folder, and to a collector where one is named: `memquorum trace` reads the folder."""
    return [local(folder, service), *([otlp(endpoint)] if endpoint else [])]


def local(folder: Path, service: str) -> SpanExporter:
    """An exporter that keeps the spans of a process, or of all processes of that name, in a file of the folder."""
    return LoggedExporter(FileExporter(folder / f"{service}.jsonl"), str(folder))


def otlp(endpoint: str) -> SpanExporter:
    """An exporter to a collector by OTLP over HTTP. `endpoint`: its base address, http://host:4318."""
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

    # It says of every try that it failed.
    logging.getLogger("opentelemetry.exporter").setLevel(logging.CRITICAL)
    logging.getLogger("urllib3").setLevel(logging.ERROR)
    return LoggedExporter(OTLPSpanExporter(endpoint=f"{endpoint.rstrip('/')}/v1/traces", timeout=5), endpoint)


class TraceIds(RandomIdGenerator):
    """Random ids, except if a trace is begun under a given id (`tracing.wanted`)."""

    def generate_trace_id(self) -> int:
        """The requested id, or a random one."""
        return tracing.wanted.get()[0] or super().generate_trace_id()

    def generate_span_id(self) -> int:
        """The requested id, or a random one."""
        return tracing.wanted.get()[1] or super().generate_span_id()

    def is_trace_id_random(self) -> bool:
        """False: samplers that use the id's bits would use a UUID's fixed ones."""
        return False


class Limit:
    """Limits the new traces per second, with ten seconds' worth at once. Continuing a trace is not limited."""

    def __init__(self, per_second: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate, self._clock = per_second, clock
        self._credit, self._asked = per_second * _BURST_S, clock()

    def admit(self) -> bool:
        """True if a trace may begin, which uses up one."""
        # Threads may race for the last trace of a second; one more or less is not worth a lock.
        now = self._clock()
        self._credit = min(self._rate * _BURST_S, self._credit + (now - self._asked) * self._rate)
        self._asked = now
        if self._credit < 1:
            return False
        self._credit -= 1
        return True


class LoggedExporter(SpanExporter):
    """An exporter whose failures are logged once, and again after a minute: traces must not flood the log."""

    def __init__(self, inner: SpanExporter, where: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._inner, self._where, self._clock = inner, where, clock
        self._silent_until = float("-inf")
        self._lost = 0

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Exports as the inner one does."""
        result = self._inner.export(spans)
        if result is not SpanExportResult.SUCCESS:
            self._lost += len(spans)
            if self._clock() >= self._silent_until:
                self._silent_until = self._clock() + _AGAIN_S
                _LOG.warning("%s does not accept traces: %d spans are lost so far", self._where, self._lost)
        return result

    def shutdown(self) -> None:
        """Shuts down as the inner one does."""
        self._inner.shutdown()


class FileExporter(SpanExporter):
    """Writes each batch as a line of OTLP in JSON; when the file reaches half the limit, it replaces the earlier
    file."""

    def __init__(self, file: Path, bytes_max: int = RING_BYTES) -> None:
        """Several processes may share a file: a line is written whole, and the file is rotated under a lock."""
        self._file, self._half = file, bytes_max // 2

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Writes the spans, or drops them: tracing must not cause an outage."""
        try:
            self._write(json.dumps(_encoded(spans), separators=(",", ":")).encode() + b"\n")
        except OSError:
            return SpanExportResult.FAILURE
        return SpanExportResult.SUCCESS

    def _write(self, line: bytes) -> None:
        self._file.parent.mkdir(parents=True, exist_ok=True)
        # Opened for each batch: another process may have turned it.
        with self._file.open("ab") as out:
            fcntl.flock(out, fcntl.LOCK_EX)
            if out.tell() and out.tell() + len(line) > self._half and _is(self._file, out.fileno()):
                self._file.replace(earlier(self._file))
                with self._file.open("ab") as fresh:
                    fresh.write(line)
            else:
                out.write(line)


def earlier(file: Path) -> Path:
    """The name of a full file."""
    return file.with_suffix(f".1{file.suffix}")


def _is(file: Path, descriptor: int) -> bool:
    """True if the path still names the open file."""
    try:
        return os.path.samestat(file.stat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False


def need_encoder() -> None:
    """Raises ImportError if the package that encodes spans is not installed. -"""
    import opentelemetry.exporter.otlp.json.common  # noqa: F401


def _encoded(spans: Sequence[ReadableSpan]) -> dict[str, Any]:
    from opentelemetry.exporter.otlp.json.common.trace_encoder import encode_spans

    found: dict[str, Any] = encode_spans(spans).to_dict()
    return found
