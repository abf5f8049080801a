"""Orders to erase: who may give which, how one is made, and what is wrong with one that does not hold.

An order is a Signed whose body is an ErasureOrdered. The operator and the service `erasure` may sign it, whatever it
names; and an agent that has a key in the genesis file, about itself, where its name is proven: in a namespace that
takes nothing unsigned. Elsewhere a name is only a name, and may be another tenant's agent of the same one.

Others decide too. The service signs for whoever has an API key with the right `erase` (`workers.retrieval.ordering`).
Intake refuses the signers that the operator told it to (`core.intake.accept`). A legal hold on anything that an order
names stops all of it when it is to be carried out (`workers.commit.erasing.Erasing.carry_out`).
"""

from __future__ import annotations

from memquorum import topics
from memquorum.core import access, names
from memquorum.core.identity.membership import OPERATOR, Genesis
from memquorum.core.orders import aged
from memquorum.core.orders.envelope import AGENT as PROVEN
from memquorum.core.orders.envelope import SERVICE, BadOrder, OrderKind, check_id, check_name, check_proven, check_said
from memquorum.core.records import Erased, ErasureOrdered, Proposal, Withheld

MEMORY, SUBJECT, AGENT, SOURCE, NAMESPACE, AGE = SELECTORS = (
    "memory", "subject", "agent", "source", "namespace", "age",
)  # fmt: skip


def check(order: ErasureOrdered) -> None:
    """Raises BadOrder unless what the order says is sound."""
    check_said(order)
    if order.selector not in SELECTORS:
        raise BadOrder("bad_order", "selector", f"must be one of {', '.join(SELECTORS)}")
    if order.selector == NAMESPACE:
        if order.value:
            raise BadOrder("bad_order", "value", "must be empty: the namespace is named already")
    elif order.selector == AGE:
        _check_age(order)
    elif order.selector == MEMORY:
        check_id("value", order.value, "send a memory's id")
    else:
        check_name("value", names.name_fault(order.value))
    if order.rule is not None and (order.selector != AGE or order.rule < 0):
        raise BadOrder(
            "bad_order", "rule", "a rule of retention names types and an age, and a configuration has a number"
        )


def _check_age(order: ErasureOrdered) -> None:
    try:
        named = aged.read(order.value)
    except aged.BadAge as wrong:
        raise BadOrder("bad_order", wrong.field, wrong.detail) from None
    if named.before > order.ordered_at:
        raise BadOrder("out_of_range", "before", "lies in the future: an order is about what has occurred")


def _check_entitled(genesis: Genesis, signer: str, order: ErasureOrdered) -> None:
    if signer in (OPERATOR, SERVICE):
        if genesis.key_of(signer) is None:
            raise BadOrder("not_entitled", "signer", f"the genesis file names no {signer}: nobody can order as that")
        if order.rule is not None and signer != SERVICE:
            raise BadOrder("not_entitled", "rule", f"only {SERVICE} orders by the rule of a policy")
        return
    if not signer.startswith(PROVEN) or genesis.key_of(signer) is None:
        raise BadOrder("not_entitled", "signer", f"{signer[:40]!r} may not order; ask the operator or the service")
    if order.selector not in (AGENT, SUBJECT) or order.value != signer.removeprefix(PROVEN):
        raise BadOrder("not_entitled", "value", "an agent may order the erasure of itself alone")
    check_proven(genesis, signer, order)


def _proposals(order: ErasureOrdered, accepted_at: int) -> tuple[Proposal, ...]:
    """Everything that it names is erased by then, and nobody votes on whether: members attest that the order is
    genuine, and where in the accepted stream it stands."""
    return (Proposal((order.order_id,), order.namespace, "erase", order.selector, 0, accepted_at, 0),)


ERASURE = OrderKind(
    name="erase",
    body=ErasureOrdered,
    topic=topics.ERASURES,
    told="an order to erase",
    command="`memquorum erase` or `python -m infra erase`",
    right=access.ERASE,
    check=lambda order, _: check(order),
    entitled=_check_entitled,
    effects={"erased": Erased, "withheld": Withheld},
    alone=True,
    proposals=_proposals,
    insists=True,
)
