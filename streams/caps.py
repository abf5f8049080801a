"""Which candidates a nomination may have, with how many of each namespace its caps leave; an alarm where none may go.

A namespace that may lose nothing for now is left out until a day has passed since enough of what it lost. What is due
of the others comes forward meanwhile, so that one namespace's cap holds up nobody else.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from msgspec import Struct

from memquorum.core import caps
from memquorum.core.decay import unused_since
from memquorum.core.policy import CapsPolicy, Policy
from memquorum.core.records import DecayCrossed, RestoreOrdered, Standing
from memquorum.core.tiers import ALIVE
from memquorum.core.vote import nomination
from memquorum.ports import Candidate, Schedule
from memquorum.telemetry.bundle import Stage, Telemetry

log = logging.getLogger(__name__)

ALARM = "forgetting"
# Looks at what is due: each leaves out the namespaces that filled the one before.
_LOOKS = 4
_NEVER = dict.fromkeys(ALIVE, -1)


class Candidates(Struct, frozen=True):
    """Candidates in their order of preference, and how many of each of their namespaces may go. `asked`: those that
    somebody wants to be forgotten."""

    crossed: Sequence[Candidate]
    unused: Sequence[Candidate]
    asked: Sequence[Candidate]
    rooms: Mapping[str, int]


NONE = Candidates((), (), (), MappingProxyType({}))


class Caps:
    """Asks the schedule for candidates; remembers of which namespaces it has told that nothing may go."""

    def __init__(self, schedule: Schedule, shown: Stage | None = None) -> None:
        self._schedule = schedule
        self._shown = shown or Telemetry().stage("nomination")
        # By shard: namespaces that may lose nothing, and until when.
        self._stopped: dict[int, dict[str, int]] = {}

    def candidates(
        self, tick: DecayCrossed, standing: Standing, policy: Policy, wanted: RestoreOrdered | None = None
    ) -> Candidates:
        """Chooses the candidates of what crossed at the tick and, under pressure, of what was not used for longest; and
        of what a request wants to be forgotten."""
        shard, most, limits = tick.shard, policy.epoch.proposals_max, policy.caps
        before = unused_since(tick.as_of, policy)
        ids, full = [crossing.memory_id for crossing in tick.crossed], set[str]()
        looked, rooms, stopped = len(ids), dict[str, int](), dict[str, int]()
        crossed = self._schedule.candidates(shard, ids) if ids else []
        for _ in range(_LOOKS):
            self._measure(crossed, tick.as_of, limits, rooms, stopped)
            lost = Counter(c.namespace for c in crossed if nomination.capped(c))
            more = {name for name, count in lost.items() if count > rooms[name]}
            if more <= full or looked < most:
                break
            full |= more
            due = [one.memory_id for one in self._schedule.due(shard, before, most, full)]
            looked, known = len(due), {c.memory_id for c in crossed}
            crossed = [*crossed, *(c for c in self._schedule.candidates(shard, due) if c.memory_id not in known)]
        limit = nomination.unused_limit(standing, len(ids), policy)
        unused = self._unused(shard, limit, full)
        self._measure(unused, tick.as_of, limits, rooms, stopped)
        asked = self._schedule.candidates(shard, wanted.memory_ids) if wanted else []
        asked = [candidate for candidate in asked if wanted and candidate.namespace == wanted.namespace]
        self._measure(asked, tick.as_of, limits, rooms, stopped)
        self._tell(shard, stopped)
        return Candidates(crossed, unused, asked, rooms)

    def _unused(self, shard: int, limit: int, without: set[str]) -> list[Candidate]:
        """The longest unused, so many of them: what was promoted only where the rest does not suffice."""
        found: list[Candidate] = []
        for tier in ALIVE:
            left = limit - len(found)
            since = {**_NEVER, tier: nomination.LATEST}
            due = [one.memory_id for one in self._schedule.due(shard, since, left, without)] if left else []
            found += self._schedule.candidates(shard, due) if due else []
        return found

    def _measure(
        self,
        candidates: Sequence[Candidate],
        as_of: int,
        limits: CapsPolicy,
        rooms: dict[str, int],
        stopped: dict[str, int],
    ) -> None:
        """Adds the rooms of the namespaces that would lose candidates, and which of these may lose nothing.

        What is only demoted is not lost.
        """
        asked = {c.namespace for c in candidates if nomination.capped(c)} - rooms.keys()
        quotas = self._schedule.quotas(asked, caps.since(as_of, limits)) if asked else {}
        rooms |= caps.rooms(quotas, asked, as_of, limits)
        for namespace in asked:
            until = caps.stopped_until(quotas.get(namespace, caps.NOTHING), as_of, limits)
            if until is not None:
                stopped[namespace] = until

    def _tell(self, shard: int, stopped: dict[str, int]) -> None:
        """The alarm, while there is one; a line for each namespace that it begins or ends with."""
        before, self._stopped[shard] = self._stopped.get(shard, {}), stopped
        for namespace in sorted(stopped.keys() - before.keys()):
            log.error(
                "shard %d: namespace %r has lost as much as may go within a day: nothing more of it is nominated to be "
                "forgotten until %d",
                shard, namespace, stopped[namespace],
            )  # fmt: skip
        for namespace in sorted(before.keys() - stopped.keys()):
            log.info("shard %d: namespace %r may be nominated to be forgotten again", shard, namespace)
        self._shown.meters.stopped.labels(str(shard)).set(len(stopped))
        named = sorted({namespace for of_shard in self._stopped.values() for namespace in of_shard})
        listed = ", ".join(named[:3]) + (f" and {len(named) - 3} more" if len(named) > 3 else "")
        why = f"as much as may go within a day was forgotten in {listed}: nothing more is, until the day is over"
        self._shown.health.alarm(ALARM, why if named else None)
