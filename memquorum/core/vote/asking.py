"""Puts an order to the vote in an epoch of its own, which holds the proposals of the order's kind and no others.

- *erase*: everything that the order names is erased before the vote, so members do not vote on the erasure itself. They
  attest that the order is genuine and at which offset of the accepted stream it stands. The certificate of the decision
  proves to a reader who has only the genesis file that q members saw the order at this place of the shard's history.
- *restore*: one proposal for each memory that the request names. A use that arrived late asks in the same way
  (`orders.uses`), without a signature.

Every member checks that the order is signed by somebody who may give it, and that the nomination proposes the memories
that the order names. The vote is about the rest: whether the member has read the order at the stated offset, and the
conditions of its kind (`vote.kinds`).
"""

from __future__ import annotations

from typing import Any

from memquorum.core.avro import Codec, DecodeError
from memquorum.core.identity.membership import Genesis
from memquorum.core.ids import shard_of
from memquorum.core.orders import uses
from memquorum.core.orders.envelope import BadOrder, OrderKind
from memquorum.core.orders.restore import REQUEST
from memquorum.core.orders.table import ORDERS
from memquorum.core.records import DecayCrossed, NominationProposed, OrderFound, Proposal, Standing
from memquorum.core.vote import nomination

OpenOrder = tuple[OrderKind[Any], OrderFound, Any]
"""An order that is put to the vote: its kind, its place in the accepted stream, and its content."""


def trigger(order_id: str, kind: str = REQUEST.name) -> str:
    """Returns the trigger of an order's epoch. It names the order, so the store can tell which orders were voted on."""
    return f"{kind}/{order_id}"


def kind_of(proposed: NominationProposed) -> OrderKind[Any] | None:
    """Returns the kind of order that a nomination puts to the vote; None where its trigger names no such kind."""
    kind = ORDERS.get(proposed.trigger.partition("/")[0])
    return kind if kind is not None and kind.proposals is not None else None


def check(codec: Codec, genesis: Genesis, proposed: NominationProposed) -> tuple[OrderFound, Any]:
    """Returns the place and the content of the order in a nomination. Raises BadOrder where the nomination does not
    match it."""
    kind = kind_of(proposed)
    if kind is None:
        raise BadOrder("bad_order", "trigger", f"{proposed.trigger[:60]!r} names no order")
    try:
        found = codec.decode_as(OrderFound, proposed.order or b"")
    except DecodeError as error:
        raise BadOrder("bad_avro", "order", str(error)) from None
    order = uses.opened(codec, genesis, kind, found)
    if shard_of(order.namespace, genesis.shards) != proposed.shard:
        raise BadOrder("bad_order", "namespace", f"not of shard {proposed.shard}")
    wanted = _proposals(kind, order, found.accepted_at)
    if proposed.trigger != trigger(order.order_id, kind.name) or not wanted:
        raise BadOrder("bad_order", "trigger", f"{proposed.trigger[:60]!r} names another order")
    if not 0 <= found.offset < proposed.accepted_offset:
        told = f"{found.offset} is not before the nomination's, {proposed.accepted_offset}"
        raise BadOrder("out_of_range", "offset", told)
    if proposed.proposals != wanted:
        raise BadOrder("bad_order", "proposals", "not what the order names, in its order and alone")
    return found, order


def build(
    codec: Codec, genesis: Genesis, standing: Standing, tick: DecayCrossed, asked: OpenOrder
) -> NominationProposed:
    """Builds the next epoch's nomination, for an order alone."""
    kind, found, order = asked
    ordered = _proposals(kind, order, found.accepted_at), codec.encode(found)
    return nomination.alone(genesis, standing, tick, trigger(order.order_id, kind.name), ordered)


def _proposals(kind: OrderKind[Any], order: Any, accepted_at: int) -> tuple[Proposal, ...]:
    return () if kind.proposals is None else kind.proposals(order, accepted_at)
