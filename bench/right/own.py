"""The own cases on the running line: Kafka, Postgres, the processes and the policy of `make up`, temporary data.

A namespace is a field, with four agents. Their messages come in a drawn order, in which each case keeps its own: so
between a fact and the one that differs from it, or between a statement and its correction, others speak. An hour and a
day pass; then the questions are asked. Vital facts have a namespace for each agent; nobody reads in it, and 37 days
pass, with an epoch in each in which anything is due: from the first on by its decay score, from the eighth on by D.

A fact is stored if it is a memory of its own. Small talk is stored if it is one. No row reads the store: the
client publishes, awaits outcomes, asks, and looks up what is still there.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager

from bench.kept import Row
from bench.parts import WHOLE, Parts, parts
from bench.right import cases
from bench.right.cases import Case
from bench.right.frame import Material, Measure
from infra.demo.driver import Driver
from infra.demo.steps import Tick
from memquorum.client import AsyncMemory
from memquorum.client.values import Receipt
from memquorum.core.tiers import ALIVE

_HOUR, _DAY = 3_600_000, 86_400_000
_DAYS = 37
_STORED = "stored"

Became = dict[str, list[Receipt]]
"""Case → what became of each thing that it says, in order."""


def order(found: Sequence[Case]) -> list[tuple[Case, int]]:
    """Everything that the cases of a namespace say, in a drawn order; a case's own order stays."""
    draw = random.Random(17)
    places = sorted((sorted(draw.random() for _ in case.say), case.id, case) for case in found)
    told = sorted((place, id, at, case) for times, id, case in places for at, place in enumerate(times))
    return [(case, at) for _, _, at, case in told]


async def publish(memory: AsyncMemory, found: Sequence[Case]) -> Became:
    """Publishes what the cases say; returns once each has its outcome."""
    told = order(found)
    receipts = await memory.add_all(
        {"content": case.say[at][1], "agent": case.say[at][0], "event_id": f"{case.id}/{at}"} for case, at in told
    )
    became: Became = {case.id: [] for case in found}
    for (case, _), receipt in zip(told, receipts, strict=True):
        became[case.id].append(await memory.outcome(receipt, timeout=120))
    return became


@contextmanager
def clock(running: Parts) -> Iterator[Callable[[int], None]]:
    """Yields a call that moves the shards' time; it returns once everything due then has been voted on and applied."""
    shards, dsn = range(running.genesis.shards), running.settings.memory_dsn
    with closing(Driver(running.bootstrap, running.genesis, running.codec, dsn, active=shards)) as driver:
        yield lambda at: driver.run([Tick(at)], running.check)


class Rates:
    """A share of cases: of all, and of each half."""

    def __init__(self, row: Row, name: str) -> None:
        self._row, self._name = row, name
        self._told: list[tuple[Case, bool, str]] = []

    def note(self, case: Case, hit: bool, text: str) -> None:
        """One thing that was tried."""
        self._told.append((case, hit, text))

    def figures(self, missed: bool) -> None:
        """The figures in per cent; of the developers' half, the texts for which the answer was `missed`."""
        row, told = self._row, self._told
        halves = {
            self._name: told,
            f"{self._name}, developers' half": [one for one in told if one[0].developers],
            f"{self._name}, the other half": [one for one in told if not one[0].developers],
        }
        for name, some in halves.items():
            row.figure(name, 100 * sum(hit for _, hit, _ in some) / max(1, len(some)), "%")
        wrong = [f"{case.id}: {text}" for case, hit, text in told if hit is missed and case.developers]
        row.series[self._name] = {"tried": len(told), "wrong, of the developers' half": wrong}


def measure(material: Material) -> Row:
    """All four sorts in one installation."""
    row = Row("own cases", "own cases on the running line, as `make up` ships it")
    found = {sort: material.some(cases.read(sort), 12) for sort in cases.SORTS}
    row.note(", ".join(f"{len(found[sort])} of {sort}" for sort in cases.SORTS) + " cases")
    with parts(*WHOLE, agents={}) as running:
        asyncio.run(_live(row, found, running))
    return row


