"""Checks rules that configured numbers must satisfy."""

from __future__ import annotations

from collections.abc import Callable, Iterable

Rule = tuple[bool, str]
"""A pair: whether the rule holds, and the message if it does not."""


def hold(rules: Iterable[Rule], error: Callable[[str], Exception]) -> None:
    """The first rule that does not hold is raised, as an `error` that says so."""
    for holds, complaint in rules:
        if not holds:
            raise error(complaint)
