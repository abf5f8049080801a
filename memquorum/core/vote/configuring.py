"""What the members decide of an order for another membership (`core.orders.configuration`).

The nomination service proposes it in an epoch of its own, of kind `configure`; the order stands in the nomination, so
the certificate of the decision holds everything that the next configuration follows from.

A nomination of an order is signed by the key that the service has *afterwards*. So a nomination key that is lost or in
other hands is not needed to replace it, and none comes into force that nobody holds.

What everybody can check is a rule (`check_order`): a nomination with an order that breaks one counts for nobody. What a
member has to know itself, the reliabilities that follow from the history, is what it votes on.
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
    """What the order in a nomination would make, if the operator signed it, for this shard, and it breaks no rule.

    Raises GenesisError.
    """
    if genesis.operator is None:
        raise GenesisError("order: the genesis file names no operator, so its membership holds for ever")
    try:
        signed, order = open_signed(codec, genesis, nomination.order or b"", ConfigurationOrdered)
    except BadMessage as error:
        raise GenesisError(f"order: {error}") from None
    if order.shard != nomination.shard:
        raise GenesisError(f"order: it is for shard {order.shard}, not {nomination.shard}")
    if nomination.trigger != TRIGGER:
        raise GenesisError(f"order: it is nominated for {nomination.trigger[:40]!r}, not {TRIGGER}")
    told = [(p.kind, p.memory_ids, p.namespace) for p in nomination.proposals]
    if told != [(CONFIGURE.name, (order_id(signed.body),), "")]:
        raise GenesisError("order: it is not what the nomination proposes, alone")
    return apply(genesis, order)
