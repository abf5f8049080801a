"""Measures retrieval: `make bench WHAT=reading DATA=FOLDER`.

Three systems on the same texts, the same questions and the same encoder, in one run: BM25 alone, vectors alone, and
what `retrieve` puts first. For each: the share of a question's evidence among the first 5, 10 and 20 (recall@k), and
within budgets of tokens, and their share of the whole conversation.

The sets are LoCoMo's conversations and QMSum's meetings, one namespace each, a turn a memory ("speaker: text"), the dev
side. They are not in this repository, since LoCoMo's licence forbids it; without them the run says so and ends. A real
Postgres holds the memories. Only numbers of turns are kept in bench/results/reading, no text: for each question the
spans of its evidence and each system's first 20.
"""

from __future__ import annotations

import asyncio
import json
import math
import sys
import tempfile
from argparse import Namespace
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import psycopg
from msgspec import structs
from numpy.typing import NDArray

from bench import kept
from bench.conversations import SETS, Conversation
from bench.kept import Outcome, Row
from bench.sets import Absent, there
from db import copying
from db.migrate import migrate
from db.reads import Reads
from infra.embedded.postgres import Postgres
from memquorum.core.access import EVERYONE, READ
from memquorum.core.ids import memory_id
from memquorum.core.journal.rows import Memory, Strength
from memquorum.core.policy import Policy
from memquorum.core.reading.tokens import tokens
from memquorum.core.retrieval.ranking import DEFAULTS, Question, rank
from memquorum.encoders.onnx import OnnxEncoder

KS, BUDGETS, SHOWN = (5, 10, 20), (250, 500, 1_000), 20
SYSTEMS = ("bm25", "vectors", "memquorum")
ONLY = tuple(SETS)
_QUICK = 2  # conversations of each set
_K1, _B = 1.2, 0.75
Ranks = Mapping[str, Sequence[int]]


def bm25(turns: Sequence[Mapping[str, int]], asked: Sequence[str]) -> list[int]:
    """The turns by BM25 (Robertson and Zaragoza 2009), best first, ties in order. `turns`: counts of words."""
    lengths = np.array([sum(turn.values()) for turn in turns], float)
    norm = _K1 * (1 - _B + _B * lengths / max(1.0, float(lengths.mean())))
    scores = np.zeros(len(turns))
    for word in asked:
        counts = np.array([turn.get(word, 0) for turn in turns], float)
        holders = int((counts > 0).sum())
        scores += math.log(1 + (len(turns) - holders + 0.5) / (holders + 0.5)) * counts * (_K1 + 1) / (counts + norm)
    ranked: list[int] = np.argsort(-scores, kind="stable").tolist()
    return ranked


def spans(turns: Sequence[int]) -> list[list[int]]:
    """Ascending turns as spans, first and last of each."""
    found: list[list[int]] = []
    for turn in turns:
        if found and turn == found[-1][1] + 1:
            found[-1][1] = turn
        else:
            found.append([turn, turn])
    return found


def recall(ranked: Sequence[int], evidence: Sequence[int]) -> float:
    """The share of the evidence that is there."""
    return len({*ranked} & {*evidence}) / len(evidence)


def within(ranked: Sequence[int], costs: Sequence[int], budget: int) -> list[int]:
    """Returns the part of a ranking that fits a budget, greedily."""
    inside, left = [], budget
    for turn in ranked:
        if costs[turn] <= left:
            inside.append(turn)
            left -= costs[turn]
    return inside


@dataclass(frozen=True)
class Asked:
    """A question's answers: the turns by each system, best first; what each turn costs in tokens."""

    talk: str
    number: int
    category: str
    evidence: tuple[int, ...]
    ranks: Ranks
    costs: tuple[int, ...]

    def plain(self) -> dict[str, Any]:
        """Numbers alone: which turns each system puts first."""
        first = {system: list(ranked[:SHOWN]) for system, ranked in self.ranks.items()}
        return {"of": self.talk, "q": self.number, "c": self.category, "evidence": spans(self.evidence)} | first


