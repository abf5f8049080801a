"""The vote to forget what has decayed: SPEC A, Alg. 2 and 3. What is forgotten rests sealed for its grace time.

Four decide in turn, and each can say no: what is proposed (`due` below, by `decay.crossed` and `triage.expired`;
`nomination._falling` adds what somebody asked for and what a full shard has too much of); each member (`score` and
`yes` below); the quorum (`tally._count`); and the shard as it is by then (`_void` below and the caps:
`journal.decisions.results`, `_beyond`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memquorum.core import triage
from memquorum.core.decay import age_ms, crossed, decay_ppm, decays_ppm
from memquorum.core.policy import PPM, Policy, share
from memquorum.core.tiers import LONG_TERM, SEALED, SHORT_TERM
from memquorum.core.vote.grounds import Grounds, MemberContext, MemoryFacts
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
from memquorum.ports import Candidate

DECAYED, EXPIRED = "decayed", "expired"
"""Why a memory is nominated: D < δ (SPEC A), or, of short-term memory, DecayScore < θ_expire (SPEC B)."""
GONE_ALREADY, PROTECTED, TOUCHED = "gone already", "protected", "touched since"
_LONG_TERM = "long-term"
SPARED = {
    PROTECTED: "it was protected from being forgotten",
    TOUCHED: "it was used after the vote began, so the vote does not count",
    GONE_ALREADY: "it was gone already",
}
"""In words, why a memory is left alone that nobody seemed to use."""


def due(candidate: Candidate, as_of: int, policy: Policy) -> str | None:
    """Whether it has decayed or, by its decay score, expired."""
    age = age_ms(candidate.last_access, as_of)
    if decayed(candidate, as_of, policy):
        return DECAYED
    gone = candidate.fades and triage.expired(candidate.salience_ppm, candidate.replays, age, policy)
    return EXPIRED if gone else None


def decayed(candidate: Candidate, as_of: int, policy: Policy) -> str | None:
    """Whether it has decayed."""
    return DECAYED if crossed(candidate.last_access, as_of, policy) else None


def judge(
    facts: Sequence[Together], context: MemberContext, as_of: int, policy: Policy, _: Grounds
) -> Sequence[Terms | None]:
    """A member's terms of memories that it knows; None of those whose text it cannot read."""
    read = [(at, one, one.rank_ppm) for at, (one,) in enumerate(facts) if one.rank_ppm is not None]
    found: list[Terms | None] = [None] * len(facts)
    if read:
        places, memories, ranked = zip(*read, strict=True)
        ranks = np.array(ranked, np.int64)
        shares = _shares(memories, context, ranks)
        terms = fade(np.array([one.last_access for one in memories], np.int64), ranks, shares, as_of, policy)
        for at, of_it in zip(places, terms.T.tolist(), strict=True):
            found[at] = tuple(of_it)
    return found


def _shares(memories: Sequence[MemoryFacts], context: MemberContext, ranks: NDArray[np.int64]) -> NDArray[np.int64]:
    """Embeddings are not looked at where there are no episodes: they may be as long as they like."""
    if context.units is None:
        return ranks
    vectors = [one.vector for one in memories if one.vector is not None]
    return context.shares([one.memory_id for one in memories], np.stack(vectors), ranks)


def fade(
    last_accesses: NDArray[np.int64], ranks: NDArray[np.int64], shares: NDArray[np.int64], as_of: int, policy: Policy
) -> Columns:
    """The terms of many opinions: their decay, rank of worth, centred share, last access."""
    # An access that lies after as_of counts as one at as_of: the decay is 1 either way, and the term stays checkable.
    last_accesses = np.clip(last_accesses, 0, as_of)
    return np.stack([decays_ppm(last_accesses, as_of, policy), ranks, shares, last_accesses])


def abstain(as_of: int) -> Terms:
    """The terms of a member that cannot judge: nothing has decayed, and all of it matters."""
    return PPM, PPM, PPM, as_of


def check(terms: Terms, as_of: int, policy: Policy) -> str | None:
    """What cannot be true of the terms: D has to follow from the last access that the member names."""
    decay, rank, near, last_access = terms
    wrong = outside(("decay", "rank", "share"), (decay, rank, near))
    if wrong is not None:
        return wrong
    if not 0 <= last_access <= as_of:
        return f"last_access {last_access} lies outside 0..{as_of}, the time that the vote speaks of"
    follows = decay_ppm(last_access, as_of, policy)
    return None if decay == follows else f"decay {decay} does not follow from last_access, which gives {follows}"


def sound(terms: Columns, as_of: int, policy: Policy) -> bool:
    """Whether `check` finds nothing wrong with any."""
    decay, _, _, last_access = terms
    if not (within(terms[:3]) and (last_access >= 0).all() and (last_access <= as_of).all()):
        return False
    return bool((decay == decays_ppm(last_access, as_of, policy)).all())


