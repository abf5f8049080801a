"""Rows of evidence: what a question finds within a budget of tokens, of all that is stored and of what is left of it.

A turn that answers a question is found in three ways: all its sentences that say something are given, word for word;
any of them is; or the one is that answers, which shares the most words with the question and its answer. Labels only
say what is counted; what is ranked, packed and summed up knows none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from itertools import product

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from bench.consolidation import asking
from bench.consolidation.asking import Held
from bench.consolidation.frame import SHIPPED, Material
from bench.consolidation.made import Consolidated, Proposed
from bench.consolidation.sessions import Stored
from bench.conversations import Question
from bench.kept import Row
from bench.sets import LOCOMO, QMSUM
from memquorum.core import ids
from memquorum.core.consolidation.rendering import embedded_texts, sentences
from memquorum.core.reading.content import content
from memquorum.core.reading.sentences import spans
from memquorum.core.reading.talk import says_nothing
from memquorum.core.retrieval.packing import of_text, pack
from memquorum.core.retrieval.ranking import Scored

BUDGETS = (500, 1_000)
SHARES = (650_000, 500_000, 350_000, 200_000)
WAYS = ("all sentences", "any sentence", "the answering sentence")
SERVED = ("", ", by vectors alone", ", summaries whole")
"""Ways to give a summary: the sentences that are near or have words of the question; the nearest; all."""
_GOAL_AT, _GOAL, _BESIDE = 650_000, 0.85, "drawn by lot"
_K_MAX = 100
Span = tuple[int, int]
Given = Mapping[int, frozenset[Span]]
"""Turn → the sentences that are given."""


@lru_cache(200_000)
def telling(text: str) -> frozenset[Span]:
    """The sentences of a turn that say something; who says it is no part of that."""
    found = []
    for start, end in spans(text):
        said = text[start:end] if start else text[start:end].partition(": ")[2]
        if not says_nothing(said) and content(said).stems:
            found.append((start, end))
    return frozenset(found)


def answering(text: str, question: Question) -> Span | None:
    """The sentence that shares the most with the question and its answer; of equals the longest."""
    sought = {*content(question.text).stems, *content(question.answer).stems}
    return max(
        sorted(telling(text)),
        key=lambda span: (len(sought.intersection(content(text[span[0] : span[1]]).stems)), span[1] - span[0]),
        default=None,
    )


def evidence_shares(texts: Sequence[str], question: Question, given: Given) -> tuple[float, float, float] | None:
    """The share of a question's evidence that is there, in each of the ways; None where none says anything."""
    hits = []
    for at in question.evidence:
        whole = telling(texts[at])
        if whole:
            there = given.get(at, frozenset())
            hits.append((whole <= there, bool(whole & there), answering(texts[at], question) in there))
    if not hits:
        return None
    a, b, c = np.mean(hits, axis=0).tolist()
    return a, b, c


class Namespace:
    """The stored memories under a name, and their share of the turns."""

    def __init__(self, name: str, stored: Stored, raw: Sequence[int], made: Sequence[Proposed]) -> None:
        self.name, self._texts = name, stored.talk.texts
        turns = {ids.memory_id(name, f"e{at}"): at for at in raw}
        sums = {ids.memory_id(name, f"s{at}"): one for at, one in enumerate(made)}
        talk = stored.talk
        self.held = [
            *(Held(of, talk.texts[at], talk.times[at], talk.sessions[at]) for of, at in turns.items()),
            *(_held(of, one) for of, one in sums.items()),
        ]
        place = {memory_id: at for at, memory_id in enumerate(stored.ids)}
        self._turns = turns
        self._text = {one.memory_id: one.text for one in self.held}
        self._quoted = {
            of: [
                (line, place[quote.memory_id], (quote.start, quote.end))
                for line, quote in zip(sentences(one.record.content), one.quotes, strict=True)
            ]
            for of, one in sums.items()
        }

    def given(self, ranked: Sequence[Scored], budget: int, question: str | None, *, whole: bool = False) -> Given:
        """Returns each turn's sentences that are served within a budget; without a question those found by vectors.

        `whole`: of summaries everything.
        """
        there: dict[int, set[Span]] = {}
        if whole:
            ranked = [self._whole(one) for one in ranked]
        for item in pack(ranked, budget, _K_MAX, of_text, question).items:
            hit = item.scored.candidate.hit
            if hit.memory_id in self._turns:
                at = self._turns[hit.memory_id]
                there.setdefault(at, set()).update(telling(self._texts[at]))
                continue
            served = set(hit.text.split("\n"))
            for line, at, span in self._quoted[hit.memory_id]:
                if line in served:
                    there.setdefault(at, set()).add(span)
        return {at: frozenset(some) for at, some in there.items()}

    def _whole(self, one: Scored) -> Scored:
        candidate = one.candidate
        text = self._text[candidate.hit.memory_id]
        return replace(one, candidate=replace(candidate, hit=replace(candidate.hit, text=text)))


