"""Orders to protect a memory: who may give which, how one is made, and what is wrong with one that does not hold.

An order is a Signed whose body is a ProtectionOrdered. The operator may give any. Whoever has the right `forget` in a
namespace pins and unpins there, and the service that orders for them (`service:erasure`) signs it; an agent that has a
key in the genesis file does so where its name is proven: in a namespace that takes nothing unsigned.
"""

from __future__ import annotations

from memquorum.core import names
from memquorum.core.avro import Codec, DecodeError
from memquorum.core.consensus import messages
from memquorum.core.consensus.membership import OPERATOR, Genesis
from memquorum.core.erasure.orders import SERVICE, BadOrder
from memquorum.core.records import ProtectionOrdered, Signed

PIN, UNPIN, HOLD, RELEASE = ACTIONS = ("pin", "unpin", "hold", "release")
ENDS = {UNPIN: PIN, RELEASE: HOLD}
"""What takes back which."""
_OF_OPERATOR = (HOLD, RELEASE)
_ITSELF = "agent:"
_TIME_MAX = 2**53


def make(codec: Codec, genesis: Genesis, signer: str, seed: bytes, order: ProtectionOrdered) -> bytes:
    """The order as it is published. `signer`: 'operator', 'service:erasure' or 'agent:NAME'; `seed`: its 32-byte
    Ed25519 seed. Raises BadOrder for what would be refused."""
    data = codec.encode(messages.sign(genesis.cluster, signer, seed, codec.encode(order)))
    open_protection(codec, genesis, data)
    return data


def kind_of(order: ProtectionOrdered) -> str:
    """What an order begins or ends: a pin or a hold."""
    return ENDS.get(order.action, order.action)


def protects(codec: Codec, data: bytes) -> bool:
    """Whether a Signed is about protecting, as far as it can be read."""
    try:
        return isinstance(codec.decode(codec.decode_as(Signed, data).body), ProtectionOrdered)
    except DecodeError:
        return False


def open_protection(codec: Codec, genesis: Genesis, data: bytes) -> tuple[Signed, ProtectionOrdered]:
    """An order and its envelope: sound, for this cluster, by who may give it, and signed. Raises BadOrder."""
    try:
        signed = codec.decode_as(Signed, data)
        order = codec.decode_as(ProtectionOrdered, signed.body)
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


def check(order: ProtectionOrdered) -> None:
    """Raises BadOrder unless what the order says is sound."""
    for field, value in (("order_id", order.order_id), ("memory_id", order.memory_id)):
        if names.uuid(value) != value:
            raise BadOrder("bad_id", field, "not a UUID in lower case")
    _sound("namespace", names.namespace_fault(order.namespace))
    _sound("ordered_by", names.name_fault(order.ordered_by))
    if order.reference is not None:
        _sound("reference", names.name_fault(order.reference))
    if not 0 <= order.ordered_at <= _TIME_MAX:
        raise BadOrder("out_of_range", "ordered_at", "no time; send milliseconds since the epoch")
    if order.action not in ACTIONS:
        raise BadOrder("bad_order", "action", f"must be one of {', '.join(ACTIONS)}")


def _check_entitled(genesis: Genesis, signer: str, order: ProtectionOrdered) -> None:
    if genesis.key_of(signer) is None or not (signer in (OPERATOR, SERVICE) or signer.startswith(_ITSELF)):
        raise BadOrder("not_entitled", "signer", f"{signer[:40]!r} may not order; ask the operator or the service")
    if order.action in _OF_OPERATOR and signer != OPERATOR:
        raise BadOrder("not_entitled", "action", "only the operator holds and releases: `python -m infra hold`")
    if signer.startswith(_ITSELF) and order.namespace not in genesis.signed:
        told = "only where everything is signed is an agent's name proven; ask the operator or the service"
        raise BadOrder("not_entitled", "namespace", told)


def _sound(field: str, fault: names.Fault | None) -> None:
    if fault is not None:
        raise BadOrder(fault.code, field, fault.detail)
