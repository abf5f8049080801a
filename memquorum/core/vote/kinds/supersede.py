"""The votes to let a newer memory take the place of older ones that it contradicts (SPEC B, 8.3): `supersede` of what
is in short-term memory, `overrule` of what was promoted. A proposal names the challenger first, then what it
contradicts.

A member is for it only where the later memory takes the place on purpose: it fills the slot of the other, or names it.
That a contradiction follows from the words alone, by the rules of `text.conflict` or by a model, is no ground: it is
marked, and ordered when it is read. Where the policy says so (`supersede.inferred`), it is a ground too.

Of another agent's memory, whose slot it does not fill, somebody else has to have said the same as the later one. For
that is a matter of who says it: words that claim to correct something, and a source that is claimed, are no support.

A member judges from what it read itself: the slots, the names, who said it again, and what its own agents' late
episodes say. Its score is the challenger's share of that evidence; at least 0.9 where the agent or the source of the
older text itself corrects it. Of two memories at most one can be the later, so no member is for both sides. A summary
is not superseded: with the sentence that is wrong all others would go. Where it is against it, it says why: `ground`.

A yes weighs as much as its score: Σ score · voice of those who are for it has to reach ½ of *all* voices, and to
overrule κ/(1+κ) of them (`supersede.kappa`, 1.2). Who is silent counts for the incumbent. So leaving ballots out can
only delay it. What is superseded is served no more, its key is kept, and another vote can restore it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from memquorum.core.merging import apart
from memquorum.core.policy import PPM, Policy, share
from memquorum.core.text.conflict import between, comparable
from memquorum.core.text.sameness import same
from memquorum.core.tiers import LONG_TERM, SHORT_TERM, SUPERSEDED
from memquorum.core.vote.grounds import NEAR, Grounds, MemberContext, MemoryFacts, cosines, later, names, refills
from memquorum.core.vote.kinds.forget import absent
from memquorum.core.vote.kinds.kind import (
    Columns,
    Fate,
    Kind,
    MemoryState,
    Offered,
    Plain,
    Rests,
    Terms,
    Together,
    Words,
    outside,
    within,
)

TAKES = 4
_PINNED, _PROMOTED = "pinned", "promoted since"
_CORRECTED = 900_000
_HALF = PPM // 2
# The evidence for a side: that it was said; that it is the later one, corrects the other, is of the same agent or
# source; each repetition, each late episode of the own agents that says the same; a use since the challenger came; and
# that members agreed to promote it.
_SAID, _LATER, _CUE, _OWN, _REPEATED, _LIKEWISE, _USED, _KEPT = (
    200_000, 200_000, 200_000, 200_000, 100_000, 100_000, 50_000, 300_000,
)  # fmt: skip
_COUNTED = 2
# Why a member is against it, the fifth term; 0 where it finds a ground.
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


def _judge(
    facts: Sequence[Together], context: MemberContext, as_of: int, policy: Policy, grounds: Grounds
) -> Sequence[Terms | None]:
    return [_terms(together, context, 0, policy.supersede.inferred) for together in facts]


def _judge_promoted(
    facts: Sequence[Together], context: MemberContext, as_of: int, policy: Policy, grounds: Grounds
) -> Sequence[Terms | None]:
    return [_terms(together, context, _KEPT, policy.supersede.inferred) for together in facts]


def _terms(together: Together, context: MemberContext, kept: int, inferred: bool) -> Terms | None:
    """The weakest of what it says against each of the others. None where it sees no ground to judge. `inferred`:
    whether a contradiction that follows from the words alone is a ground."""
    newer, *olders = together
    found = [_against(newer, older, context, kept, inferred) for older in olders]
    if not found or any(one is None for one in found):
        return None
    return min((one for one in found if one is not None), key=lambda terms: _score(terms, None))


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
        return _no(_SUMMARY)  # one sentence of it is contradicted, and all the others would go with it
    same_agent = newer.agent == older.agent
    refilled, named = refills(newer, older), names(newer, older)
    finding = between(context.claims(older), context.claims(newer), same_agent=same_agent) if inferred else None
    # "Low water is at 03:12", "Low water is at 15:12"
    beside = finding is not None and (finding.both or apart(newer, older))
    finding = None if beside else finding
    if not refilled and not named:
        if not inferred:
            return _no(_INFERRED)
        if finding is None and not _doubted(newer, older, context):
            return _no(_NONE if not beside else _APART if apart(newer, older) else _BOTH)
    if not (refilled or same_agent or _second(newer, context)):
        return _no(_ALONE)
    # Who names its own memory knows what it meant. Of another's, which no rule finds to be contradicted and which fills
    # another slot, naming it is a claim alone, and so is what a model says.
    vouched = finding is not None or refilled or same_agent
    cue = refilled or (finding is not None and finding.cue) or (named and same_agent)
    own = vouched and (same_agent or (newer.source is not None and newer.source == older.source))
    challenger = _SAID + _LATER * vouched + _CUE * cue + _OWN * own + _support(newer, older, context)
    incumbent = _SAID + kept + _support(older, newer, context) + _USED * (older.last_access > newer.said[0])
    return PPM, PPM * (own and cue), min(PPM, challenger), min(PPM, incumbent), _FOUND


def _second(newer: MemoryFacts, context: MemberContext) -> bool:
    """Whether another agent has said the same, as far as the member knows."""
    return newer.witnessed > 0 or any(
        context.said.get(memory_id, (newer.agent, 0))[0] != newer.agent and _agrees(newer, memory_id, text, context)
        for memory_id, text in _near(newer, context)
    )


def _no(ground: int) -> Terms:
    return 0, 0, 0, 0, ground


def _doubted(newer: MemoryFacts, older: MemoryFacts, context: MemberContext) -> bool:
    """Whether the model that the policy names finds a contradiction of texts that lie near each other."""
    if context.doubts is None or newer.vector is None or older.vector is None or apart(newer, older):
        return False
    if not comparable(context.claims(older), context.claims(newer), same_agent=newer.agent == older.agent):
        return False
    a, b = newer.vector.astype(np.float64), older.vector.astype(np.float64)
    near = len(a) == len(b) and a @ b >= NEAR * np.linalg.norm(a) * np.linalg.norm(b)
    return bool(near) and context.doubts(older.text or "", newer.text or "")


def _support(mine: MemoryFacts, other: MemoryFacts, context: MemberContext) -> int:
    """What speaks for a text: repetitions, and late episodes near it that say the same or deny the other."""
    # A repetition that became one with it counts as such.
    likewise = sum(
        _agrees(mine, memory_id, text, context)
        for memory_id, text in _near(mine, context)
        if memory_id not in context.repeats and memory_id != other.memory_id
    )
    return _REPEATED * min(_COUNTED, mine.reinforced) + _LIKEWISE * min(_COUNTED, likewise)


def _agrees(mine: MemoryFacts, memory_id: str, text: str, context: MemberContext) -> bool:
    """Whether an episode says the same as a memory; not so one on which the rule fails."""
    return context.failures.answer("agreement", [memory_id, mine.memory_id], False, same, text, mine.text or "")


def _near(mine: MemoryFacts, context: MemberContext) -> list[tuple[str, str]]:
    """The late episodes of the member's own agents that lie near a memory, each with its text."""
    values, places = cosines(mine, context)
    near = [places[at] for at, value in enumerate(values.tolist()) if value >= NEAR]
    found = ((context.memory_ids[place], context.texts[place]) for place in near)
    return [(memory_id, text) for memory_id, text in found if text is not None]


