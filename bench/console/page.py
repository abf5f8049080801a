"""Makes docs/measured/console.md of the kept runs: of each row what was measured last.

`make bench WHAT=console` draws it after measuring, `make bench WHAT=pages` without.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from bench import kept, sections
from bench.page import latest
from tests import ROOT

PAGE = ROOT / "docs" / "measured" / "console.md"
RESULTS = kept.RESULTS / "console"
_WORDS = Path(__file__).with_name("words.md")


def draw() -> None:
    """Writes the page, and says which file."""
    PAGE.write_text(render(kept.read(RESULTS)), encoding="utf-8")
    print(PAGE.relative_to(ROOT))


def render(runs: Sequence[dict[str, Any]]) -> str:
    """The page."""
    rows = latest(runs)
    page = [
        "# The console, measured",
        "",
        "This page shows what the [console](../operate/console.md) costs, and how soon it shows what happens.",
        "`make bench WHAT=console` measures it and draws it from `bench/results/console`; `make bench WHAT=pages` only",
        "draws it. `QUICK=1` measures few pages for a short time. A real browser looks at a whole line.",
        "",
        *sections.HEAD,
        *(line for name in rows for line in sections.goals(name, rows[name][1])),
        "",
        *(line for name in rows for line in _section(name, rows[name][1])),
        *sections.machines(rows, rows),
        _WORDS.read_text(encoding="utf-8").rstrip(),
    ]
    return "\n".join(page) + "\n"


def _section(name: str, row: dict[str, Any]) -> Iterator[str]:
    yield from sections.section(name, row)
    one = row["reference"]
    yield (
        f"Reference of the same go: {one['what']}, {one['value']:,.4g} {one['unit']}; {one['figure']} ÷ it = "
        f"{one['ratio']:.3g}."
    )
    yield ""
