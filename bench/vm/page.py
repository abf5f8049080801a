"""Makes docs/measured/validation.md of the kept runs: the latest of each row counts.

The page's words are in words.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from bench import kept, sections
from bench.page import Latest, latest

PAGE = kept.ROOT / "docs" / "measured" / "validation.md"
RESULTS = kept.RESULTS / "vm"
ORDER = ("VM-7", "VM-8", "VM-9", "VM-10", "VM-11", "VM-11-ways", "P39", "P40", "P41", "P42", "T16", "OP-26")
_WORDS = Path(__file__).with_name("words.md")


def draw() -> None:
    """Writes the page, and says which file."""
    PAGE.write_text(render(kept.read(RESULTS)), encoding="utf-8")
    print(PAGE.relative_to(kept.ROOT))


def render(runs: Sequence[dict[str, Any]]) -> str:
    """The page."""
    rows = latest(runs)
    page = [
        "# What SPEC B promises, measured",
        "",
        "`make bench WHAT=vm DATA=FOLDER JSON=FILE` measures this page and draws it from",
        "`bench/results/vm`; `make bench WHAT=pages` draws it without measuring.",
        '`ONLY="VM-8 P39"` measures some rows. A row whose data set is not in FOLDER is named and skipped.',
        "",
        "| | figure | goal | measured | |",
        "|---|---|---:|---:|---|",
        *(line for name in ORDER for line in _goals(name, rows)),
        "",
        *(line for name in ORDER if name in rows for line in sections.section(name, rows[name][1])),
        *sections.machines(rows, ORDER),
        _WORDS.read_text(encoding="utf-8").rstrip(),
    ]
    return "\n".join(page) + "\n"


def _goals(name: str, rows: Latest) -> Iterator[str]:
    if name in rows:
        yield from sections.goals(name, rows[name][1])
    else:
        yield f"| {name} | | | not measured | |"
