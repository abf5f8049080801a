"""Sentences by which it is measured whether what says nearly what is withheld is found (`withheld.txt`)."""

from __future__ import annotations

from pathlib import Path


def rows(part: str) -> list[list[str]]:
    """Returns the lines of a part: what is withheld, the same in other words, and two harmless texts."""
    lines = Path(__file__).with_suffix(".txt").read_text().split(f"[{part}]\n")[1].split("\n[")[0]
    return [line.split("|") for line in lines.strip().splitlines()]
