"""The long cases on the running fleet: one fact in the middle of a log of 3,000 to 8,000 words about other matters.

The text around a fact is drawn from sentences of `bench/cases/reading/filler.yaml`, the same for the same case. All
long texts are in one namespace, with short ones that are drawn likewise.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Protocol

import yaml

from bench.parts import Parts
from bench.right.cases import FOLDER, Case
from memquorum.client import AsyncMemory
from memquorum.core.intake import CONTENT_BYTES_MAX

SHORT = 6
"""So many short texts there are beside each long one."""
_FIRST = 3
# A word of a language that has no blanks, in characters.
_CHARACTERS = 2


class Notes(Protocol):
    """Collects the results of what was tried."""

    def note(self, name: str, case: Case, hit: bool, text: str) -> None:
        """Takes one that was tried."""


@cache
def _filler() -> Mapping[str, Any]:
    found: Mapping[str, Any] = yaml.safe_load((FOLDER / "reading" / "filler.yaml").read_text(encoding="utf-8"))
    return found


def sentence(language: str, draw: random.Random) -> str:
    """A sentence of a log, in which nothing is remarkable."""
    of = _filler()[language]
    text: str = draw.choice(of["say"])
    for what in ("who", "thing", "where", "when"):
        while f"{{{what}}}" in text:
            text = text.replace(f"{{{what}}}", draw.choice(of[what]), 1)
    return text[0].upper() + text[1:]


def text(case: Case) -> str:
    """A log of as many words as the case wants, or as an episode may hold, with its fact in the middle of it."""
    draw, blank = random.Random(case.id), _filler()[case.language]["blank"]
    fact = case.say[0][1]
    told, words, size = list[str](), 0, len(fact.encode())
    while words < case.of["words"]:
        one = sentence(case.language, draw) + ("\n\n" if draw.random() < 0.1 else blank)
        size += len(one.encode())
        if size > CONTENT_BYTES_MAX - 1:
            break
        words += len(one.split()) if blank else len(one) // _CHARACTERS
        told.append(one)
    middle = draw.randint(len(told) // 4, 3 * len(told) // 4)
    return "".join([*told[:middle], fact, blank, *told[middle:]]).strip()


async def live(cases: Sequence[Case], running: Parts, noted: Notes) -> None:
    """Says all, then asks for each fact."""
    async with AsyncMemory(
        namespace="reading-long", agent="bench", kafka=running.bootstrap, url=running.settings.retrieval_url
    ) as memory:
        draw = random.Random(10)
        said = [
            {"content": one, "agent": case.say[0][0], "event_id": f"{case.id}/{at}"}
            for case in cases
            for at, one in enumerate([text(case), *(sentence(case.language, draw) for _ in range(SHORT))])
        ]
        for receipt in await memory.add_all(said):
            await memory.outcome(receipt, timeout=600)
        for case in cases:
            await _asked(case, memory, noted)


async def _asked(case: Case, memory: AsyncMemory, noted: Notes) -> None:
    question, holds = case.of["ask"], case.of["holds"]
    hits = await memory.search(question, k=10, peek=True)
    passages = [hit.text[slice(*hit.passage)] if hit.passage else hit.text for hit in hits[:_FIRST]]
    found = await memory.retrieve(question, peek=True)
    given = [item.text for item in found.items[:_FIRST]]
    for way, texts in (("search", [hit.text for hit in hits[:_FIRST]]), ("retrieve", given), ("passage", passages)):
        right = any(holds in one for one in texts)
        noted.note(
            f"long text found, {way}", case, right, f"{question} → {passages[0][:200] if passages else 'nothing'}"
        )
