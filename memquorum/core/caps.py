"""How much of a namespace may be forgotten: in one epoch, and within a day of the shard's time.

A quorum may be wrong, a policy may be, and whoever nominates may lie. So whatever was voted, no decision takes more of
a namespace than `room` says. It is asked by the nomination stage, which proposes no more than that; by members, who let
no more go for want of room; and where a decision is applied (`journal.decisions`), where nobody can get round it. An
audit asks it again.

What was forgotten counts for a day after its decision was applied. A share is of what lived in that day: of what is
alive now and of what was forgotten since. An erasure is no forgetting: it counts for nothing here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction

from msgspec import Struct

from memquorum.core.policy import DAY_MS_MOST, CapsPolicy


class Quota(Struct, frozen=True):
    """Where a namespace stands. `living`: its memories that are alive; `gone`: (time of the shard, how many were
    forgotten then), oldest first; what is too old to count may be left out."""

    living: int = 0
    gone: tuple[tuple[int, int], ...] = ()


NOTHING = Quota()
"""Of a namespace that nothing is known of."""


def since(as_of: int, caps: CapsPolicy) -> int:
    """What was forgotten at this time or before counts no more."""
    return as_of - caps.day_ms


def lately(quota: Quota, as_of: int, caps: CapsPolicy) -> int:
    """How many were forgotten within a day."""
    return sum(count for at, count in quota.gone if at > since(as_of, caps))


def room(quota: Quota, as_of: int, caps: CapsPolicy) -> int:
    """How many memories of the namespace one decision may take now."""
    return max(0, min(_most(quota.living, caps.epoch_share, caps), day_left(quota, as_of, caps)))


def stopped_until(quota: Quota, as_of: int, caps: CapsPolicy) -> int | None:
    """Where nothing more may be forgotten for now: when something may again, if all else stays. None: something may."""
    if day_left(quota, as_of, caps) > 0:
        return None
    for at, _ in quota.gone:
        again = at + caps.day_ms
        if again > as_of and day_left(quota, again, caps) > 0:
            return again
    return as_of + caps.day_ms


def day_left(quota: Quota, as_of: int, caps: CapsPolicy) -> int:
    """How many more may go within the day; below 0 where more went than may."""
    forgotten = lately(quota, as_of, caps)
    return _most(quota.living + forgotten, caps.day_share, caps) - forgotten


def rooms(quotas: Mapping[str, Quota], namespaces: Iterable[str], as_of: int, caps: CapsPolicy) -> dict[str, int]:
    """The room of each of the namespaces."""
    return {namespace: room(quotas.get(namespace, NOTHING), as_of, caps) for namespace in namespaces}


def born(quota: Quota, count: int) -> Quota:
    """So many came alive, or ended without being forgotten."""
    return Quota(quota.living + count, quota.gone)


def gone(quota: Quota, as_of: int, count: int) -> Quota:
    """So many were forgotten at a time of the shard; what can count no more by then, whatever policy comes, is let
    go."""
    kept = tuple(one for one in quota.gone if one[0] > as_of - DAY_MS_MOST)
    return Quota(quota.living, (*kept, (as_of, count)))


def _most(living: int, share: Fraction, caps: CapsPolicy) -> int:
    # A tenth of nine is nothing: without the floor a small namespace would keep everything for ever.
    return max(caps.floor, living * share.numerator // share.denominator)
