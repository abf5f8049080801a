"""What a decision to restore does: a sealed memory is alive again, in the tier that it was in, as if used just then."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from memquorum.core.decay import due_at
from memquorum.core.journal.rows import ALIVE, GONE, LONG_TERM, SEALED, SHORT_TERM, Memory, Strength
from memquorum.core.orders.restoring import RESTORE
from memquorum.core.policy import Policy
from memquorum.core.quick import evolver
from memquorum.core.records import Proposal, Restored, RestoreOrdered

_evolved = evolver(Memory)

NOT_SEALED = "not forgotten"
KEY_GONE = "key gone"
GRACE_OVER = "grace over"
UNREADABLE = "unreadable"


def void(memory: Memory, as_of: int, recalled: Collection[str] | None) -> str | None:
    """Why a memory cannot come back whatever was voted; None if it can.

    `recalled`: the memories whose content can be opened now; None where nobody has tried, because it was not decided.
    """
    if memory.tier == GONE:
        return KEY_GONE
    if memory.tier != SEALED or memory.sealed_until is None:
        return NOT_SEALED
    # From here on the key may go at any moment, or went before a crash.
    if memory.sealed_until <= as_of:
        return GRACE_OVER
    return UNREADABLE if recalled is not None and memory.id not in recalled else None


def restorable(memory: Memory | None, namespace: str, as_of: int) -> bool:
    """Whether a request for this memory has anything to be voted on."""
    return memory is not None and memory.namespace == namespace and void(memory, as_of, None) is None


def asks(memory: Memory | None, namespace: str, accessed_at: int, as_of: int) -> bool:
    """Whether a use of which the shard hears at `as_of` asks for the memory back: it rests sealed, it was used after
    the time that the vote to forget it spoke of, and no use has asked since. Times are milliseconds since the epoch."""
    if memory is None or memory.asks_after is None or accessed_at <= memory.asks_after:
        return False
    return restorable(memory, namespace, as_of)


def votable(order: RestoreOrdered, memories: Mapping[str, Memory], as_of: int) -> bool:
    """Whether a request has anything to be voted on: of what is to come back something rests sealed, of what is to be
    forgotten something is alive."""
    if order.action == RESTORE:
        return any(restorable(memories.get(i), order.namespace, as_of) for i in order.memory_ids)
    named = (memories.get(i) for i in order.memory_ids)
    return any(one is not None and one.namespace == order.namespace and one.tier in ALIVE for one in named)


def rows(
    memory: Memory, told: Restored, proposal: Proposal, *, as_of: int, seq: int, nominated_at: int, policy: Policy
) -> tuple[Memory, Strength]:
    """The memory and its strength afterwards. Decay is counted from the request; what votes kept before is over.

    `told`: what the journal recalls of it; `nominated_at`: the accepted offset that the vote speaks of.
    """
    tier = SHORT_TERM if memory.confidence_ppm is None else LONG_TERM
    strength = Strength(
        memory_id=memory.id,
        shard=memory.shard,
        tier=tier,
        salience_ppm=told.salience_ppm,
        created=memory.created,
        last_access=proposal.last_access,
        due_at=due_at(proposal.last_access, policy),
        touched=nominated_at,
        accesses=told.accesses,
        reinforced=told.reinforced,
    )
    return _evolved(memory, tier=tier, changed=as_of, sealed_until=None, asks_after=None, seq=seq), strength
