"""Reports which shard waits because an episode's score does not come; the others continue meanwhile."""

from __future__ import annotations

import logging
from collections.abc import Mapping

from memquorum.telemetry.bundle import Stage

ALARM_MS = 10_000
"""The wait for an episode's score after which it is reported, unless a setting says otherwise."""


class Patience:
    """Watches the waits of one session of a stage. It never gives up: a long wait is an alarm in the log, in `/readyz`
    and in the metrics, until the score has come."""

    def __init__(self, log: logging.Logger, shown: Stage, alarm_ms: int = ALARM_MS) -> None:
        self._log, self._shown, self._alarm_s = log, shown, alarm_ms / 1000
        # By shard: the offset it waits at, since when, and when that was last reported.
        self._known: dict[int, tuple[int, float, float]] = {}

    def look(self, waiting: Mapping[int, int | None], now: float) -> None:
        """Examines every shard. `waiting`: the accepted offset whose score it waits for. `now`: seconds of a clock that
        never runs back."""
        for shard, offset in waiting.items():
            known = self._known.get(shard)
            if offset is None:
                if known is not None:
                    del self._known[shard]
                    self._quiet(shard)
                continue
            if known is None or offset != known[0]:
                if known is not None:
                    self._quiet(shard)
                self._known[shard] = (offset, now, now)
                continue
            _, since, told = known
            self._shown.meters.score_wait.labels(self._shown.name, str(shard)).set(now - since)
            if now - told > self._alarm_s:
                self._known[shard] = (offset, since, now)
                self._tell(shard, offset, now - since)

    def _tell(self, shard: int, offset: int, waited_s: float) -> None:
        told = f"the episode at accepted offset {offset} has had no score for {waited_s:.0f} s"
        self._shown.health.alarm(_about(shard), f"{told}, and everything behind it waits")
        self._log.warning(
            "shard %d stands still: %s, and everything behind it waits; nothing is lost. Does the salience stage run, "
            "and does its log say why it does not answer? See docs/use/episodes.md", shard, told,
        )  # fmt: skip

    def _quiet(self, shard: int) -> None:
        self._shown.meters.score_wait.labels(self._shown.name, str(shard)).set(0)
        self._shown.health.alarm(_about(shard), None)


def _about(shard: int) -> str:
    return f"score of shard {shard}"
