"""Orders to erase: who may give which, how one is made, and the checks of one.

An order is a Signed whose body is an ErasureOrdered. The operator and the service `erasure` may sign any; an agent with
a key in the genesis file may sign one about itself, where its name is proven: in a namespace that only accepts signed
records. Elsewhere the name may be another tenant's agent.

Others decide too. The service signs for holders of an API key with the right `erase` (`workers.retrieval.ordering`).
Intake refuses the signers that the operator excludes (`core.intake.accept`). A legal hold on anything that an order
names stops all of it when it is to be carried out (`workers.commit.erasure_turn.Erasing.carry_out`).
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
NAMING_MOST = 2_000
"""So many of the memories that stay and may name an erased person are looked at."""


def check(order: ErasureOrdered) -> None:
    """Raises BadOrder unless the order's fields are valid."""
    check_said(order)
    if order.selector not in SELECTORS:
        raise BadOrder("bad_order", "selector", f"must be one of {', '.join(SELECTORS)}")
    if order.selector == NAMESPACE:
        if order.value:
            raise BadOrder("bad_order", "value", "must be empty: the order names its namespace in `namespace`")
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
        raise BadOrder("out_of_range", "before", "lies in the future: it must not be later than ordered_at")


def _check_entitled(genesis: Genesis, signer: str, order: ErasureOrdered) -> None:
    if signer in (OPERATOR, SERVICE):
        if genesis.key_of(signer) is None:
            raise BadOrder("not_entitled", "signer", f"the genesis file has no key of {signer}")
        if order.rule is not None and signer != SERVICE:
            raise BadOrder("not_entitled", "rule", f"only {SERVICE} may order by a rule of the policy")
        return
    if not signer.startswith(PROVEN) or genesis.key_of(signer) is None:
        raise BadOrder("not_entitled", "signer", f"{signer[:40]!r} may not order; ask the operator or the service")
    if order.selector not in (AGENT, SUBJECT) or order.value != signer.removeprefix(PROVEN):
        raise BadOrder("not_entitled", "value", "an agent may only order an erasure by or about itself")
    check_proven(genesis, signer, order)


def _proposals(order: ErasureOrdered, accepted_at: int) -> tuple[Proposal, ...]:
    """Returns the one proposal: everything that the order names is erased before the vote, and members attest that the
    order is genuine, and its offset in the accepted stream."""
    return (Proposal((order.order_id,), order.namespace, "erase", order.selector, 0, accepted_at, 0),)


ERASURE = OrderKind(
    name="erase",
    body=ErasureOrdered,
    topic=topics.ERASURES,
    told="an order to erase",
    command="`memquorum erase` or `memquorum admin memories erase`",
    right=access.ERASE,
    check=lambda order, _: check(order),
    entitled=_check_entitled,
    effects={"erased": Erased, "withheld": Withheld},
    alone=True,
    proposals=_proposals,
    insists=True,
)
