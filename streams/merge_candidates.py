"""Finds the summaries, and the memories of experience, of a shard that say the same and may be merged, once per
interval of the policy (SPEC C: daily; SPEC E).

A round looks at each of the shard, so many at an epoch; the next begins when as much of the stream's time has passed
since this one began as the policy says. The place in a round is kept in process memory: after a restart it starts
again, which finds only what is new.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from memquorum.core.access import covers
from memquorum.core.consolidation import twins
from memquorum.core.consolidation.alike import cliques
from memquorum.core.contained import Failures
from memquorum.core.policy import Policy
from memquorum.core.tiers import SHORT_TERM
from memquorum.core.vote.kinds import KINDS, MERGES
from memquorum.core.vote.kinds.unite import PAIR
from memquorum.ports import Candidate, Peer, Peers, Schedule

MOST = 128
"""So many are looked at in an epoch."""


class _Round(Struct, frozen=True):
    """`began`, `asked`: the stream's time when the round began, and when it was asked last, from behind the id `since`.
    `after`: where it goes on; None once it is through."""

    began: int
    asked: int
    since: str | None
    after: str | None


class Alike:
    """Asks the schedule for summaries that lie near others, and finds the groups that may become one."""

    def __init__(self, schedule: Schedule, failures: Failures | None = None) -> None:
        """`failures`: takes what a rule fails on."""
        self._schedule, self.failures = schedule, failures or Failures()
        self._rounds: dict[int, _Round] = {}

    def groups(self, shard: int, as_of: int, policy: Policy) -> list[tuple[Candidate, ...]]:
        """The groups of this epoch, each with the one that stays first; none where the round is through. Asked again
        for the same time, it answers the same. Raises StoreUnavailable."""
        known, every = self._rounds.get(shard), policy.consolidate.merge_every_ms
        if known is not None and known.asked == as_of:
            began, since = known.began, known.since
        elif known is None or not known.began <= as_of < known.began + every:
            began, since = as_of, None
        elif known.after is not None:
            began, since = known.began, known.after
        else:
            return []
        found = self._found(shard, policy, since)
        self._rounds[shard] = _Round(began, as_of, since, found.after)
        return [tuple(one.candidate for one in group) for group in self._grouped(found.found, as_of, policy)]

    def _found(self, shard: int, policy: Policy, since: str | None) -> Peers:
        return self._schedule.alike(shard, policy.consolidate.merge_alike_ppm, MOST, since)

    def _grouped(self, found: Sequence[Peer], as_of: int, policy: Policy) -> list[tuple[Peer, ...]]:
        strict, kind = policy.consolidate.strict.split(), KINDS[MERGES[SHORT_TERM]]
        homes = {one.candidate.namespace for one in found}
        barred = {one for one in homes if covers(strict, one) or kind.barred(one, policy)}
        peers = [one for one in found if one.candidate.namespace not in barred]
        least, most = policy.consolidate.merge_alike_ppm, kind.takes
        return cliques(peers, least, most, as_of, failures=self.failures)

    def forget(self, shards: Iterable[int]) -> None:
        """Begins anew with these shards: another process may have gone on with them."""
        for shard in shards:
            self._rounds.pop(shard, None)


class Twins(Alike):
    """The same of memories of experience, of which none is sealed (`core.consolidation.twins`)."""

    def _found(self, shard: int, policy: Policy, since: str | None) -> Peers:
        return self._schedule.twins(shard, policy.experience.merge_ppm, MOST, since)

    def _grouped(self, found: Sequence[Peer], as_of: int, policy: Policy) -> list[tuple[Peer, ...]]:
        return twins.groups(found, policy, PAIR, as_of, self.failures)
