"""Checks the proof of an epoch's outcome, with the genesis file alone (DESIGN 11, 13, 14).

Two certificates, each checked whole and from received bytes:

- the **ballot certificate** inside a pre-prepare: the signed nomination and at least N−f signed ballots on it;
- the **decision**: that pre-prepare and at least q signed commits on its proposal, all of one view.

No message states the outcome: it is computed from the ballots (`tally`), so nobody can lie about it.

A decision is about a *proposal*: everything in a pre-prepare except its view and its primary. Two views that propose
the same decide the same: prepares and commits name the proposal's digest, not that of one primary's message.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from msgspec import Struct
from msgspec.structs import replace

from memquorum.core.avro import Codec, DecodeError
from memquorum.core.identity.membership import Genesis, GenesisError
from memquorum.core.identity.messages import (
    BadMessage,
    SignedRecord,
    UnknownConfiguration,
    digest,
    open_signed,
    read_signed,
    unsigned,
    verify,
)
from memquorum.core.ids import sha256, shard_of
from memquorum.core.orders.envelope import BadOrder
from memquorum.core.records import BallotCast, Commit, NominationProposed, PrePrepare, Signed
from memquorum.core.vote import asking, columns, tally
from memquorum.core.vote.columns import BadBallot, Ballot, Places
from memquorum.core.vote.configuring import check_order
from memquorum.core.vote.kinds import KINDS

_PROPOSAL = b"memquorum/proposal/1"


class BadCertificate(ValueError):
    """Raised for a certificate that proves nothing. The text names the part and the rule that it breaks."""


class Nominated(Struct, frozen=True):
    """A nomination that may be voted on, its digest, which ballots name, its bytes as received, and the indices of each
    kind's proposals.

    `makes`: the configuration that its order makes, if it has one; the sequence from which that holds is not known yet.
    """

    record: NominationProposed
    digest: bytes
    data: bytes
    places: Places
    makes: Genesis | None = None


class Checked(Struct, frozen=True):
    """A pre-prepare whose certificate holds.

    `digest` is the proposal's: what prepares and commits must name. `outcomes` stand in the order of the nomination's
    proposals, `ballots` in the order of their members. `data`: the signed pre-prepare as received. `configures`: the
    configuration of the sequences that follow, if the ballots decide on another one.
    """

    body: PrePrepare
    digest: bytes
    nomination: NominationProposed
    nomination_digest: bytes
    ballots: tuple[Ballot, ...]
    outcomes: tuple[tally.Outcome, ...]
    data: bytes
    configures: Genesis | None = None


@dataclass(slots=True)
class Verified:
    """A cache of checked parts, by SHA-256 of the received bytes: the same bytes are never verified twice.

    A ballot arrives on its own topic and again within a pre-prepare. The owner bounds the cache: a new one for each
    slot.
    """

    nominations: dict[bytes, Nominated] = field(default_factory=dict)
    ballots: dict[bytes, Ballot] = field(default_factory=dict)
    pre_prepares: dict[bytes, Checked] = field(default_factory=dict)

    def add_nomination(self, nominated: Nominated) -> None:
        """Adds a nomination whose signature and proposals were checked elsewhere."""
        self.nominations[hashlib.sha256(nominated.data).digest()] = nominated

    def add_ballot(self, data: bytes, ballot: Ballot) -> None:
        """Adds a ballot whose signature and opinions were checked elsewhere."""
        self.ballots[hashlib.sha256(data).digest()] = ballot

    def drop(self, nomination: bytes, *ballots: bytes) -> None:
        """Removes a nomination and ballots, by their bytes."""
        self.nominations.pop(hashlib.sha256(nomination).digest(), None)
        for data in ballots:
            self.ballots.pop(hashlib.sha256(data).digest(), None)


def proposal_digest(body: PrePrepare) -> bytes:
    """Returns the SHA-256 of a pre-prepare's proposal, whatever its view: cluster, config, slot, epoch, nomination,
    ballots."""
    # Signed, as the bytes are unchecked: a negative number must not raise an error here.
    place = b"".join(n.to_bytes(8, "big", signed=True) for n in (body.config, body.shard, body.seq, body.epoch))
    return sha256(_PROPOSAL, body.cluster, place, body.nomination, *body.ballots)


def check_nomination(codec: Codec, genesis: Genesis, data: bytes, verified: Verified | None = None) -> Nominated:
    """Checks a nomination: signed by service:nomination, and fit to be voted on. Raises BadCertificate."""
    key = hashlib.sha256(data).digest()
    if verified is not None and key in verified.nominations:
        return verified.nominations[key]
    try:
        signed, nomination = read_signed(codec, genesis, data, NominationProposed)
    except BadMessage as error:
        raise BadCertificate(f"nomination: {error}") from None
    found = check_nominated(codec, genesis, signed, nomination, data)
    if verified is not None:
        verified.nominations[key] = found
    return found


def looked_back(codec: Codec, genesis: Genesis, data: bytes) -> NominationProposed:
    """Checks a nomination by the configuration that it names: the given one, or one that led to it. Raises BadMessage,
    BadCertificate."""
    found = genesis.of(unsigned(codec, data, NominationProposed).config)
    if found is None:
        raise UnknownConfiguration("nomination: its configuration is not known here")
    return check_nomination(codec, found, data).record


def check_nominated(
    codec: Codec, genesis: Genesis, signed: Signed, nomination: NominationProposed, data: bytes
) -> Nominated:
    """Checks a nomination that was read already, as `check_nomination` does. Raises BadCertificate."""
    # The signature first, so that strangers cost no more than that; but with an order the signing key follows from it.
    if nomination.order is None:
        _verify_nomination(genesis, signed)
    most = genesis.policy.epoch.proposals_max
    if nomination.epoch < 1 or nomination.as_of < 0 or nomination.accepted_offset < 0:
        when = f"as of {nomination.as_of} at accepted offset {nomination.accepted_offset}"
        raise BadCertificate(f"nomination: epoch {nomination.epoch}, {when}: a negative number, or an epoch below 1")
    if not 1 <= len(nomination.proposals) <= most:
        raise BadCertificate(f"nomination: {len(nomination.proposals)} proposals, not 1 to {most}")
    named = [memory_id for proposal in nomination.proposals for memory_id in proposal.memory_ids]
    if not all(proposal.memory_ids for proposal in nomination.proposals):
        raise BadCertificate("nomination: a proposal names no memory")
    if len(set(named)) != len(named):
        raise BadCertificate("nomination: a memory is proposed twice")
    if nomination.order is not None:
        makes = _check_order(codec, genesis, nomination)
        _verify_nomination(makes or genesis, signed)
        return Nominated(nomination, digest(signed.body), data, columns.places_of(nomination), makes)
    if asking.kind_of(nomination) is not None:
        raise BadCertificate("nomination: its trigger names an order, and the order is missing")
    _check_proposals(genesis, nomination)
    return Nominated(nomination, digest(signed.body), data, columns.places_of(nomination))


def _check_proposals(genesis: Genesis, nomination: NominationProposed) -> None:
    """Checks proposals that are not about an order. Raises BadCertificate."""
    for namespace in {p.namespace for p in nomination.proposals}:
        if shard_of(namespace, genesis.shards) != nomination.shard:
            raise BadCertificate(f"nomination: namespace {namespace[:40]!r} is not of shard {nomination.shard}")
    for kind in {p.kind for p in nomination.proposals}:
        if kind not in KINDS:
            raise BadCertificate(f"nomination: unknown kind {kind[:40]!r}")
        if KINDS[kind].ordered:
            raise BadCertificate(f"nomination: kind {kind!r} needs an order, and there is none")
    for proposal in nomination.proposals:
        count, most = len(proposal.memory_ids), KINDS[proposal.kind].most(proposal.reason)
        if count > most:
            raise BadCertificate(f"nomination: {count} memories in a proposal to {proposal.kind}, which takes {most}")


def _verify_nomination(genesis: Genesis, signed: Signed) -> None:
    """Verifies the signature by the configuration that the nomination's order makes, if it has one. Raises
    BadCertificate."""
    try:
        verify(genesis, signed)
    except BadMessage as error:
        raise BadCertificate(f"nomination: {error}") from None


def _check_order(codec: Codec, genesis: Genesis, nomination: NominationProposed) -> Genesis | None:
    """Returns the configuration that an order makes; None for an order of another kind. Raises BadCertificate."""
    try:
        if asking.kind_of(nomination) is not None:
            asking.check(codec, genesis, nomination)
            return None
        return check_order(codec, genesis, nomination)
    except (GenesisError, BadOrder) as error:
        raise BadCertificate(f"nomination: {error}") from None


def check_ballot(
    codec: Codec, genesis: Genesis, data: bytes, nominated: Nominated, verified: Verified | None = None
) -> Ballot:
    """Checks a member's ballot on this nomination: signature over received bytes, identity, and every opinion by its
    kind.

    Raises BadCertificate.
    """
    key = hashlib.sha256(data).digest()
    known = verified.ballots.get(key) if verified is not None else None
    # It passed every rule for the nomination that it names; the only question left is whether that is this one.
    if known is not None and known.nomination == nominated.digest:
        return known
    _, cast = open_part(codec, genesis, data, BallotCast, "ballot")
    ballot = check_opinions(genesis, cast, nominated)
    if verified is not None:
        verified.ballots[key] = ballot
    return ballot


def check_opinions(genesis: Genesis, ballot: BallotCast, nominated: Nominated) -> Ballot:
    """Checks a ballot whose signature was verified already. Raises BadCertificate."""
    nomination, where = nominated.record, f"ballot of member {ballot.member}"
    if ballot.nomination != nominated.digest:
        raise BadCertificate(f"{where}: on another nomination")
    if (ballot.shard, ballot.epoch) != (nomination.shard, nomination.epoch):
        raise BadCertificate(f"{where}: for shard {ballot.shard}, epoch {ballot.epoch}")
    try:
        return columns.read(ballot, nomination, nominated.places, genesis.policy)
    except BadBallot as error:
        raise BadCertificate(f"{where}: {error}") from None


def check_pre_prepare(codec: Codec, genesis: Genesis, data: bytes, verified: Verified | None = None) -> Checked:
    """Checks a pre-prepare: signed by the primary of its view, with a valid ballot certificate; and computes the
    outcome.

    The caller checks whether view, sequence and epoch are the expected ones. Raises BadCertificate.
    """
    key = hashlib.sha256(data).digest()
    if verified is not None and key in verified.pre_prepares:
        return verified.pre_prepares[key]
    _, body = open_part(codec, genesis, data, PrePrepare, "pre-prepare")
    if body.view < 0 or body.seq < 1:
        raise BadCertificate(f"pre-prepare: view {body.view} below 0, or sequence {body.seq} below 1")
    if body.seq < genesis.begins:
        raise BadCertificate(f"pre-prepare: configuration {genesis.config} does not decide sequence {body.seq}")
    if body.member != genesis.primary(body.shard, body.view, body.seq):
        raise BadCertificate(
            f"pre-prepare: member {body.member} is not the primary of shard {body.shard} in view {body.view} "
            f"for sequence {body.seq}"
        )
    nominated = check_nomination(codec, genesis, body.nomination, verified)
    nomination = nominated.record
    if (nomination.shard, nomination.epoch) != (body.shard, body.epoch):
        raise BadCertificate(
            f"pre-prepare: shard {body.shard}, epoch {body.epoch} with a nomination of "
            f"shard {nomination.shard}, epoch {nomination.epoch}"
        )
    least = genesis.n - genesis.f
    if not least <= len(body.ballots) <= genesis.n:
        raise BadCertificate(f"pre-prepare: {len(body.ballots)} ballots, not {least} to {genesis.n}")
    ballots: list[Ballot] = []
    for ballot in (check_ballot(codec, genesis, b, nominated, verified) for b in body.ballots):
        if ballots and ballot.member <= ballots[-1].member:
            raise BadCertificate(f"pre-prepare: ballot of member {ballot.member} after member {ballots[-1].member}'s")
        ballots.append(ballot)
    outcomes = tally.tally(genesis, nomination, ballots)
    configures = replace(nominated.makes, begins=body.seq + 1) if nominated.makes and outcomes[0].decided else None
    checked = Checked(
        body, proposal_digest(body), nomination, nominated.digest, tuple(ballots), outcomes, data, configures
    )
    if verified is not None:
        verified.pre_prepares[key] = checked
    return checked


def check_commit(codec: Codec, genesis: Genesis, data: bytes, checked: Checked) -> int:
    """Checks a commit on this pre-prepare's view and proposal, and returns its member. Raises BadCertificate."""
    # The slot first: a comparison is cheap, a signature is not.
    try:
        signed, commit = read_signed(codec, genesis, data, Commit)
    except BadMessage as error:
        raise BadCertificate(f"commit: {error}") from None
    body, where = checked.body, f"commit of member {commit.member}"
    if (commit.shard, commit.view, commit.seq) != (body.shard, body.view, body.seq):
        raise BadCertificate(f"{where}: for shard {commit.shard}, view {commit.view}, sequence {commit.seq}")
    if commit.digest != checked.digest:
        raise BadCertificate(f"{where}: on another proposal")
    try:
        verify(genesis, signed)
    except BadMessage as error:
        raise BadCertificate(f"{where}: {error}") from None
    return commit.member


