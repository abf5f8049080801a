r"""A shard and its four members in one process: the fleet's treatment of episodes, accesses and ticks, without its
network.

Salience, decay, nomination, caps, a member's judgement, its ballot's bytes, their check and the tally are functions of
the core. This module does the work of the stages and workers between them: who holds what, what rests, and which late
episodes a member votes by. No memory is promoted: a promoted memory is forgotten by the same vote as any other.
"""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from memquorum.core import caps, decay, triage
from memquorum.core.identity.membership import Genesis, Member
from memquorum.core.merging import Marks
from memquorum.core.neighbourhood import as_kept
from memquorum.core.policy import Policy
from memquorum.core.reading.content import Content, content
from memquorum.core.records import BallotCast, DecayCrossed, NominationProposed, Standing
from memquorum.core.salience import REINFORCED, EncodedEpisode, Judgement, Signals, Surroundings
from memquorum.core.vote import columns, nomination
from memquorum.core.vote.grounds import MemberContext
from memquorum.core.vote.kinds import FORGET
from memquorum.core.vote.tally import needed_ppm, tally
from memquorum.core.worth import Counts, Ranks, worth_ppm
from memquorum.ports import Candidate, DueMemory, Vector

WEIGHTS = (1_500, 1_500, 1_000, 1_000)
"""Two planning members, two others (SPEC A, decision 0)."""
SPACE = "n"
_CLUSTER = hashlib.sha256(b"bench.forgetting").digest()


def genesis(agents: Sequence[str], policy: Policy | None = None) -> Genesis:
    """Four members; the agents have a member each, and a fifth shares the first's."""
    members = tuple(Member(id, f"member-{id}", "", b"", weight) for id, weight in enumerate(WEIGHTS))
    speaks = {agent: at % len(members) for at, agent in enumerate(agents)}
    return Genesis(_CLUSTER, 1, members, {}, speaks, policy or Policy())


