"""The grounds of a vote to promote a memory, by rules and without a model (SPEC B, Alg. 13).

No memory is promoted on its own statement: while a member knows only that it was accepted, bfs is 0.5, grounded 0,
consistency 1, and the score 0.45 at most. Texts that state nothing (small talk, questions) have no grounds, however
often they are repeated.

A memory comes above 0.60 where another agent repeated it, or said much of it in other words near it. For a member whose
own agents said nothing near it, two other ways suffice: it was merged with what another agent said, or its own agent
repeated it and it was read. A text that gives another number, or a negation that the memory lacks, supports nothing,
whether or not the rules call that a contradiction.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType

import numpy as np
from msgspec import Struct

from memquorum.core.policy import PPM
from memquorum.core.reading import conflict
from memquorum.core.reading.conflict import Claims
from memquorum.core.vote.grounds import (
    NEAR,
    Around,
    Grounds,
    Heard,
    MemberContext,
    MemoryFacts,
    cosines,
    to_ppm,
)

Disputes = Callable[[Claims, Claims, bool], bool]
"""(claims of an earlier text, of a later text, whether one agent said both) → whether they contradict each other."""

_EARLIER = 0.25
"""The weight of a contradiction that is older than the memory: a correction contradicts what it corrects."""
_OWN_PPM = 500_000
"""The weight of a repetition by the memory's own agent."""
_READ_PPM, _READS_MOST = 250_000, 2
"""The weight of each read, and how many reads count."""
_VOUCHERS_SIGNED, _VOUCHERS = 2, 1
"""So many other agents raise a memory's confidence: where each has to sign, and where a name costs nothing."""


def most_vouchers(*, signed: bool) -> int:
    """Returns how many other agents may raise a memory's confidence, in a namespace where agents must sign or not."""
    return _VOUCHERS_SIGNED if signed else _VOUCHERS


def disputes(earlier: Claims, later: Claims, same_agent: bool) -> bool:
    """Whether two texts contradict each other by the rules of `core.reading.conflict`."""
    return conflict.between(earlier, later, same_agent=same_agent) is not None


def rules(disputes: Disputes = disputes, own_ppm: int = _OWN_PPM) -> Grounds:
    """Returns the grounds by rules. `own_ppm`: the weight of what the memory's own agent says or repeats."""

    def around(facts: MemoryFacts, context: MemberContext) -> Around:
        key = (grounds, facts, context.disputes)
        if key not in context.around:
            context.around[key] = _around(facts, context, disputes, own_ppm)
        return context.around[key]

    def bfs(facts: MemoryFacts, context: MemberContext) -> int:
        """Support less conflict among the neighbours, one half where there is neither."""
        found = around(facts, context)
        return (PPM - found.conflict + found.support) // 2

    def grounded(facts: MemoryFacts, context: MemberContext) -> int:
        """Returns the share of the memory's statements that other sources, other agents and later reads confirm.

        0 where it states nothing, or where the member did not read the accepted episode, with commitment and publisher.
        """
        found = around(facts, context)
        if not facts.sourced or not facts.agent or not found.states:
            return 0
        again = PPM if facts.witnessed else own_ppm if facts.reinforced else 0
        read = min(facts.reads, _READS_MOST) * _READ_PPM
        return min(PPM, max(found.found, again) + read)

    def consistency(facts: MemoryFacts, context: MemberContext) -> int:
        """Returns 1 - the strongest contradiction; a contradiction that is older than the memory weighs little."""
        return PPM - around(facts, context).conflict

    def uncertainty(facts: MemoryFacts, context: MemberContext) -> int:
        """Returns u_ep of the episode, else 1 - its confidence; else the spread of its evidence, by the rule of
        succession: one half where no other episode speaks of it, and less the more agree. Each agent that vouches for
        it halves what its own is not sure of."""
        if facts.uncertainty_ppm is not None:
            return facts.uncertainty_ppm
        if facts.confidence_ppm is not None:
            return PPM - facts.confidence_ppm >> facts.vouched
        found = around(facts, context)
        agree = found.agree + facts.witnessed
        return PPM * (found.differ + 1) // (agree + found.differ + 2)

    grounds = Grounds(bfs, grounded, consistency, uncertainty)
    return grounds


def _around(facts: MemoryFacts, context: MemberContext, disputes: Disputes, own_ppm: int) -> Around:
    """Returns the support for a memory and the contradictions of it among the member's near episodes. Episodes that
    state nothing, share no statement with it or are too long to be read for negations count for neither."""
    mine = context.hear(facts.memory_id, facts.text)
    if mine is None or not mine.stated:
        return Around()
    if not mine.whole:
        return Around(states=True)
    values, places = cosines(facts, context)
    against, support, agree, differ = 0.0, 0.0, 0, 0
    found: dict[str, int] = {}
    for at in np.flatnonzero(values >= NEAR):
        value, place = float(values[at]), places[int(at)]
        other = context.memory_ids[place]
        agent, when = context.said.get(other, ("", facts.said[0]))
        same, later = agent == facts.agent, when >= facts.said[0]
        # A rule that fails on a neighbour costs the memory nothing: that neighbour counts as saying nothing about it.
        said = context.failures.answer(
            "evidence", [facts.memory_id, other], _NOTHING,
            _said, mine, partial(context.hear, other, context.texts[place]), disputes, same, later,
        )  # fmt: skip
        if said.disputes:
            if context.disputes:
                against, differ = max(against, value if later else value * _EARLIER), differ + 1
            continue
        weight = own_ppm if same else PPM
        if said.shared and weight:
            support, agree = max(support, value * len(said.shared) / len(mine.stated) * weight / PPM), agree + 1
            found |= {word: max(weight, found.get(word, 0)) for word in said.shared}
    share = sum(found.values()) // len(mine.stated)
    return Around(to_ppm(against), to_ppm(support), share, agree, differ, states=True)


class _Said(Struct, frozen=True):
    """A near episode's answer about a memory: that it contradicts it, or the words that it confirms."""

    disputes: bool = False
    shared: frozenset[str] = frozenset()


_NOTHING = _Said()


def _said(mine: Heard, hears: Callable[[], Heard | None], disputes: Disputes, same: bool, later: bool) -> _Said:
    """Compares a near episode with a memory. `same`: whether one agent said both; `later`: whether the episode came
    after it."""
    theirs = hears()
    if theirs is None or not theirs.stated or not theirs.whole:
        return _NOTHING
    first, second = (mine.claims, theirs.claims) if later else (theirs.claims, mine.claims)
    if disputes(first, second, same):
        return _Said(disputes=True)
    shared = mine.stated & theirs.stated
    return _NOTHING if not shared or theirs.marks.oppose(mine.marks) else _Said(shared=shared)


RULES = rules()
"""The grounds that a member votes by unless others were chosen."""

NAMED: Mapping[str, Grounds] = MappingProxyType({"rules": RULES, "others": rules(own_ppm=0)})
"""The grounds that can be chosen for a member by name. `others`: repetitions by a memory's own agent count for
nothing."""
