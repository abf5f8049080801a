"""An epoch that members vote on now: what follows from the messages that were sent so far.

The store knows decided epochs alone. The messages are signed, and each is checked here as members check it. A message
may be missing here that a member has. Times are those of the senders' clocks.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any

from msgspec import Struct

from memquorum.core.api.answers import OpenBallot, OpenEpoch, OpenProposal, OpenStep
from memquorum.core.avro import Codec
from memquorum.core.consensus.certificate import (
    BadCertificate,
    Nominated,
    check_ballot,
    check_nomination,
    proposal_digest,
)
from memquorum.core.identity.membership import Genesis
from memquorum.core.identity.messages import BadMessage, open_signed, unsigned
from memquorum.core.records import BallotCast, Commit, NominationProposed, Prepare, PrePrepare
from memquorum.core.vote.columns import Ballot
from memquorum.core.vote.tally import Outcome, tally

STEPS: dict[Any, str] = {PrePrepare: "pre-prepare", Prepare: "prepare", Commit: "commit"}
"""The phases of consensus, by their records."""


class Heard(Struct, frozen=True):
    """A message as it was received: what it should be, its bytes, and when it was sent, in milliseconds."""

    kind: Any
    data: bytes
    at: int


class Opened(Struct, frozen=True):
    """A nomination that is not decided yet, its configuration, and when it was sent."""

    nominated: Nominated
    genesis: Genesis
    at: int


class Underway(Struct, frozen=True):
    """An open epoch: each member's first ballot with its time, the outcomes if no further one came, and the phases that
    were sent."""

    opened: Opened
    ballots: tuple[tuple[Ballot, int], ...]
    outcomes: tuple[Outcome, ...]
    steps: tuple[OpenStep, ...]


def opened(codec: Codec, genesis: Genesis, last_epoch: int, heard: Iterable[Heard]) -> Opened | None:
    """Returns the latest authentic nomination behind the last decided epoch; None if nothing is open."""
    found = None
    for one in heard:
        try:
            by = genesis.of(unsigned(codec, one.data, NominationProposed).config)
            nominated = None if by is None else check_nomination(codec, by, one.data)
        except (BadMessage, BadCertificate):
            continue
        if by is not None and nominated is not None and nominated.record.epoch > last_epoch:
            found = Opened(nominated, by, one.at)
    return found


def underway(codec: Codec, epoch: Opened, heard: Sequence[Heard]) -> Underway:
    """Counts what members have sent on a nomination."""
    ballots = dict[int, tuple[Ballot, int]]()
    for one in heard:
        if one.kind is BallotCast:
            try:
                ballot = check_ballot(codec, epoch.genesis, one.data, epoch.nominated)
            except BadCertificate:
                continue
            ballots.setdefault(ballot.member, (ballot, one.at))
    cast = tuple(ballots[member] for member in sorted(ballots))
    outcomes = tally(epoch.genesis, epoch.nominated.record, [ballot for ballot, _ in cast])
    return Underway(epoch, cast, outcomes, _steps(codec, epoch, heard))


def told(one: Underway, namespace: str | None, hidden: Collection[str]) -> OpenEpoch | None:
    """Tells what an open epoch asks about a namespace, or in all; None where that is nothing. `hidden`: memories that
    the reader's gates keep back."""
    record, genesis = one.opened.nominated.record, one.opened.genesis
    shown = [
        at
        for at, proposal in enumerate(record.proposals)
        if namespace in (None, proposal.namespace) and not any(named in hidden for named in proposal.memory_ids)
    ]
    if not shown:
        return None
    cast = {ballot.member: (ballot, at) for ballot, at in one.ballots}
    return OpenEpoch(
        namespace=namespace,
        shard=record.shard,
        epoch=record.epoch,
        as_of=record.as_of,
        # An order may be another tenant's, so its id is not told.
        trigger=record.trigger.partition("/")[0],
        opened_at=one.opened.at,
        config=genesis.config,
        members=genesis.n,
        quorum=genesis.quorum,
        total_ppm=genesis.voice,
        proposals=tuple(_proposal(one, at) for at in shown),
        ballots=tuple(
            OpenBallot(
                member=member.id,
                name=member.name,
                voice_ppm=member.voice,
                at=None if member.id not in cast else cast[member.id][1],
                yes=() if member.id not in cast else tuple(at for at in shown if cast[member.id][0].yes[at]),
            )
            for member in genesis.members
        ),
        steps=one.steps,
    )


def _proposal(one: Underway, at: int) -> OpenProposal:
    proposal, outcome = one.opened.nominated.record.proposals[at], one.outcomes[at]
    return OpenProposal(
        position=at,
        namespace=proposal.namespace,
        memory_ids=proposal.memory_ids,
        kind=proposal.kind,
        proposed_because=proposal.reason,
        yes=len(outcome.yes),
        quorum=outcome.votes,
        weight_ppm=outcome.weight_ppm,
        needed_ppm=outcome.needed_ppm,
    )


def _steps(codec: Codec, epoch: Opened, heard: Sequence[Heard]) -> tuple[OpenStep, ...]:
    """The phases on proposals of this nomination, each member's first of a view, in the order in which they were
    sent."""
    proposed, found = set[bytes](), dict[tuple[str, int, int], OpenStep]()
    for kind, name in STEPS.items():
        for one in heard:
            if one.kind is not kind:
                continue
            try:
                record: Any = open_signed(codec, epoch.genesis, one.data, kind)[1]
            except BadMessage:
                continue
            if kind is PrePrepare:
                if record.nomination != epoch.nominated.data:
                    continue
                proposed.add(proposal_digest(record))
            elif record.digest not in proposed:
                continue
            found.setdefault((name, record.view, record.member), OpenStep(name, record.member, record.view, one.at))
    return tuple(sorted(found.values(), key=lambda step: step.at))
