r"""The memories of a run, and each member's opinion of them, made by the code of intake and of the salience stage.

A member keeps what its own agents still mention. Every subject is mentioned by a set of members' agents, and every
epoch proposes one memory of each of some of these: to forget it, or, every third one, to demote it. Those to demote are
promoted before, in epochs of their own, and there all honest members agree. Four members have sixteen sets, so their
opinions on forgetting and demoting differ in every possible way; with more members as many sets are drawn. Opinions are
the same in each run: they follow from the episodes.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from msgspec.structs import replace

from db.schedule import PostgresSchedule
from memquorum import topics
from memquorum.core.avro import Codec
from memquorum.core.identity import signatures
from memquorum.core.identity.membership import CONSOLIDATOR, Genesis
from memquorum.core.identity.messages import sign
from memquorum.core.ids import shard_of
from memquorum.core.intake import EpisodeIntent, Origin, accept, seal_episode
from memquorum.core.records import (
    ClockTicked,
    EpisodeAccepted,
    EpisodeRecorded,
    EpisodeScored,
    NominationProposed,
    OrderAccepted,
    Proposal,
    TaskFinished,
)
from memquorum.core.vote.kinds import ADMIT, DEMOTE, EVICT, FORGET, PROMOTE
from memquorum.encoders.hashing import HashingEncoder
from memquorum.ports import Vault
from streams.salience_stage import Salience
from streams.stage import Arrival
from tests.builders.genesis import seed_of
from tests.builders.trials import VERIFIERS, signed, statistics
from tests.hostile import cellar, school
from tests.hostile.cellar import Cellar
from tests.hostile.school import School, Verifiers
from tests.inmemory.store import InMemoryNeighbourhoods, InMemoryStore
from workers.kafka import loop

MEMBERS = 4
"""So many where nothing else is asked for."""
_SETS = 16
_SPOKEN = 3
_WORDS, _OWN_WORDS = 11, 2
_MATTERS, _SHARED = 14, 5
_PAIRS = 8
START = 1_700_000_000_000
EARLY = START + 120_000
"""Two minutes later: a memory is old enough to be promoted, and fresh enough not to be demoted at once."""
LATE = START + 720_000_000
"""Two hundred hours later: nothing is left of any decay, in long-term memory either, so each opinion on what is to be
forgotten or demoted rests on relevance alone."""
_UNTRIED = 4
"""Memories that are to be admitted to experience by what verifiers lie."""
_PROMOTED = 32
"""Memories in an epoch that promotes; the policy of a run lets each member want that of every memory."""


@dataclass(frozen=True, slots=True)
class Epoch:
    """The proposals of one epoch: memory ids, the members that want to keep each, and the kind."""

    memories: tuple[str, ...]
    wanted_by: tuple[int, ...]
    kind: str = FORGET.name
    rivals: bool = False
    """Whether the memories are pairs of claims that contradict each other: then what an honest member says follows from
    what it heard, and to one of a pair at most it says yes (SPEC B, P40)."""
    tried: bool = False
    """Whether it is about experience that was tried; what else is to be admitted nobody has tried."""

    def thinks(self, member: int) -> list[bool]:
        """Whether an honest member says yes, of each."""
        if self.kind == ADMIT.name and not self.tried:
            return [False] * len(self.memories)
        return [self.kind == PROMOTE.name or not wanted >> member & 1 for wanted in self.wanted_by]


@dataclass(slots=True)
class Made:
    """A shard's memories, and the accepted offset of its early tick; the late one is the next. `epochs`: in order;
    those of what has a budget as they come, then the `others`, and last those of experience as they come."""

    namespace: str
    others: tuple[Epoch, ...]
    tick: int
    cellar: Cellar
    school: School
    epochs: list[Epoch] = field(default_factory=list)
    nominations: dict[int, NominationProposed] = field(default_factory=dict)
    """Nominations of budgets and of experience, by epoch."""
    late: bool = False
    """Whether the others are among them."""
    held: bool = False
    """Whether no further epoch of what has a budget comes."""
    over: bool = False
    """Whether no further epoch comes."""

    def time(self, epoch: Epoch) -> tuple[int, int]:
        """The time and the accepted offset of an epoch's nomination."""
        return (EARLY, self.tick) if epoch.kind == PROMOTE.name else (LATE, self.tick + 1)


def agents(members: int) -> dict[str, int]:
    """The agents of the genesis file: one of each member."""
    return {f"agent-{member}": member for member in range(members)}


