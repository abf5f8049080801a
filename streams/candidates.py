"""Gathers the candidates of a nomination within the caps of their namespaces; raises an alarm where none may go.

A namespace that may lose nothing for now is left out until a day has passed since enough of what it lost. Due
memories of the others come forward meanwhile, so that the cap of one namespace does not hold up the others.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial

from memquorum.core import caps, rehearsal, triage
from memquorum.core.decay import unused_since
from memquorum.core.facets import TYPES
from memquorum.core.policy import CapsPolicy, Policy
from memquorum.core.policy import unused as forgotten
from memquorum.core.records import DecayCrossed, RestoreOrdered, Standing
from memquorum.core.tiers import ALIVE
from memquorum.core.vote import nomination
from memquorum.core.vote.kinds import KINDS, LETS_GO
from memquorum.core.vote.nomination import Going
from memquorum.ports import Candidate, DueMemory, Schedule
from memquorum.telemetry.bundle import Stage, Telemetry

log = logging.getLogger(__name__)

ALARM = "forgetting"
# Looks at what is due: each leaves out the namespaces that filled the one before.
_LOOKS = 4
_NEVER = dict.fromkeys(ALIVE, -1)


def keeps(candidate: Candidate, policy: Policy) -> bool:
    """Whether the memory's namespace keeps it against every vote."""
    return KINDS[LETS_GO[candidate.tier]].barred(candidate.namespace, policy) is not None


def _keeping(policy: Policy) -> set[str]:
    """The namespaces that keep what they have, as far as the policy names them whole."""
    return {one for one in policy.consolidate.retained.split() if not one.endswith("*")}


