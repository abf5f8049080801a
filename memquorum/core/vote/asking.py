"""How an order is put to the vote: an epoch of its own, which proposes what the order's kind says and nothing else.

- *erase*: everything that the order names is erased by then, and nobody votes on whether. Members attest that it is
  genuine and where in the accepted stream it stands. So the certificate of the decision shows to someone who has the
  genesis file alone that q members have seen the order at this place of the shard's history.
- *restore*: one proposal for each memory that the request names. A use that came late asks in the same way
  (`orders.uses`), signed by nobody.

That an order is signed by who may give it, and names what the nomination proposes, everybody checks of the nomination.
What is left is the vote: whether a member has read it where it is said to stand, and what its kind asks beside that
(`vote.kinds`).
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
"""An order as it is put to the vote: its kind, where it stands, and what it says."""


def trigger(order_id: str, kind: str = REQUEST.name) -> str:
    """What the epoch of an order is opened by: it names the order, so the store can tell which were voted on."""
    return f"{kind}/{order_id}"


def kind_of(proposed: NominationProposed) -> OrderKind[Any] | None:
    """The kind of order that a nomination says it puts to the vote; None where it is about none of these."""
    kind = ORDERS.get(proposed.trigger.partition("/")[0])
    return kind if kind is not None and kind.proposals is not None else None


def check(codec: Codec, genesis: Genesis, proposed: NominationProposed) -> tuple[OrderFound, Any]:
    """What a nomination asks of the members, and the order. Raises BadOrder."""
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
    """The next epoch's nomination, of an order alone."""
    kind, found, order = asked
    ordered = _proposals(kind, order, found.accepted_at), codec.encode(found)
    return nomination.alone(genesis, standing, tick, trigger(order.order_id, kind.name), ordered)


def _proposals(kind: OrderKind[Any], order: Any, accepted_at: int) -> tuple[Proposal, ...]:
    return () if kind.proposals is None else kind.proposals(order, accepted_at)
