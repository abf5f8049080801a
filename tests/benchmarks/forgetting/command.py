"""Measures how well is forgotten: python -m tests.benchmarks.forgetting [--data FOLDER] [--only PART …] [--page].

Four parts, on one core, without Kafka or Postgres: the core's own functions in one process (`fleet`). The first run
encodes 42,000 short texts, some four minutes of an idle core, and keeps them in --cache. Each part
then takes less than three.

AMI is CC BY 4.0, LoCoMo CC BY-NC 4.0: neither is in this repository; without them the run says so and leaves the part
out. What is kept in tests/benchmarks/results/forgetting are numbers and ids, no text.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from memquorum.core.policy import Policy
from tests.benchmarks import kept
from tests.benchmarks.forgetting import footprint, items, meetings, page, talks, whole
from tests.benchmarks.forgetting.said import Said
from tests.benchmarks.forgetting.vectors import Vectors

RESULTS = kept.RESULTS / "forgetting"
_DATA = kept.ROOT.parent / "shared" / "data"
_CACHE = Path(tempfile.gettempdir()) / "memquorum-vectors"


class Material:
    """What the parts share, made when first asked for."""

    def __init__(self, data: Path, cache: Path) -> None:
        self.data, self._cache = data, cache

    @cached_property
    def vectors(self) -> Vectors:
        return Vectors(self._cache)

    @cached_property
    def meetings(self) -> list[meetings.Meeting]:
        return list(meetings.read(self.data))

    @cached_property
    def said(self) -> dict[str, Said]:
        self.vectors.of([act.text for meeting in self.meetings for act in meeting.acts])  # all at once
        return {
            meeting.name: Said(meeting, self.vectors.of([act.text for act in meeting.acts]), Policy())
            for meeting in self.meetings
        }


def _footprint(material: Material) -> dict[str, Any]:
    return footprint.measure(material.meetings, material.vectors)


PARTS: Mapping[str, tuple[tuple[str, ...], Callable[[Material], dict[str, Any]]]] = {
    "items": (meetings.FILES, lambda material: items.measure(material.said, meetings.items(material.data))),
    "meetings": (meetings.FILES[:1], lambda material: whole.measure(list(material.said.values()))),
    "locomo": ((talks.FILE,), lambda material: talks.measure(list(talks.read(material.data)), material.vectors)),
    "footprint": (meetings.FILES[:1], _footprint),
}
"""Of each part the files that it needs, and how it is measured."""


def measure(material: Material, only: Sequence[str]) -> dict[str, Any]:
    """The parts; what is kept of a run."""
    told: dict[str, Any] = {**kept.begin(), "parts": {}}
    for name in only:
        files, part = PARTS[name]
        missing = [file for file in files if not (material.data / file).is_file()]
        if missing:
            print(f"{name} skipped: {material.data} has no {' and no '.join(missing)}; see --data", file=sys.stderr)
            continue
        began = time.process_time()
        told["parts"][name] = part(material) | {"seconds": round(time.process_time() - began, 1)}
        told["encoder"] = material.vectors.name
        print("\n".join(page.PARTS[name](told["parts"][name])) + "\n", flush=True)
    return told


def keep(told: Mapping[str, Any], folder: Path = RESULTS) -> Path:
    """Writes a run, an item a line."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{told['at'].replace(':', '')}.json"
    rows = {name: part["rows"] for name, part in told["parts"].items()}
    parts = {name: {k: v for k, v in part.items() if k != "rows"} for name, part in told["parts"].items()}
    lists = [
        f' "{name}": [\n' + ",\n".join(json.dumps(row, separators=(",", ":")) for row in of_part) + "\n ]"
        for name, of_part in rows.items()
    ]
    head = json.dumps({"schema": 1, **told, "parts": parts}, indent=1)[:-2]
    file.write_text(f'{head},\n "rows": {{\n' + ",\n".join(lists) + "\n }\n}\n", encoding="utf-8")
    return file


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.forgetting", description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=_DATA, help=f"folder of the sets (default: {_DATA})")
    parser.add_argument("--only", choices=PARTS, action="append", help="only this part; may be given several times")
    parser.add_argument("--cache", type=Path, default=_CACHE, help=f"a folder for vectors (default: {_CACHE})")
    parser.add_argument("--page", action="store_true", help="only draw the page from what is kept")
    given = parser.parse_args()
    if not given.page:
        told = measure(Material(given.data, given.cache), given.only or list(PARTS))
        if not told["parts"]:
            return 0
        print(f"kept as {keep(told).relative_to(kept.ROOT)}")
    for path in page.draw(page.latest(page.kept_runs(RESULTS))):
        print(path.relative_to(kept.ROOT))
    return 0