class Candidates:
    """Asks the schedule for candidates; remembers the namespaces of which the alarm says that nothing may go."""

    def __init__(self, schedule: Schedule, shown: Stage | None = None) -> None:
        self._schedule = schedule
        self._shown = shown or Telemetry().stage("nomination")
        # By shard: namespaces that may lose nothing, and until when.
        self._stopped: dict[int, dict[str, int]] = {}

    def expired(self, shard: int, as_of: int, policy: Policy) -> bool:
        """Whether anything has expired that may be nominated; it may be that its namespace's cap leaves no room."""
        return bool(self._expired(shard, as_of, policy, 1, _keeping(policy)))

    def candidates(
        self, tick: DecayCrossed, standing: Standing, policy: Policy, wanted: RestoreOrdered | None = None
    ) -> Going:
        """Chooses the candidates of what crossed at the tick, of what has expired and, under pressure, of what is to go
        first; and of what a request wants to be forgotten."""
        shard, most = tick.shard, policy.epoch.proposals_max
        before = unused_since(tick.as_of, policy)
        rooms, stopped, full = dict[str, int](), dict[str, int](), _keeping(policy)
        measure = partial(self._measure, as_of=tick.as_of, limits=policy.caps, rooms=rooms, stopped=stopped)

        def filled(ids: Sequence[str], more: Callable[[], list[DueMemory]]) -> list[Candidate]:
            """Those of the ids and, while namespaces that have no room for theirs crowd out others, of what is asked
            for without these."""
            looked, found = len(ids), self._candidates(shard, ids)
            for _ in range(_LOOKS):
                measure(found)
                lost = Counter(c.namespace for c in found if nomination.capped(c))
                over = {name for name, count in lost.items() if count > rooms[name]}
                if over <= full or looked < most:
                    break
                full.update(over)
                due, known = [one.memory_id for one in more()], {c.memory_id for c in found}
                looked = len(due)
                found += [c for c in self._candidates(shard, due) if c.memory_id not in known]
            return found

        crossed = filled(
            [crossing.memory_id for crossing in tick.crossed],
            lambda: self._schedule.due(shard, before, most, full),
        )
        expired = filled(
            [one.memory_id for one in self._expired(shard, tick.as_of, policy, most, full)],
            lambda: self._expired(shard, tick.as_of, policy, most, full),
        )
        limit = nomination.evicted_limit(standing, len(crossed) + len(expired), policy)
        evicted = self._evicted(shard, tick.as_of, policy, limit, full) if limit else []
        for _ in range(_LOOKS):
            keep = {c.namespace for c in evicted if keeps(c, policy)}
            if keep <= full:
                break
            full |= keep
            evicted = self._evicted(shard, tick.as_of, policy, limit, full)
        measure(evicted)
        asked = self._candidates(shard, wanted.memory_ids) if wanted else []
        asked = [candidate for candidate in asked if wanted and candidate.namespace == wanted.namespace]
        measure(asked)
        doubted = [one for one in self._schedule.doubted(shard, most) if rehearsal.doubted(one, tick.as_of, policy)]
        measure(doubted)
        aged = self._aged(shard, tick.as_of, policy)
        measure(aged)
        unused = self._schedule.unused(shard, rules, tick.as_of, most) if (rules := forgotten(policy.forget)) else []
        measure(unused)
        steps = self._schedule.steps(shard, tick.as_of - policy.consolidate.idle_ms, most)
        measure(steps)
        lists = (crossed, expired, evicted, asked, doubted, aged, unused, steps)
        kept = {one.namespace for some in lists for one in some if keeps(one, policy)}
        self._tell(shard, {name: until for name, until in stopped.items() if name not in kept})
        free = [[one for one in some if not keeps(one, policy)] for some in lists]
        crossed, expired, evicted, asked, doubted, aged, unused, steps = free
        return Going(crossed, expired, evicted, asked, doubted, aged, unused, steps, rooms=rooms)

    def _expired(self, shard: int, as_of: int, policy: Policy, limit: int, without: set[str]) -> list[DueMemory]:
        """Returns the expired memories, the lowest decay score first."""
        asked = triage.expiring(self._schedule.grades(shard), as_of, policy)
        return self._schedule.fading(shard, asked, as_of, limit, without) if asked else []

    def _evicted(self, shard: int, as_of: int, policy: Policy, limit: int, without: set[str]) -> list[Candidate]:
        """So many of those that are to go first: of the lowest decay score; then what has none, and last what was
        promoted, each longest unused first."""
        asked = triage.falling(self._schedule.grades(shard), policy)
        lowest = self._schedule.fading(shard, asked, as_of, limit, without, room=True) if asked else []
        found = {c.memory_id: c for c in self._candidates(shard, [one.memory_id for one in lowest], room=True)}
        for tier in ALIVE:
            if len(found) >= limit:
                break
            # As many as are wanted in all: those that have a score are among the first of them, and all known by then.
            due = self._schedule.due(shard, {**_NEVER, tier: nomination.LATEST}, limit, without, room=True)
            more = [one.memory_id for one in due if one.memory_id not in found]
            found |= {c.memory_id: c for c in self._candidates(shard, more[: limit - len(found)], room=True)}
        return list(found.values())

    def _candidates(self, shard: int, ids: Sequence[str], *, room: bool = False) -> list[Candidate]:
        return self._schedule.candidates(shard, ids, room=room) if ids else []

    def _aged(self, shard: int, as_of: int, policy: Policy) -> list[Candidate]:
        """Returns the memories that are older than their type may become."""
        ages = zip(TYPES, policy.budget.ttl_ms, strict=True) if policy.budget.ttl_ms else ()
        before = {type_: as_of - most for type_, most in ages if most}
        return self._schedule.aged(shard, before, policy.epoch.proposals_max) if before else []

    def _measure(
        self,
        candidates: Sequence[Candidate],
        *,
        as_of: int,
        limits: CapsPolicy,
        rooms: dict[str, int],
        stopped: dict[str, int],
    ) -> None:
        """Adds the rooms of the namespaces that would lose candidates, and which of these may lose nothing.

        A demotion is no loss.
        """
        asked = {c.namespace for c in candidates if nomination.capped(c)} - rooms.keys()
        losses = self._schedule.losses(asked, caps.since(as_of, limits)) if asked else {}
        rooms |= caps.rooms(losses, asked, as_of, limits)
        for namespace in asked:
            until = caps.stopped_until(losses.get(namespace, caps.NOTHING), as_of, limits)
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
