"""Four members, each with an agent, who vote to promote by the product's own rules: no server, no time that passes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memquorum.core.policy import PPM
from memquorum.core.records import BallotCast, NominationProposed, Proposal
from memquorum.core.vote.columns import Ballot, packed, places_of, read
from memquorum.core.vote.grounds import MemberContext, MemoryFacts
from memquorum.core.vote.judging import judged
from memquorum.core.vote.kinds import PROMOTE
from memquorum.core.vote.kinds.kind import Terms
from memquorum.core.vote.tally import tally
from tests.builders.genesis import make

AGENTS = ("ann", "bob", "cy", "dee")
GENESIS = make()
SAID, NOW = 1_000_000, 2_000_000
_SALIENCE = 700_000
_SURE: Terms = (PPM, PPM, PPM, 0)
"""A liar's terms for a claim that it wants promoted."""

Vectors = Callable[[Sequence[str]], NDArray[np.float32]]


@dataclass(frozen=True)
class Said:
    """An agent's claim; `when`: the later, the higher."""

    name: str
    agent: str
    text: str
    when: int = 0


@dataclass(frozen=True)
class Voted:
    """The outcome of each claim, and the members that were for it: shape (members, claims)."""

    promoted: NDArray[np.bool_]
    yes: NDArray[np.bool_]


def vote(
    vectors: Vectors,
    claims: Sequence[Said],
    others: Sequence[Said],
    *,
    silent: Collection[int] = (),
    liars: Collection[int] = (),
    now: int = NOW,
) -> Voted:
    """One nomination of all claims. A member has heard what its own agent said, claims among it; that another agent
    said a claim word for word is known to all, as from the streams. `silent` members cast no ballot, `liars` are for
    all. `now`: when the nomination is made."""
    everything = [*claims, *others]
    vector_of = dict(zip((one.name for one in everything), vectors([one.text for one in everything]), strict=True))
    speakers: dict[str, set[str]] = {}
    for one in everything:
        speakers.setdefault(one.text, set()).add(one.agent)
    facts = [
        MemoryFacts(
            claim.name, "n", claim.agent, SAID + claim.when, now, _SALIENCE, vector_of[claim.name], text=claim.text,
            witnessed=len(speakers[claim.text] - {claim.agent}), accepted=at,
        )
        for at, claim in enumerate(claims)
    ]  # fmt: skip
    proposals = tuple(
        Proposal((claim.name,), "n", PROMOTE.name, "salient", now, SAID + claim.when, _SALIENCE) for claim in claims
    )
    asked = NominationProposed(GENESIS.cluster, GENESIS.config, 0, 1, now, 9, "interval", proposals)
    ballots = [
        _ballot(
            member.id, asked, _terms(agent, everything, vector_of, facts, proposals, now=now, lies=member.id in liars)
        )
        for member, agent in zip(GENESIS.members, AGENTS, strict=True)
        if member.id not in silent
    ]
    ended = tally(GENESIS, asked, ballots)
    yes = np.zeros((len(AGENTS), len(claims)), bool)
    for at, one in enumerate(ended):
        yes[list(one.yes), at] = True
    return Voted(np.array([one.decided for one in ended], bool), yes)


def _terms(
    agent: str,
    everything: Sequence[Said],
    vector_of: dict[str, NDArray[np.float32]],
    facts: Sequence[MemoryFacts],
    proposals: Sequence[Proposal],
    *,
    now: int,
    lies: bool,
) -> list[Terms]:
    if lies:
        return [_SURE] * len(proposals)
    own = [(one.name, vector_of[one.name], one.text) for one in everything if one.agent == agent]
    context = MemberContext.of("n", own, {one.name: (agent, SAID + one.when) for one in everything})
    pairs = [(proposal, (one,)) for proposal, one in zip(proposals, facts, strict=True)]
    return judged(PROMOTE, pairs, context, as_of=now, policy=GENESIS.policy)


def _ballot(member: int, asked: NominationProposed, terms: Sequence[Terms]) -> Ballot:
    places = places_of(asked)
    cast = BallotCast(GENESIS.cluster, GENESIS.config, 0, 1, member, b"", packed(terms, places))
    return read(cast, asked, places, GENESIS.policy)
