"""What a run of the benchmarks leaves: one JSON file, written by the command alone and never by hand.

    {"schema": 1, "at": "2026-01-31T12:00:00Z", "commit": "…", "quick": false, "machine": {…}, "rows": [row, …]}

A row: {"name", "title", "seconds", "figures": [{"name", "value", "unit"}], "goals": [{"figure", "limit", "at_least",
"met"}], "reference": {"what", "value", "unit", "figure", "ratio"}, "notes": [text], "series": {…}}. `ratio` is the
row's `figure` over the reference measured in the same go, by which machines can be compared. `series` holds what a plot
is drawn of, differently for each row.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from tests import ROOT

SCHEMA = 1
RESULTS = Path(__file__).with_name("results")
_PACKAGES = ("confluent-kafka", "aiokafka", "faust-streaming", "psycopg", "onnxruntime", "fastavro", "PyNaCl", "numpy",
             "torch", "transformers", "tokenizers")  # fmt: skip


@dataclass(frozen=True)
class Figure:
    """A number that was measured."""

    name: str
    value: float
    unit: str


@dataclass(frozen=True)
class Goal:
    """What a figure should reach (`at_least`) or not exceed."""

    figure: str
    limit: float
    at_least: bool
    met: bool

    @property
    def told(self) -> str:
        """The goal in words."""
        return f"{'≥' if self.at_least else '≤'} {self.limit:,g}"


@dataclass(frozen=True)
class Reference:
    """The same machine doing the bare thing, in the same go. `ratio`: `figure` over it."""

    what: str
    value: float
    unit: str
    figure: str
    ratio: float


@dataclass
class Row:
    """One line of the table. Build it by `figure`, then `goal` and `compare`, which name figures."""

    name: str
    title: str
    seconds: float = 0.0
    figures: list[Figure] = field(default_factory=list)
    goals: list[Goal] = field(default_factory=list)
    reference: Reference | None = None
    notes: list[str] = field(default_factory=list)
    series: dict[str, Any] = field(default_factory=dict)

    def figure(self, name: str, value: float, unit: str) -> None:
        """Notes a number."""
        self.figures.append(Figure(name, float(f"{value:.5g}"), unit))

    def value(self, name: str) -> float:
        """A figure's value."""
        return next(f.value for f in self.figures if f.name == name)

    def at_least(self, figure: str, limit: float) -> None:
        """A goal from below."""
        self.goals.append(Goal(figure, limit, True, self.value(figure) >= limit))

    def at_most(self, figure: str, limit: float) -> None:
        """A goal from above."""
        self.goals.append(Goal(figure, limit, False, self.value(figure) <= limit))

    def compare(self, figure: str, what: str, value: float, unit: str) -> None:
        """The reference of the row."""
        ratio = float(f"{self.value(figure) / value:.4g}")
        self.reference = Reference(what, float(f"{value:.5g}"), unit, figure, ratio)

    def note(self, text: str) -> None:
        """A sentence that a reader of the figures needs."""
        self.notes.append(text)

    def lines(self) -> Iterable[str]:
        """The row in words."""
        yield f"{self.name}: {self.title} ({self.seconds:.0f} s)"
        for f in self.figures:
            said = [_met(g) for g in self.goals if g.figure == f.name]
            yield f"  {f.name:44} {f.value:>10,.6g} {f.unit:12} {'; '.join(said)}".rstrip()
        if self.reference is not None:
            r = self.reference
            yield f"  reference: {r.what}: {r.value:,.6g} {r.unit}; {r.figure} ÷ it = {r.ratio:.4g}"
        yield from (f"  {note}" for note in self.notes)


def _met(goal: Goal) -> str:
    return f"goal {goal.told}: {'met' if goal.met else 'NOT met'}"


@dataclass(frozen=True)
class Outcome:
    """What a run measured, and the exit status: 0 if it is as it should be."""

    rows: Sequence[Row]
    status: int = 0


def machine() -> dict[str, Any]:
    """What the figures were measured on."""
    cpu = [line.split(":", 1)[1].strip() for line in _lines("/proc/cpuinfo") if line.startswith("model name")]
    memory = next((int(line.split()[1]) for line in _lines("/proc/meminfo") if line.startswith("MemTotal")), 0)
    return {
        "cpu": cpu[0] if cpu else platform.processor(),
        "cores": len(os.sched_getaffinity(0)),
        "ram_gib": round(memory / 2**20, 1),
        "kernel": platform.release(),
        "python": platform.python_version(),
        "packages": _installed(),
        "load_at_start": [round(x, 2) for x in os.getloadavg()],
    }


def _installed() -> dict[str, str]:
    """The versions of those packages that are there: the encoders are measured without those of the line."""
    found = {}
    for name in _PACKAGES:
        with suppress(PackageNotFoundError):
            found[name] = version(name)
    return found


def _lines(file: str) -> list[str]:
    return Path(file).read_text(encoding="utf-8").splitlines()


def commit() -> str:
    """The checkout's commit, with a + where files differ from it."""

    def git(*arguments: str) -> str:
        done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
        return done.stdout.strip()

    return git("rev-parse", "--short=12", "HEAD") + ("+" if git("status", "--porcelain", "-uno") else "")


def begin() -> dict[str, Any]:
    """When a run begins, at which commit, and on what."""
    return {"at": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"), "commit": commit(), "machine": machine()}


def write(rows: Sequence[Row], begun: dict[str, Any], *, quick: bool, folder: Path = RESULTS) -> Path:
    """Keeps a run; its file's name is the time at which it began."""
    folder = folder / "quick" if quick else folder
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{begun['at'].replace(':', '')}.json"
    content = {"schema": SCHEMA, **begun, "quick": quick, "rows": [asdict(row) for row in rows]}
    file.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    return file


def read(folder: Path = RESULTS) -> list[dict[str, Any]]:
    """The kept runs, oldest first. Quick ones are not among them."""
    found = [json.loads(file.read_text(encoding="utf-8")) for file in sorted(folder.glob("*.json"))]
    for run in found:
        if run["schema"] != SCHEMA:
            raise ValueError(f"a result of schema {run['schema']}, wanted is {SCHEMA}")
    return found
