"""The outcome of an epoch: a pure function of the members, the nomination and the ballots (DESIGN 11; SPEC A and B).

A proposal is decided iff

1. at least q distinct members say yes, q = ⌈(N+f+1)/2⌉: then at least f+1 of them are honest;
2. their voices reach the kind's share of *all* voices: Σ_yes w·c ≥ α·Σ w·c, the sum on the right over every configured
   member, voting or not (SPEC A, decision 0);
3. the kind's own gate holds (promote: SPEC B's validity gate, on q-th highest values).

Otherwise the memory is kept. Adding ballots can make all three true, never false: whoever picks the ballots of a
certificate can delay a deletion, and cannot cause one. Everything is integers and exact fractions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from memquorum.core.ballots.kinds import KINDS, Kind
from memquorum.core.consensus.membership import Genesis
from memquorum.core.records import BallotCast, NominationProposed, Opinion, Proposal

# Why a proposal is kept that never came to its kind's gate; the gate's own reasons stand in `kinds`.
TOO_FEW = "too_few_votes"
TOO_LIGHT = "too_little_weight"
KEPT = "kept"


@dataclass(frozen=True, slots=True)
class Outcome:
    """One proposal's end.

    `outcome`: the kind's word where it is decided ('forgotten', 'promoted'), else 'kept'; `reason`: a reason code.
    `yes`: the members for it, by id; `votes`: how many decide. `weight_ppm`: their voices, Σ w·c in millionths;
    `needed_ppm`: how many decide. `confidence_ppm`: consolidated confidence, where the kind has one and it was reached.
    """

    memory_id: str
    kind: str
    decided: bool
    outcome: str
    reason: str
    yes: tuple[int, ...]
    votes: int
    weight_ppm: int
    needed_ppm: int
    confidence_ppm: int | None


def tally(genesis: Genesis, nomination: NominationProposed, ballots: Sequence[BallotCast]) -> tuple[Outcome, ...]:
    """What the ballots decide, in the order of the proposals.

    The ballots are of distinct members, on this nomination, one opinion per proposal: `certificate` checks that.
    Raises ValueError where it does not hold, because a vote counted twice could delete a memory.
    """
    members = [b.member for b in ballots]
    if len(set(members)) != len(members) or any(genesis.member(m) is None for m in members):
        raise ValueError(f"ballots of members {members} are not of distinct members of {genesis.n}")
    if any(len(b.opinions) != len(nomination.proposals) for b in ballots):
        raise ValueError("a ballot has not one opinion per proposal")
    needed = {name: needed_ppm(genesis, kind) for name, kind in KINDS.items()}
    voices = {member.id: member.voice for member in genesis.members}
    said = zip(nomination.proposals, *(b.opinions for b in ballots), strict=True)
    votes, found = genesis.quorum, []
    for proposal, *opinions in said:
        yes = {member: opinion for member, opinion in zip(members, opinions, strict=True) if opinion.yes}
        found.append(_outcome(genesis, proposal, yes, voices, votes=votes, needed=needed[proposal.kind]))
    return tuple(found)


def needed_ppm(genesis: Genesis, kind: Kind) -> int:
    """The weighted quorum of a kind: ⌈share · Σ w·c⌉ over all members; voices are integers, so rounding up is exact."""
    share = kind.needed(genesis.policy)
    return -(-share.numerator * genesis.voice // share.denominator)


def _outcome(
    genesis: Genesis,
    proposal: Proposal,
    yes: Mapping[int, Opinion],
    voices: Mapping[int, int],
    *,
    votes: int,
    needed: int,
) -> Outcome:
    """`yes`: the opinions for it, by member; `voices`: of all members, by id; `votes`, `needed`: what decides."""
    kind = KINDS[proposal.kind]
    weight = sum([voices[member] for member in yes])
    decided, reason, confidence = False, TOO_LIGHT, None
    if len(yes) < votes:
        reason = TOO_FEW
    elif weight >= needed:
        verdict = kind.gate(tuple(yes.values()), votes, genesis.policy)
        decided, reason, confidence = verdict.passed, verdict.reason, verdict.confidence_ppm
    return Outcome(
        memory_id=proposal.memory_id,
        kind=proposal.kind,
        decided=decided,
        outcome=kind.outcome if decided else KEPT,
        reason=reason,
        yes=tuple(sorted(yes)),
        votes=votes,
        weight_ppm=weight,
        needed_ppm=needed,
        confidence_ppm=confidence,
    )
