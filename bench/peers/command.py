"""Measures memquorum beside mem0, LangGraph's store and bare pgvector: `make bench WHAT=peers`.

Everything is measured in one run: the same texts and questions, the same encoder, the same Postgres server, each in
databases of its own. The others run in the process that asks, in the environment that it installs; memquorum is the
whole fleet, asked over HTTP. LoCoMo is not in this repository, since its licence forbids it; without it the run says so
and ends. Only numbers are kept in bench/results/peers, no text. Takes some three minutes.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from argparse import Namespace
from pathlib import Path
from typing import Any

import psycopg

from bench import conversations, kept, measured
from bench.ingest import STORE_ALL
from bench.kept import Outcome, Row
from bench.parts import WHOLE, Parts, parts
from bench.peers import ours, page, residue, table
from bench.peers.driver import NOT_INSTALLED
from bench.peers.questions import Task, choose
from bench.peers.systems import MADE
from bench.peers.table import FLOOR, OURS
from bench.sets import LOCOMO, Absent, there
from db import sweeping

PYTHON = kept.ROOT / ".tools" / "peers" / "bin" / "python"
_TURNS, _QUESTIONS = 1_000, 200
_PATIENCE_S = 240
# They send nothing out, and write nothing outside of the run's folder.
_QUIET = {
    "MEM0_TELEMETRY": "False",
    "LANGSMITH_TRACING": "false",
    "HF_HUB_OFFLINE": "1",
    "PYTHONDONTWRITEBYTECODE": "1",
}


def needle(name: str) -> str:
    """The words by which a system's deleted text is known in tables and files."""
    return f"canary-{name}-7c1e"


def canary(name: str) -> str:
    """The text that is stored to be deleted."""
    return f"The {needle(name)} key of the old cellar lies under the fourth stone."


def other(name: str, python: Path, running: Parts, task: Task) -> Row:
    """One of the others, in a process of its own, on databases of its own."""
    if not python.is_file():
        return table.absent(name, "not installed")
    folder = running.settings.run_dir / "peers" / name
    folder.mkdir(parents=True)
    databases = (f"peer_{name}", f"peer_{name}_batched")
    running.postgres.create(*databases)
    dsn, dsn_batched = map(running.postgres.dsn, databases)
    job = {
        "system": name, "dsn": dsn, "dsn_batched": dsn_batched, "folder": str(folder), "canary": canary(name),
        "texts": task.texts, "questions": [asked.text for asked in task.questions], "warm": task.warm,
    }  # fmt: skip
    told = in_process("bench.peers.driver", python, folder, job)
    if isinstance(told, str):
        return table.absent(name, told)
    made = table.row(name, told, task)
    in_files = [place for file in folder.rglob("*.db") for place in residue.sqlite_tables(file, needle(name))]
    made.series["left"] = {"tables": residue.tables(dsn, needle(name)) + in_files}
    return made


def in_process(
    driver: str, python: Path, folder: Path, job: dict[str, Any], patience_s: float = _PATIENCE_S
) -> dict[str, Any] | str:
    """Runs a driver in a process of the others' environment, and returns what it measured; a text says why it did not.
    `folder`: where the measured system keeps its files."""
    if not python.is_file():
        return "not installed"
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "MEM0_DIR": str(folder), **_QUIET}
    result = folder.with_suffix(".json")
    try:
        done = subprocess.run(
            [str(python), "-m", driver, str(result)], cwd=kept.ROOT,
            env=environment | {"PYTHONPATH": str(kept.ROOT)}, input=json.dumps(job),
            capture_output=True, text=True, check=False, timeout=patience_s,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return f"not done within {patience_s:.0f} s"
    # Without onnxruntime and the like its modules cannot even be read.
    if done.returncode == NOT_INSTALLED or "ModuleNotFoundError" in done.stderr:
        return "not installed"
    if done.returncode:
        print(done.stderr[-2_000:], file=sys.stderr)
        return "failed"
    told: dict[str, Any] = json.loads(result.read_text(encoding="utf-8"))
    return told


def measure(python: Path, task: Task) -> tuple[list[Row], str]:
    """All systems, the others first, while of the line only the servers run; and which Postgres it was."""
    with parts(policy=STORE_ALL) as running:
        rows: dict[str, Row] = {}
        for name in MADE:
            rows[name] = _timed(lambda name=name: other(name, _python_of(name, python), running, task))
        running.start(*WHOLE)
        rows[OURS] = _timed(lambda: table.row(OURS, ours.measure(running, task, canary(OURS)), task))
        dsns = {"memory": running.settings.memory_dsn, "vault": running.settings.vault_dsn}
        rows[OURS].series["left"] = {"tables": [t for dsn in dsns.values() for t in residue.tables(dsn, needle(OURS))]}
        with psycopg.connect(running.settings.memory_dsn, autocommit=True) as connection:
            connection.execute("CHECKPOINT")
            number = f"{connection.info.server_version // 10_000}.{connection.info.server_version % 10_000}"
        measured = [name for name, row in rows.items() if row.figures]
        held = residue.files(running.settings.run_dir, {name: needle(name) for name in measured})
        for name in measured:
            rows[name].series["left"]["files"] = held[name]
        list(sweeping.sweep(dsns["memory"], sweeping.MEMORY))
        list(sweeping.sweep(dsns["vault"], sweeping.VAULT))
        swept = residue.files(running.settings.run_dir, {OURS: needle(OURS)})
        rows[OURS].series["left"]["swept"] = swept[OURS]
    table.judge(rows)
    return list(rows.values()), number


def _python_of(name: str, python: Path) -> Path:
    return Path(sys.executable) if name == FLOOR else python


def _timed(call: Any) -> Row:
    began = time.perf_counter()
    row: Row = call()
    row.seconds = round(time.perf_counter() - began, 1)
    print("\n" + "\n".join(row.lines()), flush=True)
    return row


def run(given: Namespace) -> Outcome:
    """Measures all systems. `turns`: so many texts; another number than the usual is a trial, kept apart."""
    turns = given.turns or (100 if given.quick else _TURNS)
    if not there(given.data, LOCOMO):
        print(f"skipped: {Absent(given.data, LOCOMO)}", file=sys.stderr)
        return Outcome([])
    task = choose(conversations.locomo(given.data, pictures=False), turns, _QUESTIONS)
    began, begun = time.perf_counter(), kept.begin()
    rows, postgres = measure(given.python or PYTHON, task)
    begun |= {
        "task": {
            "turns": len(task.texts),
            "characters": sum(map(len, task.texts)) / len(task.texts),
            "questions": len(task.questions),
            "eligible": task.eligible,
        },
        "postgres": postgres,
        "evidence": table.plain([asked.evidence for asked in task.questions]),
        "seconds": round(time.perf_counter() - began, 1),
    }
    print("\n" + "\n".join(rows[-1].lines()))
    for row in rows:
        print(f"{row.name}: text left after delete: {row.series.get('left', 'not measured')}")
    trial = turns != _TURNS
    print(f"\nkept as {kept.write(rows, begun, quick=trial, folder=page.RESULTS).relative_to(kept.ROOT)}")
    if not trial:
        page.draw()
        measured.draw()
    return Outcome(rows)
