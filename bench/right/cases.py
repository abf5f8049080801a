"""Reads the own cases: bench/cases has a file for each of the four sorts, a case a line.

They were written for this by people who had not looked at how the product judges texts, as agents of six fields would
say such things. `say`: (agent, text) in order.

- **facts**: two or three that differ in one thing (`differs`); each is a memory of its own.
- **corrections**: what was so, what is so now, a question, and what its right answer has (`holds`); some are chains.
- **talk**: small talk, unless `says`: then it is a fact with small talk around it.
- **vital**: facts of one agent that nobody reads, and small talk of the same agent.

A third of the facts and of the talk are German, French, Spanish or Italian; corrections and vital facts are English.
Half of the cases, by a hash of their ids, are for developers to look at; the other half is only reported.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[1] / "cases"
SORTS = ("facts", "corrections", "talk", "vital")
Said = tuple[str, str]
"""(agent, text)"""


@dataclass(frozen=True)
class Case:
    """One of a sort. `of`: what only its sort has."""

    id: str
    sort: str
    field: str
    language: str
    say: tuple[Said, ...]
    of: dict[str, Any]

    @property
    def developers(self) -> bool:
        """Whether developers may look at it; the other half is only reported."""
        return hashlib.sha256(self.id.encode()).digest()[0] % 2 == 0


def read(sort: str) -> list[Case]:
    """The cases of a sort."""
    found = []
    for line in (FOLDER / f"{sort}.jsonl").read_text(encoding="utf-8").splitlines():
        case = json.loads(line)
        say = tuple((agent, text) for agent, text in [*case.pop("say", ()), *case.get("facts", ())])
        found.append(Case(case.pop("id"), sort, case.pop("field"), case.pop("language"), say, case))
    return found
