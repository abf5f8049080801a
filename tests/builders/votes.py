"""Decisions with whole certificates, signed with the test cluster's keys, for tests of those who apply them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
from msgspec.structs import replace

from memquorum.core.avro import Codec
from memquorum.core.consensus.certificate import proposal_digest
from memquorum.core.decay import decay_ppm
from memquorum.core.identity import messages
from memquorum.core.identity.membership import Genesis, GenesisError
from memquorum.core.orders.configuration import apply, configuration_digest, order_id
from memquorum.core.orders.restore import REASON
from memquorum.core.policy import PPM, Policy
from memquorum.core.records import (
    BallotCast,
    Commit,
    ConfigurationOrdered,
    ErasureOrdered,
    NominationProposed,
    OrderFound,
    PrePrepare,
    Proposal,
    RestoreOrdered,
)
from memquorum.core.vote import asking
from memquorum.core.vote.columns import Ballot, packed, places_of
from memquorum.core.vote.kinds import (
    ADMIT,
    CONSOLIDATE,
    EVICT,
    GENERALISE,
    KINDS,
    LETS_GO,
    MERGE,
    PROMOTE,
    RESTORE,
    UNITE,
)
from memquorum.core.vote.kinds.kind import Kind, Opinion, Terms
from tests.builders.genesis import public_key, seed_of

GREENHOUSE = "greenhouse"  # a namespace of shard 0
Vote = Callable[[int, Proposal], bool | int | Terms]
"""(member, proposal) → whether the member says yes; for a memory to forget, a number is the relevance that the member
finds; or the terms of its opinion.
"""


def everybody(_: int, __: Proposal) -> bool:
    return True


def nobody(_: int, __: Proposal) -> bool:
    return False


def contradicted(_: int, __: Proposal) -> Terms:
    """Returns the terms of a member that knows a contradiction to what would be promoted."""
    return 0, 0, 200_000, PPM


def signed(codec: Codec, genesis: Genesis, signer: str, record: object) -> bytes:
    return codec.encode(messages.sign(genesis.cluster, signer, seed_in(genesis, signer), codec.encode(record)))


def seed_in(genesis: Genesis, signer: str) -> bytes:
    """Returns the signer's seed in a configuration: a replacing key is `seed_of` with one more stroke."""
    names = (signer + "'" * count for count in range(8))
    return next(seed_of(name) for name in names if public_key(name) == genesis.key_of(signer))


def order(genesis: Genesis, action: str, shard: int = 0, **changes: Any) -> ConfigurationOrdered:
    """Builds an order for a configuration, as the operator would write it."""
    base = configuration_digest(genesis)
    return ConfigurationOrdered(genesis.cluster, genesis.config, shard, base, action, **changes)


def configuring(
    codec: Codec, genesis: Genesis, order_: ConfigurationOrdered, vote: Vote | None = None, **more: Any
) -> tuple[bytes, list[bytes]]:
    """Builds a `decision` about an order."""
    sealed = signed(codec, genesis, "operator", order_)
    wanted = [ordered(codec, order_)]
    with suppress(GenesisError):
        more = {"makes": apply(genesis, order_)} | more
    return decision(codec, genesis, wanted, vote or everybody, shard=order_.shard, order=sealed, **more)


def erasure(genesis: Genesis, selector: str = "subject", value: str = "planner", **changes: Any) -> ErasureOrdered:
    """Builds an order to erase, as the operator would write it."""
    id = "7f0f3f3e-1111-5c3a-9d2f-0d5c0f6f1a11"
    return replace(ErasureOrdered(genesis.cluster, id, GREENHOUSE, selector, value, "ops", 1_000_000), **changes)


def attesting(
    codec: Codec, genesis: Genesis, found: OrderFound, order: ErasureOrdered, vote: Vote | None = None, **more: Any
) -> tuple[bytes, list[bytes]]:
    """Builds a `decision` about an erasure at its offset."""
    wanted = [Proposal((order.order_id,), order.namespace, "erase", order.selector, 0, found.accepted_at, 0)]
    more = {"accepted_offset": found.offset + 1} | more
    data = codec.encode(found)
    return decision(
        codec, genesis, wanted, vote or everybody, order=data, trigger=asking.trigger(order.order_id, "erase"), **more
    )


def restore(genesis: Genesis, *memory_ids: str, **changes: Any) -> RestoreOrdered:
    """Builds a request for memories, as the operator would write it."""
    id = "7f0f3f3e-2222-5c3a-9d2f-0d5c0f6f1a11"
    return replace(RestoreOrdered(genesis.cluster, id, GREENHOUSE, memory_ids, "ops", 1_000_000), **changes)


def rollback(genesis: Genesis, memory_id: str, to: int, **changes: Any) -> RestoreOrdered:
    """Builds a request to roll back the weight of a memory, as the operator would write it."""
    return restore(genesis, memory_id, action="rollback", version=to, **changes)


def restoring(
    codec: Codec, genesis: Genesis, found: OrderFound, order: RestoreOrdered, vote: Vote | None = None, **more: Any
) -> tuple[bytes, list[bytes]]:
    """Builds a `decision` about a request at its offset."""
    at = found.accepted_at
    wanted = [Proposal((i,), order.namespace, order.action, REASON, at, at, 0) for i in order.memory_ids]
    more = {"accepted_offset": found.offset + 1} | more
    why = asking.trigger(order.order_id)
    return decision(codec, genesis, wanted, vote or everybody, order=codec.encode(found), trigger=why, **more)


