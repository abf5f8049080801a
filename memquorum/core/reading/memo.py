"""A cache of what was read of short texts, which no long text can fill.

Texts repeat their words, so what a rule finds in a word is kept. A stranger's single word may be 64 KiB long: thousands
of those would take gigabytes.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import _lru_cache_wrapper, lru_cache, wraps
from typing import Any, TypeVar

T = TypeVar("T")

WORD = 64
"""No word of a language is longer, in characters."""


_KNOWN: dict[Callable[[str], object], _lru_cache_wrapper[Any]] = {}


def forget(*functions: Callable[[str], object]) -> None:
    """Empties what such functions keep."""
    for one in functions:
        _KNOWN[one].cache_clear()


def keeps(function: object) -> bool:
    """Whether it is such a function."""
    return function in _KNOWN


def cached_answers(function: Callable[[str], object]) -> int:
    """Returns how many answers such a function keeps."""
    return _KNOWN[function].cache_info().currsize


def memo(most: int, longest: int = WORD) -> Callable[[Callable[[str], T]], Callable[[str], T]]:
    """Keeps the last answers of a function, at most `most`, each of a text of `longest` characters at most. A longer
    text is read each time."""

    def decorate(read: Callable[[str], T]) -> Callable[[str], T]:
        known = lru_cache(most)(read)

        @wraps(read)
        def answer(text: str) -> T:
            return known(text) if len(text) <= longest else read(text)

        _KNOWN[answer] = known
        return answer

    return decorate
