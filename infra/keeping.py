"""Runs the periodic work of the commit worker's process: sweeps, and indexes of namespaces that grow large.

It is a thread of that process, of which each database has one. It never ends the worker: it logs a failure, and tries
again at the next look.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import psycopg

from db import crowds
from db.sweeping import MayNotSweep
from infra import copies, sweep, sweeps
from infra.settings import Settings

log = logging.getLogger(__name__)

_LOOK_S = 60.0
_HOUR_MS = 3_600_000


@contextmanager
def run_keeper(settings: Settings) -> Iterator[None]:
    """Looks every minute while the block runs."""
    ended = threading.Event()
    keeper = Keeper(settings)

    def turn() -> None:
        while not ended.wait(_LOOK_S):
            keeper.look()

    # Not awaited: an unfinished index is dropped at the next start, and made again.
    threading.Thread(target=turn, name="keeping", daemon=True).start()
    try:
        yield
    finally:
        ended.set()


class Keeper:
    """Does one look at a time."""

    def __init__(self, settings: Settings, now_ms: Callable[[], int] = lambda: time.time_ns() // 1_000_000) -> None:
        self._settings, self._now_ms = settings, now_ms
        self._said = ""

    def look(self) -> None:
        """Sweeps if it is due, and makes or drops indexes."""
        try:
            self._sweep()
            if self._settings.crowd_least:
                for made in crowds.keep(self._settings.memory_dsn, self._settings.crowd_least):
                    log.info("index %s of %s: %s", made.index, made.namespace, "dropped" if made.dropped else "made")
            self._said = ""
        except (psycopg.Error, MayNotSweep, OSError) as error:
            # Only the type of the error: its text may hold parts of rows.
            said = str(error).strip() if isinstance(error, MayNotSweep) else type(error).__name__
            if said != self._said:
                log.warning("periodic sweeps and indexes are delayed: %s", said)
            self._said = said

    def _sweep(self) -> None:
        now, last = self._now_ms(), sweeps.last(self._settings)
        if not self._settings.sweep_hours:
            return
        if last is None:
            # The first one is due an interval after the first look.
            sweeps.note(self._settings, now, None)
        elif now - last.at >= self._settings.sweep_hours * _HOUR_MS:
            for database, step in sweep.databases(self._settings):
                log.info("swept %s, %s: %d bytes, %d left", database, step.what, step.before, step.after)
            sweeps.note(self._settings, now, sweeps.TIMER)
            # This login may not drop them.
            for one in copies.rebuild_lines(self._settings):
                log.warning("not swept: %s", one)
