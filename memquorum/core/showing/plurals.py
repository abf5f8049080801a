"""Writes counts of things in words."""

from __future__ import annotations


def many(count: int, one: str) -> str:
    """`1 memory`, `2 memories`, `1,000 letters`: the number with its noun, which is given in the singular."""
    if count == 1:
        return f"1 {one}"
    return f"{count:,} {one[:-1]}ies" if one.endswith("y") else f"{count:,} {one}s"
