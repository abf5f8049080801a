"""Makes docs/experience-measured.md of the kept runs: of each row the latest counts. Words stand in words.md."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.benchmarks import kept, sections
from tests.benchmarks.page import latest

PAGE = kept.ROOT / "docs" / "experience-measured.md"
RESULTS = kept.RESULTS / "experience"
_WORDS = Path(__file__).with_name("words.md")


def draw() -> None:
    """Writes the page, and says which file."""
    PAGE.write_text(render(kept.read(RESULTS)), encoding="utf-8")
    print(PAGE.relative_to(kept.ROOT))


def render(runs: Sequence[dict[str, Any]]) -> str:
    """The page."""
    rows = latest(runs)
    page = [
        "# Admission by proof, measured",
        "",
        "`make bench WHAT=experience DATA=FOLDER JSON=FILE` measures this page and draws it from",
        "`tests/benchmarks/results/experience`; `make bench WHAT=pages` draws it without measuring.",
        '`ONLY="ROW …"` measures some rows, `QUICK=1` a few items of each set. A row whose set is not in FOLDER',
        "is named and skipped. The file is one flat object, name → `{value, unit, goal, met}`.",
        "",
        *sections.HEAD,
        *(line for name in rows for line in sections.goals(name, rows[name][1])),
        "",
        *(line for name in rows for line in sections.section(name, rows[name][1])),
        *sections.machines(rows, rows),
        _WORDS.read_text(encoding="utf-8").rstrip(),
    ]
    return "\n".join(page) + "\n"
