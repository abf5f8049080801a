"""Applies a decision to restore: a sealed memory is alive in its former tier, as if it had been used just then."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from memquorum.core.journal.resting import FOR_GOOD
from memquorum.core.journal.rows import Memory, Strength
from memquorum.core.orders.restore import RESTORE
from memquorum.core.records import Proposal, Restored, RestoreOrdered
from memquorum.core.tiers import ALIVE, SEALED, SUPERSEDED
from memquorum.core.vote.kinds import CONTESTS, MAKES_ROOM, MERGES
from memquorum.core.vote.kinds import RESTORE as RESTORES
from memquorum.core.vote.kinds.kind import MemoryState


def inherited(strength: Strength, others: Iterable[Strength]) -> Strength:
    """Returns the strength of a summary: as old as its sources, and used as often as they were."""
    others = tuple(others)
    return replace(
        strength,
        last_access=max((one.last_access for one in others), default=strength.last_access),
        accesses=strength.accesses + sum(one.accesses for one in others),
        reinforced=strength.reinforced + sum(one.reinforced for one in others),
        replays=max((strength.replays, *(one.replays for one in others))),
    )


def joined(strength: Strength, others: Iterable[Strength]) -> Strength:
    """Returns the strength of a summary into which others were merged: used as often as all of them, and as lately."""
    every = (strength, *others)
    return replace(
        strength,
        last_access=max(one.last_access for one in every),
        touched=max(one.touched for one in every),
        accesses=sum(one.accesses for one in every),
        reinforced=sum(one.reinforced for one in every),
    )


def restorable(memory: Memory | None, namespace: str, as_of: int) -> bool:
    """Whether a request for this memory has anything to be voted on."""
    if memory is None or memory.namespace != namespace:
        return False
    return RESTORES.absent(MemoryState(memory.tier, alive=False, sealed_until=memory.sealed_until), as_of) is None


def asks(memory: Memory | None, namespace: str, accessed_at: int, as_of: int) -> bool:
    """Whether a use of which the shard hears at `as_of` asks for the memory back: it rests sealed, it was used after
    the time that the vote to forget it spoke of, and no use has asked since. Times are milliseconds since the epoch."""
    if memory is None or memory.asks_after is None or accessed_at <= memory.asks_after:
        return False
    return restorable(memory, namespace, as_of)


def votable(order: RestoreOrdered, memories: Mapping[str, Memory], as_of: int) -> bool:
    """True if a request has anything to be voted on: for a request to restore, a memory that rests sealed; for one to
    forget, a living memory."""
    if order.action == RESTORE:
        return any(restorable(memories.get(i), order.namespace, as_of) for i in order.memory_ids)
    named = (memories.get(i) for i in order.memory_ids)
    return any(one is not None and one.namespace == order.namespace and one.tier in ALIVE for one in named)


def strength(
    memory: Memory, told: Restored, proposal: Proposal, tier: str, *, nominated_at: int, rests: int = 0
) -> Strength:
    """The strength of a memory that comes back. Decay is counted from the request; what votes kept before is over.

    `told`: what the journal recalls of it; `nominated_at`: the accepted offset that the vote speaks of; `rests`: the
    first epoch that may take it for want of room, 0: the next.
    """
    return Strength(
        memory_id=memory.id,
        shard=memory.shard,
        tier=tier,
        salience_ppm=told.salience_ppm,
        created=memory.created,
        last_access=proposal.last_access,
        touched=nominated_at,
        accesses=told.accesses,
        reinforced=told.reinforced,
        replays=told.replays,
        fades=memory.fades,
        rest=(dict.fromkeys(MAKES_ROOM.values(), rests) if rests else {}) | _apart(memory),
    )


def _apart(memory: Memory) -> dict[str, int]:
    """Returns the rests of a restored memory that last for good: a superseded one is not contested again, and a sealed
    summary is not merged again."""
    if memory.tier == SUPERSEDED:
        return dict.fromkeys(CONTESTS.values(), FOR_GOOD)
    return dict.fromkeys(MERGES.values(), FOR_GOOD) if memory.made_by is not None and memory.tier == SEALED else {}
