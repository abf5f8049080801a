r"""The reading cases on the running fleet: valid, overtaken and empty statements, in ten languages.

`bench/cases/reading` has a file for each sort, a case on each line: the messages, in order, and what a careful person
would then expect. They were written by people who had not looked at how the product judges texts. Half of them, by a
hash of their ids, are for developers to look at; the other half is only reported. Each case has a namespace of its own.
A memory is *marked* if a hit of it says that another contradicts it; of two that contradict each other both say so
today.
"""

from __future__ import annotations

import asyncio
import json
from collections import defaultdict
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, TypeVar

from bench.kept import Row
from bench.parts import WHOLE, Parts, parts
from bench.right import long
from bench.right.cases import FOLDER, Case
from bench.right.frame import Material, Measure
from bench.right.own import Rates
from memquorum.client import AsyncMemory
from memquorum.client.errors import Unreachable
from memquorum.core.api.answers import Answering, Hit, Retrieved

SORTS = ("overtaken", "stays", "unreal", "again", "both", "temporal", "wordings", "apart", "talk", "answerable", "long")
_AT_ONCE = 12
_STORED = "stored"
T = TypeVar("T")


def read(sort: str) -> list[Case]:
    """The cases of a sort. `of["at"]`: when each text was said, in milliseconds, or None."""
    found = []
    for line in (FOLDER / "reading" / f"{sort}.jsonl").read_text(encoding="utf-8").splitlines():
        case = json.loads(line)
        told = case.pop("say")
        case["at"] = [_ms(said[2]) if len(said) > 2 else None for said in told]
        say = tuple((_agent(said[0]), said[1]) for said in told)
        found.append(Case(case.pop("id"), sort, case.pop("field"), case.pop("language"), say, case))
    return found


def _ms(said: str) -> int:
    return int(datetime.fromisoformat(said).timestamp() * 1000)


def _agent(name: str) -> str:
    """A name of a case, where some are names that agents may not have."""
    return f"a-{name.lower()}"


async def _twice(ask: Callable[[], Awaitable[T]]) -> T:
    """What is answered. On a busy machine an idle connection may be closed just as it is used again."""
    try:
        return await ask()
    except Unreachable:
        return await ask()


class Answers:
    """The fleet's answers in one case."""

    def __init__(self, memory: AsyncMemory, case: Case, outcomes: Sequence[str]) -> None:
        self.case, self.outcomes = case, outcomes
        self._memory = memory

    async def searched(self, question: str) -> list[Hit]:
        """The hits of a search."""
        return list(await _twice(lambda: self._memory.search(question, k=10, peek=True)))

    async def retrieval(self, question: str) -> Retrieved:
        """Returns the result of a retrieval."""
        return await _twice(lambda: self._memory.retrieve(question, peek=True))

    async def retrieved(self, question: str) -> list[str]:
        """The texts of a retrieval."""
        return [item.text for item in (await self.retrieval(question)).items]


Judge = Callable[[Answers, "Noted"], Awaitable[None]]


class Noted:
    """Rates by their names; of each also those of English, of other languages and across two."""

    def __init__(self, row: Row) -> None:
        self._row = row
        self._rates: dict[str, Rates] = {}
        self._by_language: dict[str, list[bool]] = defaultdict(list)
        self.scores: dict[str, list[tuple[float, bool]]] = defaultdict(list)

    def note(self, name: str, case: Case, hit: bool, text: str) -> None:
        """Something that was tried."""
        if name not in self._rates:
            self._rates[name] = Rates(self._row, name)
        self._rates[name].note(case, hit, text)
        language = "across" if "across" in case.of else "English" if case.language == "en" else "other languages"
        self._by_language[f"{name}, {language}"].append(hit)

    def figures(self, missed: Collection[str]) -> None:
        """All rates in per cent. `missed`: those where a hit is the wrong answer."""
        for name, rates in sorted(self._rates.items()):
            rates.figures(missed=name in missed)
        for name, hits in sorted(self._by_language.items()):
            self._row.figure(name, 100 * sum(hits) / len(hits), "%")


