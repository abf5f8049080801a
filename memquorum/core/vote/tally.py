"""The outcome of an epoch: a pure function of the members, the nomination and the ballots (DESIGN 11; SPEC A and B).

A proposal is decided iff

1. at least q distinct members say yes, q = ⌈(N+f+1)/2⌉, so that at least f+1 of them are honest; for a kind that can be
   undone f+1, so that one is honest;
2. their voices reach the kind's share of *all* voices: Σ_yes w·c ≥ α·Σ w·c, the sum on the right over every configured
   member, voting or not (SPEC A, decision 0); for a kind that weighs scores, each voice times its score: Σ_yes s·w·c;
3. the kind's own gate holds (promote: SPEC B's validity gate, on q-th highest values).

Otherwise the memory is kept; with the reason 'contradicted' where members with half of all weight found that of a
memory to promote (SPEC B's REJECTED_CONTRADICTED; its INSUFFICIENT_VOTES are the other reasons). More ballots can make
all three conditions true, never false: a primary that selects the ballots of a certificate can delay a deletion, and
cannot cause one. All numbers are integers and exact fractions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import repeat

from msgspec import Struct

from memquorum.core.identity.membership import Genesis
from memquorum.core.policy import PPM
from memquorum.core.records import NominationProposed
from memquorum.core.vote.columns import Ballot
from memquorum.core.vote.kinds import KINDS
from memquorum.core.vote.kinds.kind import Kind

# The reasons of a decision without a gate, and of a proposal kept before its gate; the gates' own reasons stand in
# `kinds`.
ENOUGH = "quorum"
TOO_FEW = "too_few_votes"
TOO_LIGHT = "too_little_weight"
CONTRADICTED = "contradicted"
KEPT = "kept"


class Outcome(Struct, frozen=True):
    """The outcome of one proposal.

    `outcome`: the kind's word where it is decided ('forgotten', 'promoted'), else 'kept'; `reason`: a reason code.
    `yes`: the members that voted yes, by id; `votes`: how many are needed. `weight_ppm`: their voices, Σ w·c in
    millionths; `needed_ppm`: the weight that is needed. `confidence_ppm`: consolidated confidence, where the kind has
    one and the gate was reached.
    """

    memory_ids: tuple[str, ...]
    kind: str
    decided: bool
    outcome: str
    reason: str
    yes: tuple[int, ...]
    votes: int
    weight_ppm: int
    needed_ppm: int
    confidence_ppm: int | None


def tally(genesis: Genesis, nomination: NominationProposed, ballots: Sequence[Ballot]) -> tuple[Outcome, ...]:
    """Counts the ballots; returns the outcomes in the order of the proposals.

    The ballots have to be of distinct members, on this nomination, with one opinion per proposal: `certificate` checks
    that. Raises ValueError where they are not, because a vote counted twice could delete a memory.
    """
    members = [b.member for b in ballots]
    if len(set(members)) != len(members) or any(genesis.member(m) is None for m in members):
        raise ValueError(f"the ballots are of members {members}; they have to be of distinct members among {genesis.n}")
    if any(len(b.yes) != len(nomination.proposals) for b in ballots):
        raise ValueError("a ballot needs exactly one opinion for each proposal")
    # The votes on a proposal, one byte of each ballot. Most proposals of an epoch have the same votes, counted once.
    said = zip(*(b.yes for b in ballots), strict=True) if ballots else repeat((), len(nomination.proposals))
    counts: dict[tuple[str, tuple[int, ...], int], _Count] = {}
    found = []
    for at, (proposal, votes) in enumerate(zip(nomination.proposals, said, strict=True)):
        kind = KINDS[proposal.kind]
        needed = needed_ppm(genesis, kind, proposal.namespace)
        count = None if kind.weighs_scores else counts.get((proposal.kind, votes, needed))
        if count is None:
            yes = tuple(sorted(member for member, vote in zip(members, votes, strict=True) if vote))
            scores = {b.member: b.opinions[at].score_ppm for b in ballots} if kind.weighs_scores else {}
            votes_needed = kind.votes(genesis.quorum, genesis.f)
            count = _count(genesis, kind, yes, votes=votes_needed, needed=needed, scores=scores)
            counts[proposal.kind, votes, needed] = count
        found.append(_outcome(genesis, nomination, count, at, ballots))
    return tuple(found)


def needed_ppm(genesis: Genesis, kind: Kind, namespace: str = "") -> int:
    """Returns the weighted quorum of a kind: ⌈share · Σ w·c⌉ over all members; voices are integers, so rounding up is
    exact."""
    share = kind.needed(genesis.policy, namespace)
    return -(-share.numerator * genesis.voice // share.denominator)


class _Count(Struct, frozen=True):
    """The count of a set of yes-ballots for a kind: whether votes and weight suffice, and if not, which of them is
    missing."""

    kind: Kind
    yes: tuple[int, ...]
    votes: int
    weight: int
    needed: int
    enough: bool
    reason: str


def _count(
    genesis: Genesis, kind: Kind, yes: tuple[int, ...], *, votes: int, needed: int, scores: Mapping[int, int]
) -> _Count:
    """Counts the weight of `yes`, the members that voted yes, by id. `votes`, `needed`: the required number of votes
    and weight; `scores`: of their ballots, where scores count."""
    weight = sum(m.voice * scores.get(m.id, PPM) // PPM for m in genesis.members if m.id in yes)
    enough, reason = False, TOO_LIGHT
    if len(yes) < votes:
        reason = TOO_FEW
    elif weight >= needed:
        enough, reason = True, ENOUGH
    return _Count(kind, yes, votes, weight, needed, enough, reason)


def _outcome(
    genesis: Genesis, nomination: NominationProposed, count: _Count, at: int, ballots: Sequence[Ballot]
) -> Outcome:
    kind, decided, reason, confidence = count.kind, count.enough, count.reason, None
    if not decided and _contradicted(genesis, kind, at, ballots):
        reason = CONTRADICTED
    if decided:
        verdict = kind.gate((b.opinions[at] for b in ballots if b.yes[at]), count.votes, genesis.policy)
        decided, reason, confidence = verdict.passed, verdict.reason, verdict.confidence_ppm
    return Outcome(
        nomination.proposals[at].memory_ids,
        kind.name,
        decided,
        kind.outcome if decided else KEPT,
        reason,
        count.yes,
        count.votes,
        count.weight,
        count.needed,
        confidence,
    )


def _contradicted(genesis: Genesis, kind: Kind, at: int, ballots: Sequence[Ballot]) -> bool:
    """True if members with half of *all* weight vote no because they found the memory contradicted.

    Leaving ballots out can only hide that; liars have less than a third of the weight, so they cannot cause it.
    """
    voices = {member.id: member.voice for member in genesis.members}
    against = kind.against((voices[b.member], b.opinions[at]) for b in ballots if not b.yes[at])
    return 2 * against >= genesis.voice
