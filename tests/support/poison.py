"""Rules that raise for one text: each named function is replaced by one that fails where an argument holds the mark."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from functools import wraps
from typing import Any

import pytest

MARK = "zzpoison"
"""A word that no rule knows."""

# The places where the rules are called, by the input of each.
SALIENCE = (
    "memquorum.core.salience:fingerprint",
    "memquorum.core.salience:gist",
    "memquorum.core.neighbourhood:read",
    "memquorum.core.salience:says_nothing",
    "memquorum.core.salience:between",
    "streams.word_worths:content",
)
VOTES = (
    "memquorum.core.vote.grounds:hear",
    "memquorum.core.vote.grounds:marks",
    "memquorum.core.vote.kinds.supersede:same",
    "memquorum.core.vote.kinds.consolidate:faithful",
    "memquorum.core.vote.kinds.merge:same",
    "memquorum.core.vote.kinds.unite:same",
    "memquorum.core.vote.kinds.generalise:abstracted",
    "workers.replica.judge:content",
)


def poison(patch: pytest.MonkeyPatch, rules: tuple[str, ...], mark: str = MARK) -> None:
    """Makes the rules fail on texts with the mark; the error quotes the text."""
    for rule in rules:
        module, _, name = rule.partition(":")
        patch.setattr(f"{module}.{name}", _failing(getattr(importlib.import_module(module), name), mark))


def _failing(rule: Any, mark: str) -> Any:
    @wraps(rule)
    def failing(*args: Any, **kwargs: Any) -> Any:
        for text in _texts([*args, *kwargs.values()], depth=4):
            if mark in text:
                raise ValueError(f"cannot read {text}")
        return rule(*args, **kwargs)

    return failing


def _texts(of: Any, depth: int) -> Iterator[str]:
    """Yields the texts in an argument: itself, or its items."""
    if isinstance(of, str):
        yield of
    elif depth and isinstance(of, list | tuple | set | frozenset):
        for one in of:
            yield from _texts(one, depth - 1)
    elif depth and isinstance(of, dict):
        yield from _texts(list(of.values()), depth - 1)
    elif depth and hasattr(of, "__struct_fields__"):
        yield from _texts([getattr(of, name) for name in of.__struct_fields__], depth - 1)
    elif depth and hasattr(of, "gist"):
        yield of.gist
