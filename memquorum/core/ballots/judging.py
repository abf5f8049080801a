"""A member's opinion on one proposal, from its own view alone (DESIGN 11; SPEC A, Alg. 3; SPEC B, Alg. 13)."""

from __future__ import annotations

from memquorum.core.ballots.evidence import RULES, Evidence, MemberContext, MemoryFacts
from memquorum.core.ballots.kinds import Kind
from memquorum.core.policy import Policy
from memquorum.core.records import Opinion, Proposal

__all__ = ["MemberContext", "MemoryFacts", "opinion"]


def opinion(
    kind: Kind,
    proposal: Proposal,
    facts: MemoryFacts | None,
    context: MemberContext,
    *,
    as_of: int,
    policy: Policy,
    evidence: Evidence = RULES,
) -> Opinion:
    """What this member thinks of the proposal. Always passes `kinds.check_opinion`.

    A member that does not know the memory, cannot open its embedding, or reads it into another namespace than the
    proposal does says the strongest possible 'no': ignorance never deletes and never promotes.
    `context` is that of the proposal's namespace; `as_of` that of the nomination, not negative.
    """
    terms = None
    if facts is not None and _same(facts, proposal, context):
        terms = kind.judge(facts, context, as_of, policy, evidence)
    if terms is None:
        terms = kind.abstain(as_of)
    score = kind.score(terms, policy)
    return Opinion(yes=kind.yes(score, policy), score_ppm=score, terms=terms)


def _same(facts: MemoryFacts, proposal: Proposal, context: MemberContext) -> bool:
    """Whether facts and context speak of what the proposal speaks of, and there is an embedding to judge by."""
    return (
        facts.vector is not None
        and facts.memory_id == proposal.memory_id
        and facts.namespace == proposal.namespace == context.namespace
    )
