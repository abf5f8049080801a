r"""The memories that members vote on, in worlds with rehearsals: the streams, the commit worker and members' views.

These are the real ones: the commit worker's line on a store in memory, a member's walk on its view in SQLite, the
candidates of the nomination stage. They run before each nomination of an epoch, and the dice kill them in between: the
commit worker before or after its transaction, a member's reading within its batch. `rehearsing` adds the rehearsals,
`recount` checks the invariants.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec.structs import replace

from db.standing import Clear
from db.view import View
from memquorum import topics
from memquorum.core.commit.spine import Item
from memquorum.core.consensus import events as t
from memquorum.core.journal.effects import Rules
from memquorum.core.records import (
    AccessAccepted,
    ClockTicked,
    Comparison,
    DecayCrossed,
    EpisodeAccepted,
    NominationProposed,
)
from memquorum.core.vote import nomination
from memquorum.core.vote.kinds import KINDS
from streams.candidates import Candidates
from tests.builders.shard import accepted, scored
from tests.inmemory.store import InMemorySchedule, InMemoryStore
from tests.simulation.plan import SHARDS
from tests.simulation.recount import Recount
from tests.simulation.rehearsing import Service
from workers.commit.commit_shard import SOURCES, Batch, CommitShard
from workers.replica.stream_follower import Walk

if TYPE_CHECKING:
    from tests.simulation.node import Node
    from tests.simulation.world import World

MINUTE = 60_000
_PARTS = 3  # parts of the work before an epoch is nominated
_CLEAR = Clear("said", np.ones(2, np.float32))
_READS = (topics.ACCEPTED, topics.SCORED, topics.REHEARSED)
_GRACE_MS = 7 * 24 * 60 * MINUTE


class Memories:
    """One shard's memories, and all their readers."""

    def __init__(self, world: World, as_of: int) -> None:
        self.world, self.dice, self.now = world, world.dice, as_of
        self.topics: dict[str, list[bytes]] = {topic: [] for topic in SOURCES}
        self.names = list[str]()
        self.recount = Recount(world)
        self.keeper, self.service = Keeper(self), Service(self)
        self.followers: dict[int, Follower] = {}

    def begin(self) -> None:
        """Starts a follower for every honest member, once there are memories."""
        self.followers = {reader: Follower(self, node) for reader, node in self.world.nodes.items() if node.honest}

    def before(self, epoch: int) -> None:
        """Does the work before an epoch is nominated."""
        act = dict(self.world.plan.rehearsals)[epoch]
        self.world.tell(None, f"Memories are rehearsed: {act}.")
        for part in range(_PARTS):
            about = epoch * _PARTS + part
            self._live(about)
            self.keeper.turn(about)
            self.service.turn(act, about)
            for follower in self.followers.values():
                follower.turn(about)
            self.keeper.turn(about, again=1)
        self.keeper.turn(None)

    def nominated(self, epoch: int) -> NominationProposed | None:
        """Returns the nomination stage's proposal for the present memories; None where it has none."""
        world, store = self.world, self.keeper.store
        policy, shard = world.genesis.policy, world.plan.shard
        state, schedule = store.states[shard], InMemorySchedule(store)
        standing = replace(state.standing, last_epoch=epoch - 1)
        tick = DecayCrossed(shard, self.now, self.last, state.seq, (), standing)
        found = Candidates(schedule).candidates(tick, standing, policy)
        # One of them: a simulated member likes one of two that are promoted together.
        before = self.now - policy.promote.age_ms + 1
        going = nomination.Going(expired=found.expired, doubted=found.doubted, rooms=found.rooms)
        rising = nomination.Rising(schedule.promotable(shard, policy.promote.salience_ppm, before, 1))
        made = nomination.build(world.genesis, standing, tick, nomination.INTERVAL, nomination.Offers(going, rising))
        self.recount.nominated(made, found.rooms, store.strengths, self.now)
        return made

    def decided(self, data: bytes, commits: tuple[bytes, ...]) -> None:
        """Has the commit worker read the proof of a decided epoch."""
        self.topics[topics.PRE_PREPARES].append(data)
        self.topics[topics.COMMITS].extend(commits)

    def end(self) -> None:
        """Has all readers read everything without faults: they agree."""
        for _ in range(3 + self.world.renominated):
            self._accept(ClockTicked(f"tick-{self.last + 1}", self.now))
        self.keeper.turn(None)
        for follower in self.followers.values():
            follower.turn(None)
        views = [(one.node.me, one.view) for one in self.followers.values()]
        self.recount.end(self.keeper.store, views, self.topics[topics.REHEARSED])

    @property
    def last(self) -> int:
        """Returns the last offset of the accepted stream."""
        return len(self.topics[topics.ACCEPTED]) - 1

    def _live(self, about: int) -> None:
        """Has agents publish, sometimes repeat, and use what there is or was; time goes on."""
        dice = self.dice
        for number in range(2):
            at = (about, number)
            self._episode(f"said-{about}-{number}", dice.roll(900_000, "salience", *at) + 50_000, *at)
        for number in range(dice.roll(4, "uses", about)):
            at = dice.roll(len(self.names), "used", about, number)
            named = tuple(dict.fromkeys((self.names[at], self.names[at - 1])))
            use = AccessAccepted(f"use-{about}-{number}", named, self.world.namespace, "reader", self.now)
            self._accept(use)
        self.now += dice.pick((10, 61, 61, 240), "time goes on", about) * MINUTE
        self._accept(ClockTicked(f"tick-{self.last + 1}", self.now))

    def _episode(self, name: str, salience: int, *at: int) -> None:
        dice, known = self.dice, self.names
        one = known[dice.roll(len(known), "of which", *at)] if known else ""
        made_of = (one,) if one and dice.chance(300, "made of another", *at) else ()
        denies = (one,) if one and not made_of and dice.chance(400, "denies another", *at) else ()
        stated = denies if denies and dice.chance(700, "on purpose", *at) else ()
        record = accepted(
            name, self.now, namespace=self.world.namespace, agent=dice.pick(("planner", "grower"), "who", *at),
            derives_from=made_of, explicit=bool(stated), supersedes=stated,
        )  # fmt: skip
        told = tuple(Comparison(other, (1 + dice.roll(3, "which statement", *at),)) for other in denies)
        score = replace(scored(record, self.last + 1, salience=salience), contradicts=denies, denies=told)
        self._accept(record)
        self.topics[topics.SCORED].append(self.world.codec.encode(score))
        known.append(record.memory_id)

    def _accept(self, record: EpisodeAccepted | AccessAccepted | ClockTicked) -> None:
        self.topics[topics.ACCEPTED].append(self.world.codec.encode(record))


