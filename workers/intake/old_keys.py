"""The end of the keys of dead letters and of queries: destroyed once their time is over.

What they seal may lie in its topic longer: Kafka deletes whole segments. Nobody opens it.
"""

from __future__ import annotations

import logging

from memquorum.core import asked
from memquorum.ports import Vault, VaultUnavailable
from workers.intake.arrivals import DEAD_LETTERS

_LOG = logging.getLogger("memquorum.intake")

EVERY_S = 3600.0
"""How often old keys are looked for: what they seal can be opened for that much longer."""
_AGAIN_S = 60.0


class OldKeys:
    """Destroys the keys of letters and queries that are too old. A vault that is away is asked again later."""

    def __init__(self, vault: Vault, letters_ms: int, queries_ms: int) -> None:
        """`letters_ms`: the retention of the dead letters' topic. `queries_ms`: for how long a query can be opened at
        least; its key is as old as the first query of its day. 0: for no longer."""
        queries_ms += asked.DAY_MS if queries_ms else 0
        self._vault, self._kept_ms = vault, {DEAD_LETTERS: letters_ms, asked.KEYS: queries_ms}
        self._next_s: float | None = None

    def turn(self, now_s: float) -> int:
        """Destroys keys whose time is over, and says how many. `now_s`: a clock that only runs forward."""
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