@dataclass(slots=True)
class Held:
    """A memory that is alive."""

    memory_id: str
    agent: str
    created: int
    last_access: int
    salience_ppm: int
    early: bool
    vector: Vector
    worth: int
    fades: bool = True
    kept: int = 0
    rest: int = 0

    def candidate(self) -> Candidate:
        """As the nomination sees it."""
        return Candidate(
            self.memory_id, SPACE, "short-term", self.created, self.last_access, self.salience_ppm, self.early,
            fades=self.fades,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Epoch:
    """The results of one epoch."""

    number: int
    as_of: int
    why: str
    proposed: int
    forgotten: tuple[str, ...]


Numbers = NDArray[np.int64]


class Context(Protocol):
    """The context of a member's vote."""

    def halves(
        self, memory_ids: Sequence[str], vectors: NDArray[np.float32], ranks: Numbers
    ) -> tuple[Numbers, Numbers]:
        """The two halves of R of memories, by their embeddings and how their worths rank, in millionths."""
        ...


Late = Sequence[tuple[str, Vector, bool]]
"""Episodes of a member's own agents: id, vector, whether it only repeats a memory."""
Rule = Callable[[Late], Context]


class Shipped:
    """The shipped context: the rank of worth and the member's own centred share."""

    def __init__(self, episodes: Late) -> None:
        """`episodes`: those of the member's own agents."""
        recent = [(memory_id, vector, None) for memory_id, vector, _ in episodes]
        self._context = MemberContext.of(SPACE, recent, repeats=[one for one, _, repeats in episodes if repeats])

    def halves(
        self, memory_ids: Sequence[str], vectors: NDArray[np.float32], ranks: Numbers
    ) -> tuple[Numbers, Numbers]:
        """As a replica has them."""
        return ranks, self._context.shares(memory_ids, vectors, ranks)


class Worths:
    """The worth of texts by the words that a namespace heard before them, and its rank among all so far."""

    def __init__(self) -> None:
        self._counts, self._ranks = Counts(), Ranks()

    def hear(self, text: str) -> int:
        """The worth of a text that is said now."""
        said = _content(text)
        worth = worth_ppm(said, self._counts.tell(said))
        self._counts.take(said.stems)
        self._ranks.add(worth)
        return worth

    def worth(self, text: str) -> int:
        """Returns the worth that a text would have now."""
        said = _content(text)
        return worth_ppm(said, self._counts.tell(said))

    def ranks(self, worths: Sequence[int]) -> Numbers:
        """Returns the ranks among the texts so far."""
        return np.array([self._ranks.rank_ppm(worth) for worth in worths], np.int64)


@lru_cache(maxsize=100_000)
def _content(text: str) -> Content:
    return content(text)


class Fleet:
    """One shard with one namespace. Times in milliseconds, never backwards."""

    def __init__(
        self, genesis: Genesis, dimensions: int, *, gate: bool = True, scored: bool = False, rule: Rule = Shipped
    ) -> None:
        """`gate`: whether salience decides what is stored; else everything is, with its salience where it is `scored`,
        and with none, and no decay score, where it is not. `rule`: how relevance is judged."""
        self._rule = rule
        self.genesis, self.policy = genesis, genesis.policy
        self.alive: dict[str, Held] = {}
        self.judged: dict[str, Judgement] = {}
        """Episode → its outcome, where salience decides."""
        self.epochs = 0
        self._last_epoch_at = self._interactions = 0
        self._gate = gate
        self._around = Surroundings(self.policy.salience, dimensions) if gate or scored else None
        self._worths = Worths()
        self._gone = caps.NOTHING.gone
        self._late: dict[str, deque[tuple[str, Vector, bool]]] = {}

    def episode(self, memory_id: str, agent: str, text: str, vector: Vector, at: int) -> str | None:
        """An episode comes. The memory that holds it from now on: itself, the one it repeats, or None."""
        self._interactions += 1
        salience, early, repeats, held, worth = 0, False, None, as_kept(vector), self._worths.hear(text)
        if self._around is not None:
            judgement = self._around.judge(EncodedEpisode(memory_id, agent, text, vector, Signals(), Marks(agent)))
            salience, early, repeats = judgement.salience_ppm, judgement.early, judgement.reinforces
            repeats = repeats if judgement.outcome == REINFORCED and self._gate else None
            self.judged[memory_id] = judgement
            if judgement.outcome == "below_threshold" and self._gate:
                return None
        late = self._late.setdefault(agent, deque(maxlen=2 * self.policy.salience.buffer_size))
        late.append((memory_id, held, repeats is not None))
        if repeats is not None and repeats in self.alive:
            self._touch(self.alive[repeats], at)
            return repeats
        self.alive[memory_id] = Held(memory_id, agent, at, at, salience, early, held, worth, self._around is not None)
        return memory_id

    def access(self, memory_ids: Iterable[str], at: int) -> None:
        """They were read; those that are gone are not."""
        for memory_id in memory_ids:
            self._interactions += 1
            if memory_id in self.alive:
                self._touch(self.alive[memory_id], at)

    def tick(self, as_of: int) -> Epoch | None:
        """The time moves. An epoch, if one is triggered and there is anything to propose."""
        standing = Standing(self.epochs, self._last_epoch_at, self._interactions, len(self.alive))
        why = nomination.trigger(standing, as_of, self.policy, lambda: bool(self._expired(as_of)))
        if why is None:
            return None
        proposed = self._nominate(why, standing, as_of)
        if proposed is None:
            return None
        self.epochs += 1
        self._last_epoch_at, self._interactions = as_of, 0
        forgotten = []
        for outcome in tally(self.genesis, proposed, self._ballots(proposed)):
            if outcome.decided:
                forgotten.append(outcome.memory_ids[0])
            else:
                memory = self.alive[outcome.memory_ids[0]]
                memory.kept += 1
                memory.rest = nomination.rest_until(self.epochs, memory.kept, self.policy)
        self.drop(forgotten)
        if forgotten:
            self._gone = caps.gone(caps.Losses(0, self._gone), as_of, len(forgotten)).gone
        return Epoch(self.epochs, as_of, why, len(proposed.proposals), tuple(forgotten))

    def drop(self, memory_ids: Sequence[str]) -> None:
        """They are forgotten: out of the store, out of what surrounds an episode, out of what members vote by."""
        gone = frozenset(memory_ids)
        for memory_id in memory_ids:
            del self.alive[memory_id]
            if self._around is not None:
                self._around.memories.remove(memory_id)
        for agent, late in self._late.items() if gone else ():
            self._late[agent] = deque((each for each in late if each[0] not in gone), late.maxlen)

    def contexts(self) -> list[Context]:
        """Returns each member's context: the last 64 episodes of each of its agents."""
        most = self.policy.salience.buffer_size
        of: dict[int, list[tuple[str, Vector, bool]]] = {member.id: [] for member in self.genesis.members}
        for agent, late in self._late.items():
            of[self.genesis.member_of(agent)] += list(late)[-most:]
        return [self._rule(of[member.id]) for member in self.genesis.members]

    def scores(self, memories: Sequence[Held], as_of: int) -> Numbers:
        """C of each memory by each member, shape (members, memories)."""
        return np.stack(
            [np.asarray(FORGET.score(each, self.policy), np.int64) for each in self._judged(memories, as_of)]
        )

    def _judged(self, memories: Sequence[Held], as_of: int) -> list[Numbers]:
        """Each member's terms of the memories, by its context."""
        ids, vectors = [memory.memory_id for memory in memories], np.stack([memory.vector for memory in memories])
        accessed = np.array([memory.last_access for memory in memories], np.int64)
        ranks = self._worths.ranks([memory.worth for memory in memories])
        halves = [context.halves(ids, vectors, ranks) for context in self.contexts()]
        return [FORGET.fade(accessed, *both, as_of, self.policy) for both in halves]

    def _touch(self, memory: Held, at: int) -> None:
        memory.last_access = max(memory.last_access, at)
        memory.kept = memory.rest = 0

    def _nominate(self, why: str, standing: Standing, as_of: int) -> NominationProposed | None:
        """The stages `decay` and `nomination`."""
        most = self.policy.epoch.proposals_max
        awake = sorted((m.last_access, m.memory_id) for m in self.alive.values() if m.rest <= self.epochs + 1)
        oldest = [self.alive[memory_id] for _, memory_id in awake[:most]]
        due = [DueMemory(m.memory_id, SPACE, m.last_access) for m in oldest]
        crossed = decay.crossings(due, as_of, self.policy)
        expired = self._expired(as_of)[:most]
        limit = nomination.evicted_limit(standing, len(crossed) + len(expired), self.policy)
        evicted = self._lowest(as_of)[:limit] if limit else []
        going = nomination.Going(
            [self.alive[crossing.memory_id].candidate() for crossing in crossed],
            expired,
            evicted,
            rooms={SPACE: caps.room(caps.Losses(len(self.alive), self._gone), as_of, self.policy.caps)},
        )
        tick = DecayCrossed(0, as_of, 0, 0, crossed, standing)
        return nomination.build(self.genesis, standing, tick, why, nomination.Offers(going))

    def _expired(self, as_of: int) -> list[Candidate]:
        """Returns the expired memories, the lowest decay score first."""
        return [c for c in self._lowest(as_of) if FORGET.due(c, as_of, self.policy) is not None]

    def _lowest(self, as_of: int) -> list[Candidate]:
        """Returns the memories that do not rest: the lowest decay score first; without scores the longest
        unused first.
        """

        def turn(one: Candidate) -> tuple[Decimal, int, str]:
            score = triage.decay_score(one.salience_ppm, 0, as_of - one.last_access, self.policy) if one.fades else None
            return Decimal(9) if score is None else score, one.last_access, one.memory_id

        return sorted((m.candidate() for m in self.alive.values() if m.rest <= self.epochs + 1), key=turn)

    def _ballots(self, proposed: NominationProposed) -> list[columns.Ballot]:
        """Each member judges, packs, and is read by the others."""
        memories = [self.alive[proposal.memory_ids[0]] for proposal in proposed.proposals]
        places, digest = columns.places_of(proposed), hashlib.sha256(str(proposed.epoch).encode()).digest()
        found = []
        for member, terms in zip(self.genesis.members, self._judged(memories, proposed.as_of), strict=True):
            cast = BallotCast(
                cluster=self.genesis.cluster,
                config=0,
                shard=0,
                epoch=proposed.epoch,
                member=member.id,
                nomination=digest,
                terms=columns.packed_columns(FORGET, terms),
            )
            found.append(columns.read(cast, proposed, places, self.policy))
        return found


def turning(genesis: Genesis, of_members: NDArray[np.int64]) -> NDArray[np.int64]:
    r"""Returns the highest θ at which a memory is still kept, by the scores of all members: over it the quorum forgets.

    The memory that is forgotten first has the lowest. So it is the members' rule as an order, from which a budget takes
    what it can hold.
    """
    voices, needed = np.array([member.voice for member in genesis.members]), needed_ppm(genesis, FORGET)
    order = np.argsort(of_members, axis=0, kind="stable")
    weight, rows = np.cumsum(voices[order], axis=0), np.arange(1, genesis.n + 1)[:, None]
    enough = (rows >= genesis.quorum) & (weight >= needed)
    found: NDArray[np.int64] = np.take_along_axis(of_members, order, axis=0)[
        enough.argmax(axis=0), np.arange(of_members.shape[1])
    ]
    return found
