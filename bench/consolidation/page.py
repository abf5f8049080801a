"""Makes docs/measured/consolidation-measured.md of the kept runs: of each row the latest counts. Words stand in
words.md."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench import kept, sections

PAGE = kept.ROOT / "docs" / "measured" / "consolidation-measured.md"
RESULTS = kept.RESULTS / "consolidation"
_WORDS = Path(__file__).with_name("words.md")


def draw() -> None:
    """Writes the page, and says which file."""
    PAGE.write_text(render(kept.read(RESULTS)), encoding="utf-8")
    print(PAGE.relative_to(kept.ROOT))


def render(runs: Sequence[dict[str, Any]]) -> str:
    """The page."""
    return sections.page(
        runs, "What consolidation leaves, measured", "consolidation", "two conversations of each set", _WORDS
    )
