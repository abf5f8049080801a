"""The result of a run of the benchmarks: one JSON file, written by the command alone and never by hand.

    {"schema": 2, "at": "2026-01-31T12:00:00Z", "commit": "…", "quick": false, "machine": {…}, "rows": [row, …]}

A row: {"name", "title", "seconds", "figures": [{"name", "value", "unit"}], "goals": [{"figure", "limit", "at_least",
"met"}], "reference": {"what", "value", "unit", "figure", "ratio"}, "notes": [text], "series": {…}}. `ratio` is the
row's `figure` over the reference measured in the same run, by which machines can be compared. `series` holds the data
of a plot, differently for each row. In the file a figure and a goal are lists of their values, in this order; `load`
gives them their names.

A folder keeps each row's latest run, and its first one without `series`, with which the pages compare; other runs of a
row are removed when a run is kept.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from tests import ROOT

SCHEMA = 2
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
    """A limit that a figure should reach (`at_least`) or not exceed."""

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


_NAMED: dict[str, type[Figure | Goal]] = {"figures": Figure, "goals": Goal}


def _met(goal: Goal) -> str:
    return f"goal {goal.told}: {'met' if goal.met else 'NOT met'}"


@dataclass(frozen=True)
class Outcome:
    """The result of a run, and the exit status: 0 if it is as it should be."""

    rows: Sequence[Row]
    status: int = 0


def machine() -> dict[str, Any]:
    """Describes the machine of the figures."""
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
    _put(file, content)
    prune(folder)
    return file


def prune(folder: Path) -> None:
    """Leaves of each row its latest run, and its first one without `series`."""
    files = sorted(folder.glob("*.json"))
    runs = list(map(load, files))
    places = [(at, row["name"]) for at, run in enumerate(runs) for row in run["rows"]]
    last = {name: at for at, name in places}
    first = {name: at for at, name in reversed(places)}
    for at, (file, run) in enumerate(zip(files, runs, strict=True)):
        run["rows"] = [
            row if last[row["name"]] == at else {**row, "series": {}}
            for row in run["rows"]
            if at in (last[row["name"]], first[row["name"]])
        ]
        if run["rows"]:
            _put(file, run)
        else:
            file.unlink()


def _put(file: Path, run: dict[str, Any]) -> None:
    """Writes a run, each row in one line."""
    rows = ",\n".join(_plain({**row, **{name: _values(row[name]) for name in _NAMED}}) for row in run["rows"])
    head = _plain({name: value for name, value in run.items() if name != "rows"})
    file.write_text(f'{head[:-1]},"rows":[\n{rows}\n]}}\n', encoding="utf-8")


def _plain(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _values(records: Sequence[dict[str, Any]]) -> list[list[Any]]:
    return [list(one.values()) for one in records]


def load(file: Path) -> dict[str, Any]:
    """The run of a file, with the names of figures and goals. Raises ValueError for another schema."""
    run: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    if run["schema"] != SCHEMA:
        raise ValueError(f"a result of schema {run['schema']}, wanted is {SCHEMA}")
    for row in run["rows"]:
        for name, kind in _NAMED.items():
            names = [one.name for one in fields(kind)]
            row[name] = [dict(zip(names, values, strict=True)) for values in row[name]]
    return run


def read(folder: Path = RESULTS) -> list[dict[str, Any]]:
    """The kept runs, oldest first. Quick ones are not among them."""
    return [load(file) for file in sorted(folder.glob("*.json"))]
