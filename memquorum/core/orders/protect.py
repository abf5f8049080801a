"""Orders to protect a memory: who may give which, how one is made, and the checks of one.

An order is a Signed whose body is a ProtectionOrdered. The operator may give any. A holder of the right `forget` in a
namespace may pin and unpin there, and the service that orders for them (`service:erasure`) signs it; an agent with a
key in the genesis file may do so where its name is proven: in a namespace that only accepts signed records.
"""

from __future__ import annotations

from memquorum import topics
from memquorum.core import access
from memquorum.core.identity.membership import OPERATOR, Genesis
from memquorum.core.orders.envelope import BadOrder, OrderKind, check_id, check_proven, check_said, known
from memquorum.core.records import Protected, ProtectionOrdered

PIN, UNPIN, HOLD, RELEASE, NEED, SPARE = ACTIONS = ("pin", "unpin", "hold", "release", "need", "spare")
ENDS = {UNPIN: PIN, RELEASE: HOLD, SPARE: NEED}
"""The actions that end another, and the action that each ends; the order names the order that it ends."""
GOAL = "goal:"
"""The prefix of the kind of protection that an active goal gives; the goal's name follows, so each goal has its own
kind."""
_OF_OPERATOR = (HOLD, RELEASE)


def kind_of(order: ProtectionOrdered) -> str:
    """Returns the kind of protection that an order begins or ends: a pin, a hold, or a goal's, named by the
    reference."""
    begun = ENDS.get(order.action, order.action)
    return goal_kind(order.reference or "") if begun == NEED else begun


def may_end(signer: str, began: str) -> bool:
    """True if the signer may end a protection of `began`: only the operator may end the operator's own."""
    return signer == OPERATOR or began != OPERATOR


def goal_kind(goal: str) -> str:
    """Returns the kind of protection that a goal gives."""
    return f"{GOAL}{goal}"


def check(order: ProtectionOrdered) -> None:
    """Raises BadOrder unless the order's fields are valid."""
    check_said(order)
    check_id("memory_id", order.memory_id, "send a memory's id")
    if order.action not in ACTIONS:
        raise BadOrder("bad_order", "action", f"must be one of {', '.join(ACTIONS)}")
    if order.action in (NEED, SPARE) and order.reference is None:
        raise BadOrder("missing_field", "reference", "name the goal")
    if order.action in ENDS:
        if order.ends is None:
            raise BadOrder("missing_field", "ends", "send the order_id of the order to end")
        check_id("ends", order.ends, "send the order_id of the order to end")
    elif order.ends is not None:
        raise BadOrder("bad_order", "ends", f"must be left out: {order.action} ends nothing")


def _check_entitled(genesis: Genesis, signer: str, order: ProtectionOrdered) -> None:
    if not known(genesis, signer):
        raise BadOrder("not_entitled", "signer", f"{signer[:40]!r} may not order; ask the operator or the service")
    if order.action in _OF_OPERATOR and signer != OPERATOR:
        raise BadOrder(
            "not_entitled",
            "action",
            "only the operator may hold and release: `memquorum admin memories hold`, `… --release`",
        )
    check_proven(genesis, signer, order)


PROTECTION = OrderKind(
    name="protect",
    body=ProtectionOrdered,
    topic=topics.PROTECTIONS,
    told="an order to protect",
    command="`memquorum pin`, `memquorum goal` or `memquorum admin memories hold`",
    right=access.FORGET,
    check=lambda order, _: check(order),
    entitled=_check_entitled,
    effects={"protected": Protected},
    named=lambda order: (order.memory_id,),
    guards=True,
)
