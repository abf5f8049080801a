"""Targets of the Makefile, run in a folder of their own with a command that notes what it is asked."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from tests import ROOT

_NOTES = '#!/bin/sh\necho "$*; there: $(ls -d .memquorum/demo)" >> asked\n'
_MADE = (
    "requirements/main.lock", "infra/bootstrap.lock", "infra/embedded/kafka-jars.sha256", "requirements/weights.lock",
    "memquorum/encoders/minilm.py", ".venv/.ready", ".tools/minilm/model.onnx",
)  # fmt: skip


def test_clean_stops_a_kept_demo_before_it_removes_its_folder(tmp_path: Path) -> None:
    for at, name in enumerate(_MADE):
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
        os.utime(file, (at, at))  # each is newer than what it is made of
    command = tmp_path / ".venv" / "bin" / "memquorum"
    command.parent.mkdir()
    command.write_text(_NOTES)
    command.chmod(0o700)
    (tmp_path / ".memquorum" / "demo").mkdir(parents=True)
    elsewhere = os.environ | {"MEMQUORUM_RUN_DIR": str(tmp_path / "elsewhere")}
    subprocess.run(["make", "-f", str(ROOT / "Makefile"), "clean"], cwd=tmp_path, env=elsewhere, check=True)
    assert (tmp_path / "asked").read_text().splitlines() == [
        f"admin fleet down --run-dir {folder}; there: .memquorum/demo" for folder in (".memquorum/demo", ".memquorum")
    ]
    assert not (tmp_path / ".memquorum").exists()
