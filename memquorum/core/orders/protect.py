"""Orders to protect a memory: who may give which, how one is made, and what is wrong with one that does not hold.

An order is a Signed whose body is a ProtectionOrdered. The operator may give any. Whoever has the right `forget` in a
namespace pins and unpins there, and the service that orders for them (`service:erasure`) signs it; an agent that has a
key in the genesis file does so where its name is proven: in a namespace that takes nothing unsigned.
"""

from __future__ import annotations

from memquorum import topics
from memquorum.core import access
from memquorum.core.identity.membership import OPERATOR, Genesis
from memquorum.core.orders.envelope import BadOrder, OrderKind, check_id, check_proven, check_said, known
from memquorum.core.records import Protected, ProtectionOrdered

PIN, UNPIN, HOLD, RELEASE, NEED, SPARE = ACTIONS = ("pin", "unpin", "hold", "release", "need", "spare")
ENDS = {UNPIN: PIN, RELEASE: HOLD, SPARE: NEED}
"""What takes back which; the order names the one that it ends."""
GOAL = "goal:"
"""How the kind of protection begins that an active goal gives; its name follows, so each goal's stands for itself."""
_OF_OPERATOR = (HOLD, RELEASE)


def kind_of(order: ProtectionOrdered) -> str:
    """What an order begins or ends: a pin, a hold, or what the goal needs that is its reference."""
    begun = ENDS.get(order.action, order.action)
    return goal_kind(order.reference or "") if begun == NEED else begun


def may_end(signer: str, began: str) -> bool:
    """Whether who signs may end what somebody began: the operator's own only the operator."""
    return signer == OPERATOR or began != OPERATOR


def goal_kind(goal: str) -> str:
    """The kind of protection that a goal gives."""
    return f"{GOAL}{goal}"


def check(order: ProtectionOrdered) -> None:
    """Raises BadOrder unless what the order says is sound."""
    check_said(order)
    check_id("memory_id", order.memory_id, "send a memory's id")
    if order.action not in ACTIONS:
        raise BadOrder("bad_order", "action", f"must be one of {', '.join(ACTIONS)}")
    if order.action in (NEED, SPARE) and order.reference is None:
        raise BadOrder("missing_field", "reference", "which goal? Name it")
    if order.action in ENDS:
        if order.ends is None:
            raise BadOrder("missing_field", "ends", "which order is to end? Name the one that stands by its order_id")
        check_id("ends", order.ends, "send the order_id of the order that stands")
    elif order.ends is not None:
        raise BadOrder("bad_order", "ends", f"must be left out: {order.action} ends nothing")


def _check_entitled(genesis: Genesis, signer: str, order: ProtectionOrdered) -> None:
    if not known(genesis, signer):
        raise BadOrder("not_entitled", "signer", f"{signer[:40]!r} may not order; ask the operator or the service")
    if order.action in _OF_OPERATOR and signer != OPERATOR:
        raise BadOrder(
            "not_entitled", "action", "only the operator holds and releases: `python -m infra hold`, `… --release`"
        )
    check_proven(genesis, signer, order)


PROTECTION = OrderKind(
    name="protect",
    body=ProtectionOrdered,
    topic=topics.PROTECTIONS,
    told="an order to protect",
    command="`memquorum pin`, `memquorum goal` or `python -m infra hold`",
    right=access.FORGET,
    check=lambda order, _: check(order),
    entitled=_check_entitled,
    effects={"protected": Protected},
    named=lambda order: (order.memory_id,),
    guards=True,
)