class Keeper:
    """The commit worker, without Kafka: its line, on a store that outlives it."""

    def __init__(self, memories: Memories) -> None:
        self._memories, self.store = memories, InMemoryStore()
        self._begin()

    def _begin(self) -> None:
        """Begins a new process on the store's state."""
        world = self._memories.world
        start = self.store.start(world.first.cluster, SHARDS)[world.plan.shard]
        self._line = CommitShard(Rules(world.codec, world.first), start)
        self._at = {topic: start.cursors.get(topic, 0) for topic in SOURCES}

    def turn(self, about: int | None, again: int = 0) -> None:
        """Reads on, of each topic as far as the dice say, and applies what it can; or (`about` None) everything,
        without a kill.
        """
        memories, dice = self._memories, self._memories.dice
        for topic, log in memories.topics.items():
            end = len(log)
            if about is not None:
                end -= dice.roll(3, "the commit worker reads", about, again, SOURCES.index(topic))
            for offset in range(self._at[topic], end):
                self._line.take(topic, offset, log[offset], None)
                self._at[topic] = offset + 1
            self._at |= self._line.rewind()
        count = 0
        while (batch := self._line.batch(1 + dice.roll(6, "how many at once", about or 0, count))) is not None:
            count += 1
            dies = None if about is None else dice.roll(24, "the commit worker dies", about, again, count)
            if dies == 0:
                memories.world.tell(None, "The commit worker dies before its transaction.")
                return self._begin()
            net = self._write(batch)
            if dies == 1:
                memories.world.tell(None, "The commit worker dies after its transaction.")
                return self._begin()
            self._line.applied(batch, net)
        return None

    def _write(self, batch: Batch) -> Any:
        world, line, shard = self._memories.world, self._line, self._memories.world.plan.shard
        contents = {item.record.memory_id: _CLEAR for item in batch.items if _told(item)}
        wanted = {line.state: batch.rows_touched(world.codec, line.tombstones, line.since)}
        with self.store.transaction(wanted) as transaction:
            net = batch.apply(line.rules, transaction.rows[shard], contents, {}, line.tombstones)
            transaction.write([net], contents, line.cursors(batch) | batch.cursors(shard))
        for change, _ in batch.changes:
            self._memories.recount.applied(change)
        if batch.rejected is not None:
            raise RuntimeError(f"a decision cannot be applied: {batch.rejected}")
        return net


