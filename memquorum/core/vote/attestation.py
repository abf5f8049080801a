"""What the members decide of an erasure: that its order was genuine, and where in the accepted stream it stands.

By then everything that it names is erased: nobody votes on whether. An epoch of its own, of kind `erase`, nominates the
order once the journal tells of it. Whether it was signed by somebody who may give it follows from the genesis file, so
everybody checks that of the nomination; that it stands where the nomination says, and took effect when it says, every
member has to have read itself, and that is what it votes on. So the certificate of the decision shows to someone who
has the genesis file alone that q members have seen the order at this place of the shard's history.
"""

from __future__ import annotations

from memquorum.core.avro import Codec, DecodeError
from memquorum.core.identity.membership import Genesis
from memquorum.core.ids import shard_of
from memquorum.core.orders.envelope import BadOrder
from memquorum.core.orders.erasure import open_order
from memquorum.core.records import DecayCrossed, ErasureFound, ErasureOrdered, NominationProposed, Proposal, Standing
from memquorum.core.vote import nomination
from memquorum.core.vote.kinds import ERASE

TRIGGER = "erasure"


def check(codec: Codec, genesis: Genesis, proposed: NominationProposed) -> tuple[ErasureFound, ErasureOrdered]:
    """What a nomination of kind `erase` asks to have attested, and its order. Raises BadOrder."""
    try:
        found = codec.decode_as(ErasureFound, proposed.order or b"")
    except DecodeError as error:
        raise BadOrder("bad_avro", "erasure", str(error)) from None
    _, order = open_order(codec, genesis, found.order)
    if shard_of(order.namespace, genesis.shards) != proposed.shard:
        raise BadOrder("bad_order", "namespace", f"not of shard {proposed.shard}")
    if not 0 <= found.offset < proposed.accepted_offset:
        told = f"{found.offset} is not before the nomination's, {proposed.accepted_offset}"
        raise BadOrder("out_of_range", "offset", told)
    if list(proposed.proposals) != [_proposal(order, found.accepted_at)]:
        raise BadOrder("bad_order", "proposals", "the order is not what the nomination proposes, alone")
    return found, order


def build(
    codec: Codec, genesis: Genesis, standing: Standing, tick: DecayCrossed, erasure: tuple[ErasureFound, ErasureOrdered]
) -> NominationProposed:
    """The next epoch's nomination, of an erasure alone."""
    found, order = erasure
    return nomination.alone(
        genesis, standing, tick, TRIGGER, ((_proposal(order, found.accepted_at),), codec.encode(found))
    )


def _proposal(order: ErasureOrdered, accepted_at: int) -> Proposal:
    return Proposal(order.order_id, order.namespace, ERASE.name, order.selector, 0, accepted_at, 0)
