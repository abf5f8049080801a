"""Measures of keeping and forgetting: rates that chance does not flatter, areas, and intervals.

`kept`, `wanted`: of each item whether it was kept, and whether it should have been.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Flags = NDArray[np.bool_]
Numbers = NDArray[Any]

_Z = 1.959963984540054
_AGAIN = 2_000


def accuracy(kept: Flags, wanted: Flags) -> float:
    """The share that was decided as people did."""
    return float((kept == wanted).mean())


def balanced(kept: Flags, wanted: Flags) -> float:
    """Returns the mean of the shares rightly kept and rightly forgotten: ½ for a random choice."""
    return float((kept[wanted].mean() + (~kept[~wanted]).mean()) / 2)


def f1(kept: Flags, wanted: Flags) -> float:
    """2·(precision · recall) / (precision + recall) of what is kept; 0 where nothing right is."""
    right = int((kept & wanted).sum())
    return 2 * right / (int(kept.sum()) + int(wanted.sum())) if right else 0.0


def area(values: Numbers, wanted: Flags) -> float:
    """Returns the chance that a wanted item has a higher value than an unwanted one (ties are half): ½ for a random
    order.
    """
    _, places, counts = np.unique(values, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[places]
    yes, no = int(wanted.sum()), int((~wanted).sum())
    return float((ranks[wanted].sum() - yes * (yes + 1) / 2) / (yes * no))


def wilson(right: int, of: int) -> tuple[float, float]:
    """95 % for a share (Wilson 1927)."""
    share, z2 = right / of, _Z * _Z
    middle, half = share + z2 / (2 * of), _Z * math.sqrt(share * (1 - share) / of + z2 / (4 * of * of))
    return (middle - half) / (1 + z2 / of), (middle + half) / (1 + z2 / of)


def threshold(values: Numbers, wanted: Flags) -> float:
    """Kept is what has at least this value: the one of the best balanced accuracy, the lowest of several."""
    tried = np.unique(values)
    found = [balanced(values >= each, wanted) for each in tried]
    return float(tried[int(np.argmax(found))])


def kept_by_other_groups(values: Numbers, wanted: Flags, groups: Sequence[str]) -> Flags:
    """Returns what a threshold keeps that was found on all groups but the item's own."""
    of = np.array(groups)
    kept = np.zeros(len(wanted), bool)
    for group in sorted(set(groups)):
        own = of == group
        kept[own] = values[own] >= threshold(values[~own], wanted[~own])
    return kept


def most(order: Numbers, count: int) -> Flags:
    """The `count` highest, ties by place: what comes later in the list is rather kept."""
    kept = np.zeros(len(order), bool)
    if count > 0:
        kept[np.argsort(order, kind="stable")[-count:]] = True
    return kept


def spread(units: Sequence[Any], figure: Callable[[Sequence[Any]], float], seed: int = 1) -> tuple[float, float]:
    """95 % of 2,000 resamplings of the units."""
    picks = np.random.default_rng(seed).integers(0, len(units), (_AGAIN, len(units)))
    values = [figure([units[at] for at in row]) for row in picks.tolist()]
    low, high = np.percentile(values, [2.5, 97.5])
    return float(low), float(high)


def means(strata: Sequence[Flags], seed: int = 1) -> tuple[float, float]:
    """95 % of 2,000 resamplings within each stratum, of the mean of their shares."""
    random = np.random.default_rng(seed)
    shares = [
        random.binomial(len(flags), float(flags.mean()), _AGAIN) / len(flags) for flags in strata
    ]  # as many draws with replacement
    low, high = np.percentile(np.mean(shares, axis=0), [2.5, 97.5])
    return float(low), float(high)


def ratios(counts: Iterable[Mapping[str, int]]) -> dict[str, float]:
    """F1 and balanced accuracy of summed counts: `right` (kept, wanted), `kept`, `wanted`, `all`."""
    rows = list(counts)
    right, kept, wanted, everything = (sum(row[key] for row in rows) for key in ("right", "kept", "wanted", "all"))
    wrong = kept - right
    return {
        "kept": kept / everything,
        "f1": 2 * right / (kept + wanted) if right else 0.0,
        "balanced": (right / wanted + 1 - wrong / (everything - wanted)) / 2,
    }


def count(kept: Flags, wanted: Flags) -> dict[str, int]:
    """What `ratios` sums."""
    return {
        "right": int((kept & wanted).sum()),
        "kept": int(kept.sum()),
        "wanted": int(wanted.sum()),
        "all": len(kept),
    }


def hexed(flags: Flags) -> str:
    """Flags as hexadecimal digits, the first in the highest bit."""
    return np.packbits(flags).tobytes().hex()


def unhexed(text: str, length: int) -> Flags:
    """The same back."""
    return np.unpackbits(np.frombuffer(bytes.fromhex(text), np.uint8), count=length).astype(bool)


def rounded(values: Iterable[float], digits: int = 4) -> list[float]:
    """For what is kept of a run."""
    return [round(float(value), digits) for value in values]