class Follower:
    """A member's view of memories, and the part of its process that reads them."""

    def __init__(self, memories: Memories, node: Node) -> None:
        self._memories, self.node = memories, node
        self._lives = self._decided = 0
        self._open()

    def _open(self) -> None:
        self.view = View(Path(":memory:"), self._memories.world.first.cluster, self.node.me)
        self._sit()

    def _sit(self) -> None:
        world = self._memories.world
        self._walk = Walk(world.codec, self.view, world.first, me=self.node.me, shard=world.plan.shard)
        self._lives = self.node.lives

    def _look(self) -> None:
        """Begins a new process of the member at its view; where it lost decisions, with an empty one."""
        if self.node.lives == self._lives:
            return
        if self.node.view.progress.seq <= self._decided:
            self._decided = 0
            self._open()
        self._sit()

    def turn(self, about: int | None) -> None:
        """Reads on, of each topic as far as the dice say, unless it is down; or (`about` None) everything."""
        memories, dice, node = self._memories, self._memories.dice, self.node
        if node.core is None and about is not None:
            return
        self._look()
        self._walk.follow(node.genesis)
        dies = about is not None and dice.chance(60, "a member's reading dies", about, node.reader)
        try:
            with self.view.batch():
                for number, topic in enumerate(_READS):
                    self._read(topic, 0 if about is None else dice.roll(4, "it reads", about, node.reader, number))
                self._walk.go()
                if dies:
                    raise _Killed
        except _Killed:
            memories.world.tell(node, "dies while it reads of memories")
            self._sit()

    def _read(self, topic: str, less: int) -> None:
        log, walk = self._memories.topics[topic], self._walk
        for offset in range(max(walk.next_of(topic), self._read_to(topic)), len(log) - less):
            if topic == topics.REHEARSED:
                walk.rehearse(offset, log[offset])
            else:
                record = self._memories.world.codec.decode(log[offset])
                (walk.accept if topic == topics.ACCEPTED else walk.score)(offset, record, log[offset])
            self._walk_read[topic] = offset + 1

    def _read_to(self, topic: str) -> int:
        """Returns the offset that this process has read to: it does not read again what waits in the walk."""
        if getattr(self, "_walk_of", None) is not self._walk:
            self._walk_of, self._walk_read = self._walk, dict[str, int]()
        return self._walk_read.get(topic, 0)

    def decided(self, effect: t.Decided) -> None:
        """Drops what an epoch forgot, as `Seat` does."""
        self._look()
        checked, world = effect.checked, self._memories.world
        passed = [outcome for outcome in checked.outcomes if outcome.decided]
        forgotten = [i for o in passed if KINDS[o.kind].seals for i in KINDS[o.kind].taken(o.memory_ids)]
        with self.view.batch():
            self.view.decided(
                world.plan.shard, seq=effect.seq, epoch=effect.epoch, commits=effect.commits,
                decisions=effect.decisions, forgotten=forgotten, until=checked.nomination.as_of + _GRACE_MS,
                accepted_offset=checked.nomination.accepted_offset, read=self._walk.next_accepted,
            )  # fmt: skip
        self._decided = max(self._decided, effect.seq)


class _Killed(Exception):
    """The process was killed in the middle of a batch."""


def _told(item: Item) -> bool:
    return isinstance(item.record, EpisodeAccepted)