def check_decision(
    codec: Codec, genesis: Genesis, pre_prepare: bytes, commits: Sequence[bytes], verified: Verified | None = None
) -> Checked:
    """Checks a decision: a valid pre-prepare and at least q commits on it, of distinct members. Raises
    BadCertificate."""
    checked = check_pre_prepare(codec, genesis, pre_prepare, verified)
    members: set[int] = set()
    for data in commits:
        member = check_commit(codec, genesis, data, checked)
        if member in members:
            raise BadCertificate(f"decision: two commits of member {member}")
        members.add(member)
    if len(members) < genesis.quorum:
        raise BadCertificate(f"decision: {len(members)} commits, {genesis.quorum} are needed")
    return checked


def decider(codec: Codec, genesis: Genesis, pre_prepare: bytes) -> Genesis:
    """Returns the configuration that decides a pre-prepare's sequence: the given one, or one that led to it.

    The pre-prepare is not checked; a later check by that configuration finds a lie. Raises BadCertificate.
    """
    try:
        return genesis.at(codec.decode_as(PrePrepare, codec.decode_as(Signed, pre_prepare).body).seq)
    except DecodeError as error:
        raise BadCertificate(f"pre-prepare: {error}") from None


def follow(codec: Codec, genesis: Genesis, decided: Iterable[tuple[bytes, Sequence[bytes]]]) -> Genesis:
    """Returns the configuration that decisions of kind configure lead to, each a pre-prepare and its commits, in order.

    Each is checked by the configuration before it. Raises BadCertificate.
    """
    for pre_prepare, commits in decided:
        configures = check_decision(codec, genesis, pre_prepare, commits).configures
        if configures is None:
            raise BadCertificate(f"decision: it does not change configuration {genesis.config}")
        genesis = configures
    return genesis


def read_part(codec: Codec, genesis: Genesis, data: bytes, kind: type[SignedRecord], where: str) -> SignedRecord:
    """Reads a part of a certificate without verifying its signature. Raises BadCertificate."""
    try:
        return read_signed(codec, genesis, data, kind)[1]
    except BadMessage as error:
        raise BadCertificate(f"{where}: {error}") from None


def open_part(
    codec: Codec, genesis: Genesis, data: bytes, kind: type[SignedRecord], where: str
) -> tuple[Signed, SignedRecord]:
    """Reads a part of a certificate and verifies its signature. Raises BadCertificate."""
    try:
        return open_signed(codec, genesis, data, kind)
    except BadMessage as error:
        raise BadCertificate(f"{where}: {error}") from None
