"""The memories that are asked: each gives a context for each question, all within the same number of tokens.

memquorum is the whole line: episodes go through Kafka, intake, streams and the commit worker, and `retrieve` answers
over HTTP within the budget, without noting a use. mem0 and LangGraph's store run in an environment of their own, and
give their nearest 40, as many as their index looks at. `full` gives the latest turns; `none` nothing; `evidence` the
turns that the set names, and so the most that a memory can give the same reader.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.conversations import Conversation
from bench.parts import WHOLE, Parts, difference
from bench.peers import ours
from bench.peers.command import in_process
from memquorum.client import AsyncMemory
from memquorum.core.reading.tokens import tokens

OURS = "memquorum"
OTHERS = ("mem0", "langgraph")
K = 40
_PATIENCE_S = 1_800


@dataclass(frozen=True)
class Piece:
    """A turn, or a part of it: its place among the turns, its text, its date and its speaker."""

    place: int
    text: str
    date: str
    speaker: str

    @property
    def line(self) -> str:
        """The text with its date and speaker, as a model sees it."""
        return f"[{self.date}] {self.speaker}: {self.text}"


Context = tuple[Piece, ...]


@dataclass
class Gave:
    """The contexts that a memory gave, by conversation and question. `ms`: of each question; `cpu_s`: of all questions
    together; `absent`: why it was not asked."""

    contexts: list[list[Context]] = field(default_factory=list)
    ms: list[float] = field(default_factory=list)
    cpu_s: float = 0.0
    build_s: float = 0.0
    build_cpu_s: float = 0.0
    about: dict[str, Any] = field(default_factory=dict)
    absent: str = ""


def fit(pieces: Iterable[Piece], budget: int) -> Context:
    """The pieces that fit a budget of tokens with their dates, best first, then in the order of time: newest last."""
    chosen, left = list[Piece](), budget
    for one in pieces:
        if cost((one,)) <= left:
            chosen.append(one)
            left -= cost((one,))
    return tuple(sorted(chosen, key=lambda one: one.place))


def cost(context: Sequence[Piece]) -> int:
    """The tokens of a context, with the ends of lines."""
    return sum(tokens(f"{one.line}\n") for one in context)


def _turns(talk: Conversation, places: Iterable[int]) -> list[Piece]:
    return [piece(talk, place, talk.turns[place]) for place in places]


def piece(talk: Conversation, place: int, text: str) -> Piece:
    """A piece of a turn "speaker: text", which is all of it, or a passage, before which the speaker need not stand."""
    speaker = talk.turns[place].partition(": ")[0]
    return Piece(place, text.removeprefix(f"{speaker}: "), talk.dates[place], speaker)


def full(talks: Sequence[Conversation], budget: int) -> Gave:
    """The latest turns that fit, whatever is asked."""
    gave = Gave()
    for talk in talks:
        latest = list[Piece]()
        for one in _turns(talk, reversed(range(len(talk.turns)))):
            if cost((*latest, one)) > budget:
                break
            latest.append(one)
        gave.contexts.append([fit(latest, budget)] * len(talk.questions))
    return gave


def none(talks: Sequence[Conversation], budget: int) -> Gave:
    """No memory."""
    return Gave([[()] * len(talk.questions) for talk in talks])


def evidence(talks: Sequence[Conversation], budget: int) -> Gave:
    """The turns that the set names for each question, as far as they fit."""
    return Gave([[fit(_turns(talk, asked.evidence), budget) for asked in talk.questions] for talk in talks])


PLAIN: Mapping[str, Callable[[Sequence[Conversation], int], Gave]] = {"full": full, "none": none, "evidence": evidence}


def other(name: str, python: Path, running: Parts, talks: Sequence[Conversation], budget: int) -> Gave:
    """mem0 or LangGraph's store, each conversation in a database of its own."""
    assert running.postgres.process is not None
    folder = running.settings.run_dir / "use" / name
    folder.mkdir(parents=True)
    databases = [f"use_{name}_{at}" for at in range(len(talks))]
    running.postgres.create(*databases)
    job = {
        "system": name, "folder": str(folder), "postgres": running.postgres.process.pid, "k": K,
        "talks": [
            {"name": base, "dsn": running.postgres.dsn(base), "texts": talk.turns,
             "questions": [asked.text for asked in talk.questions]}
            for base, talk in zip(databases, talks, strict=True)
        ],
    }  # fmt: skip
    told = in_process("bench.use.driver", python, folder, job, _PATIENCE_S)
    if isinstance(told, str):
        return Gave(absent=told)
    contexts = [
        [fit(_turns(talk, places), budget) for places in found]
        for talk, found in zip(talks, told["found"], strict=True)
    ]
    about = {key: told[key] for key in ("versions", "network")}
    return Gave(contexts, told["ms"], told["cpu s"], told["build s"], told["build cpu s"], about)


def line(running: Parts, talks: Sequence[Conversation], budget: int) -> Gave:
    """memquorum, each conversation in a namespace of its own. Its processes run until all are asked."""
    running.start(*WHOLE)
    gave = Gave()
    for at, talk in enumerate(talks):
        asyncio.run(_lived(running, f"use-{at}", talk, budget, gave))
    running.stop()
    return gave


async def _lived(running: Parts, namespace: str, talk: Conversation, budget: int, gave: Gave) -> None:
    began = _used(running)
    ids, seconds = await ours.stored(running, namespace, talk.turns, talk.sessions)
    ours.settled(running)
    built = _used(running)
    place = {memory: at for at, memory in enumerate(ids)}
    contexts = []
    async with AsyncMemory(namespace=namespace, agent="ada", url=running.settings.retrieval_url) as memory:
        for asked in talk.questions:
            before = time.perf_counter()
            found = await memory.retrieve(asked.text, budget, k_max=K, peek=True)
            gave.ms.append((time.perf_counter() - before) * 1_000)
            pieces = [piece(talk, place[one.memory_id], one.text) for one in found.items]
            contexts.append(fit(pieces, budget))
    gave.contexts.append(contexts)
    gave.build_s += seconds
    gave.build_cpu_s += _sum(began, built)
    gave.cpu_s += _sum(built, _used(running))


def _used(running: Parts) -> dict[str, float]:
    """Processor time so far: of all processes of the line, and of this one, which asks."""
    return {**running.cpu_s(), "client": time.process_time()}


def _sum(before: Mapping[str, float], after: Mapping[str, float]) -> float:
    return sum(difference(before, after).values())