def _score(terms: Any, policy: Policy | None) -> Any:
    contradicts, corrects, challenger, incumbent, _ = terms
    both = challenger + incumbent
    part = challenger * PPM // (both + (both == 0))
    raised = (corrects == PPM) & (part < _CORRECTED)
    return (part + (_CORRECTED - part) * raised) * (contradicts // PPM)


def _check(terms: Terms, as_of: int, policy: Policy) -> str | None:
    *shares, ground = terms
    wrong = outside(SUPERSEDE.terms[:-1], shares, flags=2)
    if wrong is None and (not 0 <= ground <= _LAST or (ground == _FOUND) is not (terms[0] == PPM)):
        return f"ground {ground} does not go with contradicts {terms[0]}"
    return wrong


def _sound(terms: Columns, _: int, __: Policy) -> bool:
    ground = terms[-1]
    fits = (ground >= 0) & (ground <= _LAST) & ((ground == _FOUND) == (terms[0] == PPM))
    return bool(fits.all()) and within(terms[:-1], flags=2)


def _void(found: MemoryState, _: int) -> str | None:
    if found.pinned:
        return _PINNED
    return _PROMOTED if found.tier == LONG_TERM else None


def _effect(found: Sequence[MemoryState], _: int | None, __: int, ___: Policy) -> Sequence[Fate | None]:
    return [None, *(Fate(SUPERSEDED) for _ in found[1:])]


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


SUPERSEDE = Kind(
    name="supersede",
    terms=("contradicts", "corrects", "challenger", "incumbent", "ground"),
    widths=(4, 4, 4, 4, 4),
    due=lambda candidate, as_of, policy: None,
    judge=_judge,
    fade=None,
    abstain=lambda as_of: _no(_UNKNOWN),
    yields=lambda as_of: _no(_FOR_ANOTHER),
    check=_check,
    sound=_sound,
    score=_score,
    yes=lambda score, policy: score > _HALF,
    needed=lambda policy: Fraction(1, 2),
    gate=None,
    outcome="superseded",
    words=Words(
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
    ),
    reads=True,
    offered=Offered.CONTESTED,
    takes=TAKES,
    spares=1,
    tiers=frozenset({SHORT_TERM}),
    share=Fraction(1, 8),
    absent=absent,
    void=_void,
    effect=_effect,
    rests=Rests.THROUGH_USE,
    seals=True,
    claims=True,
    weighs_scores=True,
)

OVERRULE = dataclasses.replace(
    SUPERSEDE,
    name="overrule",
    judge=_judge_promoted,
    needed=lambda policy: policy.supersede.kappa / (1 + policy.supersede.kappa),
    words=dataclasses.replace(SUPERSEDE.words, aim="let the newer memory take the place of one that was promoted"),
    tiers=frozenset({LONG_TERM}),
    void=lambda found, _: _PINNED if found.pinned else None,
)
