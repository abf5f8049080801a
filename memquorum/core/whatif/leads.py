"""The lead of one policy over another in reads served, and the bounds that tell it from chance.

Policies are compared window by window, as the reads within one are correlated: the sum of their differences, give or
take Student's t times its standard error. If the better one was chosen among several, the bounds are wider, so that all
together hold at 95 % (Bonferroni).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist, stdev

from msgspec import Struct

WINDOWS_LEAST = 6
"""The minimum number of windows with reads for a lead beyond chance."""
_EITHER_SIDE = 0.025


class Lead(Struct, frozen=True):
    """The number of additional reads served, between `low` and `high` with a confidence of 95 %; negative for fewer
    reads. `windows`: the number of windows with reads."""

    more: float
    low: float
    high: float
    windows: int

    @property
    def told(self) -> bool:
        """True if there are enough windows for the bounds."""
        return self.windows >= WINDOWS_LEAST

    @property
    def certain(self) -> bool:
        """True if more reads were served, beyond chance."""
        return self.low > 0


def lead(differences: Sequence[float], reads: int, choices: int = 1) -> Lead:
    """Returns the lead that follows from the difference in each window. `reads`: in all of them, the limit of the
    bounds; `choices`: the number of policies that the better one was chosen from."""
    more, count = float(sum(differences)), len(differences)
    if count < WINDOWS_LEAST:
        return Lead(more, -float(reads), float(reads), count)
    around = _student(_EITHER_SIDE / choices, count - 1) * stdev(differences) * math.sqrt(count)
    return Lead(more, max(-float(reads), more - around), min(float(reads), more + around), count)


def _student(beyond: float, freedom: int) -> float:
    """Returns the value that Student's t exceeds with a probability, by the normal quantile and three terms of its
    expansion (Abramowitz and Stegun 1964, 26.7.5): within 1 % from five degrees of freedom on."""
    z = NormalDist().inv_cdf(1 - beyond)
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
    )
    return z + sum(term / float(freedom) ** power for power, term in enumerate(terms, 1))