def sets_of(members: int) -> list[int]:
    """Returns sets of members as bits, whose agents still mention a subject: none first, all of them last.

    With more than four members they are drawn, each size as often as any other.
    """
    if 1 << members <= _SETS:
        return list(range(1 << members))
    dice, some = random.Random(members), set[int]()
    while len(some) < _SETS - 2:
        size = 1 + len(some) % (members - 1)
        some.add(sum(1 << member for member in dice.sample(range(members), size)))
    return [0, *sorted(some), (1 << members) - 1]


class Line:
    """Intake, salience and nomination, in this process: their code, their records, no worker of theirs."""

    def __init__(self, bootstrap: str, genesis: Genesis, codec: Codec, vault: Vault, memory_dsn: str) -> None:
        self.genesis, self.codec = genesis, codec
        self._schedule = PostgresSchedule(memory_dsn)
        self._vault = vault
        # A broker that is away delays what is written here, for as long as it takes.
        self._producer = loop.producer(bootstrap, linger_ms=2, log_level=0)
        self._memory_dsn, self._verifiers = memory_dsn, Verifiers(bootstrap, genesis, codec, memory_dsn)
        self.made: dict[int, Made] = {}

    def fill(self, epochs: int, proposals: int) -> None:
        """Writes every shard's accepted and scored records, and its ticks. The topics must be new. `epochs`: beside
        those that promote what every third of them proposes to demote."""
        for shard in range(self.genesis.shards):
            namespace = next(n for n in map("room-{}".format, range(1000)) if shard_of(n, self.genesis.shards) == shard)
            members = self.genesis.n
            plan = [planned(number, proposals, members) for number in range(epochs)]
            rivals = list(_rivals(members))
            said = [*_old(plan, members), *_talk(members), *_spoken(members), *rivals, *_sides(members)]
            accepted = [self._accepted(namespace, event, *one) for event, one in said]
            space = cellar.space_of(shard, self.genesis.shards)
            stored = [self._accepted(space, event, "agent-0", text) for event, text in cellar.cellar_texts(shard)]
            beside = Cellar(self.genesis, shard, [one.memory_id for one in stored], self._schedule)
            accepted += stored
            accepted += [
                self._let_in(one) for one in school.school_records(school.space_of(shard, self.genesis.shards))
            ]
            ticks = [ClockTicked(f"tick-{shard}-{at}", at) for at in (EARLY, LATE)]
            for record in (*accepted, *ticks):
                self._write(topics.ACCEPTED, shard, self.codec.encode(record))
            self.write(topics.SCORED, shard, self._scored(shard, accepted))
            ids, named = iter(record.memory_id for record in accepted), {r.event_id: r.memory_id for r in accepted}
            claims = Epoch(tuple(named[event] for event, _ in rivals), (0,) * len(rivals), PROMOTE.name, rivals=True)
            voted = [
                Epoch(tuple(next(ids) for _ in sets), tuple(sets), _kind(number)) for number, sets in enumerate(plan)
            ]
            helpless = tuple(named[event] for event, _ in _talk(members))[:_UNTRIED]
            lies = Epoch(helpless, (0,) * len(helpless), ADMIT.name)
            others = claims, *_promoting(voted), *voted, lies
            taught = School(
                self.genesis, self.codec, shard, self._memory_dsn, self._schedule, partial(self._append, shard),
                self._verifiers,
            )  # fmt: skip
            self.made[shard] = Made(namespace, others, len(accepted), beside, taught)
        assert self._producer.flush(30) == 0, "the broker did not take the memories within 30 s"

    def nominate(self, shard: int, epoch: int) -> None:
        """The nomination of an epoch, counted from 1; answers at once."""
        made = self.made[shard]
        body = self.codec.encode(made.nominations.get(epoch) or self._plain(shard, epoch))
        signer = "service:nomination"
        said = sign(self.genesis.cluster, signer, seed_of(signer), body)
        self._write(topics.NOMINATIONS, shard, self.codec.encode(said))

    def _plain(self, shard: int, epoch: int) -> NominationProposed:
        made = self.made[shard]
        asked = made.epochs[epoch - 1]
        as_of, offset = made.time(asked)
        plain = Proposal((), made.namespace, asked.kind, "decayed", START, START, 600_000)
        lies = asked.kind == ADMIT.name
        proposals = tuple(
            replace(plain, memory_ids=(one,), tried=self._lies(shard, made.namespace, one) if lies else ())
            for one in asked.memories
        )
        return NominationProposed(
            self.genesis.cluster, self.genesis.config, shard, epoch, as_of, offset, "interval", proposals
        )

    def _lies(self, shard: int, namespace: str, memory_id: str) -> tuple[bytes, ...]:
        """Signs lying verifiers' findings about a memory without a trial: that tasks needed nothing else."""
        told = statistics(self.genesis, memory_id, 1)
        return tuple(
            signed(self.codec, self.genesis, told, one, shard=shard, namespace=namespace) for one in VERIFIERS[:2]
        )

    def go_on(self, shard: int) -> None:
        """Adds the shard's next epoch once those before it are applied: of what has a budget as long as there is more
        of it than may be; then all others; once more of what has a budget, as what was kept has rested by then; and
        what is asked of experience."""
        made = self.made[shard]
        if made.over or not made.cellar.applied(len(made.epochs), LATE):
            return
        if made.held:
            self._taught(made)
            return
        found = made.cellar.nominated(*((LATE, made.tick + 1) if made.late else (EARLY, made.tick)))
        if found is None:
            made.epochs.extend(made.others if not made.late else ())
            made.late, made.held = True, made.late
            return
        memories = tuple(one.memory_ids[0] for one in found.proposals)
        everybody = (1 << self.genesis.n) - 1
        wanted = tuple(0 if goes else everybody for goes in made.cellar.lets_go(memories))
        made.epochs.append(Epoch(memories, wanted, EVICT.name))
        made.nominations[found.epoch] = found

    def _taught(self, made: Made) -> None:
        """Adds the next epoch of experience, once verifiers have told enough."""
        if made.school.over:
            made.over = True
            return
        found = made.school.nominated(LATE, made.tick + 1)
        if found is None:
            return
        record, said = found
        everybody = (1 << self.genesis.n) - 1
        names, kind = tuple(one.memory_ids[0] for one in record.proposals), record.proposals[0].kind
        made.epochs.append(Epoch(names, tuple(0 if yes else everybody for yes in said), kind, tried=True))
        made.nominations[record.epoch] = record

    def _append(self, shard: int, said: EpisodeRecorded | TaskFinished | OrderAccepted) -> int:
        """Writes what comes in later, and a tick; its accepted offset."""
        record = said if isinstance(said, OrderAccepted) else self._let_in(said)
        offset = self._delivered(topics.ACCEPTED, shard, self.codec.encode(record))
        if isinstance(record, EpisodeAccepted):
            self.write(topics.SCORED, shard, self._scored(shard, [record], offset))
        self._write(topics.ACCEPTED, shard, self.codec.encode(ClockTicked(f"tick-{shard}-{offset}", LATE)))
        return offset

    def tick(self, as_of: int) -> None:
        """Lets every shard's time go on."""
        for shard in self.made:
            self._write(topics.ACCEPTED, shard, self.codec.encode(ClockTicked(f"tick-{as_of}", as_of)))
        self._producer.flush(10)

    def write(self, topic: str, shard: int, values: Iterable[bytes]) -> None:
        """Bytes that nobody asked for."""
        for value in values:
            self._write(topic, shard, value)

    def close(self) -> None:
        self._producer.flush(5)
        self._schedule.close()
        self._verifiers.close()

    def _write(self, topic: str, shard: int, value: bytes) -> None:
        while True:
            try:
                self._producer.produce(topic, value, partition=shard)
                self._producer.poll(0)
                return
            except BufferError:
                self._producer.poll(0.1)

    def _delivered(self, topic: str, shard: int, value: bytes) -> int:
        """Writes a record, and waits until the broker has it; its offset."""
        found = list[int]()

        def note(error: object, message: Any) -> None:
            assert error is None, error
            found.append(message.offset())

        self._producer.produce(topic, value, partition=shard, on_delivery=note)
        assert self._producer.flush(60) == 0, "the broker did not take a record within 60 s"
        return found[0]

    def _accepted(self, namespace: str, event: str, agent: str, text: str) -> EpisodeAccepted:
        return self._let_in(
            EpisodeRecorded(content=text, namespace=namespace, agent=agent, event_id=event, occurred_at=START,
                            reward=0.9)
        )  # fmt: skip

    def _let_in(self, said: EpisodeRecorded | TaskFinished) -> EpisodeAccepted:
        origin = Origin(topics.TASKS if isinstance(said, TaskFinished) else topics.EPISODES, 0, 0)
        data, signature = self.codec.encode(said), None
        if said.agent == CONSOLIDATOR:
            seed = seed_of(f"agent:{CONSOLIDATOR}")
            signature = signatures.sign(self.genesis.cluster, origin.topic, seed, data)
        intent = accept(self.codec, data, origin, EARLY, driven=True, genesis=self.genesis, signature=signature)
        assert isinstance(intent, EpisodeIntent), intent
        key = self._vault.create([(intent.memory_id, intent.namespace, intent.agent)])[intent.memory_id]
        return seal_episode(intent, origin, key, (os.urandom(12), os.urandom(12), os.urandom(12)))

    def _scored(self, shard: int, accepted: Sequence[EpisodeAccepted], first: int = 0) -> list[bytes]:
        stage = Salience(
            self.codec, self.genesis.policy, encoder=HashingEncoder(), vault=self._vault,
            neighbourhoods=InMemoryNeighbourhoods(InMemoryStore()),
        )  # fmt: skip
        arrivals = [Arrival(shard, offset, self.codec.encode(record)) for offset, record in enumerate(accepted, first)]
        scored = [output.value for output in stage.process(arrivals)]
        outcomes = {self.codec.decode_as(EpisodeScored, value).outcome for value in scored}
        assert outcomes == {"stored"}, f"the stage did not store every episode: {outcomes}"
        return scored


