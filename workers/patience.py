"""Says which shard of the commit worker waits for a score; the others go on meanwhile."""

from __future__ import annotations

import logging
from collections.abc import Mapping

from memquorum import topics
from workers.line import Line

log = logging.getLogger("memquorum.commit")

# An episode that waits longer than this for its score is told of.
_PATIENCE_S = 10.0


class Patience:
    """Of one session. What it forgets is only told later."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[int, float]] = {}

    def look(self, lines: Mapping[int, Line], now: float) -> None:
        """Looks at every shard. `now`: seconds of a clock that never runs back."""
        for shard, line in lines.items():
            offset = line.spine.waiting_for()
            known, since = self._known.get(shard, (-1, now))
            if offset is None or offset != known:
                self._known[shard] = (-1 if offset is None else offset, now)
            elif now - since > _PATIENCE_S:
                log.warning(
                    "shard %d stands still: the episode at accepted offset %d has had no score for more than %.0f s, "
                    "and everything behind it waits. Is the salience stage running? Scores were read up to offset %d",
                    shard, offset, _PATIENCE_S, line.read_to.get(topics.SCORED, 0),
                )  # fmt: skip
                self._known[shard] = (offset, now)
