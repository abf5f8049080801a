"""The figures: of each memory how much is answered correctly, in how many tokens, and what that costs."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from bench import conversations
from bench.conversations import Conversation, Question
from bench.fifa.living import Life
from bench.fifa.prepared import Prepared
from bench.fifa.runs import Cells, Size
from bench.fifa.wordings import texts
from bench.fifa.world import streams
from bench.ingest import STORE_ALL
from bench.kept import Row
from bench.parts import parts
from bench.reference import quantile
from bench.sets import LOCOMO
from bench.use import marking, memories
from bench.use.answering import Answerer, Extractive, Modelled, chosen
from bench.use.memories import OTHERS, OURS, PLAIN, Context, Gave, cost
from memquorum.core.policy import Policy
from memquorum.core.reading.tokens import tokens
from memquorum.encoders.onnx import OnnxEncoder

BUDGET = 1_000
"""Tokens of context to a question."""
TURNS = 1_000
"""Whole conversations of a set are taken until they have so many."""
MARK, EXACT, WORDS = "mark", "exact", "words of the answer"
REFUSED, UNKNOWN = "unanswerable known", "does not know"
FOUND, TOKENS, FIND, WORK = "evidence in context", "tokens", "find: p50", "find: processor time"
BUILD, BUILD_WORK = "build", "build: processor time"
_QUICK_QUESTIONS = 40
_DRAWS = 2_000
# Shares of what an agent is told, in per cent.
_SHARES, _POLICY = (0, 20, 40, 100), "priority"
Mark = Callable[[Question, str], float]


@dataclass(frozen=True)
class Material:
    """The folder of the sets, the interpreter of the others' environment, where vectors are kept, and how many turns of
    a set are taken."""

    data: Path
    python: Path
    cache: Path
    turns: int
    quick: bool


def some(talks: Iterator[Conversation], turns: int, *, quick: bool) -> list[Conversation]:
    """The first conversations, until they have so many turns; of a quick run the first one, with a few of its
    questions, taken evenly."""
    found = list[Conversation]()
    for talk in talks:
        if quick:
            step = -(-len(talk.questions) // _QUICK_QUESTIONS)
            return [replace(talk, questions=talk.questions[::step])]
        found.append(talk)
        if sum(len(one.turns) for one in found) >= turns:
            break
    return found


def gather(material: Material, talks: Sequence[Conversation]) -> dict[str, Gave]:
    """Each memory's contexts: the others first, while of the line only the servers run."""
    gave: dict[str, Gave] = {}
    with parts(policy=STORE_ALL) as running:
        for name in OTHERS:
            gave[name] = memories.other(name, material.python, running, talks, BUDGET)
            print(f"  {name}: {gave[name].absent or f'{gave[name].build_s:.0f} s to build'}", flush=True)
        gave[OURS] = memories.line(running, talks, BUDGET)
    return {OURS: gave.pop(OURS), **gave, **{name: give(talks, BUDGET) for name, give in PLAIN.items()}}


def answered(row: Row, talks: Sequence[Conversation], gave: Mapping[str, Gave], answerer: Answerer, mark: Mark) -> None:
    """Notes the figures of each memory, and by how much ours is ahead of each other one, question by question."""
    asked = [question for talk in talks for question in talk.questions]
    marks: dict[str, list[float]] = {}
    for name, one in gave.items():
        if one.absent:
            row.note(f"{name} was not asked: {one.absent}")
            continue
        contexts = [context for talk in one.contexts for context in talk]
        answers = [answerer.answer(question.text, given) for question, given in zip(asked, contexts, strict=True)]
        marks[name] = [mark(question, answer) for question, answer in zip(asked, answers, strict=True)]
        for figure, value, unit in _figures(asked, contexts, answers, marks[name]):
            row.figure(f"{name}: {figure}", value, unit)
        for figure, value, unit in _costs(one, len(asked), sum(len(talk.turns) for talk in talks)):
            row.figure(f"{name}: {figure}", value, unit)
        row.series.setdefault("about", {})[name] = one.about
    can = [at for at, question in enumerate(asked) if question.answer]
    others = {name: of for name, of in marks.items() if name != OURS}
    row.series["ahead"] = {name: ahead(marks[OURS], of) for name, of in others.items()}
    row.series["ahead, answerable"] = {
        name: ahead([marks[OURS][at] for at in can], [of[at] for at in can]) for name, of in others.items()
    }
    row.series["answerer"] = answerer.name


