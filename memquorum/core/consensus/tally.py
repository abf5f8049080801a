"""The outcome of an epoch: a pure function of the members, the nomination and the ballots (DESIGN 11; SPEC A and B).

A proposal is decided iff

1. at least q distinct members say yes, q = ⌈(N+f+1)/2⌉: then at least f+1 of them are honest;
2. their voices reach the kind's share of *all* voices: Σ_yes w·c ≥ α·Σ w·c, the sum on the right over every configured
   member, voting or not (SPEC A, decision 0);
3. the kind's own gate holds, on the consolidated confidence: the q-th highest score among the yes ballots.

Otherwise the memory is kept. Adding ballots can make all three true, never false: whoever picks the ballots of a
certificate can delay a deletion, and cannot cause one. Everything is integers and exact fractions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memquorum.core import kinds
from memquorum.core.consensus.membership import Genesis
from memquorum.core.records import BallotCast, NominationProposed, Proposal

# Why a proposal ended as it did.
QUORUM = "quorum"
TOO_FEW = "too_few_votes"
TOO_LIGHT = "too_little_weight"
TOO_UNSURE = "too_little_confidence"


@dataclass(frozen=True, slots=True)
class Outcome:
    """One proposal's end.

    `yes`: the members for it, by id. `weight_ppm`: their voices, w·c in millionths; `needed_ppm`: the least that
    decides. `votes` is len(yes)'s threshold. `confidence_ppm`: the q-th highest yes score, None where there are fewer.
    """

    memory_id: str
    kind: str
    decided: bool
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
    if len(set(members)) != len(members) or not all(0 <= m < genesis.n for m in members):
        raise ValueError(f"ballots of members {members} are not of distinct members of {genesis.n}")
    if any(len(b.opinions) != len(nomination.proposals) for b in ballots):
        raise ValueError("a ballot has not one opinion per proposal")
    return tuple(_outcome(genesis, proposal, at, ballots) for at, proposal in enumerate(nomination.proposals))


def _outcome(genesis: Genesis, proposal: Proposal, at: int, ballots: Sequence[BallotCast]) -> Outcome:
    kind = kinds.KINDS[proposal.kind]
    yes = sorted((b.member, b.opinions[at].score_ppm) for b in ballots if b.opinions[at].yes)
    votes, needed = genesis.quorum, needed_ppm(genesis, proposal.kind)
    weight = sum(genesis.members[member].voice for member, _ in yes)
    scores = sorted((score for _, score in yes), reverse=True)
    confidence = scores[votes - 1] if len(scores) >= votes else None
    if confidence is None:
        reason = TOO_FEW
    elif weight < needed:
        reason = TOO_LIGHT
    elif not kind.gate(genesis.policy, confidence):
        reason = TOO_UNSURE
    else:
        reason = QUORUM
    return Outcome(
        memory_id=proposal.memory_id,
        kind=proposal.kind,
        decided=reason == QUORUM,
        reason=reason,
        yes=tuple(member for member, _ in yes),
        votes=votes,
        weight_ppm=weight,
        needed_ppm=needed,
        confidence_ppm=confidence,
    )


def needed_ppm(genesis: Genesis, kind: str) -> int:
    """The weighted quorum of a kind: ⌈share · Σ w·c⌉ over all members; voices are integers, so rounding up is exact."""
    share = kinds.KINDS[kind].share(genesis.policy)
    return -(-share.numerator * genesis.voice // share.denominator)
