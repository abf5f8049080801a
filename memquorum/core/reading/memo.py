"""A cache of what was read of short texts, which no long text can fill.

Texts repeat their words, so what a rule finds in a word is kept. What strangers write as one word may be 64 KiB long:
thousands of those would take gigabytes.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import TypeVar

T = TypeVar("T")

WORD = 64
"""No word of a language is longer, in characters."""


def memo(most: int, longest: int = WORD) -> Callable[[Callable[[str], T]], Callable[[str], T]]:
    """Keeps the last answers of a function, at most `most`, each of a text of `longest` characters at most. A longer
    text is read each time."""

    def decorate(read: Callable[[str], T]) -> Callable[[str], T]:
        known = lru_cache(most)(read)

        @wraps(read)
        def answer(text: str) -> T:
            return known(text) if len(text) <= longest else read(text)

        return answer

    return decorate