def _figures(
    asked: Sequence[Question], contexts: Sequence[Context], answers: Sequence[str], marks: Sequence[float]
) -> Iterator[tuple[str, float, str]]:
    can = np.array([bool(question.answer) for question in asked])
    says = np.array([marking.unknown(answer) for answer in answers])
    right = np.array([marking.exact(question, answer) for question, answer in zip(asked, answers, strict=True)])
    held = np.array([_held(question, given) for question, given in zip(asked, contexts, strict=True)])
    words = np.array([marking.recall(answer, question.answer) for question, answer in zip(asked, answers, strict=True)])
    yield MARK, float(np.array(marks)[can].mean()), ""
    yield EXACT, 100 * float(right[can].mean()), "%"
    yield WORDS, 100 * float(words[can].mean()), "%"
    yield UNKNOWN, 100 * float(says[can].mean()), "%"
    if not can.all():
        yield REFUSED, 100 * float(says[~can].mean()), "%"
    yield FOUND, 100 * float(held[can].mean()), "%"
    yield TOKENS, float(np.mean([cost(given) for given in contexts])), ""


def _held(question: Question, given: Context) -> float:
    """The share of the turns that the set names."""
    wanted = {*question.evidence}
    return len(wanted & {piece.place for piece in given}) / max(1, len(wanted))


def _costs(gave: Gave, asked: int, turns: int) -> Iterator[tuple[str, float, str]]:
    if gave.ms:
        yield FIND, quantile(gave.ms, 0.5), "ms"
        yield WORK, 1_000 * gave.cpu_s / asked, "ms"
        yield BUILD, 1_000 * gave.build_s / turns, "s"
        yield BUILD_WORK, 1_000 * gave.build_cpu_s / turns, "s"


def ahead(ours: Sequence[float], theirs: Sequence[float]) -> list[float]:
    """Returns our lead in the mean mark, and 95 % of 2,000 resamplings of the questions."""
    gains = np.array(ours) - np.array(theirs)
    picks = np.random.default_rng(1).integers(0, len(gains), (_DRAWS, len(gains)))
    low, high = np.percentile(gains[picks].mean(axis=1), [2.5, 97.5])
    return [round(float(value), 4) for value in (gains.mean(), low, high)]


def _measure(material: Material, name: str, title: str, talks: list[Conversation], mark: Mark) -> Row:
    encoder = OnnxEncoder(threads=2)
    row = Row(name, title)
    with chosen(encoder, os.environ) as answerer:
        gave = gather(material, talks)
        asked = [question for talk in talks for question in talk.questions]
        judged = _judged(mark, answerer)
        answered(row, talks, gave, answerer, judged)
        if isinstance(answerer, Modelled) and answerer.failed:
            row.note(f"the model gave nothing of use {answerer.failed} times; that counts as a wrong answer")
    without = sum(not question.answer for question in asked)
    row.series["size"] = {
        "conversations": len(talks), "turns": sum(len(talk.turns) for talk in talks),
        "tokens": sum(tokens(turn) for talk in talks for turn in talk.turns) // len(talks),
        "questions": len(asked), "unanswerable": without,
    }  # fmt: skip
    return row


def _judged(mark: Mark, answerer: Extractive | Modelled) -> Mark:
    """The set's mark; LongMemEval's by the model, where there is one."""
    if mark is marking.longmemeval and isinstance(answerer, Modelled):
        return lambda question, answer: marking.longmemeval(question, answer, answerer)
    return mark


def locomo(material: Material) -> Row:
    """LoCoMo's questions, those without an answer among them; the mark is F1."""
    talks = some(conversations.locomo(material.data, unanswerable=True), material.turns, quick=material.quick)
    return _measure(material, LOCOMO, "LoCoMo's questions about conversations of months", talks, marking.locomo)


def longmemeval(material: Material) -> Row:
    """LongMemEval's questions; the mark is the share of correct answers."""
    talks = some(conversations.longmemeval(material.data), material.turns, quick=material.quick)
    title = "LongMemEval's questions about sessions with an assistant"
    return _measure(material, "longmemeval", title, talks, marking.longmemeval)


def fifa(material: Material) -> Row:
    """FiFA's goals by what an agent may remember, under one policy of budgets."""
    row = Row("fifa", "FiFA's agents: the goals they reach with and without memory")
    seeds, agents = (1, 1) if material.quick else (5, 2)
    policy, reached = Policy(), {share: list[bool]() for share in _SHARES}
    vectors = dict(zip(texts(), Cells(Size(quick=material.quick), material.cache).vectors, strict=True))
    for seed in range(seeds):
        for stream in streams(seed, distractors=True, agents=agents):
            agent = Prepared(stream, vectors, policy)
            for share, goals in reached.items():
                budget = agent.all_tokens * share // 100
                life = Life(agent, _POLICY, budget, votes=False, seed=f"fifa/{seed}".encode())
                goals += [done for _, done in life.live().goals]
    for share, goals in reached.items():
        told = "no memory" if not share else f"a memory for {share} % of what was said"
        row.figure(f"goals reached, {told}", 100 * sum(goals) / len(goals), "%")
    row.note(
        f"{len(reached[0])} goals, with distractors, without votes, policy `{_POLICY}`; agents: {seeds * agents}; a "
        f"goal needs facts of earlier sessions, and its own statement is one"
    )
    return row


ROWS: Mapping[str, Callable[[Material], Row]] = {LOCOMO: locomo, "longmemeval": longmemeval, "fifa": fifa}
"""In the order of the page."""
