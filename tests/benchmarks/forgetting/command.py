"""Measures how well is forgotten: `make bench WHAT=forget DATA=FOLDER`, of some parts with ONLY="PART …".

Four parts, on one core, without Kafka or Postgres: the core's own functions in one process (`fleet`). The first run
encodes 42,000 short texts, some four minutes of an idle core, and keeps them in --cache. Each part
then takes less than three.

AMI is CC BY 4.0, LoCoMo CC BY-NC 4.0: neither is in this repository; without them the run says so and leaves the part
out. What is kept in tests/benchmarks/results/forgetting are numbers and ids, no text.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from memquorum.core.policy import Policy
from tests.benchmarks import kept
from tests.benchmarks.forgetting import footprint, items, meetings, page, talks, whole
from tests.benchmarks.forgetting.said import BY_THE_PAPER, Said
from tests.benchmarks.forgetting.vectors import Vectors
from tests.benchmarks.kept import Outcome, Row
from tests.benchmarks.sets import AMI, LOCOMO, Absent, there

RESULTS = kept.RESULTS / "forgetting"
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
        return self.heard(BY_THE_PAPER)

    def heard(self, policy: Policy) -> dict[str, Said]:
        """The meetings by name."""
        self.vectors.of([act.text for meeting in self.meetings for act in meeting.acts])  # all at once
        return {
            meeting.name: Said(meeting, self.vectors.of([act.text for act in meeting.acts]), policy)
            for meeting in self.meetings
        }


def _footprint(material: Material) -> dict[str, Any]:
    return footprint.measure(material.meetings, material.vectors)


PARTS: Mapping[str, tuple[str, Callable[[Material], dict[str, Any]]]] = {
    "items": (AMI, lambda material: items.measure(material.said, meetings.items(material.data))),
    "meetings": (AMI, lambda material: whole.measure(list(material.said.values()))),
    "locomo": (LOCOMO, lambda material: talks.measure(list(talks.read(material.data)), material.vectors)),
    "footprint": (AMI, _footprint),
}
"""Of each part the set that it needs, and how it is measured."""

ONLY = tuple(PARTS)


def measure(material: Material, only: Sequence[str]) -> dict[str, Any]:
    """The parts; what is kept of a run."""
    told: dict[str, Any] = {**kept.begin(), "parts": {}}
    for name in only:
        needed, part = PARTS[name]
        if not there(material.data, needed):
            print(f"{name} skipped: {Absent(material.data, needed)}", file=sys.stderr)
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


def run(given: Namespace) -> Outcome:
    """Measures the parts that are asked for, or all, and draws the page."""
    told = measure(Material(given.data, given.cache or _CACHE), given.only or list(PARTS))
    if not told["parts"]:
        return Outcome([])
    print(f"kept as {keep(told).relative_to(kept.ROOT)}")
    for path in page.draw(page.latest(page.kept_runs(RESULTS))):
        print(path.relative_to(kept.ROOT))
    return Outcome([_row(name, part) for name, part in told["parts"].items()])


def _row(name: str, part: Mapping[str, Any]) -> Row:
    """A part's figures, each named by where it stands in it; what is kept of single items is left out."""
    row = Row(f"forget {name}", f"how well is forgotten: {name}")
    for figure, value in _numbers({key: value for key, value in part.items() if key != "rows"}):
        row.figure(figure, value, "")
    return row


def _numbers(told: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, float]]:
    for key, value in told.items():
        if isinstance(value, Mapping):
            yield from _numbers(value, f"{before}{key}, ")
        elif isinstance(value, int | float):
            yield before + key, value
