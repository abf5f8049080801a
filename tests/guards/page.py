"""The guards as a page, docs/guards.md, out of the list and of what is kept of their removal."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.faults.kept import keep
from tests.guards.removal import ROOT, Guard, Removal

PAGE = ROOT / "docs" / "guards.md"
RESULTS = Path(__file__).with_name("results")
LIMIT_S = 5  # a killer that takes longer is too slow to be run often
_SHORT = 64

_HEAD = """\
# Guards

Each line is a protection that stands in the code, and the test that turns red when it is taken out. `make guards` takes
out each in turn and says where the test stayed green; the same is part of `make test`. Written by
`python -m tests.guards --page` out of `tests/guards/guards.yaml` and the kept runs (`tests/guards/results`, written by
`python -m tests.guards --keep`, with the machine and the date); a test holds it equal to them. Seconds: what the killer
took to fail without the guard, its fixtures included, the start of Python and the imports not; two ran at once, on two
cores that others used as well. Of a guard in several kept runs the latest counts.
"""


def keep_run(removals: Sequence[Removal], only: str) -> Path:
    """Writes what happened, with the machine and the date."""
    now = datetime.now(UTC)
    file = RESULTS / f"guards-{now:%Y%m%d-%H%M%S}{'-' if only else ''}{only.replace('/', '.')}.json"
    what = {
        "date": f"{now:%Y-%m-%d %H:%M} UTC",
        "removed": len(removals),
        "not_noticed": [r.guard.name for r in removals if not r.noticed],
        f"over_{LIMIT_S}_s": [r.guard.name for r in removals if r.killer_s > LIMIT_S],
        "guards": [{**asdict(r.guard), "told": r.told(), "killer_s": round(r.killer_s, 2)} for r in removals],
    }
    keep(file, what)
    return file


def kept() -> dict[str, dict[str, Any]]:
    """Of each guard's name the latest that is kept."""
    runs = [json.loads(file.read_text(encoding="utf-8")) for file in sorted(RESULTS.glob("guards-*.json"))]
    return {one["name"]: {**one, "date": run["date"]} for run in runs for one in run["guards"]}


def page(guards: Sequence[Guard], found: dict[str, dict[str, Any]]) -> str:
    """The page: a table for each stage. What is kept of a guard that reads differently today is not shown."""
    stages = dict.fromkeys(guard.stage for guard in guards)
    told = [_told(guard, found) for guard in guards]
    lines = [_HEAD, _sum(guards, found)]
    for stage in stages:
        lines += [
            "",
            f"## {stage}",
            "",
            "| guard | in | what is taken out | killer | seconds |",
            "|---|---|---|---|---:|",
        ]
        lines += [_line(guard, cell) for guard, cell in zip(guards, told, strict=True) if guard.stage == stage]
    return "\n".join([*lines, ""])


def _sum(guards: Iterable[Guard], found: dict[str, dict[str, Any]]) -> str:
    guards = list(guards)
    measured = [found[g.name] for g in guards if _fits(g, found)]
    red = sum(one["told"] == "red" for one in measured)
    slowest = max((one["killer_s"] for one in measured), default=0.0)
    days = sorted({one["date"][:10] for one in measured})
    return (
        f"{len(guards)} guards. Kept is the removal of {len(measured)} ({', '.join(days) or 'no day'}): "
        f"{red} killers turned red, the slowest took {slowest:.2f} s."
    )


def _fits(guard: Guard, found: dict[str, dict[str, Any]]) -> bool:
    """Whether what is kept is of the guard as it reads today. Its killer may stand in another folder since."""
    one = found.get(guard.name, {})
    # Runs kept by file are read as well: in the same file the same text is the same guard.
    place = one.get("at", one.get("file", "")).partition("::")[0]
    same = all(one.get(key) == value for key, value in asdict(guard).items() if key not in ("at", "killer"))
    return same and place == guard.file and Path(one["killer"]).name == Path(guard.killer).name


def _told(guard: Guard, found: dict[str, dict[str, Any]]) -> str:
    if not _fits(guard, found):
        return "–"
    one = found[guard.name]
    return f"{one['killer_s']:.2f}" if one["told"] == "red" else f"**{one['told']}**"


def _line(guard: Guard, told: str) -> str:
    file, _, test = guard.killer.partition("::")
    killer = f"{_code(Path(file).name)} {_code(test)}" if test else _code(Path(file).name)
    return f"| {guard.name} | {_code(guard.at)} | {_code(_short(guard.guard))} | {killer} | {told} |"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _SHORT else line[: _SHORT - 1].rstrip() + "…"


def _code(text: str) -> str:
    mark = "``" if "`" in text else "`"
    return f"{mark}{text}{mark}".replace("|", "\\|")
