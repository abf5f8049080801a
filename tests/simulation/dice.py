"""Chance that depends only on the seed and the question.

No sequence is drawn from, so leaving a fault or a liar out of a simulation leaves every other roll as it was: that is
what lets a failing simulation be shrunk.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar
from zlib import crc32

T = TypeVar("T")

_MIX = 0x9E3779B97F4A7C15
_MASK = 0xFFFFFFFFFFFFFFFF


class Dice:
    """Answers by (seed, topic, numbers). The same question has the same answer, in every process."""

    __slots__ = ("_seed",)

    def __init__(self, seed: int) -> None:
        self._seed = _stir(seed)

    def roll(self, sides: int, topic: str, *about: int) -> int:
        """Returns a number from 0 to sides − 1."""
        state = self._seed ^ (_word(topic) * _MIX & _MASK)
        for number in about:  # `_stir`, written out: a simulation asks a hundred thousand times
            state = ((state ^ (number & _MASK)) + _MIX) & _MASK
            state = (state ^ (state >> 30)) * 0xBF58476D1CE4E5B9 & _MASK
            state = (state ^ (state >> 27)) * 0x94D049BB133111EB & _MASK
            state ^= state >> 31
        return (state >> 16) % sides

    def chance(self, permille: int, topic: str, *about: int) -> bool:
        """Returns True in so many cases of a thousand."""
        return permille > 0 and self.roll(1000, topic, *about) < permille

    def pick(self, choices: Sequence[T], topic: str, *about: int) -> T:
        """Returns one of the choices."""
        return choices[self.roll(len(choices), topic, *about)]


_WORDS: dict[str, int] = {}


def _word(topic: str) -> int:
    known = _WORDS.get(topic)
    if known is None:
        known = _WORDS[topic] = crc32(topic.encode())
    return known


def _stir(state: int) -> int:
    """SplitMix64: its step and its finish."""
    state = (state + _MIX) & _MASK
    state = (state ^ (state >> 30)) * 0xBF58476D1CE4E5B9 & _MASK
    state = (state ^ (state >> 27)) * 0x94D049BB133111EB & _MASK
    return state ^ (state >> 31)
