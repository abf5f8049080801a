"""The same facts and questions in many languages: bench/cases/languages.jsonl, a fact a line.

They were written for this, before it was seen what an encoder makes of them. Three each are about one matter, so that
the matter alone does not tell which fact is meant.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache

from bench.right.cases import FOLDER


@dataclass(frozen=True, slots=True)
class Parallel:
    """A fact and a question about it, by language."""

    id: str
    facts: dict[str, str]
    asks: dict[str, str]


@cache
def read() -> tuple[Parallel, ...]:
    """All of them."""
    lines = (FOLDER / "languages.jsonl").read_text(encoding="utf-8").splitlines()
    return tuple(Parallel(**json.loads(line)) for line in lines)


def languages() -> tuple[str, ...]:
    """Their languages, in the order of the file."""
    return tuple(read()[0].facts)
