"""The share of fresh corrections that replace what they correct; pairs that only look alike stay.

The pairs were written before the rules were run on them (`corrections.yaml`). Developers may look at half of them, by a
hash, and change the rules by it; for the other half this reports only the share.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest
import yaml

from bench.right.conflicts import superseded

CASES: dict[str, Any] = yaml.safe_load((Path(__file__).parent / "corrections.yaml").read_text(encoding="utf-8"))
Pair = tuple[str, str]


def looked_at(pair: Pair) -> bool:
    """Whether developers may see what becomes of it."""
    return hashlib.sha256("|".join(pair).encode()).digest()[0] % 2 == 0


def half(language: str, sort: str, *, shown: bool) -> list[Pair]:
    pairs = [(older, newer) for older, newer in CASES[language][sort]]
    return [pair for pair in pairs if looked_at(pair) is shown]


def corrected(pair: Pair) -> bool:
    """Whether a member that knows these two alone is for the later one; one agent said both."""
    older, newer = pair
    return superseded(("ann", older), ("ann", newer))


def test_there_are_enough() -> None:
    assert all(len(CASES["en"][sort]) >= 120 for sort in ("corrects", "stands"))


MISSED: dict[str, int] = {"en": 11, "de": 5, "fr": 6, "es": 3}


@pytest.mark.parametrize("language", CASES)
def test_what_corrects_takes_the_place(language: str) -> None:
    missed = [pair for pair in half(language, "corrects", shown=True) if not corrected(pair)]
    assert len(missed) <= MISSED[language], missed


@pytest.mark.parametrize("language", CASES)
def test_what_is_of_something_else_stands(language: str) -> None:
    assert [pair for pair in half(language, "stands", shown=True) if corrected(pair)] == []


def test_of_the_half_that_nobody_looked_at() -> None:
    corrects = [corrected(pair) for pair in half("en", "corrects", shown=False)]
    stands = [corrected(pair) for pair in half("en", "stands", shown=False)]
    assert len(corrects) > 60 and len(stands) > 60
    assert sum(corrects) / len(corrects) >= 0.65, f"{sum(corrects)} of {len(corrects)}"
    assert sum(stands) / len(stands) <= 0.06, f"{sum(stands)} of {len(stands)}"
