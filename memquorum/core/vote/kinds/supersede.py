"""The votes to let a newer memory replace older ones that it contradicts (SPEC B, 8.3): `supersede` for short-term
memories, `overrule` for promoted ones. A proposal names the newer memory (the challenger) first, then the older ones
(the incumbents).

A member votes yes only where the later memory replaces the older one on purpose: it fills the same slot, or names it. A
contradiction that is inferred from the words alone, by the rules of `reading.conflict` or by a model, is no ground: it
is marked, and decides the order of search hits. With `supersede.inferred` it is a ground too.

If the older memory is another agent's and its slot is not filled, a third party has to have said the same as the later
one. Only the speaker counts for that: words that claim a correction, and a claimed source, are no support.

A member judges by what it read itself: the slots, the names, the agents that repeated it, and its own agents' late
episodes. Its score is the challenger's share of the evidence; at least 0.9 where the agent or the source of the older
text itself corrects it. At most one of two memories is the later, so no member votes for both sides. A summary is not
superseded: its other sentences would go with the wrong one. A member that votes no gives the reason as `ground`.

A yes counts with its score: Σ score · voice of the yes-ballots has to reach ½ of *all* voices, and to overrule κ/(1+κ)
of them (`supersede.kappa`, 1.2). A silent member counts for the incumbent, so leaving ballots out can only delay the
decision. A superseded memory is no longer served; its key is kept, and another vote can restore it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from fractions import Fraction
from types import MappingProxyType
from typing import Any

from memquorum.core.late_numpy import np
from memquorum.core.merging import slots_differ
from memquorum.core.policy import PPM, Policy, share
from memquorum.core.reading.conflict import between, comparable
from memquorum.core.reading.sameness import same
from memquorum.core.tiers import LONG_TERM, SHORT_TERM, SUPERSEDED
from memquorum.core.vote.grounds import NEAR, MemberContext, MemoryFacts, cosines, later, names, refills
from memquorum.core.vote.kinds.families import Replace
from memquorum.core.vote.kinds.kind import Case, Columns, Fate, Fates, MemoryState, Plain, Term, Terms, Together, Words

TAKES = 4
_PINNED, _PROMOTED = "pinned", "promoted since"
_CORRECTED = 900_000
_HALF = PPM // 2
# The evidence for a side: that it was said; that it is the later one, corrects the other, is of the same agent or
# source; each repetition; each late episode of the member's own agents that says the same; a use since the challenger
# was said; and its promotion.
_SAID, _LATER, _CUE, _OWN, _REPEATED, _LIKEWISE, _USED, _KEPT = (
    200_000, 200_000, 200_000, 200_000, 100_000, 100_000, 50_000, 300_000,
)  # fmt: skip
_COUNTED = 2
# The reasons of a no, the fifth term; 0 where the evidence was compared.
_FOUND, _UNKNOWN, _EARLIER, _SUMMARY, _APART, _BOTH, _NONE, _FOR_ANOTHER, _INFERRED, _ALONE = range(10)
_REASONS = {
    _UNKNOWN: "does not know both",
    _EARLIER: "the one that is to go is the later one",
    _SUMMARY: "the older one is a summary, of which one sentence may be wrong",
    _APART: "the two are kept under different keys",
    _BOTH: "another time of the day or week, of what may come more than once",
    _NONE: "finds no contradiction",
    _FOR_ANOTHER: "is for another claim that says otherwise than the newer",
    _INFERRED: "a contradiction that follows from the words alone takes nothing: the newer one neither names the older "
    "nor fills its slot",
    _ALONE: "the older one is another agent's, and nobody else has said what the newer one says",
}
_PLAINLY = {
    _UNKNOWN: "they do not know both",
    _NONE: "they find no contradiction",
    _FOR_ANOTHER: "they are for another memory that says otherwise than the newer",
    _INFERRED: "the newer one neither names the older nor was saved under the same key, and words alone take nothing "
    "away",
}
_LAST = max(_REASONS)


def _terms(together: Together, context: MemberContext, kept: int, inferred: bool) -> Terms | None:
    """Returns the weakest terms of the newer memory against each of the older ones; None where it cannot judge.
    `inferred`: whether a contradiction that follows from the words alone is a ground."""
    newer, *olders = together
    found = [_against(newer, older, context, kept, inferred) for older in olders]
    if not found or any(one is None for one in found):
        return None
    return min((one for one in found if one is not None), key=_share)


def _against(
    newer: MemoryFacts,
    older: MemoryFacts,
    context: MemberContext,
    kept: int,
    inferred: bool,
) -> Terms | None:
    if newer.text is None or older.text is None:
        return None
    if not later(newer, older):
        return _no(_EARLIER)
    if older.summary is not None:
        return _no(_SUMMARY)  # only one sentence of it is contradicted, and all would go
    same_agent = newer.agent == older.agent
    refilled, named = refills(newer, older), names(newer, older)
    finding = between(context.claims(older), context.claims(newer), same_agent=same_agent) if inferred else None
    # The two may both hold: "Low water is at 03:12", "Low water is at 15:12".
    beside = finding is not None and (finding.both or slots_differ(newer, older))
    finding = None if beside else finding
    if not refilled and not named:
        if not inferred:
            return _no(_INFERRED)
        if finding is None and not _doubted(newer, older, context):
            return _no(_NONE if not beside else _APART if slots_differ(newer, older) else _BOTH)
    if not (refilled or same_agent or _second(newer, context)):
        return _no(_ALONE)
    # An agent that names its own memory knows what it meant. To name another agent's, if no rule finds a contradiction
    # and the slot differs, is only a claim, and so is a model's finding.
    vouched = finding is not None or refilled or same_agent
    cue = refilled or (finding is not None and finding.cue) or (named and same_agent)
    own = vouched and (same_agent or (newer.source is not None and newer.source == older.source))
    challenger = _SAID + _LATER * vouched + _CUE * cue + _OWN * own + _support(newer, older, context)
    incumbent = _SAID + kept + _support(older, newer, context) + _USED * (older.last_access > newer.said[0])
    return PPM, PPM * (own and cue), min(PPM, challenger), min(PPM, incumbent), _FOUND


def _second(newer: MemoryFacts, context: MemberContext) -> bool:
    """True if another agent has said the same, as far as the member knows."""
    return newer.witnessed > 0 or any(
        context.said.get(memory_id, (newer.agent, 0))[0] != newer.agent and _agrees(newer, memory_id, text, context)
        for memory_id, text in _near(newer, context)
    )


def _no(ground: int) -> Terms:
    return 0, 0, 0, 0, ground


def _doubted(newer: MemoryFacts, older: MemoryFacts, context: MemberContext) -> bool:
    """True if the model that the policy names finds a contradiction between two texts whose embeddings are near."""
    if context.doubts is None or newer.vector is None or older.vector is None or slots_differ(newer, older):
        return False
    if not comparable(context.claims(older), context.claims(newer), same_agent=newer.agent == older.agent):
        return False
    a, b = newer.vector.astype(np.float64), older.vector.astype(np.float64)
    near = len(a) == len(b) and a @ b >= NEAR * np.linalg.norm(a) * np.linalg.norm(b)
    return bool(near) and context.doubts(older.text or "", newer.text or "")


def _support(mine: MemoryFacts, other: MemoryFacts, context: MemberContext) -> int:
    """Returns the evidence for a text: its repetitions, and the late episodes near it that say the same."""
    # A repetition that was merged into the memory is counted by `reinforced`.
    likewise = sum(
        _agrees(mine, memory_id, text, context)
        for memory_id, text in _near(mine, context)
        if memory_id not in context.repeats and memory_id != other.memory_id
    )
    return _REPEATED * min(_COUNTED, mine.reinforced) + _LIKEWISE * min(_COUNTED, likewise)


def _agrees(mine: MemoryFacts, memory_id: str, text: str, context: MemberContext) -> bool:
    """True if an episode says the same as a memory; False where the rule fails on one."""
    return context.failures.answer("agreement", [memory_id, mine.memory_id], False, same, text, mine.text or "")


def _near(mine: MemoryFacts, context: MemberContext) -> list[tuple[str, str]]:
    """Returns the late episodes of the member's own agents near a memory, each with its text."""
    values, places = cosines(mine, context)
    near = [places[at] for at, value in enumerate(values.tolist()) if value >= NEAR]
    found = ((context.memory_ids[place], context.texts[place]) for place in near)
    return [(memory_id, text) for memory_id, text in found if text is not None]


