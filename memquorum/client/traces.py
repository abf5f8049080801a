"""Sends a client's own spans: into its program's traces if it has any, else to a local installation.

A remote client whose program does not trace sends no header; the memory's trace begins at intake.
"""

from __future__ import annotations

from collections.abc import Callable

from opentelemetry import trace

from memquorum.client.settings import Place
from memquorum.telemetry import tracing
from memquorum.telemetry.tracing import Tracing

_NAME = "client"

Close = Callable[[], None]


def start(place: Place) -> tuple[Tracing, Close]:
    """Starts the client's tracing; returns it with the function to call at its end. It may import large modules: do not
    call it on an event loop."""
    provider = trace.get_tracer_provider()
    if not isinstance(provider, trace.ProxyTracerProvider | trace.NoOpTracerProvider):
        return Tracing(tracing.tracer_of(provider)), lambda: None
    if place.run_dir is None or not place.local or place.trace_rate == 0:
        return Tracing(), lambda: None
    try:
        from memquorum.telemetry import recording

        # A program may have installed OpenTelemetry's SDK without the exporter.
        recording.need_encoder()
    except ImportError:  # the package's extra `telemetry` is not installed
        return Tracing(), lambda: None
    exporters = recording.exporters(place.run_dir / "traces", _NAME, place.otlp_endpoint)
    return recording.start(_NAME, place.trace_rate, *exporters)
