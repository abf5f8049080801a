"""Reads the sentences and the log of patches of which roll-ups are made."""

from __future__ import annotations

from db.connection import READER, Link
from db.found_rows import filters_of
from db.queries import QUERIES
from db.rollup_rows import CHARACTERS_MOST, LOG_MOST, SAID_MOST, logged, quoted, readable
from memquorum.core.contained import Failures
from memquorum.core.retrieval.query import ALL
from memquorum.ports import Logged, StoreUnavailable, Uttered

FREELY = {"gated": False, "near": None, "sources": None} | filters_of(ALL)
"""Filters that let everything pass: the maker of roll-ups reads all memories, whatever restricts readers."""


class PostgresRollups:
    """Safe to share between threads. Every method raises StoreUnavailable while the store cannot be reached."""

    def __init__(self, dsn: str, failures: Failures | None = None) -> None:
        """Connects at the first question. `failures`: takes the episodes that cannot be cut into sentences."""
        self._failures = failures or Failures()
        self._link = Link(dsn, READER, StoreUnavailable)

    def close(self) -> None:
        """Lets the connection go."""
        self._link.close()

    def said(self, namespace: str) -> list[Uttered]:
        """The verbatim sentences of a namespace that can be read; see the port."""
        asked = {"namespace": namespace, "limit": SAID_MOST, "characters": CHARACTERS_MOST} | FREELY
        with self._link.use() as connection:
            episodes = connection.execute(QUERIES["rollup_said"], asked).fetchall()
            quotes = connection.execute(QUERIES["rollup_quotes"], asked).fetchall()
        return readable(episodes, quoted(quotes, self._failures), self._failures)

    def log(self, namespace: str) -> list[Logged]:
        """The patches of the namespace's roll-ups; see the port."""
        asked = {"namespace": namespace, "limit": LOG_MOST} | FREELY
        with self._link.use() as connection:
            rows = connection.execute(QUERIES["rollup_log"], asked).fetchall()
            quotes = connection.execute(QUERIES["rollup_quotes"], asked | {"limit": SAID_MOST}).fetchall()
        return logged(rows, quoted(quotes, self._failures))