def _share(terms: Any) -> Any:
    """Returns the challenger's share of the evidence; 0 without a contradiction."""
    contradicts, corrects, challenger, incumbent, _ = terms
    both = challenger + incumbent
    part = challenger * PPM // (both + (both == 0))
    raised = (corrects == PPM) & (part < _CORRECTED)
    return (part + (_CORRECTED - part) * raised) * (contradicts // PPM)


def _found(terms: Mapping[str, int], yes: bool, _: Policy) -> str:
    if not terms["contradicts"]:
        return _PLAINLY.get(terms["ground"]) or _REASONS.get(terms["ground"], "they find no contradiction")
    if yes and terms["corrects"]:
        return "who said the older one corrects it with the newer"
    return "more speaks for the newer one" if yes else "as much speaks for the older one as for the newer"


def _in_words(terms: Mapping[str, int], yes: bool, score_ppm: int, policy: Policy) -> str:
    if not terms["contradicts"]:
        return f"{_REASONS[terms['ground']]}: both stay"
    told = f"evidence for the newer {share(terms['challenger'])}, for the older {share(terms['incumbent'])}"
    told += f"; who said the older corrects it, which counts {share(_CORRECTED)} at least" if terms["corrects"] else ""
    return f"{told}: score {share(score_ppm)} {'> 0.5: the newer takes its place' if yes else '≤ 0.5: both stay'}"


class _Supersede(Replace):
    name = "supersede"
    terms = MappingProxyType(
        {
            "contradicts": Term.FLAG,
            "corrects": Term.FLAG,
            "challenger": Term.SHARE,
            "incumbent": Term.SHARE,
            "ground": Term.CODE,
        }
    )
    outcome = "superseded"
    words = Words(
        aim="let the newer memory take the place of the older",
        proposed={"contradicted": "because one says otherwise than the other"},
        why={
            _PINNED: "it is pinned, or needed by a goal",
            _PROMOTED: "it was promoted meanwhile, and takes a vote to overrule",
        },
        opinion=_in_words,
        plain=Plain(
            asked="letting the newer memory take the place of the older",
            agreed="the newer memory takes the place of the older",
            proposed={"contradicted": "one says otherwise than the other"},
            because=_found,
        ),
        question="The newer one is {first}; the vote was whether it takes the place of {others}",
    )
    tiers = frozenset({SHORT_TERM})
    share = Fraction(1, 8)
    takes = TAKES

    def judge(self, facts: Sequence[Together], case: Case) -> Sequence[Terms | None]:
        return [_terms(together, case.context, 0, case.policy.supersede.inferred) for together in facts]

    def abstain(self, as_of: int) -> Terms:
        return _no(_UNKNOWN)

    def yields(self, as_of: int) -> Terms:
        return _no(_FOR_ANOTHER)

    def check(self, terms: Terms, as_of: int, policy: Policy) -> str | None:
        *_, ground = terms
        wrong = super().check(terms, as_of, policy)
        if wrong is None and (not 0 <= ground <= _LAST or (ground == _FOUND) is not (terms[0] == PPM)):
            return f"ground {ground} does not go with contradicts {terms[0]}"
        return wrong

    def sound(self, terms: Columns, as_of: int, policy: Policy) -> bool:
        ground = terms[-1]
        fits = (ground >= 0) & (ground <= _LAST) & ((ground == _FOUND) == (terms[0] == PPM))
        return bool(fits.all()) and super().sound(terms, as_of, policy)

    def score(self, terms: Any, policy: Policy) -> Any:
        return _share(terms)

    def yes(self, score: Any, policy: Policy) -> Any:
        return score > _HALF

    def needed(self, policy: Policy, namespace: str = "") -> Fraction:
        return Fraction(1, 2)

    def void(self, found: MemoryState, nominated_at: int) -> str | None:
        if found.pinned:
            return _PINNED
        return _PROMOTED if found.tier == LONG_TERM else None

    def effect(self, found: Sequence[MemoryState], confidence_ppm: int | None, as_of: int, policy: Policy) -> Fates:
        return [None, *(Fate(SUPERSEDED) for _ in found[1:])]


class _Overrule(_Supersede):
    name = "overrule"
    words = dataclasses.replace(_Supersede.words, aim="let the newer memory take the place of one that was promoted")
    tiers = frozenset({LONG_TERM})

    def judge(self, facts: Sequence[Together], case: Case) -> Sequence[Terms | None]:
        return [_terms(together, case.context, _KEPT, case.policy.supersede.inferred) for together in facts]

    def needed(self, policy: Policy, namespace: str = "") -> Fraction:
        return policy.supersede.kappa / (1 + policy.supersede.kappa)

    def void(self, found: MemoryState, nominated_at: int) -> str | None:
        return _PINNED if found.pinned else None


SUPERSEDE = _Supersede()
OVERRULE = _Overrule()
