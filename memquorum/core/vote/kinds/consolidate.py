"""The vote to let a summary replace the memories that it was made from (SPEC C). A proposal names the summary first,
then all of its sources.

A member judges by what it read itself. The summary is faithful where each of its sentences is a sentence of its source,
word for word, the text is these sentences and nothing else, and the batch is the one that it commits to; a sentence
written by a model may have no number, name or negation that its sources lack.

The score is the lower of two numbers: the share of the sources' worth that the summary covers; and half its share of
one source, the one that it covers least of those that rank too high to be lost. The score is 0 where a fact of such a
source is missing, and for a summary that is not faithful.

If the vote passes, the summary is in short-term memory, with the age and the uses of its sources, and the sources rest
sealed for the grace time, in which another vote can restore them. In a namespace of strict determinism the sources stay
as they are, beside the summary. If the vote fails, nothing changes.

A summary that was made because a namespace is over its budget has two gates more, by the policy of budgets: its
distortion, which each member computes from the vectors that it has read (`consolidation.condensing`), and its
sensitivity. If one of them is closed, the summary may not stand for its sources, as if it was not faithful. Every
ballot states the distortion (`apart`), and the score does not depend on it.

A summary that replaces an erased one is made from the sources that the erasure left. These may rest sealed because of
the erased one; they are judged by their texts all the same, and stay sealed until the same time, not longer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from types import MappingProxyType
from typing import Any

from msgspec.structs import replace

from memquorum.core import ids
from memquorum.core.access import covers
from memquorum.core.consolidation.condensing import FARTHEST_PPM, distortion_ppm, gated
from memquorum.core.consolidation.faithful import faithful
from memquorum.core.consolidation.losing import coverage_ppm
from memquorum.core.consolidation.rendering import written
from memquorum.core.facets import summary_fits
from memquorum.core.identity.membership import CONSOLIDATOR
from memquorum.core.late_numpy import np
from memquorum.core.policy import PPM, BudgetPolicy, Policy, share
from memquorum.core.tiers import DRAFT, SEALED, SHORT_TERM
from memquorum.core.vote.grounds import MemoryFacts
from memquorum.core.vote.kinds.families import Join
from memquorum.core.vote.kinds.kind import (
    GONE_ALREADY,
    PROTECTED,
    UNREADABLE,
    Case,
    Fate,
    Fates,
    Lookups,
    MemoryState,
    Plain,
    Term,
    Terms,
    Together,
    Words,
    laid_over,
)
from memquorum.ports import Source

TAKES = 65
"""A summary, and as many sources as an episode may derive from."""
_MOVED = "moved since"


def _terms(summary: MemoryFacts, sources: Sequence[MemoryFacts], policy: Policy) -> Terms | None:
    said = summary.summary
    if said is None or summary.agent != CONSOLIDATOR or summary.text is None:
        return None
    if any(one.summary is not None or one.text is None or not one.sourced for one in sources):
        return None  # an unreadable source cannot be compared with the summary; and no summary is made from summaries
    # A summary has the age of its sources: a later date would make old content look new.
    if said.commitment != committed(sources) or summary.created != max(one.created for one in sources):
        return None
    texts = {one.memory_id: one.text or "" for one in sources}
    # A time in the future, as the publisher told it, is limited to the time of acceptance.
    times = {one.memory_id: min(one.created, one.said[0]) for one in sources}
    again = {one.memory_id: max(one.created, one.said[0]) for one in sources}
    model = written(summary.text, said.quotes, texts)
    if model is None or not faithful(said.quotes, texts, times, model, again):
        return None
    given = [Source(one.memory_id, one.text or "", one.said[0], rank_ppm=one.rank_ppm) for one in sources]
    apart = _apart_ppm(summary, sources)
    stands = PPM if not gated(said) or _near(apart, summary, sources, policy.budget) else 0
    covered = coverage_ppm(said.quotes, given, model, lost_rank_ppm=policy.consolidate.lost_rank_ppm)
    return stands, *covered, apart


def _apart_ppm(summary: MemoryFacts, sources: Sequence[MemoryFacts]) -> int:
    """Returns the distortion of a summary; the largest there is where the member has no vector of one of them."""
    vectors = [one.vector for one in sources if one.vector is not None]
    if summary.vector is None or len(vectors) < len(sources):
        return FARTHEST_PPM
    return distortion_ppm(summary.vector, vectors)


def _near(apart: int, summary: MemoryFacts, sources: Sequence[MemoryFacts], policy: BudgetPolicy) -> bool:
    """Whether a summary is near enough to its sources, and less sensitive by enough."""
    bound = [0 if one.marks is None else one.marks.sensitivity_ppm for one in (summary, *sources)]
    return summary_fits(policy, apart, bound[0], max(bound[1:]))


def _begins(summary: MemoryFacts) -> bool:
    """True if the summary does not take the place of an erased one, whose other sources rest sealed until it comes."""
    return summary.summary is None or summary.summary.renews is None


def committed(sources: Sequence[MemoryFacts]) -> bytes:
    """Returns the commitment to a batch: to the keyed commitments of its memories, in the order of their ids."""
    return ids.sha256(*(one.commitment for one in sorted(sources, key=lambda one: one.memory_id)))


def _found(terms: Mapping[str, int], yes: bool, _: Policy) -> str:
    if not terms["faithful"] and terms["covered"]:
        return "the summary is too far from its sources, or as sensitive as they are"
    if not terms["faithful"]:
        return "they do not know all of it, or find that the summary says what its sources do not"
    if yes:
        return "each sentence of the summary is one of its sources', and it says enough of what they are worth"
    if not terms["least"]:
        return "the summary leaves out a number, a time, a name or a negation that has to stay"
    return "the summary leaves out too much of what its sources are worth"


def _in_words(terms: Mapping[str, int], yes: bool, score_ppm: int, policy: Policy) -> str:
    if not terms["faithful"] and terms["covered"]:
        farthest = share(policy.budget.distortion_ppm)
        measured = f" ({share(terms['apart'])})" if "apart" in terms else ""
        return f"it is farther from its sources than {farthest}{measured}, or not less sensitive: leave it as it is"
    if not terms["faithful"]:
        return "does not know all of it, or finds that the summary says what its sources do not: nothing changes"
    least = share(policy.consolidate.covered_ppm)
    told = f"every sentence is in its source; it covers {share(terms['covered'])} of what they are worth"
    if terms["least"] < PPM:
        told += f", {share(terms['least'])} of the one that it covers least, which has to be twice that"
    if not terms["least"]:
        told += " and to have each number, time, name and negation of it"
    return f"{told}, {'≥' if yes else '<'} {least}: {'consolidate' if yes else 'leave it as it is'}"


class _Consolidate(Join):
    name = "consolidate"
    terms = MappingProxyType(
        {"faithful": Term.FLAG, "covered": Term.SHARE, "least": Term.SHARE, "apart": Term.DISTANCE}
    )
    outcome = "consolidated"
    words = Words(
        aim="let a summary take the place of what it was made of",
        proposed={"summed up": "because there is a summary of them"},
        why={
            UNREADABLE: "what was to come back could not be opened then",
            PROTECTED: "something that it was made of was protected",
            _MOVED: "something that it was made of was not in short-term memory any more",
            GONE_ALREADY: "something of it was gone already",
        },
        opinion=_in_words,
        plain=Plain(
            asked="letting a summary take the place of what it was made of",
            agreed="the summary says what is to be kept of its sources",
            proposed={"summed up": "the session was over and had been summed up"},
            because=_found,
        ),
        question="The summary is {first}; the vote was whether it takes the place of {others}",
    )
    tiers = frozenset({DRAFT})
    # A reserved share, or a long queue of decayed memories would starve summaries, and the sources would be forgotten.
    share = Fraction(1, 8)
    takes = TAKES
    seals = True
    revives = True

    def completed(self, facts: Mapping[str, MemoryFacts], lookups: Lookups) -> Mapping[str, MemoryFacts]:
        return {i: replace(one, rank_ppm=lookups.rank_ppm(i)) for i, one in facts.items()}

    def barred(self, namespace: str, policy: Policy) -> str | None:
        """Returns None: where a namespace keeps what it has, the summary lies over its sources."""
        return None

    def judge(self, facts: Sequence[Together], case: Case) -> Sequence[Terms | None]:
        off = covers(case.policy.consolidate.off.split(), case.context.namespace)
        return [
            None if off and _begins(summary) else _terms(summary, sources, case.policy) for summary, *sources in facts
        ]

    def score(self, terms: Any, policy: Policy) -> Any:
        faithful, covered, least, *_ = terms
        return np.minimum(covered, least // 2) * (faithful // PPM)

    def yes(self, score: Any, policy: Policy) -> Any:
        return (score > 0) & (score >= policy.consolidate.covered_ppm)

    def needed(self, policy: Policy, namespace: str = "") -> Fraction:
        return policy.consolidate.alpha

    def absent(self, found: MemoryState, as_of: int) -> str | None:
        """A sealed source of an erased summary can be summed up again while its key exists."""
        if found.tier == DRAFT or found.stub:
            return None if (found.sealed_until or 0) > as_of else GONE_ALREADY
        return super().absent(found, as_of)

    def void(self, found: MemoryState, nominated_at: int) -> str | None:
        """A promoted or protected memory is not replaced by a summary. A sealed source loses nothing by it."""
        if found.stub:
            return None
        if found.protected:
            return PROTECTED
        return None if found.tier == SHORT_TERM else _MOVED

    def effect(self, found: Sequence[MemoryState], confidence_ppm: int | None, as_of: int, policy: Policy) -> Fates:
        summary, *sources = found
        if summary.tier != DRAFT:
            return [None for _ in found]
        until = as_of + policy.forget.grace_ms
        strict = laid_over(summary.namespace, policy)
        # A source that is sealed already does not stay sealed longer for a new summary.
        return [
            Fate(SHORT_TERM),
            *(
                Fate(
                    SEALED, sealed_until=one.sealed_until if one.stub else until, asks=False, told_by=summary.memory_id
                )
                if one.stub or not strict else None
                for one in sources
            ),
        ]  # fmt: skip


CONSOLIDATE = _Consolidate()