def planned(number: int, proposals: int, members: int = MEMBERS) -> list[int]:
    """By whom each proposal of an epoch is wanted: by nobody, by all, and by other sets, one further on each time."""
    nobody, *some, everybody = sets_of(members)
    return [nobody, everybody, *(some[(number + place) % len(some)] for place in range(proposals - 2))]


def _kind(number: int) -> str:
    """Returns the kind of an epoch that does not promote: every third demotes."""
    return DEMOTE.name if number % 3 == 0 else FORGET.name


def _promoting(voted: Iterable[Epoch]) -> Iterable[Epoch]:
    """The epochs that promote what others propose to demote."""
    pairs = [pair for one in voted if one.kind == DEMOTE.name for pair in zip(one.memories, one.wanted_by, strict=True)]
    for at in range(0, len(pairs), _PROMOTED):
        memories, wanted_by = zip(*pairs[at : at + _PROMOTED], strict=True)
        yield Epoch(memories, wanted_by, PROMOTE.name)


Told = tuple[str, tuple[str, str]]


def _old(plan: Sequence[Sequence[int]], members: int) -> Iterable[Told]:
    """Event id, agent and text of what is proposed, in the order of the epochs."""
    for number, sets in enumerate(plan):
        for wanted_by in sets:
            # A member favours its agents' own episodes: so the author's member wants the memory, and where no member
            # wants it, no other episode mentions it.
            authors = [member for member in range(members) if wanted_by >> member & 1] or [number % members]
            subject = str(wanted_by) if wanted_by else f"{wanted_by}-{number}"
            yield f"old-{number}-{wanted_by}", (f"agent-{authors[number % len(authors)]}", _text(subject, f"{number}"))


