"""The envelope of orders: a Signed around a record with its cluster, its namespace, its author and its time. Each kind
adds, as an `OrderKind`, its content and who may give it.

An order applies once. `order_digest` names it by its signed bytes: the journal, the store, every member's view and the
audit keep the names of answered orders, so a repeated order changes nothing.

An agent that has a key in the genesis file may only give orders where its name is proven: in a namespace that only
accepts signed records. Elsewhere the name may be another tenant's agent.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from memquorum.core import names
from memquorum.core.avro import Codec, DecodeError
from memquorum.core.identity import messages
from memquorum.core.identity.membership import OPERATOR, Genesis
from memquorum.core.policy import Policy
from memquorum.core.records import Proposal, Signed

SERVICE = "service:erasure"
AGENT = "agent:"
_TIME_MAX = 2**53


class BadOrder(ValueError):
    """Raised for an order that is not valid: `code` as in `core.reasons`, the `field` at fault, and what to do."""

    def __init__(self, code: str, field: str | None, detail: str) -> None:
        super().__init__(f"{field}: {detail}" if field else detail)
        self.code, self.field, self.detail = code, field, detail


def order_digest(codec: Codec, data: bytes) -> bytes:
    """Returns the name of an order by its signed bytes: SHA-256 of the signer and of the body. `data`: the Signed.

    The envelope is left out: it can be encoded in more than one way around the same signature. An unreadable order is
    named by all of its bytes.
    """
    try:
        signed = codec.decode_as(Signed, data)
    except DecodeError:
        return hashlib.sha256(data).digest()
    signer = signed.signer.encode()
    return hashlib.sha256(len(signer).to_bytes(4, "big") + signer + signed.body).digest()


class Body(Protocol):
    """The fields of every order's record."""

    @property
    def cluster(self) -> bytes:
        """The cluster that it is for."""

    @property
    def order_id(self) -> str:
        """Its id, a UUID in lower case."""

    @property
    def namespace(self) -> str:
        """The namespace."""

    @property
    def ordered_by(self) -> str:
        """The person or agent that asked for it."""

    @property
    def ordered_at(self) -> int:
        """The time, in milliseconds since the epoch."""

    @property
    def reference(self) -> str | None:
        """A name of the request in another system."""


Order = TypeVar("Order", bound=Body)


@dataclass(frozen=True, slots=True)
class OrderKind(Generic[Order]):
    """One kind of order: everything in which it differs from the others when it is accepted. `table` holds all kinds.

    Its effect is implemented in higher rooms, under its name or its effects: `commit.ordering`, `journal.effects`,
    `audit`.
    """

    name: str
    """Also the name of the kind of decision by which members vote on it, if they do (`vote.kinds`)."""
    body: type[Order]
    topic: str
    """The topic that it comes in by. Each kind has a topic of its own, so the type of a record is known."""
    told: str
    """Its name in messages: 'an order to erase'."""
    command: str
    """The command that gives one, for messages."""
    right: str
    """The right of an API key to give one over HTTP and to ask for its result; of a profile, only to ask."""
    check: Callable[[Order, Policy], None]
    """Raises BadOrder unless its fields are valid."""
    entitled: Callable[[Genesis, str, Order], None]
    """(genesis, signer, order) raises BadOrder unless that signer may give it."""
    effects: Mapping[str, type]
    """The journal's effects that answer it, each with the record of its detail."""
    named: Callable[[Order], tuple[str, ...]] = lambda _: ()
    """The memories that it names by their ids; empty where the store has to find them."""
    within: Callable[[Order], tuple[bytes, ...]] = lambda _: ()
    """The digests of its parts that apply once each, in whatever order they come."""
    guards: bool = False
    """True if carrying it out needs the protections of its memories, and how much of the namespace is protected."""
    contrasts: bool = False
    """True if carrying it out needs the memories that its memories contradict."""
    alone: bool = False
    """True if it is carried out in a transaction of its own: it destroys keys, or needs more than its own rows."""
    proposals: Callable[[Order, int], tuple[Proposal, ...]] | None = None
    """(order, accepted_at) → the proposals that members vote on, empty where this order asks for another vote; None: no
    vote."""
    insists: bool = False
    """True if it is voted on again until members agree; else a decision answers it either way."""

    def make(self, codec: Codec, genesis: Genesis, signer: str, seed: bytes, order: Order) -> bytes:
        """Makes the order for publishing. `signer`: 'operator', 'service:erasure' or 'agent:NAME'; `seed`: its 32-byte
        Ed25519 seed. Raises BadOrder where it would be refused."""
        data = codec.encode(messages.sign(genesis.cluster, signer, seed, codec.encode(order)))
        self.opened(codec, genesis, data)
        return data

    def opened(self, codec: Codec, genesis: Genesis, data: bytes) -> tuple[Signed, Order]:
        """Opens an order and its envelope: checks cluster, fields, entitlement and signature. All readers of an order
        check it here: intake, the commit worker, the rebuild, the audit, the members. Raises BadOrder."""
        try:
            signed = codec.decode_as(Signed, data)
            order = codec.decode_as(self.body, signed.body)
        except DecodeError as error:
            raise BadOrder("bad_avro", None, str(error)) from None
        if order.cluster != genesis.cluster:
            raise BadOrder("bad_order", "cluster", "for another cluster: sign it with this one's genesis file")
        # By the genesis file's policy: an order in the accepted stream stays valid, whatever policy comes.
        self.check(order, genesis.founding.policy)
        self.entitled(genesis, signed.signer, order)
        try:
            messages.verify(genesis, signed)
        except messages.BadMessage as error:
            raise BadOrder("bad_signature", "signature", str(error)) from None
        return signed, order


def check_said(order: Body) -> None:
    """Raises BadOrder unless its id, namespace, author and time are valid."""
    check_id("order_id", order.order_id, "make a new one for each order")
    check_name("namespace", names.namespace_fault(order.namespace))
    check_name("ordered_by", names.name_fault(order.ordered_by))
    if order.reference is not None:
        check_name("reference", names.name_fault(order.reference))
    if not 0 <= order.ordered_at <= _TIME_MAX:
        raise BadOrder("out_of_range", "ordered_at", "not a time; send milliseconds since the epoch")


def check_id(field: str, value: str, do: str) -> None:
    """Raises BadOrder unless it is a UUID in lower case. `do`: what to send."""
    if names.uuid(value) != value:
        raise BadOrder("bad_id", field, f"not a UUID in lower case; {do}")


def check_name(field: str, fault: names.Fault | None) -> None:
    """Raises BadOrder where there is a fault."""
    if fault is not None:
        raise BadOrder(fault.code, field, fault.detail)


def check_proven(genesis: Genesis, signer: str, order: Body) -> None:
    """Raises BadOrder for an agent whose name is not proven in the namespace."""
    if signer.startswith(AGENT) and order.namespace not in genesis.signed:
        told = "an agent's name is only proven in a namespace that requires signatures; ask the operator or the service"
        raise BadOrder("not_entitled", "namespace", told)


def known(genesis: Genesis, signer: str) -> bool:
    """True if the signer may give orders at all, and has a key."""
    return genesis.key_of(signer) is not None and (signer in (OPERATOR, SERVICE) or signer.startswith(AGENT))
