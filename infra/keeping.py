"""What the installation does by itself, beside the commit worker: sweeps, and indexes of namespaces that grow large.

A thread of the commit worker's process, of which there is one for each database. It never ends the worker: what it
cannot do it says in the log, and tries again at the next look.
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
def kept(settings: Settings) -> Iterator[None]:
    """Looks every minute, for the length of the block."""
    ended = threading.Event()
    keeper = Keeper(settings)

    def turn() -> None:
        while not ended.wait(_LOOK_S):
            keeper.look()

    # Not waited for: an index that is not finished is dropped at the next start, and made anew.
    threading.Thread(target=turn, name="keeping", daemon=True).start()
    try:
        yield
    finally:
        ended.set()


class Keeper:
    """One look at a time."""

    def __init__(self, settings: Settings, now_ms: Callable[[], int] = lambda: time.time_ns() // 1_000_000) -> None:
        self._settings, self._now_ms = settings, now_ms
        self._said = ""

    def look(self) -> None:
        """Sweeps where it is time, and makes or drops indexes."""
        try:
            self._sweep()
            if self._settings.crowd_least:
                for made in crowds.keep(self._settings.memory_dsn, self._settings.crowd_least):
                    log.info("index %s of %s: %s", made.index, made.namespace, "dropped" if made.dropped else "made")
            self._said = ""
        except (psycopg.Error, MayNotSweep, OSError) as error:
            # The kind alone beside what was being done: texts of errors may hold parts of rows.
            said = str(error).strip() if isinstance(error, MayNotSweep) else type(error).__name__
            if said != self._said:
                log.warning("what is swept and indexed by itself waits: %s", said)
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
            for one in copies.told(self._settings):
                log.warning("not swept: %s", one)
