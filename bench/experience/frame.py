r"""The material of every row of this page: questions, texts, vectors, and an experience with admitted candidates.

No parameter is fitted: numbers are those of the shipped policy and of the shipped fusion. A task's result is what an
agent would log; labels of evidence only score, and of them only those of the side that is asked.
"""

from __future__ import annotations

import hashlib
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from dataclasses import replace as regrouped
from functools import cached_property
from typing import Any

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from bench.right import frame
from bench.sets import records
from memquorum.core.experience.admission import ADMITTED, PROVISIONAL, Before, first_weight_ppm, verdict
from memquorum.core.experience.context import Context
from memquorum.core.experience.reward import Reach
from memquorum.core.experience.trial import Case, Statistics, tried
from memquorum.core.experience.view import Experience, Held
from memquorum.core.policy import ExperiencePolicy
from memquorum.core.reading.content import stems_of

HOTPOT, FM2, MUSIQUE = "hotpotqa", "fool_me_twice", "musique"
POLICY = ExperiencePolicy()
REACH = Reach()
_REFRESH = 20
"""After so many admissions what came in takes part in further trials: in production, an epoch."""

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Asked:
    """A question, and the places of what bears out its answer. `group`: of those that share some of that."""

    text: str
    evidence: frozenset[int]
    answer: str = ""
    group: int = 0


@dataclass
class Shown:
    """The result of the admission of candidates. `scores`: S of each that was tried; `told`: its findings."""

    held: list[Held] = field(default_factory=list)
    told: dict[str, Statistics] = field(default_factory=dict)
    provisional: int = 0
    tried: int = 0
    seconds: float = 0.0


@dataclass(frozen=True)
class Split:
    """A set in two sides: texts that anybody stored, what tasks of one side came to, and what the other side asks."""

    texts: tuple[str, ...]
    vectors: NDArray[np.float32]
    contexts: tuple[Context, ...]
    asked: tuple[Asked, ...]
    questions: NDArray[np.float32]
    candidates: tuple[int, ...]


class Material(frame.Material):
    """The sets as splits, and what admission makes of them, each made once."""

    def context(self, name: str, goal: str, outputs: str, vector: Any) -> Context:
        """A task that succeeded."""
        return Context(
            name, "bench", "ann", goal, "", outputs, (), (), "succeeded", "ann", bytes(32), 0, self.vectors.name,
            half(vector), 0,
        )  # fmt: skip

    def held(self, name: str, texts: Sequence[str]) -> list[Held]:
        """Texts as memories, each named by its place."""
        vectors = self.vectors.of(texts)
        return [
            Held(f"{name}{at:06}", text, self.vectors.name, half(one))
            for at, (text, one) in enumerate(zip(texts, vectors, strict=True))
        ]

    def experience(self, held: Sequence[Held]) -> Experience:
        """Returns an experience with these memories."""
        return Experience(self.vectors.name, self.vectors.dimensions, held)

    def admit(
        self, candidates: Iterable[Held], contexts: Sequence[Context], reward: Reach = REACH, *,
        there: Sequence[Held] = (), before: Mapping[str, Statistics] | None = None,
    ) -> Shown:  # fmt: skip
        """Candidates in their order, each beside what was admitted before, and what was there already. `before`: what
        those were rejected by that are tried again."""
        shown, experience = Shown(list(there)), self.experience(there)
        began = time.process_time()
        for one in candidates:
            told = tried(Case(one, contexts, experience), reward, POLICY)
            shown.tried += 1
            known = (before or {}).get(one.id)
            found = verdict(told, POLICY, Before() if known is None else Before().plus(known, POLICY))
            shown.provisional += found == PROVISIONAL
            if told is not None:
                shown.told[one.id] = told
            if told is not None and found == ADMITTED:
                shown.held.append(replace(one, weight_ppm=first_weight_ppm(told, POLICY)))
                if len(shown.held) % _REFRESH == 0:
                    experience = self.experience(shown.held)
        shown.seconds = time.process_time() - began
        return shown

    @cached_property
    def fm2(self) -> Split:
        """Fool Me Twice: of claims that share evidence the first is a task that was finished, the others are asked."""
        claims = self.some(list(records(self.data, FM2, "text", "gold_evidence")), 60)
        groups = _groups([[one["text"] for one in claim["gold_evidence"]] for claim in claims])
        asked = {at: number for number, group in enumerate(groups) for at in group[1:]}
        done = [at for at in range(len(claims)) if at not in asked]
        places = _places(e["text"] for one in claims for e in (*one["gold_evidence"], *one["retrieved_evidence"]))
        vectors = self.vectors.of([claim["text"] for claim in claims])
        contexts = [
            self.context(
                f"c{at}", claims[at]["text"], " ".join(e["text"] for e in claims[at]["gold_evidence"]), vectors[at]
            )
            for at in done
        ]
        given = {
            places[e["text"]] for at in done for e in (*claims[at]["gold_evidence"], *claims[at]["retrieved_evidence"])
        }
        wanted = sorted(asked)
        questions = [
            Asked(
                claims[at]["text"], frozenset(places[e["text"]] for e in claims[at]["gold_evidence"]),
                " ".join(e["text"] for e in claims[at]["gold_evidence"]), asked[at],
            )
            for at in wanted
        ]  # fmt: skip
        return Split(
            tuple(places), self.vectors.of(list(places)), tuple(contexts), tuple(questions), vectors[wanted],
            tuple(sorted(given)),
        )  # fmt: skip

    @cached_property
    def musique(self) -> Split:
        """MuSiQue: sub-questions are tasks that were finished, whole questions are asked."""
        found = self.some(list(records(self.data, MUSIQUE, "question", "paragraphs")), 10)
        told = [[f"{p['title']}: {p['paragraph_text']}" for p in one["paragraphs"]] for one in found]
        places = _places(text for texts in told for text in texts)
        asked, parts = list[Asked](), list[tuple[str, str]]()
        for one, texts in zip(found, told, strict=True):
            support = (places[t] for t, p in zip(texts, one["paragraphs"], strict=True) if p["is_supporting"])
            asked.append(Asked(one["question"], frozenset(support), one["answer"]))
            answers: list[str] = []
            for step in one["question_decomposition"]:
                goal = step["question"]
                for number, answer in enumerate(answers, 1):
                    goal = goal.replace(f"#{number}", answer)
                answers.append(step["answer"])
                parts.append((goal, step["answer"]))
        groups = _groups([sorted(map(str, one.evidence)) for one in asked])
        asked = [
            regrouped(one, group=number) for number, group in enumerate(groups) for one in (asked[at] for at in group)
        ]
        vectors = self.vectors.of([goal for goal, _ in parts])
        contexts = [self.context(f"s{at}", *part, vectors[at]) for at, part in enumerate(parts)]
        return Split(
            tuple(places), self.vectors.of(list(places)), tuple(contexts), tuple(asked),
            self.vectors.of([one.text for one in asked]), tuple(range(len(places))),
        )  # fmt: skip

    @cached_property
    def shown_fm2(self) -> Shown:
        """Returns the admission of what the finished tasks of Fool Me Twice had been given."""
        return self._shown(self.fm2)

    @cached_property
    def shown_musique(self) -> Shown:
        """Returns the admission of MuSiQue's paragraphs."""
        return self._shown(self.musique)

    def _shown(self, split: Split) -> Shown:
        every = self.held("m", split.texts)
        return self.admit([every[at] for at in split.candidates], split.contexts)


