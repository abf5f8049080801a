"""The terms of a member's opinions on proposals, from its own view alone (SPEC A, Alg. 3; SPEC B, Alg. 13)."""

from __future__ import annotations

from collections.abc import Sequence

from memquorum.core.contained import Failed, attempt
from memquorum.core.policy import Policy
from memquorum.core.reading.conflict import between
from memquorum.core.records import Proposal
from memquorum.core.vote.evidence import RULES
from memquorum.core.vote.grounds import Grounds, MemberContext, MemoryFacts, later, names, refills
from memquorum.core.vote.kinds.kind import Case, Kind, Terms, Together

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
    """Returns the terms of a member's opinions, in the order of `asked`; all at once, as one vectorised call is far
    cheaper.

    A member votes the strongest possible 'no' where it lacks knowledge, so that ignorance never deletes and never
    promotes: it does not know one of the memories, cannot open its embedding or has read it in another namespace, or
    its rules fail on a text. So it does where the namespace bars the kind.

    `context` is that of the proposals' namespace; `as_of` that of the nomination, not negative. `claimed`: the claims
    that the member has voted yes to in this nomination so far, in this namespace; new ones are added to it.
    """
    if kind.barred(context.namespace, policy) is not None:
        return [kind.abstain(as_of)] * len(asked)
    places = [at for at, (proposal, facts) in enumerate(asked) if _same(kind, facts, proposal, context)]
    known = [facts for _, facts in map(asked.__getitem__, places) if facts is not None]
    terms = [kind.abstain(as_of)] * len(asked)
    if known:
        for at, found in zip(places, _contained(kind, known, Case(context, as_of, policy, grounds)), strict=True):
            terms[at] = terms[at] if found is None else found
    if kind.claims:
        _claim_once(kind, asked, terms, [] if claimed is None else claimed, context=context, as_of=as_of, policy=policy)
    return terms


def _contained(kind: Kind, known: Sequence[Together], case: Case) -> Sequence[Terms | None]:
    """Returns the terms of the kind's judge; None for a proposal on whose texts its rules
    fail. Each opinion depends on its own proposal alone, so the others are judged again one by one with the same
    result."""
    rule = f"vote to {kind.name}"
    every = attempt(rule, (), kind.judge, known, case)
    if not isinstance(every, Failed):
        return every
    found = list[Terms | None]()
    for facts in known:
        names = [one.memory_id for one in facts]
        alone = case.context.failures.answer(rule, names, None, kind.judge, [facts], case)
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
    """Withdraws the yes to all but one of several claims that contradict each other (SPEC B, P40): the claim with the
    best score stays, then the latest. Two quorums have an honest member in common, so at most one such claim of a
    nomination is decided.

    A contradiction inferred from words delays a promotion by `promote.disputed_ms` and no more; otherwise an agent
    could block a promotion for ever by contradicting it in every epoch. A replacement on purpose has no such limit.
    """
    scores = [kind.score(one, policy) for one in terms]
    for_it = [(at, facts[0]) for at, (_, facts) in enumerate(asked) if facts and kind.yes(scores[at], policy)]
    for at, claim in sorted(for_it, key=lambda one: (-scores[one[0]], *(-at for at in one[1].said))):
        young = not kind.supersedes and as_of - claim.created < policy.promote.disputed_ms
        inferred = policy.supersede.inferred or young
        # A claim on which the rule fails may contradict another: the member does not vote yes.
        rule, names = f"claims of a vote to {kind.name}", [claim.memory_id, *(one.memory_id for one in claimed)]
        otherwise = context.failures.answer(rule, names, True, _contradicts_any, claim, claimed, context, inferred)
        if otherwise:
            terms[at] = kind.yields(as_of)
        else:
            claimed.append(claim)


def _contradicts_any(
    claim: MemoryFacts, claimed: Sequence[MemoryFacts], context: MemberContext, inferred: bool
) -> bool:
    return any(_contradict(claim, one, context, inferred=inferred) for one in claimed)


def _contradict(a: MemoryFacts, b: MemoryFacts, context: MemberContext, *, inferred: bool) -> bool:
    """True if one of two memories replaces the other on purpose, or, where `inferred` counts, contradicts it by the
    rules."""
    newer, older = (a, b) if later(a, b) else (b, a)
    if refills(newer, older) or names(newer, older):
        return True
    if not inferred:
        return False
    return between(context.claims(older), context.claims(newer), same_agent=a.agent == b.agent) is not None


def _same(kind: Kind, facts: Together | None, proposal: Proposal, context: MemberContext) -> bool:
    """True if facts and context are those of the proposal's memories and namespace, with embeddings where the kind
    needs them."""
    return (
        facts is not None
        and tuple(one.memory_id for one in facts) == proposal.memory_ids
        and all(one.namespace == proposal.namespace == context.namespace for one in facts)
        and (not kind.reads or all(one.vector is not None for one in facts))
    )
