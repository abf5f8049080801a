"""The genesis file: the members, their weights, and the quorums that follow (DESIGN 11, SPEC A).

The genesis file is canonical JSON; its SHA-256 is the cluster id in every signature, so a message of one cluster is
invalid in another, and a holder of the file can check every decision of the cluster.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct, field

from memquorum.core import names
from memquorum.core.ids import murmur2
from memquorum.core.policy import Policy, PolicyError
from memquorum.core.policy import from_json as policy_from_json
from memquorum.core.policy import to_json as policy_to_json

SERVICES = ("nomination", "journal")
# Without an erasure service only the operator orders erasures, without a rehearsal service there are no rehearsals, and
# without verifiers no admissions to experience.
OPTIONAL_SERVICES = ("erasure", "rehearsal")
VERIFIERS = tuple(f"verifier-{number}" for number in range(1, 32))
"""The names of the services that may try candidates for admission (SPEC E); each has a key of its own."""
OPERATOR = "operator"
CONSOLIDATOR = "consolidator"
"""The agent that publishes summaries; it has a key of its own, and no other agent may use the name."""
# The number of sequences of a view that one member proposes before the next has its turn: a rule of the protocol.
TURN = 64
_DIGITS = 10  # an id has fewer


class GenesisError(ValueError):
    """Raised for a genesis file that cannot be trusted with decisions; the message says which rule it breaks."""


class Member(Struct, frozen=True):
    """One voter: a key pair and a replica process."""

    id: int
    name: str
    role: str
    public_key: bytes
    weight_milli: int = 1000
    reliability_milli: int = 1000

    @property
    def voice(self) -> int:
        """Weight times reliability, w·c, in millionths: the value of a vote of this member."""
        return self.weight_milli * self.reliability_milli


class Genesis(Struct, frozen=True):
    """A configuration: members in the order of their ids, services' keys, the members that speak for agents, and the
    policy.

    `agent_keys`: agent → Ed25519 public key, for agents that sign what they publish. `signed`: the namespaces that only
    accept signed records. `operator`: the key that orders other members or another policy; None: these cannot change.

    The genesis file holds configuration 0. A later one is a shard's own and follows from `previous` by a decision
    (`core.orders.configuration`): it decides the sequences from `begins` on, and its policy is in force from the
    decision's entry of the journal on.
    """

    cluster: bytes
    shards: int
    members: tuple[Member, ...]
    services: dict[str, bytes]
    agents: dict[str, int]
    policy: Policy
    config: int = 0
    agent_keys: dict[str, bytes] = field(default_factory=dict)
    signed: frozenset[str] = frozenset()
    operator: bytes | None = None
    begins: int = 1
    previous: Genesis | None = None

    @property
    def n(self) -> int:
        """The number of members."""
        return len(self.members)

    @property
    def f(self) -> int:
        """The number of members that may lie: the largest f with N ≥ 3f + 1."""
        return (len(self.members) - 1) // 3

    @property
    def quorum(self) -> int:
        """q = ⌈(N + f + 1) / 2⌉: any two quorums share an honest member, for every N."""
        n = len(self.members)
        return (n + (n - 1) // 3 + 2) // 2

    @property
    def voice(self) -> int:
        """Σ w·c over all members, voting or not, in millionths."""
        return sum(m.voice for m in self.members)

    def primary(self, shard: int, view: int, seq: int) -> int:
        """Returns the member that proposes for a sequence in a shard's view: each in turn, for `TURN` sequences."""
        return self.members[(shard + view + (seq - 1) // TURN) % self.n].id

    def opener(self, shard: int, view: int) -> int:
        """Returns the member that opens a shard's view, for any sequence: members that ask for it need not agree on
        one."""
        return self.members[(shard + view) % self.n].id

    def member_of(self, agent: str) -> int:
        """Returns the member that speaks for an agent: by the file, else by hash."""
        named = self.agents.get(agent)
        return named if named is not None else self.members[murmur2(agent.encode()) % self.n].id

    def member(self, id: int) -> Member | None:
        """Returns the member with an id, or None. An id is a name, and not an index of `members`."""
        if 0 <= id < self.n and self.members[id].id == id:
            return self.members[id]
        return next((member for member in self.members if member.id == id), None)

    @property
    def founding(self) -> Genesis:
        """The genesis file's configuration, from which this one follows."""
        found = self
        while found.previous is not None:
            found = found.previous
        return found

    @property
    def policy_version(self) -> int:
        """The number of the configuration that brought the policy; 0 for the genesis file's."""
        found = self
        while found.previous is not None and found.previous.policy == found.policy:
            found = found.previous
        return found.config

    def founded(self, id: int) -> bool:
        """True if a member is one of the genesis file's."""
        return self.founding.member(id) is not None

    def at(self, seq: int) -> Genesis:
        """Returns the configuration that decides a sequence of the shard: this one or one before it."""
        found = self
        while found.previous is not None and seq < found.begins:
            found = found.previous
        return found

    def of(self, config: int) -> Genesis | None:
        """Returns the configuration with a number: this one or one before it; None for an unknown one."""
        found: Genesis | None = self
        while found is not None and found.config != config:
            found = found.previous
        return found

    @property
    def verifiers(self) -> tuple[str, ...]:
        """The services that try candidates for admission."""
        return tuple(name for name in VERIFIERS if name in self.services)

    def key_of(self, signer: str) -> bytes | None:
        """Returns the public key of 'member:N', 'service:NAME', 'agent:NAME' or 'operator'; None for a stranger."""
        if signer == OPERATOR:
            return self.operator
        kind, _, name = signer.partition(":")
        if kind == "service":
            return self.services.get(name)
        if kind == "agent":
            return self.agent_keys.get(name)
        # Only the canonical spelling, so that one member cannot pass for two.
        if kind == "member" and name.isdecimal() and len(name) < _DIGITS and str(int(name)) == name:
            member = self.member(int(name))
            return None if member is None else member.public_key
        return None


def dump(
    shards: int,
    members: tuple[Member, ...],
    services: dict[str, bytes],
    agents: dict[str, int],
    policy: Policy,
    *,
    agent_keys: Mapping[str, bytes] | None = None,
    signed: Iterable[str] = (),
    operator: bytes | None = None,
) -> bytes:
    """Returns the canonical bytes of a genesis file. Raises GenesisError as `load` would."""
    data: dict[str, Any] = {
        "format": 1,
        "shards": shards,
        "members": [
            {
                "id": m.id,
                "name": m.name,
                "role": m.role,
                "public_key": m.public_key.hex(),
                "weight_milli": m.weight_milli,
                "reliability_milli": m.reliability_milli,
            }
            for m in members
        ],
        "services": {name: key.hex() for name, key in services.items()},
        "agents": agents,
        "policy": policy_to_json(policy),
    }
    # Left out where empty: a cluster without them keeps its file, and so its id.
    if agent_keys:
        data["agent_keys"] = {name: key.hex() for name, key in agent_keys.items()}
    if operator is not None:
        data["operator"] = operator.hex()
    if signed := sorted(signed):
        data["namespaces"] = {name: {"require_signature": True} for name in signed}
    content = (json.dumps(data, indent=2, sort_keys=True, ensure_ascii=False) + "\n").encode()
    load(content)
    return content


def load(content: bytes) -> Genesis:
    """Reads a genesis file. Raises GenesisError and names the broken rule."""
    try:
        data = json.loads(content)
        if type(data["format"]) is not int or data["format"] != 1:
            raise GenesisError(f"genesis: format {data['format']!r} is not one this version reads (1)")
        members = tuple(_member(m) for m in data["members"])
        services = {name: bytes.fromhex(key) for name, key in data["services"].items()}
        genesis = Genesis(
            cluster=hashlib.sha256(content).digest(),
            shards=_whole(data["shards"], "shards"),
            members=members,
            services=services,
            agents={name: _whole(member, f"agents: {name!r}") for name, member in data["agents"].items()},
            policy=policy_from_json(data["policy"]),
            agent_keys={name: bytes.fromhex(key) for name, key in data.get("agent_keys", {}).items()},
            signed=frozenset(name for name, terms in data.get("namespaces", {}).items() if _signed(name, terms)),
            operator=bytes.fromhex(data["operator"]) if "operator" in data else None,
        )
    except PolicyError as error:
        raise GenesisError(f"genesis: {error}") from None
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        if isinstance(error, GenesisError):
            raise
        raise GenesisError(f"genesis: not a genesis file ({type(error).__name__}: {error})") from None
    check(genesis)
    return genesis


def _signed(name: str, terms: dict[str, Any]) -> bool:
    """True if a namespace only accepts signed records. Raises GenesisError for an unknown term, which must not be
    ignored."""
    required = terms.get("require_signature", False)
    if set(terms) - {"require_signature"} or not isinstance(required, bool):
        raise GenesisError(f"genesis: namespace {name!r}: the only term is require_signature, true or false")
    return required


def _whole(value: object, what: str) -> int:
    """Returns the value if it is an integer; JSON's 1.0 and true would compare, and count, as if they were."""
    if type(value) is not int:
        raise GenesisError(f"genesis: {what}: {value!r} is not an integer")
    return value


def _member(data: dict[str, Any]) -> Member:
    return Member(
        id=_whole(data["id"], "member id"),
        name=data["name"],
        role=data["role"],
        public_key=bytes.fromhex(data["public_key"]),
        weight_milli=_whole(data["weight_milli"], f"weight_milli of member {data['id']}"),
        reliability_milli=_whole(data["reliability_milli"], f"reliability_milli of member {data['id']}"),
    )


def check(genesis: Genesis) -> None:
    """Raises GenesisError unless the configuration can be trusted with decisions; the message says why not."""
    members, ids = genesis.members, [m.id for m in genesis.members]
    keys = [m.public_key for m in members] + list(genesis.services.values()) + list(genesis.agent_keys.values())
    keys += [genesis.operator] if genesis.operator is not None else []
    heaviest = sum(sorted((m.weight_milli for m in members), reverse=True)[: genesis.f])
    loudest = sum(sorted((m.voice for m in members), reverse=True)[: genesis.f])
    rules = (
        (genesis.shards >= 1, "shards must be at least 1"),
        (genesis.n >= 4, f"{genesis.n} members cannot tolerate a liar; at least 4 are needed"),
        (genesis.config > 0 or ids == list(range(genesis.n)), "member ids must count from 0"),
        (len({m.name for m in members}) == genesis.n, "two members share a name"),
        (all(len(k) == 32 for k in keys), "a public key has 32 bytes"),
        (len(set(keys)) == len(keys), "two identities share a key"),
        (
            set(SERVICES) <= set(genesis.services) <= {*SERVICES, *OPTIONAL_SERVICES, *VERIFIERS},
            f"services must be {', '.join(SERVICES)}, and may be {', '.join(OPTIONAL_SERVICES)} "
            f"and {VERIFIERS[0]} to {VERIFIERS[-1]}",
        ),
        (
            not genesis.policy.erase.after or "erasure" in genesis.services,
            "erase.after: the rule needs the service erasure to give its orders, and there is none",
        ),
        (all(m.weight_milli > 0 for m in members), "a weight must be positive"),
        (all(0 < m.reliability_milli <= 1000 for m in members), "a reliability lies in (0, 1]"),
        # SPEC A, decision 0: otherwise f members could block or carry a weighted vote that honest members cannot undo.
        (3 * heaviest < sum(m.weight_milli for m in members), "the f heaviest members hold a third of the weight"),
        (3 * loudest < genesis.voice, "the f loudest members hold a third of Σ weight·reliability"),
        (all(m in ids for m in genesis.agents.values()), "agents: an agent is assigned to an unknown member"),
        (all(names.name_fault(name) is None for name in genesis.agent_keys), "agent_keys: no agent can have that name"),
        (all(names.namespace_fault(name) is None for name in genesis.signed), "namespaces: one cannot have that name"),
        (bool(genesis.agent_keys) or not genesis.signed, "namespaces: signatures required, but agent_keys is empty"),
    )
    where = f"configuration {genesis.config}" if genesis.config else "genesis"
    for holds, complaint in rules:
        if not holds:
            raise GenesisError(f"{where}: {complaint}")