def score(terms: Any, policy: Policy) -> Any:
    """C = ω_D·D + ω_R·R, with R = ½·rank + ½·share (Alg. 3; SPEC A, decision 4)."""
    decay, rank, near, _ = terms
    given = policy.forget
    return (2 * given.omega_decay_ppm * decay + given.omega_relevance_ppm * (rank + near)) // (2 * PPM)


def absent(found: MemoryState, _: int) -> str | None:
    """What is forgotten or erased is not there to be voted on."""
    return None if found.alive else GONE_ALREADY


def disturbed(found: MemoryState, nominated_at: int) -> str | None:
    """Why a memory is left alone: it was used meanwhile, or protected."""
    if found.protected:
        return PROTECTED
    return TOUCHED if found.touched > nominated_at else None


def _void(found: MemoryState, nominated_at: int) -> str | None:
    """What is in long-term memory goes by being demoted first."""
    return _LONG_TERM if found.tier == LONG_TERM else disturbed(found, nominated_at)


def _effect(found: Sequence[MemoryState], _: int | None, as_of: int, policy: Policy) -> Sequence[Fate]:
    return [Fate(SEALED, sealed_until=as_of + policy.forget.grace_ms) for _ in found]


def _in_words(terms: Mapping[str, int], yes: bool, score_ppm: int, policy: Policy) -> str:
    return f"{compared(terms, yes, score_ppm, policy)}: {'forget' if yes else 'keep'}"


def compared(terms: Mapping[str, int], yes: bool, score_ppm: int, policy: Policy) -> str:
    """C = ω_D·D + ω_R·R with its numbers, beside θ."""
    given, both = policy.forget, share((terms["rank"] + terms["share"]) // 2)
    return (
        f"its worth ranks {share(terms['rank'])}, its nearness to what the member's agents did lately is "
        f"{share(terms['share'])}, so its relevance is {both}: {share(given.omega_decay_ppm)}·decay "
        f"{share(terms['decay'])} + {share(given.omega_relevance_ppm)}·relevance {both} = {share(score_ppm)} "
        f"{'<' if yes else '≥'} θ {share(given.theta_ppm)}"
    )


_LOW, _HIGH = PPM // 3, 2 * PPM // 3


def found(terms: Mapping[str, int], yes: bool, _: Policy) -> str:
    """What a member found of a memory that it was asked to let go."""
    if terms["decay"] == terms["rank"] == terms["share"] == PPM:
        return "it was used only just before, or its text cannot be read"
    told: tuple[tuple[str, bool], ...]
    if yes:
        told = (
            ("its words are common", terms["rank"] <= _LOW),
            ("agents did little like it lately", terms["share"] <= _LOW),
        )
        little = "it means too little to what agents did lately to be kept unused for so long"
    else:
        told = (
            ("it was used not long before", terms["decay"] >= _HIGH),
            ("its words are rare", terms["rank"] >= _HIGH),
            ("agents did something like it lately", terms["share"] >= _HIGH),
        )
        little = "it is still close enough to what agents did lately"
    return " and ".join(said for said, so in told if so) or little


FORGET = Kind(
    name="forget",
    terms=("decay", "rank", "share", "last_access"),
    widths=(4, 4, 4, 8),
    due=due,
    judge=judge,
    fade=fade,
    abstain=abstain,
    check=check,
    sound=sound,
    score=score,
    yes=lambda score, policy: score < policy.forget.theta_ppm,
    needed=lambda policy: policy.forget.alpha,
    gate=None,
    outcome="forgotten",
    words=Words(
        aim="forget",
        proposed={
            DECAYED: "because it had decayed",
            EXPIRED: "because its decay score had fallen under what short-term memory keeps",
            "doubted": "because rehearsals found that it does not hold, and its decay score had fallen low",
            "pressure": "because its shard held more than its capacity",
            "asked": "because somebody wants it forgotten",
        },
        why={**SPARED, _LONG_TERM: "it was in long-term memory, which is demoted before it is forgotten"},
        opinion=_in_words,
        plain=Plain(
            asked="forgetting it",
            agreed="it was no longer worth keeping",
            proposed={
                DECAYED: "nobody had used it for {unused}",
                EXPIRED: "nobody had used it for {unused}, too long for how much it mattered when it came",
                "doubted": "later checks found that it does not hold, and nobody had used it for {unused}",
                "pressure": "there were more memories than there is room for",
                "asked": "forgetting it was asked for by {somebody}",
            },
            because=found,
        ),
    ),
    reads=False,
    offered=Offered.UNUSED,
    tiers=frozenset({SHORT_TERM}),
    # Or a long line of what there is no room for would starve it.
    share=Fraction(1, 16),
    absent=absent,
    void=_void,
    effect=_effect,
    rests=Rests.UNTIL_USED,
    capped=True,
    seals=True,
)
