"""A preview of a policy on the memories that are alive now: which would be nominated to be forgotten, and forgotten.

For people who change a policy, or doubt the one in force. The predicate, the members' rule, the tally and the caps are
those of nomination, ballots and commit. One input is an estimate: a member votes by the late episodes of its agents as
it has read them; here they are those that are alive in the store.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from memquorum.core import caps, decay, triage
from memquorum.core.budgets.claims import AGE, PRESSURE
from memquorum.core.budgets.least import older
from memquorum.core.caps import Losses
from memquorum.core.facets import EPISODIC
from memquorum.core.identity.membership import Genesis
from memquorum.core.policy import Policy
from memquorum.core.records import BallotCast, NominationProposed, Proposal, Standing
from memquorum.core.vote import nomination
from memquorum.core.vote.columns import Ballot, packed_columns, places_of, read
from memquorum.core.vote.grounds import MemberContext
from memquorum.core.vote.kinds import FORGET, forget
from memquorum.core.vote.tally import tally
from memquorum.ports import Candidate

Vectors = Mapping[str, NDArray[np.float32]]
ROOM = frozenset({AGE, PRESSURE})
"""The reasons for which members do not ask whether a memory has decayed."""


class Alive(Struct, frozen=True):
    """A living memory, whether it rests after a vote that kept it, and whether an order protects it."""

    candidate: Candidate
    rests: bool
    protected: bool
    type: str = EPISODIC


class Vote(Struct, frozen=True):
    """The predicted vote. `agreed_ppm`: the highest of the q lowest scores."""

    let_go: bool
    yes: int
    agreed_ppm: int


class Example(Struct, frozen=True):
    """A memory that would be nominated."""

    memory_id: str
    reason: str
    unused_ms: int
    decay_ppm: int
    vote: Vote
    now: bool
    """True if the next epoch would nominate it."""
    decay_score_ppm: int | None = None
    """The decay score, where triage uses one."""


@dataclass(slots=True)
class Outlook:
    """The predicted result of the next epoch in a namespace.

    `due`: the number of the `living` memories that have crossed δ or expired, are older than their type may become, or
    are beyond the shard's capacity. `resting` and `protected` of these are left out; the votes were computed for the
    first `judged` of the others, and `let_go` of these would be forgotten.

    `nominated`, `forgotten`: in the next epoch, where the caps leave `room`; `named`: the nominated ones; `day_left`:
    the room that the caps leave for the day; `stopped_until`: the time before which no memory may go. `reasons`: the
    number of memories by reason, of those that are due and free. `beyond`: the number beyond the namespace's budget,
    which are nominated before them.
    """

    namespace: str
    shard: int
    living: int = 0
    due: int = 0
    resting: int = 0
    protected: int = 0
    judged: int = 0
    let_go: int = 0
    nominated: int = 0
    forgotten: int = 0
    room: int = 0
    day_left: int = 0
    stopped_until: int | None = None
    reasons: dict[str, int] = field(default_factory=dict)
    beyond: int = 0
    named: list[str] = field(default_factory=list)
    examples: list[Example] = field(default_factory=list)


Judge = Callable[[str, Sequence[Candidate]], Mapping[str, Vote]]
"""(namespace, candidates) → the vote on each."""


def outlook(
    standing: Standing,
    shard: int,
    alive: Sequence[Alive],
    losses: Mapping[str, Losses],
    *,
    as_of: int,
    policy: Policy,
    judge: Judge,
    members: int,
    beyond: Mapping[str, Sequence[str]] = MappingProxyType({}),
    judged_most: int = 2_000,
    shown: int = 3,
) -> list[Outlook]:
    """Returns the preview of a shard's namespaces, by name. `alive`: longest unused first; `beyond`: by namespace, the
    memories beyond its budget, in the order of its policy. These are nominated before the due ones, and members forget
    them: the order follows from the store."""
    found: dict[str, Outlook] = {}
    free: dict[str, list[tuple[Candidate, str]]] = {}
    for one in alive:
        name = one.candidate.namespace
        found.setdefault(name, Outlook(name, shard)).living += 1
    over = nomination.excess(standing.alive, policy)
    named = set[str]()
    for one, reason in _in_turn(alive, over, as_of, policy):
        candidate = one.candidate
        if candidate.memory_id in named or (reason == PRESSURE and over <= 0):
            continue
        named.add(candidate.memory_id)
        told = found[candidate.namespace]
        told.due += 1
        told.protected += one.protected
        told.resting += one.rests and not one.protected
        if not (one.rests or one.protected):
            over -= reason in ROOM
            told.reasons[reason] = told.reasons.get(reason, 0) + 1
            free.setdefault(candidate.namespace, []).append((candidate, reason))
    left = policy.epoch.proposals_max
    for namespace, told in sorted(found.items()):
        quota = losses.get(namespace, caps.NOTHING)
        told.room = 0 if FORGET.barred(namespace, policy) else caps.room(quota, as_of, policy.caps)
        told.day_left = caps.day_left(quota, as_of, policy.caps)
        told.stopped_until = caps.stopped_until(quota, as_of, policy.caps)
        told.beyond = len(beyond.get(namespace, ()))
        told.named = list(beyond.get(namespace, ())[: min(told.room, left)])
        told.nominated = told.forgotten = len(told.named)
        left -= told.nominated
    for namespace, told in sorted(found.items()):
        asked = free.get(namespace, [])[:judged_most]
        judged = [candidate for candidate, reason in asked if reason not in ROOM]
        said = {**judge(namespace, judged)} if judged else {}
        # About these reasons members ask whether a memory is among the lowest, or when it was made; the nominated ones
        # are.
        said |= {candidate.memory_id: Vote(True, members, 0) for candidate, reason in asked if reason in ROOM}
        told.judged, told.let_go = len(asked), sum(vote.let_go for vote in said.values())
        others = [candidate.memory_id for candidate, _ in asked if candidate.memory_id not in set(told.named)]
        first = others[: min(told.room - told.nominated, left)]
        told.named += first
        told.nominated += len(first)
        told.forgotten += sum(said[memory_id].let_go for memory_id in first)
        left -= len(first)
        told.examples = [
            Example(
                candidate.memory_id, reason, as_of - candidate.last_access,
                decay.decay_ppm(candidate.last_access, as_of, policy), said[candidate.memory_id],
                candidate.memory_id in told.named,
                _score(candidate, as_of, policy) if candidate.fades else None,
            )
            for at, (candidate, reason) in enumerate(asked[:shown])
        ]  # fmt: skip
    return [found[namespace] for namespace in sorted(found)]


def _in_turn(alive: Sequence[Alive], over: int, as_of: int, policy: Policy) -> list[tuple[Alive, str]]:
    """Returns the memories that may be forgotten, with the reason, in the order of nomination: those older than their
    type may become; under pressure all others, those to evict first in front; decayed ones, longest unused first;
    expired ones, the lowest decay score first."""
    short = [one for one in alive if one.candidate.tier in FORGET.tiers]
    aged = [one for one in short if older(one.type, one.candidate.created, policy.budget, as_of)]
    named = {one.candidate.memory_id for one in aged}
    younger = [one for one in short if one.candidate.memory_id not in named]
    reasons = [(one, FORGET.eligible(one.candidate, as_of, policy)) for one in younger]
    decayed = [(one, reason) for one, reason in reasons if reason == forget.DECAYED]
    expired = [(one, reason) for one, reason in reasons if reason == forget.EXPIRED]
    first_to_go = [(one, PRESSURE) for one in younger if over > 0]

    def turn(told: tuple[Alive, str]) -> tuple[bool, int]:
        candidate = told[0].candidate
        return not candidate.fades, _score(candidate, as_of, policy) if candidate.fades else 0

    first = [(one, AGE) for one in sorted(aged, key=lambda one: (one.candidate.created, one.candidate.memory_id))]
    return [*first, *sorted(first_to_go, key=turn), *decayed, *sorted(expired, key=turn)]


def _score(candidate: Candidate, as_of: int, policy: Policy) -> int:
    age_ms = decay.age_ms(candidate.last_access, as_of)
    return triage.decay_score_ppm(candidate.salience_ppm, candidate.replays, age_ms, policy)


def votes(
    genesis: Genesis,
    policy: Policy,
    candidates: Sequence[Candidate],
    *,
    as_of: int,
    vectors: Vectors,
    ranks: Mapping[str, int],
    contexts: Mapping[int, MemberContext],
) -> dict[str, Vote]:
    """Predicts what all members' ballots would decide on candidates of one namespace. `vectors`: of those that can be
    compared; `ranks`: of their worth, in millionths; `contexts`: by member, the late episodes of its agents."""
    proposals = tuple(
        Proposal((c.memory_id,), c.namespace, FORGET.name, "", c.last_access, c.created, c.salience_ppm)
        for c in candidates
    )
    asked = NominationProposed(genesis.cluster, genesis.config, 0, 1, as_of, 0, "", proposals)
    of = vectors, ranks
    ballots = [_ballot(member.id, asked, policy, of, contexts.get(member.id)) for member in genesis.members]
    outcomes = tally(genesis, asked, ballots)
    scores = np.sort(np.array([[o.score_ppm for o in ballot.opinions] for ballot in ballots]), axis=0)
    return {
        candidate.memory_id: Vote(outcome.decided, len(outcome.yes), int(scores[outcome.votes - 1, at]))
        for at, (candidate, outcome) in enumerate(zip(candidates, outcomes, strict=True))
    }


def _ballot(
    member: int,
    asked: NominationProposed,
    policy: Policy,
    of: tuple[Vectors, Mapping[str, int]],
    context: MemberContext | None,
) -> Ballot:
    """Makes a ballot by the same rules as a member: where it has no embedding of a memory, its no is the strongest."""
    vectors, ranks = of
    terms = np.empty((len(FORGET.terms), len(asked.proposals)), np.int64)
    terms[:] = np.array(FORGET.abstain(asked.as_of), np.int64)[:, None]
    proposed = [proposal.memory_ids[0] for proposal in asked.proposals]
    known = [at for at, memory_id in enumerate(proposed) if memory_id in vectors and memory_id in ranks]
    if known:
        ids = [proposed[at] for at in known]
        seen = context or MemberContext(asked.proposals[0].namespace)
        worth = np.array([ranks[memory_id] for memory_id in ids], np.int64)
        near = seen.shares(ids, np.stack([vectors[memory_id] for memory_id in ids]), worth)
        used = np.array([asked.proposals[at].last_access for at in known], np.int64)
        terms[:, known] = FORGET.fade(used, worth, near, asked.as_of, policy)
    cast = BallotCast(asked.cluster, asked.config, 0, 1, member, b"", terms=packed_columns(FORGET, terms))
    return read(cast, asked, places_of(asked), policy)
