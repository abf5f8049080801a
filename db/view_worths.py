"""What a replica's view holds of the worths of all that was accepted (db/view.py)."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable

from db import view_statements as sql
from memquorum.core.worth import Ranks, step


class ViewWorths:
    """The table `worth`. Ranks are taken among all of like type and author kind (`core.worth`), stored or not."""

    def __init__(self, connected: Callable[[], sqlite3.Connection]) -> None:
        """`connected`: the view's connection, in the batch of now."""
        self._connected = connected

    def add(self, namespace: str, like: str, worth_ppm: int) -> None:
        """An episode of this worth was accepted."""
        self._connected().execute(sql.WEIGHED, (namespace, like, step(worth_ppm)))

    def ranks(self, namespace: str) -> dict[str, Ranks]:
        """The worths of a namespace, by what they are ranked among."""
        steps: dict[str, dict[int, int]] = {}
        for like, at, texts in self._connected().execute(sql.WORTHS, (namespace,)):
            steps.setdefault(like, {})[at] = texts
        return {like: Ranks(of_like) for like, of_like in steps.items()}
