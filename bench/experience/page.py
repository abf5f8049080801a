"""Makes docs/measured/experience-measured.md of the kept runs: of each row the latest counts. Words stand in
words.md."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench import kept, sections

PAGE = kept.ROOT / "docs" / "measured" / "experience-measured.md"
RESULTS = kept.RESULTS / "experience"
_WORDS = Path(__file__).with_name("words.md")


def draw() -> None:
    """Writes the page, and says which file."""
    PAGE.write_text(render(kept.read(RESULTS)), encoding="utf-8")
    print(PAGE.relative_to(kept.ROOT))


def render(runs: Sequence[dict[str, Any]]) -> str:
    """The page."""
    return sections.page(runs, "Admission by proof, measured", "experience", "a few items of each set", _WORDS)
