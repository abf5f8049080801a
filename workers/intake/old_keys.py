"""Destroys the keys of dead letters and of queries once their time is over.

The sealed records may stay in their topic longer, as Kafka deletes whole segments. They cannot be opened any more.
"""

from __future__ import annotations

import logging

from memquorum.core import asked
from memquorum.ports import Vault, VaultUnavailable
from workers.intake.arrivals import DEAD_LETTERS

_LOG = logging.getLogger("memquorum.intake")

EVERY_S = 3600.0
"""The interval between searches for old keys, by which sealed records stay readable longer."""
_AGAIN_S = 60.0


class OldKeys:
    """Destroys the keys of letters and queries that are too old. Retries later if the vault is unavailable."""

    def __init__(self, vault: Vault, letters_ms: int, queries_ms: int) -> None:
        """`letters_ms`: the retention of the dead letters' topic. `queries_ms`: the least time that a query can be
        opened; its key is as old as the first query of its day. 0: such keys are destroyed at once."""
        queries_ms += asked.DAY_MS if queries_ms else 0
        self._vault, self._kept_ms = vault, {DEAD_LETTERS: letters_ms, asked.KEYS: queries_ms}
        self._next_s: float | None = None

    def turn(self, now_s: float) -> int:
        """Destroys keys whose time is over; returns their number. `now_s`: a clock that only runs forward."""
        if self._next_s is not None and now_s < self._next_s:
            return 0
        try:
            destroyed = sum(self._vault.destroy_older(whose, kept_ms) for whose, kept_ms in self._kept_ms.items())
        except VaultUnavailable as error:
            _LOG.warning("old letters and queries keep their keys for now: the vault cannot be reached (%s)", error)
            self._next_s = now_s + _AGAIN_S
            return 0
        self._next_s = now_s + EVERY_S
        if destroyed:
            _LOG.info("destroyed %d keys of dead letters and queries whose time is over", destroyed)
        return destroyed
