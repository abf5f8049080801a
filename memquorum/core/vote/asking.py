"""How a request to restore is put to the vote: an epoch of its own, one proposal for each memory that it names. A use
that came late asks in the same way (`uses`), signed by nobody.

That the request is signed by who may ask, and names what the nomination proposes, everybody checks of the nomination.
What is left is the vote: each member says for each memory whether it has read the request where it is said to stand,
knows the memory, within its grace time if it was forgotten, can still open it, and would keep it if it had been used
when it was asked for (`vote.kinds.RESTORE`).
"""

from __future__ import annotations

from memquorum.core.avro import Codec, DecodeError
from memquorum.core.identity.membership import Genesis
from memquorum.core.ids import shard_of
from memquorum.core.orders.envelope import BadOrder
from memquorum.core.orders.uses import opened
from memquorum.core.records import (
    DecayCrossed,
    NominationProposed,
    Proposal,
    RestoreFound,
    RestoreOrdered,
    Standing,
)
from memquorum.core.vote import nomination
from memquorum.core.vote.kinds import RESTORE
from memquorum.core.vote.kinds.restore import REASON

_BEFORE = "restore/"


def trigger(order_id: str, action: str = RESTORE.name) -> str:
    """What the epoch of a request is opened by: it names the request, so the store can tell which were voted on."""
    return f"{action}/{order_id}"


def is_one(proposed: NominationProposed) -> bool:
    """Whether a nomination is about a request to restore."""
    return proposed.trigger.startswith(_BEFORE)


def check(codec: Codec, genesis: Genesis, proposed: NominationProposed) -> tuple[RestoreFound, RestoreOrdered]:
    """What a nomination of kind `restore` asks for, and the request. Raises BadOrder."""
    try:
        found = codec.decode_as(RestoreFound, proposed.order or b"")
    except DecodeError as error:
        raise BadOrder("bad_avro", "restore", str(error)) from None
    order = opened(codec, genesis, found)
    if shard_of(order.namespace, genesis.shards) != proposed.shard:
        raise BadOrder("bad_order", "namespace", f"not of shard {proposed.shard}")
    if (proposed.trigger, order.action) != (trigger(order.order_id), RESTORE.name):
        raise BadOrder("bad_order", "trigger", f"{proposed.trigger[:60]!r} names another request")
    if not 0 <= found.offset < proposed.accepted_offset:
        told = f"{found.offset} is not before the nomination's, {proposed.accepted_offset}"
        raise BadOrder("out_of_range", "offset", told)
    if proposed.proposals != _proposals(order, found.accepted_at):
        raise BadOrder("bad_order", "proposals", "not the memories of the request, in its order")
    return found, order


def build(
    codec: Codec, genesis: Genesis, standing: Standing, tick: DecayCrossed, asked: tuple[RestoreFound, RestoreOrdered]
) -> NominationProposed:
    """The next epoch's nomination, of a request alone."""
    found, order = asked
    proposals = _proposals(order, found.accepted_at)
    return nomination.alone(genesis, standing, tick, trigger(order.order_id), (proposals, codec.encode(found)))


def _proposals(order: RestoreOrdered, accepted_at: int) -> tuple[Proposal, ...]:
    """The request counts as the memories' last use: decay is counted from it; a use that asks, from its own time."""
    return tuple(
        Proposal(memory_id, order.namespace, RESTORE.name, REASON, accepted_at, accepted_at, 0)
        for memory_id in order.memory_ids
    )
