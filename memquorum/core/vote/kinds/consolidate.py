"""The vote to let a summary take the place of the memories that it was made of (SPEC C). A proposal names the summary
first, then all of its sources.

A member judges from what it read itself. The summary is faithful where each of its sentences is a sentence of its
source, word for word, the text is these sentences and nothing else, and the batch is the one that it commits to; a
sentence of a model's may say no number, name or negation that its sources do not. What is lost is the worth that the
summary does not cover: the score is the share that it does, of all its sources together, and half of what it covers of
the one that it covers least, of those whose worth ranks too high to be lost; 0 where a fact of such a one is missing,
and for what is not faithful.

Voted for, the summary is in short-term memory, as old and as often used as what it says, and its sources rest sealed
for the grace time, within which another vote can restore them. In a namespace of strict determinism they stay as they
are, and the summary lies over them. Voted down, nothing has changed.

A summary in the place of one that was erased is made of what the erasure left. That may rest sealed because of the
erased one; it is judged by what it says all the same, and stays sealed until then, not longer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from memquorum.core import ids
from memquorum.core.access import covers
from memquorum.core.consolidation.faithful import faithful
from memquorum.core.consolidation.losing import coverage_ppm
from memquorum.core.consolidation.rendering import written
from memquorum.core.identity.membership import CONSOLIDATOR
from memquorum.core.policy import PPM, Policy, share
from memquorum.core.tiers import DRAFT, SEALED, SHORT_TERM
from memquorum.core.vote.grounds import Grounds, MemberContext, MemoryFacts
from memquorum.core.vote.kinds.forget import GONE_ALREADY, PROTECTED
from memquorum.core.vote.kinds.kind import (
    UNREADABLE,
    Fate,
    Kind,
    MemoryState,
    Offered,
    Plain,
    Rests,
    Terms,
    Together,
    Words,
    checks,
)
from memquorum.ports import Source

TAKES = 65
"""A summary, and as many sources as an episode may derive from."""
_MOVED = "moved since"
_TERMS = ("faithful", "covered", "least")
_check, _sound = checks(_TERMS, flags=1)


def _judge(
    facts: Sequence[Together], context: MemberContext, as_of: int, policy: Policy, grounds: Grounds
) -> Sequence[Terms | None]:
    return [_terms(summary, sources, policy) for summary, *sources in facts]


def _terms(summary: MemoryFacts, sources: Sequence[MemoryFacts], policy: Policy) -> Terms | None:
    said = summary.summary
    if said is None or summary.agent != CONSOLIDATOR or summary.text is None:
        return None
    if any(one.summary is not None or one.text is None or not one.sourced for one in sources):
        return None  # what it cannot read it cannot hold the summary against; and no summary is made of summaries
    # A summary is as old as what it says: one that is dated later would make old news of it.
    if said.commitment != committed(sources) or summary.created != max(one.created for one in sources):
        return None
    texts = {one.memory_id: one.text or "" for one in sources}
    # A time that lay ahead when it was said counts as that of its acceptance.
    times = {one.memory_id: min(one.created, one.said[0]) for one in sources}
    again = {one.memory_id: max(one.created, one.said[0]) for one in sources}
    model = written(summary.text, said.quotes, texts)
    if model is None or not faithful(said.quotes, texts, times, model, again):
        return None
    given = [Source(one.memory_id, one.text or "", one.said[0], rank_ppm=one.rank_ppm) for one in sources]
    return PPM, *coverage_ppm(said.quotes, given, model, lost_rank_ppm=policy.consolidate.lost_rank_ppm)


def committed(sources: Sequence[MemoryFacts]) -> bytes:
    """The commitment to a batch: to the keyed commitments of its memories, in the order of their ids."""
    return ids.sha256(*(one.commitment for one in sorted(sources, key=lambda one: one.memory_id)))


def _score(terms: Any, _: Policy) -> Any:
    faithful, covered, least = terms
    return np.minimum(covered, least // 2) * (faithful // PPM)


def _absent(found: MemoryState, as_of: int) -> str | None:
    """What an erased summary said rests sealed, and can be summed up anew as long as its key is there."""
    if found.tier == DRAFT or found.stub:
        return None if (found.sealed_until or 0) > as_of else GONE_ALREADY
    return None if found.alive else GONE_ALREADY


def _void(found: MemoryState, _: int) -> str | None:
    """What was promoted, or is to be kept, is not replaced by a summary. What rests sealed loses nothing by it."""
    if found.stub:
        return None
    if found.protected:
        return PROTECTED
    return None if found.tier == SHORT_TERM else _MOVED


def _effect(found: Sequence[MemoryState], _: int | None, as_of: int, policy: Policy) -> Sequence[Fate | None]:
    summary, *sources = found
    if summary.tier != DRAFT:
        return [None for _ in found]
    until = as_of + policy.forget.grace_ms
    strict = covers(policy.consolidate.strict.split(), summary.namespace)
    # What rests sealed already does so no longer for a summary that is made anew.
    return [
        Fate(SHORT_TERM),
        *(
            Fate(SEALED, sealed_until=one.sealed_until if one.stub else until, asks=False, told_by=summary.memory_id)
            if one.stub or not strict else None
            for one in sources
        ),
    ]  # fmt: skip


def _found(terms: Mapping[str, int], yes: bool, _: Policy) -> str:
    if not terms["faithful"]:
        return "they do not know all of it, or find that the summary says what its sources do not"
    if yes:
        return "each sentence of the summary is one of its sources', and it says enough of what they are worth"
    if not terms["least"]:
        return "the summary leaves out a number, a time, a name or a negation that has to stay"
    return "the summary leaves out too much of what its sources are worth"


def _in_words(terms: Mapping[str, int], yes: bool, score_ppm: int, policy: Policy) -> str:
    if not terms["faithful"]:
        return "does not know all of it, or finds that the summary says what its sources do not: nothing changes"
    least = share(policy.consolidate.covered_ppm)
    told = f"every sentence is in its source; it covers {share(terms['covered'])} of what they are worth"
    if terms["least"] < PPM:
        told += f", {share(terms['least'])} of the one that it covers least, which has to be twice that"
    if not terms["least"]:
        told += " and to have each number, time, name and negation of it"
    return f"{told}, {'≥' if yes else '<'} {least}: {'consolidate' if yes else 'leave it as it is'}"


CONSOLIDATE = Kind(
    name="consolidate",
    terms=_TERMS,
    widths=(4, 4, 4),
    due=lambda candidate, as_of, policy: None,
    judge=_judge,
    fade=None,
    abstain=lambda as_of: (0, 0, 0),
    check=_check,
    sound=_sound,
    score=_score,
    yes=lambda score, policy: (score > 0) & (score >= policy.consolidate.covered_ppm),
    needed=lambda policy: policy.consolidate.alpha,
    gate=None,
    outcome="consolidated",
    words=Words(
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
    ),
    reads=True,
    ranks=True,
    offered=Offered.DRAFTED,
    takes=TAKES,
    spares=1,
    tiers=frozenset({DRAFT}),
    # Or a long line of the decayed would starve it, and what it could keep would go.
    share=Fraction(1, 8),
    absent=_absent,
    void=_void,
    effect=_effect,
    rests=Rests.THROUGH_USE,
    seals=True,
    revives=True,
    inherits=True,
)