def _spoken(members: int) -> Iterable[Told]:
    """And of what the members' agents say of the same subjects."""
    for wanted_by in sets_of(members):
        for member in range(members):
            for again in range(_SPOKEN if wanted_by >> member & 1 else 0):
                name = f"said-{wanted_by}-{member}-{again}"
                yield name, (f"agent-{member}", _text(str(wanted_by), name))


def _talk(members: int) -> Iterable[Told]:
    """Yields the episodes of the members' agents on other matters, three times each.

    With those on the subjects they fill a member's recent memory. So the episodes near to a subject are nearer than all
    else, and the others are farther than anything.
    """
    for member in range(members):
        for matter in range(_MATTERS):
            for again in range(_SPOKEN):
                name = f"talk-{member}-{matter}-{again}"
                words = _random_words(f"matter-{member}-{matter}", _SHARED) + _random_words(name, _WORDS - _SHARED)
                yield name, (f"agent-{member}", " ".join(words) + ".")


def _rivals(members: int) -> Iterable[Told]:
    """Pairs of claims of which one holds at most, of two agents."""
    for pair in range(_PAIRS):
        room = _random_words(f"room-{pair}", 1)[0]
        for side in range(2):
            yield f"claim-{pair}-{side}", (f"agent-{(pair + side) % members}", f"The {room} code is {1000 + side}.")


def _sides(members: int) -> Iterable[Told]:
    """And who bears out which of them: the members' agents are split over each pair, another way each time."""
    for pair in range(_PAIRS):
        room = _random_words(f"room-{pair}", 1)[0]
        for member in range(members):
            side = pair >> member & 1
            text = f"The {room} code is {1000 + side}, says the note at door {member}."
            yield f"note-{pair}-{member}", (f"agent-{member}", text)


def _text(subject: str, once: str) -> str:
    """Words of the subject, and two that stand here alone: near what else speaks of it, and not the same."""
    words = _random_words(f"subject-{subject}", _WORDS) + _random_words(f"{once}-{subject}", _OWN_WORDS)
    return " ".join(words) + "."


def _random_words(seed: str, count: int) -> list[str]:
    dice = random.Random(seed)
    # Without vowels none begins as a negation does: "un…" would contradict what does without it.
    return ["".join(dice.choice("bcdfghjklmnpqrstvwxz") for _ in range(7)) for _ in range(count)]
