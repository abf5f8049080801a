"""The terms of a member's opinions on proposals, from its own view alone (SPEC A, Alg. 3; SPEC B, Alg. 13)."""

from __future__ import annotations

from collections.abc import Sequence

from memquorum.core.contained import Failed, attempt
from memquorum.core.policy import Policy
from memquorum.core.records import Proposal
from memquorum.core.text.conflict import between
from memquorum.core.vote.evidence import RULES
from memquorum.core.vote.grounds import Grounds, MemberContext, MemoryFacts, later, names, refills
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
    claimed: list[MemoryFacts] | None = None,
) -> list[Terms]:
    """The terms of a member's opinions; all at once, because numbers side by side cost a fraction of their sum.

    A member that does not know one of the memories, cannot open its embedding, or reads it into another namespace than
    the proposal does says the strongest possible 'no': ignorance never deletes and never promotes.
    So does one whose rules fail on a text of a proposal, of that proposal alone.
    `context` is that of the proposals' namespace; `as_of` that of the nomination, not negative. `claimed`: what the
    member has said yes to of the nomination so far, in this namespace; what it claims here comes to that.
    """
    places = [at for at, (proposal, facts) in enumerate(asked) if _same(kind, facts, proposal, context)]
    known = [facts for _, facts in map(asked.__getitem__, places) if facts is not None]
    terms = [kind.abstain(as_of)] * len(asked)
    if known:
        for at, found in zip(places, _contained(kind, known, context, (as_of, policy, grounds)), strict=True):
            terms[at] = terms[at] if found is None else found
    if kind.claims:
        _claim_once(kind, asked, terms, [] if claimed is None else claimed, context=context, as_of=as_of, policy=policy)
    return terms


def _contained(
    kind: Kind,
    known: Sequence[Together],
    context: MemberContext,
    by: tuple[int, Policy, Grounds],
) -> Sequence[Terms | None]:
    """The terms of the kind's judge by (as_of, policy, grounds); None of a proposal on whose texts its rules fail. Each
    opinion follows from its own proposal alone, so those of the others are the same one by one."""
    rule = f"vote to {kind.name}"
    every = attempt(rule, (), kind.judge, known, context, *by)
    if not isinstance(every, Failed):
        return every
    found = list[Terms | None]()
    for facts in known:
        names = [one.memory_id for one in facts]
        alone = context.failures.answer(rule, names, None, kind.judge, [facts], context, *by)
        found.append(alone[0] if alone else None)
    return found


def _claim_once(
    kind: Kind,
    asked: Sequence[tuple[Proposal, Together | None]],
    terms: list[Terms],
    claimed: list[MemoryFacts],
    *,
    context: MemberContext,
    as_of: int,
    policy: Policy,
) -> None:
    """Takes back the yes to all but one of claims that contradict each other (SPEC B, P40): the best score stays, then
    the latest. Two quorums have an honest member in common, so no two such claims of a nomination are decided.

    A contradiction that was inferred from words delays a promotion, as long as `promote.disputed_ms` says, and no act:
    or whoever says something in every epoch would keep another's memory from ever being promoted.
    """
    scores = [kind.score(one, policy) for one in terms]
    for_it = [(at, facts[0]) for at, (_, facts) in enumerate(asked) if facts and kind.yes(scores[at], policy)]
    for at, claim in sorted(for_it, key=lambda one: (-scores[one[0]], *(-at for at in one[1].said))):
        young = not kind.supersedes and as_of - claim.created < policy.promote.disputed_ms
        inferred = policy.supersede.inferred or young
        # Whether it contradicts what a rule fails on nobody knows: no yes is said to it.
        rule, names = f"claims of a vote to {kind.name}", [claim.memory_id, *(one.memory_id for one in claimed)]
        otherwise = context.failures.answer(rule, names, True, _contradicts_any, claim, claimed, context, inferred)
        if otherwise:
            terms[at] = (kind.yields or kind.abstain)(as_of)
        else:
            claimed.append(claim)


def _contradicts_any(
    claim: MemoryFacts, claimed: Sequence[MemoryFacts], context: MemberContext, inferred: bool
) -> bool:
    return any(_contradict(claim, one, context, inferred=inferred) for one in claimed)


def _contradict(a: MemoryFacts, b: MemoryFacts, context: MemberContext, *, inferred: bool) -> bool:
    """Whether one of two memories takes the other's place on purpose, or, if what is `inferred` counts, says otherwise
    by the rules."""
    newer, older = (a, b) if later(a, b) else (b, a)
    if refills(newer, older) or names(newer, older):
        return True
    if not inferred:
        return False
    return between(context.claims(older), context.claims(newer), same_agent=a.agent == b.agent) is not None


def _same(kind: Kind, facts: Together | None, proposal: Proposal, context: MemberContext) -> bool:
    """Whether facts and context speak of what the proposal speaks of, and there are embeddings where the kind looks at
    them."""
    return (
        facts is not None
        and tuple(one.memory_id for one in facts) == proposal.memory_ids
        and all(one.namespace == proposal.namespace == context.namespace for one in facts)
        and (kind.stands or all(one.vector is not None for one in facts))
    )
