"""The vote to forget decayed memories: SPEC A, Alg. 2 and 3. A forgotten memory rests sealed for its grace time.

Four steps decide in turn, and each can say no: the nomination (`due` below, by `decay.crossed` and `triage.expired`;
`nomination._asking` adds memories that somebody asked to forget, `_doubting` those that a rehearsal doubts; those
beyond a capacity, a budget or an age are proposed as `evict`); each member (`score` and `yes` below); the quorum
(`tally._count`); and the shard's state at the decision (`void` below, and the caps: `journal.decisions.results`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from memquorum.core import triage
from memquorum.core.decay import age_ms, crossed, decay_ppm, decays_ppm
from memquorum.core.late_numpy import np
from memquorum.core.policy import PPM, Policy, share
from memquorum.core.tiers import LONG_TERM, SHORT_TERM
from memquorum.core.vote.grounds import MemberContext, MemoryFacts
from memquorum.core.vote.kinds.families import LetGo
from memquorum.core.vote.kinds.kind import (
    GONE_ALREADY,
    PROTECTED,
    TOUCHED,
    Case,
    Columns,
    InColumns,
    MemoryState,
    Plain,
    Term,
    Terms,
    Together,
    Words,
)
from memquorum.ports import Candidate

if TYPE_CHECKING:
    from numpy.typing import NDArray

DECAYED, EXPIRED = "decayed", "expired"
"""The reasons of a nomination: D < δ (SPEC A), or, of short-term memory, DecayScore < θ_expire (SPEC B)."""
_LONG_TERM = "long-term"
SPARED = {
    PROTECTED: "it was protected from being forgotten",
    TOUCHED: "it was used after the vote began, so the vote does not count",
    GONE_ALREADY: "it was gone already",
}
"""In words, why a seemingly unused memory is kept."""


def _shares(memories: Sequence[MemoryFacts], context: MemberContext, ranks: NDArray[np.int64]) -> NDArray[np.int64]:
    """Returns the centred shares. Without episodes the embeddings are not read, so they may have any length."""
    if context.units is None:
        return ranks
    vectors = [one.vector for one in memories if one.vector is not None]
    return context.shares([one.memory_id for one in memories], np.stack(vectors), ranks)


def _in_words(terms: Mapping[str, int], yes: bool, score_ppm: int, policy: Policy) -> str:
    return f"{compared(terms, yes, score_ppm, policy)}: {'forget' if yes else 'keep'}"


def compared(terms: Mapping[str, int], yes: bool, score_ppm: int, policy: Policy) -> str:
    """Shows C = ω_D·D + ω_R·R with its numbers, beside θ."""
    given, both = policy.forget, share((terms["rank"] + terms["share"]) // 2)
    return (
        f"its worth ranks {share(terms['rank'])}, its nearness to what the member's agents did lately is "
        f"{share(terms['share'])}, so its relevance is {both}: {share(given.omega_decay_ppm)}·decay "
        f"{share(terms['decay'])} + {share(given.omega_relevance_ppm)}·relevance {both} = {share(score_ppm)} "
        f"{'<' if yes else '≥'} θ {share(given.theta_ppm)}"
    )


_LOW, _HIGH = PPM // 3, 2 * PPM // 3


def reason_in_words(terms: Mapping[str, int], yes: bool, _: Policy) -> str:
    """Returns in plain words why a member is for or against forgetting a memory."""
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


class Forget(LetGo, InColumns):
    """Forgets decayed memories."""

    name = "forget"
    terms = MappingProxyType({"decay": Term.SHARE, "rank": Term.SHARE, "share": Term.SHARE, "last_access": Term.TIME})
    outcome = "forgotten"
    words = Words(
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
            because=reason_in_words,
        ),
    )
    tiers = frozenset({SHORT_TERM})
    # A reserved share, or a long queue of evictions would starve decayed memories.
    share = Fraction(1, 16)

    def due(self, candidate: Candidate, as_of: int, policy: Policy) -> str | None:
        """Returns DECAYED or, by the decay score, EXPIRED; None where the memory is neither."""
        if crossed(candidate.last_access, as_of, policy):
            return DECAYED
        age = age_ms(candidate.last_access, as_of)
        gone = candidate.fades and triage.expired(candidate.salience_ppm, candidate.replays, age, policy)
        return EXPIRED if gone else None

    def judge(self, facts: Sequence[Together], case: Case) -> Sequence[Terms | None]:
        """Returns a member's terms for memories that it knows; None for those whose text it cannot read."""
        read = [
            (at, one, one.rank_ppm)
            for at, (one,) in enumerate(facts)
            if one.rank_ppm is not None and one.vector is not None
        ]
        found: list[Terms | None] = [None] * len(facts)
        if read:
            places, memories, ranked = zip(*read, strict=True)
            ranks = np.array(ranked, np.int64)
            shares = _shares(memories, case.context, ranks)
            used = np.array([one.last_access for one in memories], np.int64)
            terms = self.fade(used, ranks, shares, case.as_of, case.policy)
            for at, of_it in zip(places, terms.T.tolist(), strict=True):
                found[at] = tuple(of_it)
        return found

    def fade(
        self,
        last_accesses: NDArray[np.int64],
        ranks: NDArray[np.int64],
        shares: NDArray[np.int64],
        as_of: int,
        policy: Policy,
    ) -> Columns:
        """Returns the terms of many opinions: decay, rank of worth, centred share, last access."""
        # An access after as_of counts as one at as_of: the decay is 1 either way, and the term stays checkable.
        last_accesses = np.clip(last_accesses, 0, as_of)
        return np.stack([decays_ppm(last_accesses, as_of, self.scaled(policy)), ranks, shares, last_accesses])

    def abstain(self, as_of: int) -> Terms:
        """Returns the terms of a member that cannot judge: no decay, and the highest relevance."""
        return PPM, PPM, PPM, as_of

    def check(self, terms: Terms, as_of: int, policy: Policy) -> str | None:
        """Returns what is wrong with the terms, or None: D has to follow from the last access that the member names."""
        wrong = super().check(terms, as_of, policy)
        if wrong is not None:
            return wrong
        decay, _, _, last_access = terms
        if not 0 <= last_access <= as_of:
            return f"last_access {last_access} lies outside 0..{as_of}, the time that the vote speaks of"
        follows = decay_ppm(last_access, as_of, self.scaled(policy))
        return None if decay == follows else f"decay {decay} does not follow from last_access, which gives {follows}"

    def sound(self, terms: Columns, as_of: int, policy: Policy) -> bool:
        """True if `check` finds nothing wrong in any column."""
        decay, _, _, last_access = terms
        if not (super().sound(terms, as_of, policy) and (last_access >= 0).all() and (last_access <= as_of).all()):
            return False
        return bool((decay == decays_ppm(last_access, as_of, self.scaled(policy))).all())

    def score(self, terms: Any, policy: Policy) -> Any:
        """C = ω_D·D + ω_R·R, with R = ½·rank + ½·share (Alg. 3; SPEC A, decision 4)."""
        decay, rank, near, _ = terms
        given = policy.forget
        return (2 * given.omega_decay_ppm * decay + given.omega_relevance_ppm * (rank + near)) // (2 * PPM)

    def yes(self, score: Any, policy: Policy) -> Any:
        """True if C < θ."""
        return score < policy.forget.theta_ppm

    def void(self, found: MemoryState, nominated_at: int) -> str | None:
        """A long-term memory has to be demoted before it is forgotten."""
        return _LONG_TERM if found.tier == LONG_TERM else super().void(found, nominated_at)


FORGET = Forget()
