"""The demo with processes killed under it: the same counts and the same outcomes as without."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from itertools import islice
from pathlib import Path

import psycopg
import pytest

from infra import run_folder, settings
from infra.demo.demo_command import SCENARIO
from memquorum.core.ids import shard_of
from tests import ROOT

LINES = 120  # of the scenario: two sessions and the beginning of the third, with some epochs
# When the journal holds so many rows, this process dies. The others could decide without a backup's ballot, and would
# count otherwise; but the demo's ballot grace is long, and a replica is back within it.
SHARD = shard_of("glasshouse", 4)
PRIMARY, BACKUP = f"replica-{SHARD}", f"replica-{(SHARD + 1) % 4}"
DEATHS = ((40, "commit"), (65, BACKUP), (95, PRIMARY), (115, "commit"))


def demo(log: Path, run_dir: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "infra", "admin", "fleet", "demo", "--input", str(log), "--run-dir", str(run_dir)]
    environment = {k: v for k, v in os.environ.items() if not k.startswith(settings.PREFIX)} | {"TERM": "dumb"}
    return subprocess.Popen(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )


def kill(process: subprocess.Popen[str], run_dir: Path) -> None:
    """Kills what is to die, each when its time has come."""
    while run_folder.read_pids(run_dir).get("state") != "ready":
        assert process.poll() is None, process.communicate()[0]
        time.sleep(0.05)
    try:
        with psycopg.connect(settings.load({}, run_dir).memory_dsn, autocommit=True) as connection:
            for rows, name in DEATHS:
                while (connection.execute("SELECT count(*) FROM journal").fetchone() or (0,))[0] < rows:
                    time.sleep(0.02)
                pids = json.loads((run_dir / "pids.json").read_text())["processes"]
                os.kill(pids[name]["pid"], signal.SIGKILL)
    except psycopg.OperationalError:
        pytest.fail(f"the demo ended before all were killed:\n{process.communicate()[0]}")


def counts(output: str) -> list[str]:
    """Every sum, check and the fingerprint of a report: what may not depend on who died meanwhile."""
    told = [line.strip() for line in output.splitlines() if line.rstrip().endswith("adds up")]
    told += [line.partition(":")[0] for line in output.splitlines() if line.startswith("  ok ")]
    return told + re.findall(r"fingerprint of all outcomes (\w+)", output)


@pytest.mark.slow
def test_killing_the_commit_worker_and_replicas_changes_no_count(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    with SCENARIO.open(encoding="utf-8") as lines:
        log.write_text("".join(islice(lines, LINES)), encoding="utf-8")
    undisturbed = demo(log, tmp_path / "undisturbed")
    expected = undisturbed.communicate(timeout=600)[0]
    assert undisturbed.returncode == 0, expected

    run_dir = tmp_path / "disturbed"
    process = demo(log, run_dir)
    kill(process, run_dir)
    found = process.communicate(timeout=600)[0]
    assert process.returncode == 0, found
    assert counts(found) == counts(expected)
    assert len(counts(found)) > 10