def _held(memory_id: str, one: Proposed) -> Held:
    said, at = one.record.summary, one.record.occurred_at
    assert said is not None and at is not None
    return Held(memory_id, one.record.content, at, None, said.by, said.importance_ppm)


class Asked:
    """The questions of a set, asked of one state of the store after the other."""

    def __init__(self, material: Material, name: str, store: asking.Store) -> None:
        self._material, self._store = material, store
        self.stored = [one for one in material.stored(name) if one.talk.questions]

    def raw(self) -> dict[tuple[int, str], NDArray[np.float64]]:
        """Everything that is stored."""
        return self._ask([Namespace(one.talk.name, one, one.memories, ()) for one in self.stored])

    def after(self, some: Sequence[Consolidated], tag: str) -> dict[tuple[int, str], NDArray[np.float64]]:
        """Returns the sentences that are left of it."""
        by_name = {one.stored.talk.name: one for one in some}
        left = [by_name[one.talk.name] for one in self.stored]
        return self._ask([Namespace(f"{c.stored.talk.name}@{tag}", c.stored, c.raw, c.agreed) for c in left])

    def _ask(self, spaces: Sequence[Namespace]) -> dict[tuple[int, str], NDArray[np.float64]]:
        """The shares of evidence in each of the ways, by budget and what is served of summaries."""
        told: dict[tuple[int, str], list[tuple[float, float, float]]] = {}
        of = self._material.vectors.of
        # All at once.
        of(
            [
                text
                for space in spaces
                for one in space.held
                for text in embedded_texts(one.text, summary=bool(one.made_by))
            ]
        )
        for space, stored in zip(spaces, self.stored, strict=True):
            questions = stored.talk.questions
            self._store.put(space.name, space.held, of)
            ranked = self._store.ask(space.name, [q.text for q in questions], of([q.text for q in questions]))
            for question, best in zip(questions, ranked, strict=True):
                for budget, served in product(BUDGETS, SERVED if space.held[-1].made_by else SERVED[:1]):
                    asked = question.text if served == SERVED[0] else None
                    given = space.given(best, budget, asked, whole=served == SERVED[-1])
                    shares = evidence_shares(stored.talk.texts, question, given)
                    if shares is not None:
                        told.setdefault((budget, served), []).append(shares)
        return {how: np.mean(shares, axis=0) for how, shares in told.items()}


def evidence(material: Material, name: str) -> Row:
    """A set: its questions on the raw store, and on what each share leaves."""
    row = Row(f"evidence-{name}", f"hits of the questions of {name} before and after consolidation")
    with asking.store(material.vectors.name, material.policy) as store:
        asked = Asked(material, name, store)
        before = asked.raw()
        print(f"  {name}: raw asked", flush=True)
        for budget in BUDGETS:
            row.figure(f"raw, in {budget:,} tokens", float(before[budget, SERVED[0]][0]), "")
        for share, rule in (*((share, SHIPPED) for share in SHARES), (_GOAL_AT, _BESIDE)):
            some = material.left(name, rule, share)
            after = asked.after(some, f"{share}/{rule}")
            print(f"  {name}: {share / 10_000:.0f} % asked, {rule}", flush=True)
            suffix = f"at {share / 10_000:.0f} %" + ("" if rule == SHIPPED else f", {rule}")
            length, whole = (sum(len(text) for one in some for text in texts(one)) for texts in (_after, _before))
            row.figure(f"characters left, {suffix}", 100 * length / whole, "%")
            for (budget, served), shares in after.items():
                for way, value in zip(WAYS, shares / before[budget, SERVED[0]], strict=True):
                    row.figure(f"{way} ÷ raw, {suffix}, in {budget:,} tokens{served}", float(value), "")
    for budget in BUDGETS:
        for way in WAYS[:1] + WAYS[2:]:
            row.at_least(f"{way} ÷ raw, at {_GOAL_AT / 10_000:.0f} %, in {budget:,} tokens", _GOAL)
    row.note(
        f"{sum(len(one.talk.questions) for one in asked.stored)} questions; recall of the turns that answer, with the "
        "raw store's as 1: a turn there is found where it is given. Shares are of the tokens that a summary may have"
    )
    return row


def _after(one: Consolidated) -> list[str]:
    return one.texts


def _before(one: Consolidated) -> list[str]:
    return one.before


ROWS: Mapping[str, Callable[[Material], Row]] = {
    f"evidence-{name}": partial(evidence, name=name) for name in (LOCOMO, QMSUM)
}
