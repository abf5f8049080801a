"""The end of a dead letter's key: destroyed once the retention of its topic is over.

The letter itself may lie there longer: Kafka deletes whole segments, so by default up to a week more. Nobody opens it.
"""

from __future__ import annotations

import logging

from memquorum.ports import Vault, VaultUnavailable
from workers.intake.arrivals import DEAD_LETTERS

_LOG = logging.getLogger("memquorum.intake")

EVERY_S = 3600.0
"""How often old keys are looked for: a letter can be opened that much longer than its topic's retention."""
_AGAIN_S = 60.0


class LetterKeys:
    """Destroys the keys of letters older than their topic keeps them. A vault that is away is asked again later."""

    def __init__(self, vault: Vault, kept_ms: int) -> None:
        """`kept_ms`: the retention of the dead letters' topic."""
        self._vault, self._kept_ms = vault, kept_ms
        self._next_s: float | None = None

    def turn(self, now_s: float) -> int:
        """Destroys keys whose time is over, and says how many. `now_s`: a clock that only runs forward."""
        if self._next_s is not None and now_s < self._next_s:
            return 0
        try:
            destroyed = self._vault.destroy_older(DEAD_LETTERS, self._kept_ms)
        except VaultUnavailable as error:
            _LOG.warning("old dead letters keep their keys for now: the vault cannot be reached (%s)", error)
            self._next_s = now_s + _AGAIN_S
            return 0
        self._next_s = now_s + EVERY_S
        if destroyed:
            _LOG.info("destroyed the keys of %d dead letters that are older than their topic keeps them", destroyed)
        return destroyed
