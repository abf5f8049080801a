r"""Measures the quality of forgetting: `make bench WHAT=forget DATA=FOLDER`, of some parts with ONLY="PART …".

Five parts, on one core, without Kafka or Postgres: the core's own functions in one process (`fleet`). The first run
encodes 42,000 short texts, some four minutes of an idle core, and keeps them in --cache. Each part then takes less than
three.

AMI is CC BY 4.0, LoCoMo CC BY-NC 4.0: neither is in this repository; without them the run says so and leaves the part
out. Only numbers and ids are kept in bench/results/forgetting, no text.
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

from bench import kept
from bench.forgetting import footprint, items, meetings, page, sweep, talks, whole
from bench.forgetting.said import BY_THE_PAPER, Said
from bench.forgetting.vectors import Vectors
from bench.kept import Outcome, Row
from bench.sets import AMI, LOCOMO, Absent, there
from memquorum.core.policy import Policy

RESULTS = kept.RESULTS / "forgetting"
_CACHE = Path(tempfile.gettempdir()) / "memquorum-vectors"


class Material:
    """The material that the parts share, made when first asked for."""

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
    "sweep": (AMI, lambda material: sweep.measure(material.meetings, material.vectors)),
}
"""Part → the set that it needs, and its measurement."""

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
    """Writes a run, an item a line, in place of those of which it has all parts."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{told['at'].replace(':', '')}.json"
    tables = {name: page.table(list(map(_rounded, part["rows"]))) for name, part in told["parts"].items()}
    parts = {name: {k: v for k, v in part.items() if k != "rows"} for name, part in told["parts"].items()}
    written = [
        f' "{name}": {{"columns": {_plain(columns)}, "rows": [\n' + ",\n".join(map(_plain, rows)) + "\n ]}"
        for name, (columns, rows) in tables.items()
    ]
    head = _plain({"schema": page.SCHEMA, **told, "parts": parts})[:-1]
    for older in folder.glob("*.json"):
        if page.load(older)["parts"].keys() <= parts.keys():
            older.unlink()
    file.write_text(f'{head},\n "rows": {{\n' + ",\n".join(written) + "\n }\n}\n", encoding="utf-8")
    return file


def _plain(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


def _rounded(value: Any) -> Any:
    """A row with at most four digits behind each point."""
    if isinstance(value, dict):
        return {name: _rounded(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(one) for one in value]
    return round(value, 4) if isinstance(value, float) else value


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
