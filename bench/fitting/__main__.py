"""Fits the coefficients of `core.retrieval.scoring`: `python -m bench.fitting [minilm|multilingual]`.

`answerable.jsonl` has 58 sets of eight facts and twelve questions in ten languages. A third of the questions have no
answer among the facts though they speak of the same things (near misses); questions of other sets in the same language
are far misses. A logistic regression over all pairs of a question and a fact says what counts, a second one over the
best fact of each question how likely it is that something answers. Near misses count a quarter: people mostly ask what
was never said, or what was.
"""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memquorum.core.policy import PPM
from memquorum.core.retrieval.scoring import FLOOR, Weights, features
from memquorum.encoders.onnx import OnnxEncoder
from memquorum.ports import Encoder

Floats = NDArray[np.float64]
SETS = Path(__file__).with_name("answerable.jsonl")
FAR, NEAR_WEIGHT, FOLDS, RIDGE = 6, 0.25, 5, 1.0


class Asked:
    """A question over the facts of a set: features of each (facts, 4), which of them answers it, and of which sort it
    is."""

    def __init__(self, group: int, sort: str, found: Floats, answer: int | None) -> None:
        self.group, self.sort, self.found = group, sort, found
        self.answers = np.arange(len(found)) == (-1 if answer is None else answer)
        self.weight = NEAR_WEIGHT if sort == "near" else 1.0


def read(encoder: Encoder) -> list[Asked]:
    """All questions over the facts of their set, with far misses."""
    sets = [json.loads(line) for line in SETS.read_text(encoding="utf-8").splitlines()]
    draw, asked = random.Random(1), list[Asked]()
    for group, one in enumerate(sets):
        own = [(ask["q"], ask["fact"], "near" if ask["fact"] is None else "yes") for ask in one["asks"]]
        elsewhere = [
            ask["q"] for other in sets if other is not one and other["language"] == one["language"]
            for ask in other["asks"]
        ]  # fmt: skip
        own += [(question, None, "far") for question in draw.sample(elsewhere, min(FAR, len(elsewhere)))]
        facts = encoder.encode(one["facts"])
        for (question, fact, sort), vector in zip(own, encoder.encode([ask[0] for ask in own]), strict=True):
            cosines = facts @ vector
            order = np.argsort(-cosines)
            texts = [one["facts"][at] for at in order]
            found = np.c_[cosines[order], features(question, texts)].astype(float)
            place = None if fact is None else int(np.flatnonzero(order == fact)[0])
            asked.append(Asked(group, sort, found, place))
    return asked


def logistic(x: Floats, y: Any, weight: Any, ridge: float = RIDGE) -> Floats:
    """The coefficients of a logistic regression, the constant last."""
    x = np.c_[x, np.ones(len(x))]
    found, pull = np.zeros(x.shape[1]), np.diag([ridge] * (x.shape[1] - 1) + [1e-6])
    for _ in range(60):
        p = 1 / (1 + np.exp(-np.clip(x @ found, -30, 30)))
        found = found - np.linalg.solve(
            (x * (weight * p * (1 - p))[:, None]).T @ x + pull, x.T @ (weight * (p - y)) + pull @ found
        )
    return found


def fit(asked: list[Asked]) -> Floats:
    """The coefficients of the features, the constant last."""
    told = np.concatenate([one.found for one in asked])
    right = np.concatenate([one.answers for one in asked]).astype(float)
    first = logistic(told, right, np.concatenate([np.full(len(one.found), one.weight) for one in asked]))
    best = np.array([best_of(one, first) for one in asked])
    sorts, weight = np.array([one.sort == "yes" for one in asked], float), np.array([one.weight for one in asked])
    slope, constant = logistic(best[:, None], sorts, weight, 1e-6)
    return np.append(first[:-1] * slope, first[-1] * slope + constant)


def best_of(one: Asked, weights: Floats) -> float:
    """Returns the score of a question's best fact."""
    return float((np.c_[one.found, np.ones(len(one.found))] @ weights).max())


def auc(scores: Floats, true: NDArray[np.bool_]) -> float:
    """Returns the probability that a true one has a higher score than a false one."""
    ahead = scores[true][:, None] - scores[~true][None]
    return float(((ahead > 0) + (ahead == 0) / 2).mean())


def main(name: str = "minilm") -> None:
    """Prints the coefficients, and how well they tell in cross-validation."""
    encoder: Encoder
    if name == "multilingual":
        from memquorum.encoders.multilingual import MultilingualEncoder

        encoder = MultilingualEncoder()
    else:
        encoder = OnnxEncoder()
    asked = read(encoder)
    scores = np.zeros(len(asked))
    for fold in range(FOLDS):
        weights = fit([one for one in asked if one.group % FOLDS != fold])
        for at, one in enumerate(asked):
            if one.group % FOLDS == fold:
                scores[at] = best_of(one, weights)
    yes, sorts = np.array([one.sort == "yes" for one in asked]), np.array([one.sort for one in asked])
    right = (scores >= np.log(FLOOR / (1 - FLOOR))) == yes
    print(f"{len(asked)} questions, AUC with near misses {auc(scores[sorts != 'far'], yes[sorts != 'far']):.3f}, with ")
    print(f"far misses {auc(scores[sorts != 'near'], yes[sorts != 'near']):.3f}")
    for sort in ("yes", "near", "far"):
        print(f"right, {sort}: {100 * right[sorts == sort].mean():.1f} %")
    whole = [round(float(one) * PPM) for one in fit(asked)]
    print(f"{encoder.name!r}: {Weights(*whole)}")


if __name__ == "__main__":
    main(*sys.argv[1:])
