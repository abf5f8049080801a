"""Lets rules over texts raise in the processes of an installation under test.

Python imports this module when a process starts whose PYTHONPATH names this folder (`tests.faults.raising`). While the
file that RULES_RAISE_ON names is there, each of `RULES` raises on every text that holds the file's content.
"""

from __future__ import annotations

import functools
import importlib.abc
import importlib.machinery
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

FILE = os.environ.get("RULES_RAISE_ON", "")
RULES = {
    "memquorum.core.consolidation.sections": ("section",),
    "memquorum.core.reading.sentences": ("spans",),
    "memquorum.core.privacy.finding": ("spans",),
    "memquorum.core.reading.agreement": ("gist", "marks"),
    "memquorum.core.reading.claims": ("read",),
    "memquorum.core.reading.content": ("content",),
    "memquorum.core.reading.talk": ("says_nothing",),
    "memquorum.core.reading.topics": ("names",),
}
"""By module: the functions of a text that raise."""


class InjectedError(ValueError):
    """What they raise."""


class Finder(importlib.abc.MetaPathFinder):
    """Finds the modules of `RULES`, and wraps their functions once they are loaded."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        spec = importlib.machinery.PathFinder.find_spec(fullname, path) if fullname in RULES else None
        if spec is None or spec.loader is None:
            return None
        load = spec.loader.exec_module

        def exec_module(module: ModuleType) -> None:
            load(module)
            for name in RULES[fullname]:
                setattr(module, name, raising(getattr(module, name)))

        spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


def raising(rule: Callable[..., Any]) -> Callable[..., Any]:
    """The rule, which raises on a text that holds the content of the file."""

    @functools.wraps(rule)
    def checked(text: str, *more: Any, **named: Any) -> Any:
        try:
            word = Path(FILE).read_text(encoding="utf-8")
        except FileNotFoundError:
            word = ""
        if word and word in text:
            raise InjectedError(rule.__name__)
        return rule(text, *more, **named)

    return checked


if FILE:
    sys.meta_path.insert(0, Finder())
