"""Lets a thread wait for an answer, while the one that asked keeps its place in its group."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

_T = TypeVar("_T")


def beside(call: Callable[[], _T], idle: Callable[[threading.Event], None]) -> _T:
    """Makes a call in a thread of its own, and gives its answer. `idle`: is called again and again until the event is
    set, and may raise: then nobody waits any longer. Raises what the call raises."""
    found: list[_T] = []
    failed: list[Exception] = []
    over = threading.Event()

    def work() -> None:
        try:
            found.append(call())
        except Exception as error:  # it is raised where it was asked for
            failed.append(error)
        over.set()

    threading.Thread(target=work, name="model", daemon=True).start()
    while not over.is_set():
        idle(over)
    if failed:
        raise failed[0]
    return found[0]