async def _live(row: Row, found: Mapping[str, list[Case]], running: Parts) -> None:
    spoken = [case for sort in ("facts", "corrections", "talk") for case in found[sort]]
    with clock(running) as move:
        now = time.time_ns() // 1_000_000
        await asyncio.to_thread(move, now)
        became: Became = {}
        for field in sorted({case.field for case in spoken}):
            async with _memory(running, field) as memory:
                became |= await publish(memory, [case for case in spoken if case.field == field])
        _stored(row, found, became)
        for passed in (_HOUR, _DAY):
            await asyncio.to_thread(move, now + passed)
        await _asked(row, found["corrections"], running)
        await _vital(row, found["vital"], running, move, now + _DAY)


def _memory(running: Parts, namespace: str) -> AsyncMemory:
    return AsyncMemory(namespace=namespace, agent="bench", kafka=running.bootstrap, url=running.settings.retrieval_url)


def _stored(row: Row, found: Mapping[str, list[Case]], became: Became) -> None:
    facts, talk = Rates(row, "facts stored"), Rates(row, "small talk stored")
    corrections = Rates(row, "corrections stored")
    for case in (*found["facts"], *found["talk"]):
        into = facts if case.sort == "facts" or case.of["says"] else talk
        for (_, text), receipt in zip(case.say, became[case.id], strict=True):
            into.note(case, receipt.outcome == _STORED, f"{text} → {receipt.outcome}")
    for case in found["corrections"]:
        for (_, text), receipt in zip(case.say, became[case.id], strict=True):
            corrections.note(case, receipt.outcome == _STORED, f"{text} → {receipt.outcome}")
    facts.figures(missed=False)
    row.at_least("facts stored", 98)
    talk.figures(missed=True)
    row.at_most("small talk stored", 15)
    corrections.figures(missed=False)


async def _asked(row: Row, corrections: Sequence[Case], running: Parts) -> None:
    """The first hit of `retrieve`, and of `search`, which ranks by meaning alone."""
    first, search = Rates(row, "right one first"), Rates(row, "right one first, search")
    for case in corrections:
        async with _memory(running, case.field) as memory:
            retrieved = (await memory.retrieve(case.of["ask"], peek=True)).items
            searched = await memory.search(case.of["ask"], k=1, peek=True)
        for into, hits in ((first, retrieved), (search, searched)):
            text = hits[0].text if hits else "nothing"
            into.note(case, case.of["holds"].lower() in text.lower(), f"{case.of['ask']} → {text}")
    first.figures(missed=False)
    row.at_least("right one first", 95)
    search.figures(missed=False)


async def _vital(row: Row, vital: Sequence[Case], running: Parts, move: Callable[[int], None], now: int) -> None:
    kept = [_with_talk(case) for case in vital]
    became: Became = {}
    for case in kept:
        async with _memory(running, case.id) as memory:
            became |= await publish(memory, [case])
    for day in range(_DAYS):
        await asyncio.to_thread(move, now + (1 + day) * _DAY)
    lost, talk = Rates(row, "vital facts lost"), Rates(row, "small talk beside them still there")
    for case in kept:
        facts = {text for _, text in case.of["facts"]}
        async with _memory(running, case.id) as memory:
            for (_, text), receipt in zip(case.say, became[case.id], strict=True):
                there = receipt.outcome == _STORED and (await memory.get(receipt.memory_id)).tier in ALIVE
                into, told = (lost, not there) if text in facts else (talk, there)
                into.note(case, told, f"{text} → {'there' if there else 'gone'}")
    lost.figures(missed=True)
    number = sum(len(case.of["facts"]) for case in vital)
    row.figure("vital facts lost, number", round(row.value("vital facts lost") * number / 100), f"of {number}")
    row.at_most("vital facts lost, number", 0)
    talk.figures(missed=True)


def _with_talk(case: Case) -> Case:
    """Returns the case as one agent's messages, its small talk between its facts."""
    talk = [tuple(said) for said in case.of["talk"]]
    say = tuple(said for both in zip(case.say, talk, strict=True) for said in both)
    return Case(case.id, case.sort, case.field, case.language, say, case.of)


ROWS: Mapping[str, Measure] = {"own cases": measure}
