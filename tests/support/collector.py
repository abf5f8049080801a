"""A genuine OpenTelemetry collector, with the configuration of infra/observability."""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from infra.embedded.processes import free_port
from tests import ROOT
from tests.support.waiting import until

BINARY = ROOT / ".tools" / "otelcol"
WITHOUT = "no collector was built here: (cd tests/collector && go build -o ../../.tools/otelcol .)"
_CONFIG = ROOT / "infra" / "observability" / "collector.yml"


@dataclass(frozen=True)
class Collector:
    """A collector that listens for OTLP over HTTP, and the folder with the file that it writes."""

    url: str
    folder: Path


@contextmanager
def collector(folder: Path) -> Iterator[Collector]:
    """Runs a collector for the length of the block."""
    port = free_port()
    told = {"OTLP_LISTENS": f"127.0.0.1:{port}", "OTLP_KEPT_IN": str(folder / "collected.jsonl")}
    with (folder / "collector.log").open("w") as log, subprocess.Popen(
        [BINARY, "--config", _CONFIG], env=os.environ | told, stdout=log, stderr=log
    ) as process:  # fmt: skip
        try:
            until(lambda: _listens(port) or process.poll() is not None, (folder / "collector.log").read_text)
            assert process.poll() is None, (folder / "collector.log").read_text()
            yield Collector(f"http://127.0.0.1:{port}", folder)
        finally:
            process.terminate()
            process.wait(20)


def _listens(port: int) -> bool:
    with socket.socket() as tried:
        return tried.connect_ex(("127.0.0.1", port)) == 0