class Store:
    """A store that takes conversations and questions."""

    def __init__(self, dsn: str, encoder: OnnxEncoder, cache: Path | None) -> None:
        self._dsn, self._encoder, self._cache = dsn, encoder, cache

    def ask(self, talk: Conversation) -> list[Asked]:
        """Stores a conversation, and asks its questions of the three systems."""
        vectors, asked = self._encoded(talk)
        place = {memory: at for at, memory in enumerate(self._store(talk, vectors))}
        counts, words = self._words(talk)
        # As the store has them: sixteen bits a number.
        held = vectors.astype(np.float16).astype(np.float32)
        ours = asyncio.run(self._ours(talk, asked))
        costs = tuple(tokens(turn) for turn in talk.turns)
        found = []
        for at, question in enumerate(talk.questions):
            ranks = {
                "bm25": bm25(counts, words[at]),
                "vectors": np.argsort(-(held @ asked[at]), kind="stable").tolist(),
                "memquorum": [place[memory] for memory in ours[at]],
            }
            found.append(Asked(talk.name, at, question.category, question.evidence, ranks, costs))
        return found

    def _encoded(self, talk: Conversation) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        file = self._cache / f"{talk.name}.npz" if self._cache else None
        if file is not None and file.exists():
            found = np.load(file)
            return found["turns"], found["asked"]
        turns, asked = self._encoder.encode(talk.turns), self._encoder.encode([q.text for q in talk.questions])
        if file is not None:
            np.savez(file, turns=turns, asked=asked)
        return turns, asked

    def _store(self, talk: Conversation, vectors: NDArray[np.float32]) -> list[str]:
        ids = [memory_id(talk.name, f"e{at}") for at in range(len(talk.turns))]
        raw, name = list(map(copying.raw_id, ids)), self._encoder.name
        with psycopg.connect(self._dsn, autocommit=True) as connection:
            copying.copy(connection, "memory_copy", (
                copying.raw(Memory(
                    m, 0, talk.name, "ann", "ann", f"e{at}", "short-term", 1_000 * at,
                    len(talk.turns[at]), bytes(32), name, False, None, 0, None, at, session=talk.sessions[at],
                )) for at, m in enumerate(ids)
            ))  # fmt: skip
            spaces = [talk.name] * len(raw)
            copying.copy(connection, "content_copy", zip(raw, talk.turns, spaces, strict=True))
            copying.copy(connection, "embedding_copy", (
                (m, talk.name, copying.raw_vector(vector), name) for m, vector in zip(raw, vectors, strict=True)
            ))  # fmt: skip
            copying.copy(connection, "strength_copy", (
                copying.raw(Strength(m, 0, "short-term", 500_000, 0, 0, 0)) for m in ids
            ))  # fmt: skip
            connection.execute("ANALYZE")
        return ids

    def _words(self, talk: Conversation) -> tuple[list[dict[str, int]], list[list[str]]]:
        """The words of turns, counted, and of questions, as Postgres's configuration `english` takes them."""
        lexed = (
            "SELECT (SELECT coalesce(json_object_agg(lexeme, cardinality(positions)), '{}') "
            "FROM unnest(to_tsvector('english', text))) "
            "FROM unnest(%s::text[]) WITH ORDINALITY AS t (text, at) ORDER BY at"
        )
        with psycopg.connect(self._dsn) as connection:
            turns = [row[0] for row in connection.execute(lexed, [list(talk.turns)])]
            asked = [list(row[0]) for row in connection.execute(lexed, [[q.text for q in talk.questions]])]
        return turns, asked

    async def _ours(self, talk: Conversation, asked: NDArray[np.float32]) -> list[list[str]]:
        reads, found = Reads(self._dsn), []
        await reads.open()
        try:
            for question, vector in zip(talk.questions, asked, strict=True):
                wanted = Question(talk.name, question.text, {self._encoder.name: vector})
                candidates, as_of = await reads.candidates(EVERYONE.sight(READ), wanted, DEFAULTS)
                ranked = rank(candidates, {self._encoder.name: len(talk.turns)}, as_of, Policy())
                found.append([one.candidate.hit.memory_id for one in ranked])
        finally:
            await reads.close()
        return found


def figures(asked: Sequence[Asked]) -> dict[str, dict[str, float]]:
    """Means over all questions, by system."""
    found: dict[str, dict[str, float]] = {}
    for system in SYSTEMS:
        answers = [(one.ranks[system], one.evidence, one.costs) for one in asked]
        told = found[system] = {}
        for k in KS:
            spent = [(sum(costs[turn] for turn in ranked[:k]), sum(costs)) for ranked, _, costs in answers]
            told[f"recall@{k}"] = _mean(recall(ranked[:k], evidence) for ranked, evidence, _ in answers)
            told[f"tokens@{k}"] = _mean(part for part, _ in spent)
            told[f"share of all tokens@{k}"] = _mean(part / whole for part, whole in spent)
        for budget in BUDGETS:
            told[f"recall in {budget} tokens"] = _mean(
                recall(within(ranked, costs, budget), evidence) for ranked, evidence, costs in answers
            )
    return found


def _mean(values: Iterable[float]) -> float:
    return round(float(np.mean(list(values))), 4)


