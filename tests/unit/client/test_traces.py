"""The target of a client's spans; it goes on without spans where they cannot be written."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from memquorum.client import traces
from memquorum.client.settings import Place


def test_a_client_keeps_no_traces_where_nothing_can_write_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = Place(
        kafka="127.0.0.1:1", url="", namespace="n", agent="a", run_dir=tmp_path, local=True, trace_rate=1
    )  # fmt: skip
    told, end = traces.start(place)
    end()
    assert told.on
    # A framework brought OpenTelemetry's SDK, and nobody the package's extra `telemetry`.
    monkeypatch.setitem(sys.modules, "opentelemetry.exporter.otlp.json.common", None)
    told, end = traces.start(place)
    end()
    assert not told.on
