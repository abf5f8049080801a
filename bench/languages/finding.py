"""An encoder's first hits, by its vectors alone: no words, no ranking, no store."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bench.kept import Row
from bench.languages import parallel
from bench.right import reading
from bench.right.cases import Case
from memquorum.encoders.multilingual import LANGUAGES
from memquorum.ports import Encoder

Bools = NDArray[np.bool_]
CASE = "of the question's case"
OWN, OTHERS, AMONG, SAID = "own language", "all in another", "among its own", "asked in another"
"""Figures of the parallel cases: by the language of the question, the last one by that of the fact."""


def cases(row: Row, encoder: Encoder, kind: str, quick: bool) -> None:
    """Notes how often the first of all texts that the reading cases say, in any language, is of the question's case."""
    found = [case for sort in reading.SORTS for case in reading.read(sort)][:: 20 if quick else 1]
    texts, of = _said(found)
    asked = [(case, question) for case in found if "across" not in case.of for question in _questions(case)]
    first = encoder.encode([question for _, question in asked]) @ encoder.encode(texts).T
    hits: dict[str, list[bool]] = defaultdict(list)
    for (case, _), at in zip(asked, first.argmax(axis=1), strict=True):
        hits[case.language].append(case.id in of[at])
    for language, told in sorted(hits.items()):
        row.figure(f"{kind}, {language}: {CASE}", 100 * sum(told) / len(told), "%")
        row.series[language] = len(told)
    row.series["texts"] = len(texts)


def _said(found: Sequence[Case]) -> tuple[list[str], list[set[str]]]:
    """All texts once, and the cases that say each."""
    of: dict[str, set[str]] = defaultdict(set)
    for case in found:
        for _, text in case.say:
            of[text].add(case.id)
    return list(of), list(of.values())


def _questions(case: Case) -> list[str]:
    told = [(case.of["ask"], True)] if "ask" in case.of else case.of.get("asks", ())
    return [question for question, holds in told if holds]


def translated(row: Row, encoder: Encoder, kind: str) -> None:
    """Notes what is found of the parallel cases, by language.

    *Another* language is one of those that `multilingual` was made for.
    """
    told, named = parallel.read(), parallel.languages()
    alone, mixed = _first(encoder, told, named)
    others = [at for at, name in enumerate(named) if name in LANGUAGES]
    for at, name in enumerate(named):
        rest = [other for other in others if other != at]
        figures = (
            (OWN, alone[at, at]), (OTHERS, alone[at, rest]), (AMONG, mixed[at, rest]), (SAID, mixed[rest, at]),
        )  # fmt: skip
        for what, hits in figures:
            row.figure(f"{kind}, {name}: {what}", 100 * float(hits.mean()), "%")


def _first(encoder: Encoder, told: Sequence[parallel.Parallel], named: Sequence[str]) -> tuple[Bools, Bools]:
    """Returns whether each question (language, question) finds its fact in each language first: shape (asked, said,
    facts). First among the facts in that language; and first where the others are in the question's language.
    """
    count = len(told)
    facts = encoder.encode([one.facts[name] for name in named for one in told]).reshape(len(named), count, -1)
    asked = encoder.encode([one.asks[name] for name in named for one in told]).reshape(len(named), count, -1)
    near = np.einsum("aid,bjd->abij", asked, facts)
    right = np.diagonal(near, axis1=2, axis2=3)
    apart = np.where(np.eye(count, dtype=bool), -np.inf, near).max(axis=3)
    own = np.diagonal(apart, axis1=0, axis2=1).T[:, None]
    return right > apart, right > own
