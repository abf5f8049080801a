"""Charts of the pages, as data; matplotlib draws them, in an environment of its own (`make charts`), by `draw.py`.

A page is made of kept results, and so are its charts. A file of a chart says of which data it was drawn and by what
drawing code, so that a test without matplotlib sees one that is not what the results say now.
"""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from tests import ROOT

DRAW = Path(__file__).with_name("draw.py")
LOCK = ROOT / "requirements/charts.lock"
PYTHON = ROOT / ".tools" / "charts" / "bin" / "python"

Points = Sequence[tuple[float, float]]


@dataclass(frozen=True, slots=True)
class Chart:
    """Lines, points (x, y) by name, with upright `marks` by name; or a stacked bar a row, parts by name."""

    title: str
    x: str
    y: str
    lines: Mapping[str, Points] = field(default_factory=dict)
    bars: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    marks: Mapping[str, float] = field(default_factory=dict)

    @property
    def data(self) -> str:
        """What `draw.py` reads."""
        return json.dumps(asdict(self), sort_keys=False)

    @property
    def digest(self) -> str:
        """Returns a digest of the data, the drawing code and the versions that it draws with."""
        parts = (self.data.encode(), DRAW.read_bytes(), LOCK.read_bytes())
        return hashlib.sha256(b"\0".join(hashlib.sha256(part).digest() for part in parts)).hexdigest()


Files = Mapping[Path, "str | Chart"]
"""Path below docs → text, or chart."""


def lines(title: str, x: str, y: str, series: Mapping[str, Points], marks: Mapping[str, float] | None = None) -> Chart:
    """A line for each series; `marks`: names of upright dashed lines by x."""
    return Chart(title, x, y, lines=series, marks=marks or {})


def bars(title: str, unit: str, rows: Mapping[str, Mapping[str, float]]) -> Chart:
    """A bar for each row, made of its parts; the parts have the same colours in every row."""
    return Chart(title, unit, "", bars=rows)


def stale(folder: Path, files: Files) -> list[str]:
    """Returns the paths of the folder that differ from the files."""
    return [str(path) for path, content in files.items() if not _fresh(folder / path, content)]


def write(folder: Path, files: Files) -> Iterator[Path]:
    """Writes the files, and yields which; charts that are drawn already stay. Says so where it cannot draw."""
    for path, content in files.items():
        file = folder / path
        if not _fresh(file, content):
            file.parent.mkdir(parents=True, exist_ok=True)
            if isinstance(content, str):
                file.write_text(content, encoding="utf-8")
            elif not PYTHON.exists():
                print(f"{path} is not drawn: there is no matplotlib; run `make charts`, then again", file=sys.stderr)
                continue
            else:
                said = [str(PYTHON), str(DRAW), str(file), content.digest]
                subprocess.run(said, input=content.data, text=True, check=True)
        yield file


def _fresh(file: Path, content: str | Chart) -> bool:
    if not file.exists():
        return False
    there = file.read_text(encoding="utf-8")
    if isinstance(content, str):
        return there == content
    return re.findall(r"<dc:identifier>(\w+)</dc:identifier>", there) == [content.digest]