def half(vector: Any) -> bytes:
    """A vector as a context carries it."""
    return np.asarray(vector).astype("<f2").tobytes()


def place(held: Held) -> int:
    """The place of a memory among the texts."""
    return int(held.id[1:])


def stems(text: str) -> list[str]:
    """The content words of a text, in order and as often as it has them."""
    return [
        stem for word in "".join(c if c.isalnum() else " " for c in text.casefold()).split() for stem in stems_of(word)
    ]


class Words:
    """BM25 over the stems of texts."""

    def __init__(self, texts: Sequence[str]) -> None:
        counted = [Counter(stems(text)) for text in texts]
        self._having = defaultdict[str, list[int]](list)
        for at, one in enumerate(counted):
            for word in one:
                self._having[word].append(at)
        lengths = np.array([sum(one.values()) for one in counted], float)
        self._norm = 1.2 * (0.25 + 0.75 * lengths / max(1.0, float(lengths.mean())))
        self._counted, self._count = counted, len(texts)

    def scores(self, question: str) -> Floats:
        """The score of each text."""
        found = np.zeros(self._count)
        for word in set(stems(question)):
            at = np.array(self._having.get(word, ()), np.int64)
            if len(at):
                counts = np.array([self._counted[one][word] for one in at.tolist()], float)
                idf = np.log(1 + (self._count - len(at) + 0.5) / (len(at) + 0.5))
                found[at] += idf * counts * 2.2 / (counts + self._norm[at])
        return found


def best(scores: Any, count: int) -> list[int]:
    """The places of the highest scores, ties in order; none of nothing."""
    order = np.argsort(-np.asarray(scores), kind="stable")[:count]
    return [int(at) for at in order if scores[at] > 0]


def interval(gains: Sequence[float], groups: Sequence[int] | None = None) -> tuple[float, float, float]:
    """The mean of paired differences, and 95 % of 2,000 resamplings. `groups`: of each difference; those of a group are
    drawn together."""
    given = np.asarray(gains, float)
    of = np.unique(np.arange(len(given)) if groups is None else np.asarray(groups), return_inverse=True)[1]
    sums, counts = np.bincount(of, given), np.bincount(of)
    picks = np.random.default_rng(1).integers(0, len(sums), (2_000, len(sums)))
    low, high = np.percentile(sums[picks].sum(axis=1) / counts[picks].sum(axis=1), [2.5, 97.5])
    return float(given.mean()), float(low), float(high)


def recall(found: Sequence[int], wanted: frozenset[int]) -> float:
    """The share of what is wanted that is there."""
    return len(wanted.intersection(found)) / len(wanted)


def _places(texts: Iterable[str]) -> dict[str, int]:
    """A place for each text, by digest: sets name evidence first, and neither the order in which candidates come nor
    ties by id may tell which they are."""
    order = sorted(set(texts), key=lambda text: hashlib.sha256(text.encode()).digest())
    return {text: at for at, text in enumerate(order)}


def _groups(named: Sequence[Sequence[str]]) -> list[tuple[int, ...]]:
    """The places that share a name, directly or by others, each in order."""
    of: dict[str, set[int]] = {}
    for at, names in enumerate(named):
        joined = {at}.union(*(of.get(name, set()) for name in names))
        for other in joined:
            for name in named[other]:
                of[name] = joined
    return sorted({tuple(sorted(one)) for one in of.values()})
