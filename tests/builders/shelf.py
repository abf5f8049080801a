"""The Schedule port without a store: a test fills it by hand and can make it fail."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from msgspec.structs import replace

from memquorum.core.access import covers
from memquorum.core.avro import Codec
from memquorum.core.caps import Losses
from memquorum.core.decay import span_ms
from memquorum.core.policy import EpochPolicy, Retention
from memquorum.core.records import Crossing, DecayCrossed, JournalEntry, Lapsed, Standing
from memquorum.core.tiers import DRAFT
from memquorum.ports import (
    Candidate,
    DueMemory,
    ErasedSummary,
    Fading,
    Grade,
    IdleSession,
    OrderVote,
    Peer,
    Peers,
    ShardStatus,
    StoreUnavailable,
    Weighted,
)
from memquorum.schema_files import shared_codec
from streams.stage import Arrival
from tests.builders import genesis as cluster
from tests.builders.policies import by_the_paper


@dataclass
class Shelf:
    """The ports Schedule and StoredOrders over lists; `asked` notes every question."""

    status_of: dict[int, ShardStatus] = field(default_factory=dict)
    due_memories: list[DueMemory] = field(default_factory=list)
    alive: list[Candidate] = field(default_factory=list)
    ready: list[Candidate] = field(default_factory=list)
    asked: list[tuple[object, ...]] = field(default_factory=list)
    down: set[str] = field(default_factory=set)
    votes: list[OrderVote] = field(default_factory=list)
    requested: list[bytes] = field(default_factory=list)
    stands: dict[str, Losses] = field(default_factory=dict)
    unsure: list[Candidate] = field(default_factory=list)
    left: list[Candidate] = field(default_factory=list)
    """The answer of `unused`."""
    scaffold: list[Candidate] = field(default_factory=list)
    """The answer of `steps`."""
    disputed: list[tuple[Candidate, Candidate]] = field(default_factory=list)
    guessed: list[tuple[Candidate, Candidate]] = field(default_factory=list)
    helpful: list[tuple[Candidate, tuple[bytes, ...]]] = field(default_factory=list)
    idle: list[IdleSession] = field(default_factory=list)
    erased: list[ErasedSummary] = field(default_factory=list)
    summed_up: list[tuple[Candidate, Candidate]] = field(default_factory=list)
    unsaid: list[tuple[Candidate, Candidate]] = field(default_factory=list)
    fallen: list[DueMemory] = field(default_factory=list)
    """The answer of `fading`, whatever the grades; the lowest decay score first."""
    old: list[Candidate] = field(default_factory=list)
    """The answer of `aged`."""
    near: list[Peer] = field(default_factory=list)
    same: list[Peer] = field(default_factory=list)
    forms: list[tuple[Candidate, Candidate]] = field(default_factory=list)
    of_one_form: list[tuple[Candidate, ...]] = field(default_factory=list)
    weighs: list[Weighted] = field(default_factory=list)
    journal: list[JournalEntry] = field(default_factory=list)
    """A note for each time at which `weighs` was found changed."""
    seen: dict[str, Weighted] = field(default_factory=dict)

    def due(
        self,
        shard: int,
        unused_since: Mapping[str, int],
        limit: int,
        without: Collection[str] = (),
        *,
        room: bool = False,
    ) -> list[DueMemory]:
        self._note("due", shard, max(unused_since.values()), limit)
        early = [one for one in self.due_memories if one.last_access <= unused_since[one.tier]]
        return [one for one in early if one.namespace not in without][:limit]

    def grades(self, shard: int) -> list[Grade]:
        return [Grade(40, 0)] if self.fallen else []

    def fading(
        self,
        shard: int,
        asked: Sequence[Fading],
        as_of: int,
        limit: int,
        without: Collection[str] = (),
        *,
        room: bool = False,
    ) -> list[DueMemory]:
        self._note("fading", shard, max(one.unused_since for one in asked), limit)
        early = [one for one in self.fallen if one.last_access <= max(each.unused_since for each in asked)]
        return [one for one in early if one.namespace not in without][:limit]

    def aged(self, shard: int, before: Mapping[str, int], limit: int) -> list[Candidate]:
        self._note("aged", shard, *before.items(), limit)
        return self.old[:limit]

    def unused(self, shard: int, rules: Sequence[Retention], as_of: int, limit: int) -> list[Candidate]:
        self._note("unused", shard, *rules, as_of, limit)
        return self.left[:limit]

    def steps(self, shard: int, before: int, limit: int) -> list[Candidate]:
        return self.scaffold[:limit]

    def losses(self, namespaces: Iterable[str], since: int) -> dict[str, Losses]:
        return {name: self.stands[name] for name in namespaces if name in self.stands}

    def promotable(self, shard: int, salience_ppm: int, created_before: int, limit: int) -> list[Candidate]:
        self._note("promotable", shard, salience_ppm, created_before, limit)
        return [c for c in self.ready if c.salience_ppm >= salience_ppm and c.created < created_before][:limit]

    def doubted(self, shard: int, limit: int) -> list[Candidate]:
        return self.unsure[:limit]

    def contested(self, shard: int, limit: int, *, inferred: bool = False) -> list[tuple[Candidate, Candidate]]:
        return [*self.disputed, *(self.guessed if inferred else ())][:limit]

    def drafted(
        self, shard: int, limit: int, rests: EpochPolicy, *, unsaid: bool = False
    ) -> list[tuple[Candidate, Candidate]]:
        return (self.unsaid if unsaid else self.summed_up)[:limit]

    def tried(self, shard: int, limit: int) -> list[tuple[Candidate, tuple[bytes, ...]]]:
        return self.helpful[:limit]

    def alike(self, shard: int, least_ppm: int, limit: int, after: str | None = None) -> Peers:
        self._note("alike", shard, least_ppm, limit, after)
        behind = [one for one in self.near if after is None or one.candidate.memory_id > after]
        return Peers(tuple(behind[:limit]), behind[limit - 1].candidate.memory_id if len(behind) > limit else None)

    def twins(self, shard: int, least_ppm: int, limit: int, after: str | None = None) -> Peers:
        self._note("twins", shard, least_ppm, limit, after)
        return Peers(tuple(self.same))

    def general(self, shard: int, limit: int) -> list[tuple[Candidate, Candidate]]:
        return self.forms[:limit]

    def families(self, shard: int, limit: int) -> list[tuple[Candidate, ...]]:
        return self.of_one_form[:limit]

    def idle_sessions(
        self, shard: int, until: int, least: int, limit: int, after: IdleSession | None = None
    ) -> list[IdleSession]:
        self._note("idle_sessions", shard, until, least, limit)
        found = [one for one in self.idle if one.latest <= until and one.memories >= least]
        return found[found.index(after) + 1 if after else 0 :][:limit]

    def erased_summaries(self, shard: int, memory_ids: Sequence[str]) -> list[ErasedSummary]:
        self._note("erased_summaries", shard, tuple(memory_ids))
        return [one for one in self.erased if one.memory_id in memory_ids]

    def held(self, shard: int, patterns: Collection[str]) -> dict[str, int]:
        self._note("held", shard)
        found: Counter[str] = Counter()
        for one in self.weighs:
            if covers(patterns, one.candidate.namespace):
                found[one.candidate.namespace] += one.tokens
        return dict(found)

    def weighted(self, shard: int, namespace: str) -> list[Weighted]:
        self._note("weighted", shard, namespace)
        return [one for one in self.weighs if one.candidate.namespace == namespace]

    def weighted_some(self, shard: int, namespace: str, memory_ids: Collection[str]) -> list[Weighted]:
        self._note("weighted_some", shard, namespace)
        return [one for one in self._weighs(memory_ids) if one.candidate.namespace == namespace]

    def weights(self, shard: int, memory_ids: Collection[str]) -> list[Weighted]:
        return [replace(one, goals_ppm=0, spent_ppm=0) for one in self._weighs(memory_ids)]

    def accounts(self, shard: int, namespace: str) -> dict[str, int]:
        return {one.subject: one.spent_ppm for one in self.weighs if one.candidate.namespace == namespace}

    def spaces(self, shard: int, patterns: Collection[str]) -> list[str]:
        self._note("spaces", shard)
        return sorted({name for one in self.weighs if covers(patterns, name := one.candidate.namespace)})

    def living(self, shard: int, namespace: str, behind: tuple[int, str] | None, limit: int) -> list[tuple[int, str]]:
        alive = (one.candidate for one in self.weighs if one.candidate.tier != DRAFT)
        found = sorted((one.created, one.memory_id) for one in alive if one.namespace == namespace)
        return [one for one in found if behind is None or one > behind][:limit]

    def entries(self, shard: int, after: int, limit: int) -> list[JournalEntry]:
        now = {one.candidate.memory_id: one for one in self.weighs}
        changed = sorted(one for one in now.keys() | self.seen.keys() if now.get(one) != self.seen.get(one))
        if changed:
            detail = shared_codec().encode(Lapsed("pin", 0, tuple(changed)))
            self.journal.append(JournalEntry(shard, len(self.journal) + 1, 0, "lapsed", "e", "t", 0, 0, detail))
            self.seen = now
        return self.journal[after : after + limit]

    def around(self, memory_ids: Collection[str]) -> set[str]:
        return {parent for one in self._weighs(memory_ids) for parent in one.needs}

    def _weighs(self, memory_ids: Collection[str]) -> list[Weighted]:
        return [one for one in self.weighs if one.candidate.memory_id in memory_ids]

    def candidates(self, shard: int, memory_ids: Sequence[str], *, room: bool = False) -> list[Candidate]:
        self._note("candidates", shard, tuple(memory_ids))
        known = {candidate.memory_id: candidate for candidate in self.alive}
        return [known[memory_id] for memory_id in memory_ids if memory_id in known]

    def status(self, shard: int) -> ShardStatus:
        self._note("status", shard)
        return self.status_of.get(shard, ShardStatus(shard, 0, 0, 0, 0, 0, 0))

    def requests(self, shard: int, *, since: int, before: int, through: int) -> list[bytes]:
        self._note("requests", shard, since, before, through)
        return self.requested

    def decided(self, shard: int) -> list[OrderVote]:
        self._note("decided", shard)
        return self.votes

    def _note(self, *question: object) -> None:
        self.asked.append(question)
        if question[0] in self.down or f"{question[0]} {question[1]}" in self.down:
            raise StoreUnavailable("the shelf is down")


NOW = 1_700_000_000_000
POLICY = by_the_paper(epoch=EpochPolicy(capacity=10))
GENESIS = cluster.make(policy=POLICY)
SPAN = span_ms(POLICY)
STANDING = Standing(last_epoch=4, last_epoch_at=0, interactions=0, alive=10)
OLD = Candidate("old", "n", "short-term", NOW - SPAN, NOW - SPAN, 400_000, early=False)
READY = Candidate("ready", "n", "short-term", NOW - 60_000, NOW, 700_000, early=True)
CROSSED = (Crossing("old", NOW - SPAN, 299_999),)
TICK = DecayCrossed(1, NOW, accepted_offset=33, journal_seq=9, crossed=CROSSED, standing=STANDING)


def arrival(codec: Codec, tick: DecayCrossed, *, partition: int | None = None) -> Arrival:
    where = tick.shard if partition is None else partition
    return Arrival(where, tick.journal_seq, codec.encode(tick), traceparent=f"00-{tick.journal_seq}")
