"""Measures the cost of reading a text, in processor time and against a loop of the same run."""

from __future__ import annotations

import functools
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

KIB = 1024


class TooSlow(Exception):
    """A call took more processor time than it was given."""


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Raises TooSlow in its block after so much processor time; regular expressions are interrupted too."""

    def ended(_: int, __: FrameType | None) -> None:
        raise TooSlow

    before = signal.signal(signal.SIGVTALRM, ended)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


@functools.cache
def _caches() -> tuple[functools._lru_cache_wrapper[object], ...]:
    """Returns the core's caches of texts.

    A cache without a bound is left out: it holds what is read from the package's own files, and no part of a text.
    """
    values = [
        value
        for name, module in list(sys.modules.items())
        if name.startswith("memquorum.core")
        for value in vars(module).values()
    ]
    found = (one for one in values if isinstance(one, functools._lru_cache_wrapper))
    return tuple(one for one in found if one.cache_parameters()["maxsize"] is not None)


def forget() -> None:
    """Empties the caches of the core, so that a text is read again."""
    for one in _caches():
        one.cache_clear()


def seconds(call: Callable[[], object], most: float) -> float:
    """Measures the processor time of a call. Raises TooSlow where it takes more than `most`."""
    with within(most):
        begun = time.thread_time()
        call()
        return time.thread_time() - begun


def reference() -> float:
    """Measures a plain loop over the characters of a text of 64 KiB: some 5 ms of processor time on a quiet machine."""
    text = "Ada moved. " * (64 * KIB // 11)

    def loop() -> int:
        count = 0
        for character in text:
            if character.isalpha():
                count += ord(character) & 1
        return count

    return min(seconds(loop, 60) for _ in range(5))


def best(call: Callable[[], object], most: float, tries: int) -> float:
    """Returns the least processor time of so many calls with empty caches; infinity where none ends within `most`."""
    found = float("inf")
    for _ in range(tries):
        forget()
        try:
            found = min(found, seconds(call, most))
        except TooSlow:
            continue
    return found