def ordered(codec: Codec, order: ConfigurationOrdered) -> Proposal:
    """Builds the proposal of an order."""
    return Proposal((order_id(codec.encode(order)),), "", "configure", order.action, 0, 0, 0)


def proposal(memory_id: str, kind: str, *, namespace: str = "greenhouse", last_access: int = 0) -> Proposal:
    return Proposal((memory_id,), namespace, kind, "test", last_access, last_access, 600_000)


def opinion(proposal: Proposal, yes: bool | int | Terms, as_of: int, policy: Policy) -> Opinion:
    kind = KINDS[proposal.kind]
    if isinstance(yes, tuple):
        return following(kind, yes, policy)
    if not yes:
        terms = kind.abstain(as_of)
    elif kind is RESTORE:
        at = min(proposal.last_access, as_of)
        terms = (PPM, decay_ppm(at, as_of, policy), PPM, PPM, at)
    elif tuple(kind.terms) == ("holds",):
        terms = (PPM,)
    elif kind.weighs_scores:
        terms = (PPM, PPM, PPM, 0, 0)
    elif kind is CONSOLIDATE:
        terms = (PPM, 600_000, PPM, 400_000)
    elif kind in (MERGE, UNITE):
        terms = (PPM, 990_000)
    elif kind is ADMIT:
        terms = (PPM, 200_000)
    elif kind is GENERALISE:
        terms = (PPM, PPM)
    elif kind is EVICT:
        terms = (0, PPM // 2)
    elif kind is PROMOTE:
        terms = (PPM, 900_000, PPM, 0)
    else:
        assert kind.name in LETS_GO.values()
        # Last used at time 0 as this member read it, and not relevant to it: C = ω_D·D < θ for every as_of > 0.
        relevant = 0 if yes is True else yes
        terms = (decay_ppm(0, as_of, kind.scaled(policy)), relevant, relevant, 0)
    found = following(kind, terms, policy)
    assert found.yes == bool(yes)
    return found


def varied(kind: Kind, **changes: Any) -> Kind:
    """A kind like another, with other attributes; a function among them takes no `self`."""
    static = {name: staticmethod(value) if callable(value) else value for name, value in changes.items()}
    return type("_Varied", (type(kind),), static)()


def following(kind: Kind, terms: Terms, policy: Policy) -> Opinion:
    """Returns the opinion that follows from terms, whether or not these can be true."""
    score = kind.score(terms, policy)
    return Opinion(bool(kind.yes(score, policy)), score, terms)


def ballot(member: int, *opinions: Opinion, nomination: bytes = b"") -> Ballot:
    """Builds a ballot with these opinions, whether or not they follow from their terms."""
    columns = [
        ((at,), np.array([o.yes]), np.array([o.score_ppm], np.int64), np.array([o.terms], np.int64).T)
        for at, o in enumerate(opinions)
    ]
    return Ballot(member, nomination, columns)


def terms(proposals: Sequence[Proposal], opinions: Sequence[Opinion]) -> bytes:
    """Packs the terms of a ballot with these opinions."""
    nomination = NominationProposed(b"", 0, 0, 0, 0, 0, "", tuple(proposals))
    return packed({at: opinion.terms for at, opinion in enumerate(opinions)}, places_of(nomination))


def decision(
    codec: Codec,
    genesis: Genesis,
    proposals: Sequence[Proposal],
    vote: Vote = everybody,
    *,
    shard: int = 0,
    epoch: int = 1,
    as_of: int = 1_000_000_000,
    accepted_offset: int = 0,
    view: int = 0,
    seq: int | None = None,
    voters: Sequence[int] | None = None,
    order: bytes | None = None,
    trigger: str | None = None,
    makes: Genesis | None = None,
) -> tuple[bytes, list[bytes]]:
    """Builds the signed pre-prepare and every member's signed commit.

    `makes`: the configuration that the order results in.
    """
    cluster, config, ids = genesis.cluster, genesis.config, [member.id for member in genesis.members]
    why = trigger or ("interval" if order is None else "order")
    nomination = NominationProposed(cluster, config, shard, epoch, as_of, accepted_offset, why, tuple(proposals), order)
    body, nominated = codec.encode(nomination), signed(codec, makes or genesis, "service:nomination", nomination)
    ballots = tuple(
        signed(
            codec,
            genesis,
            f"member:{member}",
            BallotCast(
                cluster,
                config,
                shard,
                epoch,
                member,
                messages.digest(body),
                terms(proposals, [opinion(p, vote(member, p), as_of, genesis.policy) for p in proposals]),
            ),
        )
        for member in (voters if voters is not None else ids)
    )
    slot = epoch if seq is None else seq
    primary = genesis.primary(shard, view, slot)
    record = PrePrepare(cluster, config, shard, view, slot, primary, epoch, nominated, ballots)
    digest = proposal_digest(record)
    commits = [
        signed(codec, genesis, f"member:{m}", Commit(cluster, config, shard, view, slot, m, digest)) for m in ids
    ]
    return signed(codec, genesis, f"member:{primary}", record), commits