async def _asked(answers: Answers, noted: Noted, name: str, question: str, holds: str) -> list[Hit]:
    """Notes by each way whether what answers comes first; the hits of the search."""
    hits = await answers.searched(question)
    for way, texts in (("search", [hit.text for hit in hits]), ("retrieve", await answers.retrieved(question))):
        text = texts[0] if texts else "nothing"
        right = holds.lower() in text.lower()
        noted.note(f"{name} first, {way}", answers.case, right, f"{question} → {text}")
    return hits


def _marked(hits: Sequence[Hit], text: str) -> bool:
    """Whether the first hit with a text says that another contradicts it."""
    return any(hit.conflicts_with for hit in hits if hit.text == text)


async def _overtaken(answers: Answers, noted: Noted) -> None:
    case = answers.case
    hits = await _asked(answers, noted, "newest", case.of["ask"], case.of["holds"])
    noted.note("overtaken marked", case, _marked(hits, case.say[0][1]), case.say[0][1])


async def _stays(answers: Answers, noted: Noted) -> None:
    case = answers.case
    hits = await _asked(answers, noted, "what still holds", case.of["ask"], case.of["holds"])
    text = case.say[0][1]
    noted.note("what still holds served", case, any(hit.text == text for hit in hits), text)
    noted.note("what still holds marked", case, _marked(hits, text), text)


async def _simple(answers: Answers, noted: Noted) -> None:
    names = {"unreal": "fact beside unreal", "again": "said last", "temporal": "of a time"}
    await _asked(answers, noted, names[answers.case.sort], answers.case.of["ask"], answers.case.of["holds"])


async def _both(answers: Answers, noted: Noted) -> None:
    for question, holds in answers.case.of["asks"]:
        await _asked(answers, noted, "both hold", question, holds)


async def _wordings(answers: Answers, noted: Noted) -> None:
    case = answers.case
    same, others = ({case.say[at][1] for at in case.of[name]} for name in ("same", "others"))
    texts = [hit.text for hit in await answers.searched(case.of["ask"])]
    right = len(same.intersection(texts[:5])) <= 2 and others <= set(texts)
    noted.note("five wordings take two places", case, right, " | ".join(texts[:5]))


async def _apart(answers: Answers, noted: Noted) -> None:
    """Both of what differs are stored and found; what is the same is one hit, stored once or folded."""
    case, kind = answers.case, answers.case.of["kind"]
    found = {hit.text for hit in await answers.searched(case.say[0][1])}
    both = answers.outcomes.count(_STORED) == 2 and {text for _, text in case.say} <= found
    name, right = ("apart kept and found", both) if kind == "apart" else ("same folded", len(found) == 1)
    noted.note(name, case, right, " | ".join(text for _, text in case.say))


async def _talk(answers: Answers, noted: Noted) -> None:
    case, stored, text = answers.case, answers.outcomes[0] == _STORED, answers.case.say[0][1]
    names = {False: "small talk stored", True: "facts like talk dropped", "unkept": "asked not to be kept stored"}
    noted.note(names[case.of["says"]], case, stored is not (case.of["says"] is True), text)


async def _answerable(answers: Answers, noted: Noted) -> None:
    for question, holds in answers.case.of["asks"]:
        hits, items = await answers.searched(question), (await answers.retrieval(question)).items
        found: Mapping[str, Sequence[Hit | Answering]] = {"search": hits, "retrieve": items}
        for way, some in found.items():
            noted.scores[way].append((some[0].score if some else 0.0, holds is not None))
        said = bool(hits and hits[0].answerable)
        noted.note("answerable right", answers.case, said is (holds is not None), f"{question} → {said}")


_JUDGES: Mapping[str, Judge] = {
    "overtaken": _overtaken, "stays": _stays, "unreal": _simple, "again": _simple, "both": _both, "temporal": _simple,
    "wordings": _wordings, "apart": _apart, "talk": _talk, "answerable": _answerable,
}  # fmt: skip


