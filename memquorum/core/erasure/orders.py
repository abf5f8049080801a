"""Orders to erase: who may give which, how one is made, and what is wrong with one that does not hold.

An order is a Signed whose body is an ErasureOrdered. The operator and the service `erasure` may sign it, whatever it
names; and an agent that has a key in the genesis file, about itself, where its name is proven: in a namespace that
takes nothing unsigned. Elsewhere a name is only a name, and may be another tenant's agent of the same one.

Everybody who meets an order checks it by `open_order`: intake, the commit worker, the rebuild, the audit, the members.
"""

from __future__ import annotations

from memquorum.core import names
from memquorum.core.avro import Codec, DecodeError
from memquorum.core.consensus import messages
from memquorum.core.consensus.membership import OPERATOR, Genesis
from memquorum.core.records import ErasureOrdered, Signed

MEMORY, SUBJECT, AGENT, SOURCE, NAMESPACE = SELECTORS = ("memory", "subject", "agent", "source", "namespace")
SERVICE = "service:erasure"
_ITSELF = "agent:"
_TIME_MAX = 2**53


class BadOrder(ValueError):
    """An order that nobody has to follow: `code` as in `core.reasons`, the `field` at fault, and what to do."""

    def __init__(self, code: str, field: str | None, detail: str) -> None:
        super().__init__(f"{field}: {detail}" if field else detail)
        self.code, self.field, self.detail = code, field, detail


def make(codec: Codec, genesis: Genesis, signer: str, seed: bytes, order: ErasureOrdered) -> bytes:
    """The order as it is published. `signer`: 'operator', 'service:erasure' or 'agent:NAME'; `seed`: its 32-byte
    Ed25519 seed. Raises BadOrder for what would be refused."""
    data = codec.encode(messages.sign(genesis.cluster, signer, seed, codec.encode(order)))
    open_order(codec, genesis, data)
    return data


def open_order(codec: Codec, genesis: Genesis, data: bytes) -> tuple[Signed, ErasureOrdered]:
    """An order and its envelope: sound, for this cluster, by who may give it, and signed. Raises BadOrder."""
    try:
        signed = codec.decode_as(Signed, data)
        order = codec.decode_as(ErasureOrdered, signed.body)
    except DecodeError as error:
        raise BadOrder("bad_avro", None, str(error)) from None
    if order.cluster != genesis.cluster:
        raise BadOrder("bad_order", "cluster", "for another cluster: sign it with this one's genesis file")
    check(order)
    _check_entitled(genesis, signed.signer, order)
    try:
        messages.verify(genesis, signed)
    except messages.BadMessage as error:
        raise BadOrder("bad_signature", "signature", str(error)) from None
    return signed, order


def check(order: ErasureOrdered) -> None:
    """Raises BadOrder unless what the order says is sound."""
    if names.uuid(order.order_id) != order.order_id:
        raise BadOrder("bad_id", "order_id", "not a UUID in lower case; make a new one for each order")
    _sound("namespace", names.namespace_fault(order.namespace))
    _sound("ordered_by", names.name_fault(order.ordered_by))
    if order.reference is not None:
        _sound("reference", names.name_fault(order.reference))
    if not 0 <= order.ordered_at <= _TIME_MAX:
        raise BadOrder("out_of_range", "ordered_at", "no time; send milliseconds since the epoch")
    if order.selector not in SELECTORS:
        raise BadOrder("bad_order", "selector", f"must be one of {', '.join(SELECTORS)}")
    if order.selector == NAMESPACE:
        if order.value:
            raise BadOrder("bad_order", "value", "must be empty: the namespace is named already")
    elif order.selector == MEMORY:
        if names.uuid(order.value) != order.value:
            raise BadOrder("bad_id", "value", "not a UUID in lower case; send a memory's id")
    else:
        _sound("value", names.name_fault(order.value))


def _check_entitled(genesis: Genesis, signer: str, order: ErasureOrdered) -> None:
    if signer in (OPERATOR, SERVICE):
        if genesis.key_of(signer) is None:
            raise BadOrder("not_entitled", "signer", f"the genesis file names no {signer}: nobody can order as that")
        return
    if not signer.startswith(_ITSELF) or genesis.key_of(signer) is None:
        raise BadOrder("not_entitled", "signer", f"{signer[:40]!r} may not order; ask the operator or the service")
    if order.selector not in (AGENT, SUBJECT) or order.value != signer.removeprefix(_ITSELF):
        raise BadOrder("not_entitled", "value", "an agent may order the erasure of itself alone")
    if order.namespace not in genesis.signed:
        told = "only where everything is signed is an agent's name proven; ask the operator or the service"
        raise BadOrder("not_entitled", "namespace", told)


def _sound(field: str, fault: names.Fault | None) -> None:
    if fault is not None:
        raise BadOrder(fault.code, field, fault.detail)
