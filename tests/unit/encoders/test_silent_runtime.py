"""The runtime that computes the vectors reports to nobody."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests import ROOT


def test_the_runtime_keeps_nothing_to_send(tmp_path: Path) -> None:
    said = "from memquorum.encoders.onnx import OnnxEncoder; OnnxEncoder(1).encode(['Valve 3 opens at 4 bar.'])"
    environment = {k: v for k, v in os.environ.items() if k != "ORT_DISABLE_TELEMETRY"}
    environment |= {"HOME": str(tmp_path), "PYTHONPATH": str(ROOT)}
    subprocess.run([sys.executable, "-c", said], env=environment, check=True)
    assert [str(found.relative_to(tmp_path)) for found in tmp_path.rglob("*") if found.is_file()] == []
