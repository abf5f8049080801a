"""Statistics of differences between paired seeds: small ones, each as its source has it.

They are few and exact for so few pairs, so no package is needed: tests compare them with published examples.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Values = Sequence[float] | NDArray[np.float64]

_RESAMPLED = 10_000
_FEWER = 2_000
_SAME = 1e-12


@dataclass(frozen=True)
class Interval:
    """A mean, and where it lies in 95 of 100 resamplings."""

    mean: float
    low: float
    high: float


def bootstrap(values: Values, seed: int = 0) -> Interval:
    """The mean, with the percentile interval of 10,000 bootstrap samples (Efron 1979)."""
    given = np.asarray(values, np.float64)
    drawn = np.random.default_rng(seed).integers(0, len(given), (_RESAMPLED, len(given)))
    low, high = np.percentile(given[drawn].mean(axis=1), (2.5, 97.5))
    return Interval(float(given.mean()), float(low), float(high))


def wilcoxon(differences: Values) -> float:
    """The exact two-sided p of Wilcoxon's signed-rank test (1945): how rarely signs by lot give sums so uneven.

    Pairs without a difference are left out; equal ones share their ranks. Without any pair left p is 1.
    """
    given = np.asarray([one for one in differences if one], np.float64)
    if not len(given):
        return 1.0
    # Twice the midranks, so that ties stay whole numbers.
    sizes = np.round(np.abs(given), 12)
    ranks = [int(np.sum(sizes < one) * 2 + np.sum(sizes == one) + 1) for one in sizes]
    ways = np.zeros(sum(ranks) + 1)
    ways[0] = 1.0
    for rank in ranks:
        ways[rank:] = (ways[rank:] + ways[: len(ways) - rank]) / 2
        ways[:rank] /= 2
    positive = sum(rank for rank, one in zip(ranks, given, strict=True) if one > 0)
    least = min(positive, sum(ranks) - positive)
    return min(1.0, 2 * float(ways[: least + 1].sum()))


def mcnemar(first_only: int, second_only: int) -> float:
    """The exact two-sided p of McNemar's test (1947): of pairs in which one of two succeeds alone, by the binomial."""
    pairs, least = first_only + second_only, min(first_only, second_only)
    if not pairs:
        return 1.0
    logs = [math.lgamma(pairs + 1) - math.lgamma(k + 1) - math.lgamma(pairs - k + 1) for k in range(least + 1)]
    return min(1.0, 2 * sum(math.exp(log - pairs * math.log(2)) for log in logs))


def holm(values: Sequence[float]) -> list[float]:
    """The p values of a family, corrected step by step (Holm 1979), in their order."""
    corrected, most = [0.0] * len(values), 0.0
    for step, at in enumerate(sorted(range(len(values)), key=values.__getitem__)):
        most = max(most, min(1.0, (len(values) - step) * values[at]))
        corrected[at] = most
    return corrected


def cliff(first: Values, second: Values) -> float:
    """Cliff's δ (1993): how much more often one of the first is above one of the second than below."""
    a, b = np.asarray(first, np.float64), np.asarray(second, np.float64)
    return float(np.sign(a[:, None] - b[None, :]).mean())


def cliff_interval(first: Values, second: Values, seed: int = 0) -> Interval:
    """Cliff's δ with the percentile interval of 2,000 bootstrap samples, drawn from each of the two by itself.

    Samples of pairs would compare each seed with itself too often.
    """
    a, b = np.asarray(first, np.float64), np.asarray(second, np.float64)
    random = np.random.default_rng(seed)
    more, less = (one[random.integers(0, len(one), (_FEWER, len(one)))] for one in (a, b))
    low, high = np.percentile(np.sign(more[:, :, None] - less[:, None, :]).mean(axis=(1, 2)), (2.5, 97.5))
    return Interval(cliff(a, b), float(low), float(high))


def hedges(differences: Values, seed: int = 0) -> Interval:
    """Hedges' g of paired differences (1981): Cohen's d, their mean over their deviation, less what few pairs add.

    The interval is that of 10,000 bootstrap samples; samples without any deviation are left out. Without any
    deviation at all g is 0.
    """
    given = np.asarray(differences, np.float64)
    if len(given) < 3 or np.ptp(given) < _SAME:
        return Interval(0.0, 0.0, 0.0)
    drawn = given[np.random.default_rng(seed).integers(0, len(given), (_RESAMPLED, len(given)))]
    spread = drawn.std(axis=1, ddof=1)
    some = spread >= _SAME
    low, high = np.percentile(drawn[some].mean(axis=1) / spread[some], (2.5, 97.5))
    fewer = 1 - 3 / (4 * (len(given) - 1) - 1)
    return Interval(fewer * float(given.mean() / given.std(ddof=1)), fewer * float(low), fewer * float(high))


@dataclass(frozen=True)
class Effect:
    """The effect of a factor on paired seeds: F, its p by permutation, and η², its share of all variance."""

    f: float
    p: float
    eta2: float


def effect(table: NDArray[np.float64], seed: int = 0, draws: int = 2_000) -> Effect:
    """The effect of a factor, by a table of seeds × levels: F of a design with repeated measures, and how rarely levels
    by lot within each seed give as great a one."""
    found, eta2 = _effects(table[None])
    drawn = np.random.default_rng(seed).permuted(np.repeat(table[None], draws, axis=0), axis=2)
    as_great = int((_effects(drawn)[0] >= found[0] - 1e-12).sum())
    return Effect(float(found[0]), (as_great + 1) / (draws + 1), float(eta2[0]))


def _effects(tables: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """F and η² of many tables."""
    _, seeds, levels = tables.shape
    apart = tables - tables.mean(axis=(1, 2), keepdims=True)
    between = seeds * (apart.mean(axis=1) ** 2).sum(axis=1)
    rows = levels * (apart.mean(axis=2) ** 2).sum(axis=1)
    whole = (apart**2).sum(axis=(1, 2))
    rest = np.maximum(whole - between - rows, 1e-15)
    return between / rest * (seeds - 1), between / np.maximum(whole, 1e-15)