def auc(told: Sequence[tuple[float, bool]]) -> float:
    """Returns the probability that a true one has a higher score than a false one; .5 by chance."""
    true, false = ([score for score, is_true in told if is_true is wanted] for wanted in (True, False))
    won = sum((a > b) + (a == b) / 2 for a in true for b in false)
    return won / max(1, len(true) * len(false))


def measure(material: Material) -> Row:
    """All sorts in one installation."""
    row = Row("reading", "reading cases on the running line, as `make up` ships it")
    lived(row, material)
    _goals(row)
    return row


def lived(row: Row, material: Material, encoder: str = "minilm") -> None:
    """Notes what an installation with an encoder makes of all sorts."""
    found = {sort: material.some(read(sort), 12) for sort in SORTS}
    longs = found.pop("long")
    every = [case for cases in (*found.values(), longs) for case in cases]
    row.note(f"{len(every)} cases in {len({case.language for case in every})} languages")
    noted = Noted(row)
    with parts(*WHOLE, agents={}, encoder=encoder) as running:
        asyncio.run(_live(found, running, noted))
        asyncio.run(long.live(longs, running, noted))
    noted.figures(_AT_MOST)
    for way, told in noted.scores.items():
        row.figure(f"answerable, {way}", auc(told), "AUC")


def _goals(row: Row) -> None:
    """Sets the goals; a quick run has no cases for some of them."""
    figures = {figure.name for figure in row.figures}
    for name, limit in _AT_LEAST.items():
        if name in figures:
            row.at_least(name, limit)
    for name, limit in _AT_MOST.items():
        if name in figures:
            row.at_most(name, limit)


_WAYS = ("search", "retrieve")
_AT_LEAST: Mapping[str, float] = {
    "what still holds served": 100,
    "overtaken marked, English": 90,
    "overtaken marked, other languages": 60,
    **{f"newest first, {way}, English": 92 for way in _WAYS},
    **{f"newest first, {way}, other languages": 85 for way in _WAYS},
    **{f"newest first, {way}, across": 75 for way in _WAYS},
    **{f"said last first, {way}": 100 for way in _WAYS},
    **{f"fact beside unreal first, {way}": 90 for way in _WAYS},
    **{f"both hold first, {way}": 95 for way in _WAYS},
    "of a time first, retrieve": 90,
    "five wordings take two places": 90,
    "apart kept and found": 100,
    "same folded": 100,
    **{f"answerable, {way}": 0.92 for way in _WAYS},
    "answerable right": 90,
    **{f"long text found, {way}": 90 for way in (*_WAYS, "passage")},
}
_AT_MOST: Mapping[str, float] = {
    "what still holds marked": 2,
    "small talk stored": 15,
    "facts like talk dropped": 0,
    "asked not to be kept stored": 0,
}


async def _live(found: Mapping[str, list[Case]], running: Parts, noted: Noted) -> None:
    room = asyncio.Semaphore(_AT_ONCE)

    async def one(case: Case) -> None:
        async with room:
            await _case(case, running, noted)

    async with asyncio.TaskGroup() as group:
        for case in (case for cases in found.values() for case in cases):
            group.create_task(one(case))


async def _case(case: Case, running: Parts, noted: Noted) -> None:
    async with AsyncMemory(
        namespace=f"reading-{case.id.lower()}", agent="bench", kafka=running.bootstrap,
        url=running.settings.retrieval_url,
    ) as memory:  # fmt: skip
        outcomes = []
        for at, (agent, text) in enumerate(case.say):
            said: dict[str, Any] = {"occurred_at": case.of["at"][at]} if case.of["at"][at] is not None else {}
            receipt = await memory.add(text, agent=agent, wait=True, timeout=120, **said)
            outcomes.append(receipt.outcome or "none")
        await _JUDGES[case.sort](Answers(memory, case, outcomes), noted)


ROWS: Mapping[str, Measure] = {"reading": measure}
