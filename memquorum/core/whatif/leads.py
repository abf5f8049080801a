"""A lead says by how much one policy served more than another, and within which bounds that is more than chance.

Policies are compared window by window, as what is read within one hangs together: the sum of their differences, give or
take Student's t times its standard error. Where the better one was chosen of several the bounds are so much
wider that all together hold at 95 % (Bonferroni).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist, stdev

from msgspec import Struct

WINDOWS_LEAST = 6
"""Of fewer windows in which something was read nothing is beyond chance."""
_EITHER_SIDE = 0.025


class Lead(Struct, frozen=True):
    """So many reads more were served, between `low` and `high` with a confidence of 95 %; less than nothing where it
    were fewer. `windows`: in how many of them something was read."""

    more: float
    low: float
    high: float
    windows: int

    @property
    def told(self) -> bool:
        """Whether there are windows enough for the bounds to say anything."""
        return self.windows >= WINDOWS_LEAST

    @property
    def certain(self) -> bool:
        """Whether it served more, beyond chance."""
        return self.low > 0


def lead(differences: Sequence[float], reads: int, choices: int = 1) -> Lead:
    """The lead that a difference in each window comes to. `reads`: in all of them, beyond which no bound lies;
    `choices`: among how many the better one was chosen."""
    more, count = float(sum(differences)), len(differences)
    if count < WINDOWS_LEAST:
        return Lead(more, -float(reads), float(reads), count)
    around = _student(_EITHER_SIDE / choices, count - 1) * stdev(differences) * math.sqrt(count)
    return Lead(more, max(-float(reads), more - around), min(float(reads), more + around), count)


def _student(beyond: float, freedom: int) -> float:
    """What Student's t exceeds with a probability, by the normal quantile and three terms of its expansion (Abramowitz
    and Stegun 1964, 26.7.5): within 1 % from five degrees of freedom on."""
    z = NormalDist().inv_cdf(1 - beyond)
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
    )
    return z + sum(term / float(freedom) ** power for power, term in enumerate(terms, 1))
