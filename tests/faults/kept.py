"""Results of a fault run, as a file: the machine, the arguments, the counts and what every process cost."""

from __future__ import annotations

import json
import os
import platform
import subprocess
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests import ROOT

if TYPE_CHECKING:
    from tests.faults.flood import Report

FOLDER = Path(__file__).parent / "results"


def machine() -> dict[str, Any]:
    """Returns what a figure depends on: processor, cores, memory, versions, and the commit that ran."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8").splitlines() if info.exists() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    asked = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False)
    return {
        "processor": names[0] if names else platform.machine(),
        "cores": os.cpu_count(),
        "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
        "system": platform.platform(),
        "python": platform.python_version(),
        "commit": asked.stdout.strip() or "unknown",
    }


def figures(report: Report) -> dict[str, Any]:
    """A flood in numbers. Memory in MiB: before, at most, after, and every few seconds between."""
    ends = Counter(one.publication.end for one in report.sent)
    kinds = Counter(one.publication.kind for one in report.sent)
    memory = {
        name: {
            "before": _mib(before), "most": _mib(most), "after": _mib(after),
            "course": [_mib(kib) for kib in report.course.get(name, [])],
        }
        for name, (before, most, after) in report.memory.items()
    }  # fmt: skip
    return {
        "records": len(report.sent),
        "seconds": round(report.seconds, 1),
        "must_end": dict(sorted(ends.items())),
        "dead_letters_by_reason": dict(sorted(report.letters.items())),
        "episodes_by_outcome": dict(sorted(report.outcomes.items())),
        "kinds": dict(sorted(kinds.items())),
        "resident_mib": memory,
        "problems": report.problems,
    }


def _mib(kib: int) -> float:
    return round(kib / 1024, 1)


def keep(file: Path, what: dict[str, Any]) -> None:
    """Writes the machine and `what` as JSON, a name a line."""
    file.parent.mkdir(parents=True, exist_ok=True)
    lines = (f"{json.dumps(name)}: {json.dumps(value)}" for name, value in {"machine": machine(), **what}.items())
    file.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def write_between(page: Path, begin: str, end: str, made: str) -> None:
    """Puts what was made into a page, between two marks."""
    before, _, rest = page.read_text().partition(begin)
    _, _, after = rest.partition(end)
    page.write_text(f"{before}{begin}\n\n{made}\n\n{end}{after}")
