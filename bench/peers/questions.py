r"""Stored texts and questions: the first turns of LoCoMo's dev side, and questions whose evidence lies among them.

The choice is that of an earlier comparison on all of LoCoMo: questions with an answer, shuffled with seed 7, the first
200. Here only the dev side is used, so turns and questions are others.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from bench.conversations import Conversation

SEED, WARM = 7, 5


@dataclass(frozen=True)
class Asked:
    """A question, and the texts that answer it, by their place."""

    text: str
    evidence: tuple[int, ...]


@dataclass(frozen=True)
class Task:
    """Texts in order with the session of each, the questions, and others to warm up with.

    `eligible`: of how many questions these were taken.
    """

    texts: tuple[str, ...]
    sessions: tuple[str, ...]
    questions: tuple[Asked, ...]
    warm: tuple[str, ...]
    eligible: int


def choose(talks: Iterable[Conversation], turns: int = 1_000, count: int = 200) -> Task:
    """The first `turns` texts, and `count` of the questions whose whole evidence lies among them."""
    texts: list[str] = []
    sessions: list[str] = []
    found: list[Asked] = []
    for talk in talks:
        start = len(texts)
        texts += talk.turns
        sessions += [f"{talk.name} {session}" for session in talk.sessions]
        for question in talk.questions:
            evidence = tuple(start + turn for turn in question.evidence)
            if max(evidence) < turns:
                found.append(Asked(question.text, evidence))
        if len(texts) >= turns:
            break
    random.Random(SEED).shuffle(found)
    warm = tuple(asked.text for asked in found[count : count + WARM]) or tuple(asked.text for asked in found[:WARM])
    return Task(tuple(texts[:turns]), tuple(sessions[:turns]), tuple(found[:count]), warm, len(found))


def hits(found: Sequence[Sequence[int]], questions: Sequence[Asked], k: int = 10) -> float:
    """The share of questions of which any evidence is among the first k that were found."""
    pairs = zip(found, questions, strict=True)
    return sum(bool({*places[:k]} & {*asked.evidence}) for places, asked in pairs) / len(questions)
