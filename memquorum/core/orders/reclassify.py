"""Orders that change how sensitive a stored memory is, for which purposes it may be used, and under whose law it is.

An order is a Signed whose body is a ReclassificationOrdered. The operator may sign any, and the service
`service:erasure` for an API key: with the right to forget, or whose grant names the subject of the memory. It changes
what the memory states of itself. Its limits of use follow from that and from what it was made of, and so on for all
that was made of it (`core.journal.inheriting`).
"""

from __future__ import annotations

from memquorum import topics
from memquorum.core import access, facets
from memquorum.core.facets import BadFacet, Stated
from memquorum.core.identity.membership import OPERATOR, Genesis
from memquorum.core.orders.envelope import SERVICE, BadOrder, OrderKind, check_id, check_said
from memquorum.core.records import ReclassificationOrdered, Reclassified


def check(order: ReclassificationOrdered) -> None:
    """Raises BadOrder unless the order's fields are valid."""
    check_said(order)
    check_id("memory_id", order.memory_id, "send a memory's id")
    if order.sensitivity_ppm is None and not order.purposed and order.jurisdiction is None:
        raise BadOrder("missing_field", "sensitivity", "say a sensitivity, purposes or a jurisdiction")
    if order.purposes and not order.purposed:
        raise BadOrder("bad_order", "purposes", "set `purposed`, or leave them out")
    try:
        facets.check(_Said(order))
    except BadFacet as wrong:
        raise BadOrder(wrong.code, wrong.field, wrong.detail) from None
    if len(set(order.purposes)) < len(order.purposes):
        raise BadOrder("bad_order", "purposes", "each purpose once")


def restated(order: ReclassificationOrdered, before: Stated) -> Stated:
    """Returns what the memory states once the order has taken effect. `before`: what it stated."""
    return Stated(
        before.type,
        before.sensitivity_ppm if order.sensitivity_ppm is None else order.sensitivity_ppm,
        order.purposes if order.purposed else before.purposes,
        before.jurisdiction if order.jurisdiction is None else order.jurisdiction or None,
        before.made,
    )


class _Said:
    """The facets that an order states, as they are checked of an episode."""

    type, summary = facets.EPISODIC, None

    def __init__(self, order: ReclassificationOrdered) -> None:
        self.sensitivity_ppm, self.purposes = order.sensitivity_ppm, order.purposes
        self.jurisdiction = order.jurisdiction or None


def _check_entitled(genesis: Genesis, signer: str, _: ReclassificationOrdered) -> None:
    if signer not in (OPERATOR, SERVICE) or genesis.key_of(signer) is None:
        raise BadOrder("not_entitled", "signer", f"{signer[:40]!r} may not reclassify; ask the operator or the service")


RECLASSIFICATION = OrderKind(
    name="reclassify",
    body=ReclassificationOrdered,
    topic=topics.RECLASSIFICATIONS,
    told="an order to reclassify",
    command="`memquorum reclassify`",
    right=access.FORGET,
    check=lambda order, _: check(order),
    entitled=_check_entitled,
    effects={"reclassified": Reclassified},
    named=lambda order: (order.memory_id,),
    alone=True,
)