def ahead(asked: Sequence[Asked], k: int) -> dict[str, list[float]]:
    """Returns our lead over the others in recall@k: the mean, and 95 % of 2,000 resamplings of the questions."""
    picks = np.random.default_rng(1).integers(0, len(asked), (2_000, len(asked)))
    told = {}
    for other in SYSTEMS[:-1]:
        pairs = [(one.ranks["memquorum"][:k], one.ranks[other][:k], one.evidence) for one in asked]
        gains = np.array([recall(ours, evidence) - recall(theirs, evidence) for ours, theirs, evidence in pairs])
        low, high = np.percentile(gains[picks].mean(axis=1), [2.5, 97.5])
        told[other] = [round(float(value), 4) for value in (gains.mean(), low, high)]
    return told


def lines(name: str, result: Mapping[str, Any]) -> Iterator[str]:
    """A set's figures as a table of Markdown."""
    columns = [*(f"recall@{k}" for k in KS), "tokens@10", *(f"recall in {budget} tokens" for budget in BUDGETS)]
    yield f"\n{name}: {result['questions']} questions of {result['conversations']} conversations"
    yield "| | " + " | ".join(columns) + " |"
    yield "|---|" + "---:|" * len(columns)
    for system, found in result["figures"].items():
        cells = [f"{found[c]:.0f}" if c.startswith("tokens") else f"{found[c]:.3f}" for c in columns]
        yield f"| {system} | {' | '.join(cells)} |"
    for k, gains in result["ahead"].items():
        told = [f"of {other} by {mean:.3f} ({low:.3f} to {high:.3f})" for other, (mean, low, high) in gains.items()]
        yield f"ahead at {k}: {', '.join(told)}"


def measure(data: Path, only: Sequence[str], first: int | None, cache: Path | None) -> dict[str, Any]:
    """All sets; what is kept of a run, without its questions, and the questions."""
    encoder = OnnxEncoder(threads=2)
    fusion = structs.asdict(DEFAULTS.fusion)
    settings = fusion | {"depth": DEFAULTS.depth, "words": DEFAULTS.words, "bm25": {"k1": _K1, "b": _B}}
    told: dict[str, Any] = {**kept.begin(), "encoder": encoder.name, "settings": settings, "sets": {}}
    with tempfile.TemporaryDirectory() as folder, Postgres(Path(folder) / "postgres", throwaway=True) as server:
        dsn = server.dsn("memory")
        migrate(dsn, "memory")
        with psycopg.connect(dsn, autocommit=True) as connection:
            connection.execute("INSERT INTO shard (shard, hash) VALUES (0, '')")
        store = Store(dsn, encoder, cache)
        for name in only:
            talks = [talk for talk in SETS[name](data) if talk.questions][:first]
            asked = [one for talk in talks for one in store.ask(talk)]
            told["sets"][name] = {
                "conversations": len(talks),
                "turns": sum(len(talk.turns) for talk in talks),
                "questions": len(asked),
                "figures": figures(asked),
                "ahead": {str(k): ahead(asked, k) for k in KS},
                "asked": [one.plain() for one in asked],
            }
            print("\n".join(lines(name, told["sets"][name])), flush=True)
    return told


def keep(told: dict[str, Any], folder: Path) -> Path:
    """Writes the figures of a run, in place of the one before."""
    folder.mkdir(parents=True, exist_ok=True)
    for older in folder.glob("*.json"):
        older.unlink()
    file = folder / f"{told['at'].replace(':', '')}.json"
    sets = {name: {k: v for k, v in found.items() if k != "asked"} for name, found in told["sets"].items()}
    file.write_text(json.dumps({"schema": 1, **told, "sets": sets}, indent=1) + "\n", encoding="utf-8")
    return file


def run(given: Namespace) -> Outcome:
    """Measures the sets that are asked for, or all. A run with few conversations, or of one set, is not kept."""
    missing = [name for name in given.only or SETS if not there(given.data, name)]
    if missing:
        print(*(f"skipped: {Absent(given.data, name)}" for name in missing), sep="\n", file=sys.stderr)
        return Outcome([])
    if given.cache:
        given.cache.mkdir(parents=True, exist_ok=True)
    told = measure(given.data, given.only or list(SETS), _QUICK if given.quick else None, given.cache)
    rows = [_row(name, result) for name, result in told["sets"].items()]
    if not given.quick and given.only is None:
        print(f"\nkept as {keep(told, kept.RESULTS / 'reading').relative_to(kept.ROOT)}")
    return Outcome(rows)


def _row(name: str, result: Mapping[str, Any]) -> Row:
    row = Row(f"reading {name}", f"what is found: {name}")
    for system, found in result["figures"].items():
        for figure, value in found.items():
            row.figure(f"{system}, {figure}", value, "")
    return row
