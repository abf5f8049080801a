"""What numbers that somebody may set have to hold to."""

from __future__ import annotations

from collections.abc import Callable, Iterable

Rule = tuple[bool, str]
"""Whether it holds, and what is said where it does not."""


def hold(rules: Iterable[Rule], error: Callable[[str], Exception]) -> None:
    """The first rule that does not hold is raised, as an `error` that says so."""
    for holds, complaint in rules:
        if not holds:
            raise error(complaint)
