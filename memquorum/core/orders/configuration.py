"""The change of a configuration by an order of the operator (SPEC A, decision 2).

Members, their keys, weights and reliabilities, the keys of the services, and the policy only change by a decision of
the shard. The operator signs an order that names its base configuration by number and digest, so it can be carried out
once and nowhere else. `core.vote.configuring` puts it to the vote.

Such an order is for a shard and no namespace, and changes the rules by which the next orders are judged. So it does not
go through intake, as those of `core.orders.table` do: only members and the nomination read it.
"""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from types import MappingProxyType

from msgspec.structs import replace

from memquorum.core import names, policy
from memquorum.core.identity.membership import SERVICES, Genesis, GenesisError, Member, check
from memquorum.core.identity.messages import digest
from memquorum.core.orders.restore import most
from memquorum.core.policy import PolicyError
from memquorum.core.records import ConfigurationOrdered

_DIGEST = b"memquorum/configuration/1"
_WEIGHT_MAX = 2**31 - 1


def configuration_digest(genesis: Genesis) -> bytes:
    """Returns the SHA-256 of a configuration: its number, its members, its services' keys and its policy. An order
    names it."""
    members = [[m.id, m.name, m.role, m.public_key.hex(), m.weight_milli, m.reliability_milli] for m in genesis.members]
    services = [[name, key.hex()] for name, key in sorted(genesis.services.items())]
    said = [genesis.config, members, services, policy.written(genesis.policy)]
    told = json.dumps(said, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(_DIGEST + genesis.cluster + told.encode()).digest()


def next_id(genesis: Genesis) -> int:
    """Returns the id of the next member that is added; an id is never used again."""
    return 1 + max(member.id for each in _line(genesis) for member in each.members)


def order_id(body: bytes) -> str:
    """Returns the id by which outcomes name an order, from its encoded body: a UUID, as memories have."""
    return str(uuid.UUID(bytes=digest(body)[:16], version=5))


def apply(genesis: Genesis, order: ConfigurationOrdered) -> Genesis:
    """Applies an order to its base configuration; the sequence from which the result decides is not known yet.

    Raises GenesisError where the order is for another configuration, its step cannot be taken, or its result breaks a
    rule for all configurations.
    """
    if (order.cluster, order.config) != (genesis.cluster, genesis.config):
        raise GenesisError(f"order: it is for configuration {order.config}, and {genesis.config} is in force")
    if order.base != configuration_digest(genesis):
        raise GenesisError(f"order: it is for another configuration {genesis.config} than this shard's")
    step = STEPS.get(order.action)
    if step is None:
        raise GenesisError(f"order: {order.action[:40]!r} is not one of {', '.join(STEPS)}")
    made = step(genesis, order)
    ids = {member.id for member in made.members}
    agents = {agent: member for agent, member in genesis.agents.items() if member in ids}
    made = replace(made, config=genesis.config + 1, agents=agents, previous=genesis)
    check(made)
    return made


def _line(genesis: Genesis) -> Iterator[Genesis]:
    """Yields a configuration and all before it."""
    each: Genesis | None = genesis
    while each is not None:
        yield each
        each = each.previous


# The steps: each returns the changed configuration, or raises GenesisError -------------------------------------------


def _add(genesis: Genesis, order: ConfigurationOrdered) -> Genesis:
    if order.member != next_id(genesis):
        raise GenesisError(f"order: the next member has id {next_id(genesis)}, not {order.member}")
    for what, text in (("name", order.name), ("role", order.role)):
        fault = names.name_fault(text)
        if fault is not None:
            raise GenesisError(f"order: {what}: {fault.detail}")
    key, weight = _new_key(genesis, order), _weight(order)
    return replace(genesis, members=(*genesis.members, Member(order.member, order.name, order.role, key, weight)))


def _remove(genesis: Genesis, order: ConfigurationOrdered) -> Genesis:
    gone = _member(genesis, order)
    return replace(genesis, members=tuple(member for member in genesis.members if member is not gone))


def _rotate(genesis: Genesis, order: ConfigurationOrdered) -> Genesis:
    return _with(genesis, replace(_member(genesis, order), public_key=_new_key(genesis, order)))


def _rotate_service(genesis: Genesis, order: ConfigurationOrdered) -> Genesis:
    if order.name not in SERVICES:
        raise GenesisError(f"order: {order.name[:40]!r} is not one of the services {', '.join(SERVICES)}")
    return replace(genesis, services=genesis.services | {order.name: _new_key(genesis, order)})


def _reweigh(genesis: Genesis, order: ConfigurationOrdered) -> Genesis:
    member = _member(genesis, order)
    if member.weight_milli == order.weight_milli:
        raise GenesisError(f"order: member {member.id} has this weight already")
    return _with(genesis, replace(member, weight_milli=_weight(order)))


def _rate(genesis: Genesis, order: ConfigurationOrdered) -> Genesis:
    if len(order.reliabilities) != genesis.n:
        raise GenesisError(f"order: {len(order.reliabilities)} reliabilities for {genesis.n} members")
    pairs = zip(genesis.members, order.reliabilities, strict=True)
    rated = tuple(replace(member, reliability_milli=reliability) for member, reliability in pairs)
    if rated == genesis.members:
        raise GenesisError("order: the members have these reliabilities already")
    return replace(genesis, members=rated)


def _judge_by(genesis: Genesis, order: ConfigurationOrdered) -> Genesis:
    try:
        made = policy.read(order.policy)
    except PolicyError as error:
        raise GenesisError(f"order: {error}") from None
    changed = policy.differences(genesis.policy, made)
    if not changed:
        raise GenesisError("order: this policy is in force already")
    fixed = sorted(name for name in changed if name.startswith("salience."))
    if fixed:
        # Scores are computed and kept before the vote: their policy could not be told later.
        raise GenesisError(f"order: policy: {', '.join(fixed)}: only the genesis file sets how salience is scored")
    least = most(genesis.founding.policy)
    if made.epoch.proposals_max < least:
        told = f"a request that stands may name {least} memories, and is voted on in one epoch"
        raise GenesisError(f"order: policy: epoch.proposals_max must not be below {least}: {told}")
    loudest = sum(sorted((member.voice for member in genesis.members), reverse=True)[: genesis.f])
    if made.forget.alpha * genesis.voice > genesis.voice - loudest:
        share = Fraction(genesis.voice - loudest, genesis.voice)
        told = (
            f"without the {genesis.f} loudest the others have {share}, and could decide nothing, no other policy either"
        )
        raise GenesisError(f"order: policy: forget.alpha must not be above {share}: {told}")
    return replace(genesis, policy=made)


ROTATE_SERVICE = "rotate-service"
POLICY = "policy"
STEPS: Mapping[str, Callable[[Genesis, ConfigurationOrdered], Genesis]] = MappingProxyType(
    {
        "add": _add,
        "remove": _remove,
        "rotate": _rotate,
        ROTATE_SERVICE: _rotate_service,
        "weight": _reweigh,
        "reliability": _rate,
        POLICY: _judge_by,
    }
)
"""The steps of an order: one of these."""

RESIZES = ("add", "remove")
"""The steps that change the number of members."""


def _member(genesis: Genesis, order: ConfigurationOrdered) -> Member:
    found = genesis.member(order.member)
    if found is None:
        raise GenesisError(f"order: there is no member {order.member}")
    return found


def _with(genesis: Genesis, changed: Member) -> Genesis:
    members = tuple(changed if member.id == changed.id else member for member in genesis.members)
    return replace(genesis, members=members)


def _new_key(genesis: Genesis, order: ConfigurationOrdered) -> bytes:
    """Returns the order's key. Raises GenesisError for a key that a member or a service has had: it may be in other
    hands."""
    for each in _line(genesis):
        if order.public_key in (*(member.public_key for member in each.members), *each.services.values()):
            raise GenesisError("order: a member or a service has, or had, this key")
    return order.public_key


def _weight(order: ConfigurationOrdered) -> int:
    if not 0 < order.weight_milli <= _WEIGHT_MAX:
        raise GenesisError("order: a weight must be positive")
    return order.weight_milli
