"""Remembers with a thing what a function finds of it: a text is read once and held against many others."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

Of = TypeVar("Of")
Found = TypeVar("Found")


def once(function: Callable[[Of], Found]) -> Callable[[Of], Found]:
    """A pure function of one thing that never changes, and that has a `__dict__`, asked once of each."""
    name = f"{function.__module__}.{function.__qualname__}"

    def found(of: Of) -> Found:
        known = of.__dict__
        if name not in known:
            known[name] = function(of)
        answer: Found = known[name]
        return answer

    return found
