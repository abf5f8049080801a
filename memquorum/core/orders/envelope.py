"""Every order is a Signed around a record that says for which cluster it is, in which namespace, by whom and when. Each
kind adds, as an `OrderKind`, what it asks for and who may.

An order applies once. `order_digest` names it by its signed bytes: the journal, the store, every member's view and the
audit keep the names of those that were answered, so that whoever publishes one again, however often, changes nothing.

An agent that has a key in the genesis file orders only where its name is proven: in a namespace that takes nothing
unsigned. Elsewhere a name is only a name, and may be another tenant's agent of the same one.
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
    """An order that nobody has to follow: `code` as in `core.reasons`, the `field` at fault, and what to do."""

    def __init__(self, code: str, field: str | None, detail: str) -> None:
        super().__init__(f"{field}: {detail}" if field else detail)
        self.code, self.field, self.detail = code, field, detail


def order_digest(codec: Codec, data: bytes) -> bytes:
    """The name of an order by its signed bytes: SHA-256 of who signed and of the body. `data`: the Signed.

    The envelope is left out: it can be written in more than one way around the same signature. What cannot be read is
    named by all of its bytes.
    """
    try:
        signed = codec.decode_as(Signed, data)
    except DecodeError:
        return hashlib.sha256(data).digest()
    signer = signed.signer.encode()
    return hashlib.sha256(len(signer).to_bytes(4, "big") + signer + signed.body).digest()


class Body(Protocol):
    """What the record of every order says, whatever it asks for."""

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
        """Who asked for it."""

    @property
    def ordered_at(self) -> int:
        """When, in milliseconds since the epoch."""

    @property
    def reference(self) -> str | None:
        """What the one who asked calls it."""


Order = TypeVar("Order", bound=Body)


@dataclass(frozen=True, slots=True)
class OrderKind(Generic[Order]):
    """One kind of order: everything in which it differs from the others on its way in. `table` holds them all.

    What one does stands in higher rooms, under its name or its effects: `commit.ordering`, `journal.effects`, `audit`.
    """

    name: str
    """Also of the kind of decision by which members vote on it, if they do (`vote.kinds`)."""
    body: type[Order]
    topic: str
    """Where it comes in. Each kind has a topic of its own, so nobody has to guess what a record is."""
    told: str
    """How people call it: 'an order to erase'."""
    command: str
    """What to use who wants to give one."""
    right: str
    """Of an API key, with which one is given over HTTP and asked after."""
    check: Callable[[Order, Policy], None]
    """Raises BadOrder unless what it says is sound."""
    entitled: Callable[[Genesis, str, Order], None]
    """(genesis, signer, order) raises BadOrder unless that signer may give it."""
    effects: Mapping[str, type]
    """The journal's effects that answer it, each with the record of its detail."""
    named: Callable[[Order], tuple[str, ...]] = lambda _: ()
    """The memories that it names by their ids; none where it is for the store to find them."""
    within: Callable[[Order], tuple[bytes, ...]] = lambda _: ()
    """The digests of what it says that applies once by itself, in whatever order it comes."""
    guards: bool = False
    """Whether carrying it out asks what is protected of the memories, and how much of the namespace is."""
    contrasts: bool = False
    """Whether carrying it out asks what the memories that it names say otherwise than."""
    alone: bool = False
    """Whether it is carried out in a transaction of its own: it destroys keys, or asks for more than its own rows."""
    proposals: Callable[[Order, int], tuple[Proposal, ...]] | None = None
    """(order, accepted_at) → what members vote on, none where this one asks for another vote; None: there is none."""
    insists: bool = False
    """Whether it is voted on again until members agree; else a decision answers it either way."""

    def make(self, codec: Codec, genesis: Genesis, signer: str, seed: bytes, order: Order) -> bytes:
        """The order as it is published. `signer`: 'operator', 'service:erasure' or 'agent:NAME'; `seed`: its 32-byte
        Ed25519 seed. Raises BadOrder for what would be refused."""
        data = codec.encode(messages.sign(genesis.cluster, signer, seed, codec.encode(order)))
        self.opened(codec, genesis, data)
        return data

    def opened(self, codec: Codec, genesis: Genesis, data: bytes) -> tuple[Signed, Order]:
        """An order and its envelope: for this cluster, sound, by who may give it, and signed. Everybody who meets an
        order checks it here: intake, the commit worker, the rebuild, the audit, the members. Raises BadOrder."""
        try:
            signed = codec.decode_as(Signed, data)
            order = codec.decode_as(self.body, signed.body)
        except DecodeError as error:
            raise BadOrder("bad_avro", None, str(error)) from None
        if order.cluster != genesis.cluster:
            raise BadOrder("bad_order", "cluster", "for another cluster: sign it with this one's genesis file")
        # By the first policy: an order that stands in the accepted stream holds, whatever policy comes.
        self.check(order, genesis.founding.policy)
        self.entitled(genesis, signed.signer, order)
        try:
            messages.verify(genesis, signed)
        except messages.BadMessage as error:
            raise BadOrder("bad_signature", "signature", str(error)) from None
        return signed, order


def check_said(order: Body) -> None:
    """Raises BadOrder unless its id, and where, by whom and when, is sound."""
    check_id("order_id", order.order_id, "make a new one for each order")
    check_name("namespace", names.namespace_fault(order.namespace))
    check_name("ordered_by", names.name_fault(order.ordered_by))
    if order.reference is not None:
        check_name("reference", names.name_fault(order.reference))
    if not 0 <= order.ordered_at <= _TIME_MAX:
        raise BadOrder("out_of_range", "ordered_at", "no time; send milliseconds since the epoch")


def check_id(field: str, value: str, do: str) -> None:
    """Raises BadOrder unless it is a UUID as all write it. `do`: what to send."""
    if names.uuid(value) != value:
        raise BadOrder("bad_id", field, f"not a UUID in lower case; {do}")


def check_name(field: str, fault: names.Fault | None) -> None:
    """Raises BadOrder where there is a fault."""
    if fault is not None:
        raise BadOrder(fault.code, field, fault.detail)


def check_proven(genesis: Genesis, signer: str, order: Body) -> None:
    """Raises BadOrder for an agent whose name nothing proves in the namespace."""
    if signer.startswith(AGENT) and order.namespace not in genesis.signed:
        told = "only where everything is signed is an agent's name proven; ask the operator or the service"
        raise BadOrder("not_entitled", "namespace", told)


def known(genesis: Genesis, signer: str) -> bool:
    """Whether it is one of those who may order anything at all, and has a key."""
    return genesis.key_of(signer) is not None and (signer in (OPERATOR, SERVICE) or signer.startswith(AGENT))
