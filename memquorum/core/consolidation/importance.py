"""Computes the importance of an episode or a summary, and how it decays (SPEC C, 2 and 3). Millionths.

A score falls, and nothing is deleted by it. Only the importance of an episode changes with its use; a summary's is that
of the most important episode that it was made of, as that was then.
"""

from __future__ import annotations

import math

from memquorum.core.policy import PPM
from memquorum.core.reading.tokens import tokens

TINY_TOKENS = 20
"""The score of a shorter text is not meaningful."""
BASELINE_PPM = 100_000
POSITIVE_PPM = 500_000
"""From this reward on an episode had a positive outcome."""
EPISODE_HALF_LIFE_MS = 2 * 3600 * 1000
SUMMARY_HALF_LIFE_MS = 30 * 24 * 3600 * 1000

_HOUR_MS = 3600 * 1000
_REFERENCES_MOST = 5
_SURE_LEAST_PPM = 800_000
"""So much of the importance is left where the agent was not sure at all."""


def positive(reward_ppm: int | None, succeeded: bool | None) -> bool:
    """Whether an episode led to something good: its session succeeded; or it had a good reward, and the session did not
    fail. `succeeded`: whether the session did; None where that is not known."""
    return (reward_ppm or 0) >= POSITIVE_PPM if succeeded is None else succeeded


def importance_ppm(
    text: str, *, age_ms: int, references: int, positive: bool, confidence_ppm: int | None = None
) -> int:
    """(0.4·e^(−0.1·age in hours) + 0.4·min(1, references/5) + 0.2·[positive outcome]) · (0.8 + 0.4·confidence), at most
    1; 0.1 of a tiny text.

    `age_ms`: not negative; `references`: how often it was read or said again. `confidence_ppm`: how sure its agent
    was; None, where it did not say, counts as half.
    """
    return importance_of_length(
        tokens(text), age_ms=age_ms, references=references, positive=positive, confidence_ppm=confidence_ppm
    )


def importance_of_length(
    length: int, *, age_ms: int, references: int, positive: bool, confidence_ppm: int | None = None
) -> int:
    """The same of a text of so many tokens."""
    if length < TINY_TOKENS:
        return BASELINE_PPM
    late = math.exp(-0.1 * age_ms / _HOUR_MS)
    used = min(1.0, references / _REFERENCES_MOST)
    found = round((0.4 * late + 0.4 * used + 0.2 * positive) * PPM)
    if confidence_ppm is None:
        return found
    return min(PPM, found * (_SURE_LEAST_PPM + 2 * confidence_ppm // 5) // PPM)


def left_ppm(importance: int, age_ms: int, *, summary: bool) -> int:
    """Returns the importance left after so long: 0.5^(age/half-life) of it, by the half-life of its kind.

    `age_ms`: since it was said, of a summary the latest thing that it says; a negative age counts as 0.
    """
    half_life_ms = SUMMARY_HALF_LIFE_MS if summary else EPISODE_HALF_LIFE_MS
    return round(importance * math.pow(0.5, max(0, age_ms) / half_life_ms))
