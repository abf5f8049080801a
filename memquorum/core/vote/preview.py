"""What a policy would do to what is alive now: who would be nominated to be forgotten, and let go by the votes.

For people who change a policy, or fear the one they have. The predicate, the members' rule, the tally and the caps are
those of nomination, ballots and commit. One thing is an estimate: a member votes by the late episodes of its agents as
it has read them, and here they are those that are alive in the store.
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
from memquorum.core.caps import Quota
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
"""The reasons by which members ask something else than whether a memory has decayed."""


class Alive(Struct, frozen=True):
    """A memory that is alive, whether it rests after a vote that kept it, and whether an order protects it."""

    candidate: Candidate
    rests: bool
    protected: bool
    type: str = EPISODIC


class Vote(Struct, frozen=True):
    """What the votes would come to. `agreed_ppm`: the highest of the q lowest scores."""

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
    """Whether the next epoch would nominate it."""
    decay_score_ppm: int | None = None
    """Where triage goes by it."""


@dataclass(slots=True)
class Outlook:
    """What the next epoch would do in a namespace.

    Of `living` memories `due` have crossed δ or expired, are older than their type may become, or are too many for
    the shard's capacity; of these `resting` and `protected` are left out, and of the others the votes `let_go` some of
    the first `judged`.

    `nominated`, `forgotten`: in the next epoch, for which the caps leave `room`; `named`: which are nominated;
    `day_left`: what they leave of the day; `stopped_until`: nothing may go before. `reasons`: of those that are due and
    free, how many for which. `beyond`: how many are beyond the namespace's budget, and nominated before them.
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
    quotas: Mapping[str, Quota],
    *,
    as_of: int,
    policy: Policy,
    judge: Judge,
    members: int,
    beyond: Mapping[str, Sequence[str]] = MappingProxyType({}),
    judged_most: int = 2_000,
    shown: int = 3,
) -> list[Outlook]:
    """A shard's namespaces by name. `alive`: those that nobody has used for longest first; `beyond`: by namespace, what
    is beyond its budget, in the order of its policy. That is nominated before what is due, and members let it go: by
    what the store holds it is what is least."""
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
        quota = quotas.get(namespace, caps.NOTHING)
        told.room = caps.room(quota, as_of, policy.caps)
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
        # Of what is too much members ask whether it is among the lowest, of what is too old when it was made; and those
        # are what is nominated.
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
    """What may be forgotten, with the reason, as it is nominated: what is older than its type may become; where
    there is too much, what is to go first, of which as many as are too much; what decayed, longest unused first; what
    expired, the lowest decay score first."""
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
    """What all members' ballots would decide on candidates of one namespace. `vectors`: of those that can be compared;
    `ranks`: of their worth, in millionths; `contexts`: by member, what its agents did of late."""
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
    """Makes a ballot as a judge does: a member that knows no embedding of a memory says the strongest no."""
    assert FORGET.fade is not None
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
