"""What an episode weighs in its session (SPEC C, 2 and 3). Millionths throughout."""

from __future__ import annotations

import math

from memquorum.core.policy import PPM
from memquorum.core.text.tokens import tokens

TINY_TOKENS = 20
"""Of a shorter text no score says anything."""
BASELINE_PPM = 100_000
HALF_LIFE_MS = 30 * 24 * 3600 * 1000
"""The half-life of a summary's score."""

_HOUR_MS = 3600 * 1000
_REFERENCES_MOST = 5


def importance_ppm(text: str, *, age_ms: int, references: int, positive: bool) -> int:
    """0.4·e^(−0.1·age in hours) + 0.4·min(1, references/5) + 0.2·[positive outcome]; 0.1 of a tiny text.

    `age_ms`: not negative; `references`: how often it was read or said again.
    """
    if tokens(text) < TINY_TOKENS:
        return BASELINE_PPM
    late = math.exp(-0.1 * age_ms / _HOUR_MS)
    used = min(1.0, references / _REFERENCES_MOST)
    return round((0.4 * late + 0.4 * used + 0.2 * positive) * PPM)


def faded_ppm(importance: int, age_ms: int) -> int:
    """What is left of a summary's score: 0.5^(age/half-life) of it. A score falls, nothing is deleted by it."""
    return round(importance * math.pow(0.5, max(0, age_ms) / HALF_LIFE_MS))
