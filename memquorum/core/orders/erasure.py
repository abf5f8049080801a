"""Orders to erase: who may give which, how one is made, and what is wrong with one that does not hold.

An order is a Signed whose body is an ErasureOrdered. The operator and the service `erasure` may sign it, whatever it
names; and an agent that has a key in the genesis file, about itself, where its name is proven: in a namespace that
takes nothing unsigned. Elsewhere a name is only a name, and may be another tenant's agent of the same one.

Everybody who meets an order checks it by `open_order`: intake, the commit worker, the rebuild, the audit, the members.
"""

from __future__ import annotations

from memquorum.core import names
from memquorum.core.avro import Codec
from memquorum.core.identity.membership import OPERATOR, Genesis
from memquorum.core.orders.envelope import AGENT as PROVEN
from memquorum.core.orders.envelope import SERVICE, BadOrder, check_name, check_proven, check_said, open_sealed, seal
from memquorum.core.records import ErasureOrdered, Signed

MEMORY, SUBJECT, AGENT, SOURCE, NAMESPACE = SELECTORS = ("memory", "subject", "agent", "source", "namespace")


def make(codec: Codec, genesis: Genesis, signer: str, seed: bytes, order: ErasureOrdered) -> bytes:
    """The order as it is published. `signer`: 'operator', 'service:erasure' or 'agent:NAME'; `seed`: its 32-byte
    Ed25519 seed. Raises BadOrder for what would be refused."""
    data = seal(codec, genesis, signer, seed, order)
    open_order(codec, genesis, data)
    return data


def open_order(codec: Codec, genesis: Genesis, data: bytes) -> tuple[Signed, ErasureOrdered]:
    """An order and its envelope: sound, for this cluster, by who may give it, and signed. Raises BadOrder."""

    def rules(signer: str, order: ErasureOrdered) -> None:
        check(order)
        _check_entitled(genesis, signer, order)

    return open_sealed(codec, genesis, data, ErasureOrdered, rules)


def check(order: ErasureOrdered) -> None:
    """Raises BadOrder unless what the order says is sound."""
    if names.uuid(order.order_id) != order.order_id:
        raise BadOrder("bad_id", "order_id", "not a UUID in lower case; make a new one for each order")
    check_said(order)
    if order.selector not in SELECTORS:
        raise BadOrder("bad_order", "selector", f"must be one of {', '.join(SELECTORS)}")
    if order.selector == NAMESPACE:
        if order.value:
            raise BadOrder("bad_order", "value", "must be empty: the namespace is named already")
    elif order.selector == MEMORY:
        if names.uuid(order.value) != order.value:
            raise BadOrder("bad_id", "value", "not a UUID in lower case; send a memory's id")
    else:
        check_name("value", names.name_fault(order.value))


def _check_entitled(genesis: Genesis, signer: str, order: ErasureOrdered) -> None:
    if signer in (OPERATOR, SERVICE):
        if genesis.key_of(signer) is None:
            raise BadOrder("not_entitled", "signer", f"the genesis file names no {signer}: nobody can order as that")
        return
    if not signer.startswith(PROVEN) or genesis.key_of(signer) is None:
        raise BadOrder("not_entitled", "signer", f"{signer[:40]!r} may not order; ask the operator or the service")
    if order.selector not in (AGENT, SUBJECT) or order.value != signer.removeprefix(PROVEN):
        raise BadOrder("not_entitled", "value", "an agent may order the erasure of itself alone")
    check_proven(genesis, signer, order)
