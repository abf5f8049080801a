"""The terms of a member's opinions on proposals, from its own view alone (SPEC A, Alg. 3; SPEC B, Alg. 13)."""

from __future__ import annotations

from collections.abc import Sequence

from memquorum.core.policy import Policy
from memquorum.core.records import Proposal
from memquorum.core.vote.evidence import RULES
from memquorum.core.vote.grounds import Grounds, MemberContext, MemoryFacts
from memquorum.core.vote.kinds.kind import Kind, Terms, Together

__all__ = ["MemberContext", "MemoryFacts", "judged"]


def judged(
    kind: Kind,
    asked: Sequence[tuple[Proposal, Together | None]],
    context: MemberContext,
    *,
    as_of: int,
    policy: Policy,
    grounds: Grounds = RULES,
) -> list[Terms]:
    """The terms of a member's opinions; all at once, because numbers side by side cost a fraction of their sum.

    A member that does not know one of the memories, cannot open its embedding, or reads it into another namespace than
    the proposal does says the strongest possible 'no': ignorance never deletes and never promotes.
    `context` is that of the proposals' namespace; `as_of` that of the nomination, not negative.
    """
    places = [at for at, (proposal, facts) in enumerate(asked) if _same(facts, proposal, context)]
    known = [facts for _, facts in map(asked.__getitem__, places) if facts is not None]
    terms = [kind.abstain(as_of)] * len(asked)
    if known:
        for at, found in zip(places, kind.judge(known, context, as_of, policy, grounds), strict=True):
            terms[at] = terms[at] if found is None else found
    return terms


def _same(facts: Together | None, proposal: Proposal, context: MemberContext) -> bool:
    """Whether facts and context speak of what the proposal speaks of, and there are embeddings to judge by."""
    return (
        facts is not None
        and tuple(one.memory_id for one in facts) == proposal.memory_ids
        and all(one.vector is not None and one.namespace == proposal.namespace == context.namespace for one in facts)
    )
