"""Checks of an order for another membership (`core.orders.configuration`), before members vote on it.

The nomination service proposes the order in an epoch of its own, of kind `configure`. The order stands in the
nomination, so the certificate of the decision holds everything that the next configuration follows from.

The nomination is signed by the key that the service has *after* the order. So a lost or stolen nomination key is not
needed to replace it, and no key comes into force without an owner.

`check_order` checks the rules that every member can check: a nomination whose order breaks one is ignored. Members vote
on the part that only they can know: the reliabilities that follow from the history.
"""

from __future__ import annotations

from memquorum.core.avro import Codec
from memquorum.core.identity.membership import Genesis, GenesisError
from memquorum.core.identity.messages import BadMessage, open_signed
from memquorum.core.orders.configuration import apply, order_id
from memquorum.core.records import ConfigurationOrdered, NominationProposed
from memquorum.core.vote.kinds import CONFIGURE

TRIGGER = "order"


def check_order(codec: Codec, genesis: Genesis, nomination: NominationProposed) -> Genesis:
    """Returns the configuration that the nomination's order leads to.

    Raises GenesisError where the operator did not sign it, it is for another shard, or it breaks a rule.
    """
    if genesis.operator is None:
        raise GenesisError("order: the genesis file names no operator, so its membership cannot be changed")
    try:
        signed, order = open_signed(codec, genesis, nomination.order or b"", ConfigurationOrdered)
    except BadMessage as error:
        raise GenesisError(f"order: {error}") from None
    if order.shard != nomination.shard:
        raise GenesisError(f"order: it is for shard {order.shard}, not {nomination.shard}")
    if nomination.trigger != TRIGGER:
        raise GenesisError(f"order: the nomination's trigger is {nomination.trigger[:40]!r}, not {TRIGGER!r}")
    told = [(p.kind, p.memory_ids, p.namespace) for p in nomination.proposals]
    if told != [(CONFIGURE.name, (order_id(signed.body),), "")]:
        raise GenesisError("order: the nomination has to propose this order and nothing else")
    return apply(genesis, order)
