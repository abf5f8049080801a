"""Counts journal entries and nominations, the installation's own records, and nothing else.

The report's sums come from here; the checks compare them with the published records and with Postgres.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from dataclasses import dataclass, field, replace

from memquorum.core.avro import Codec
from memquorum.core.ids import memory_id
from memquorum.core.journal.decisions import passed
from memquorum.core.policy import PPM, Policy
from memquorum.core.records import (
    APPLIED,
    Accessed,
    Decided,
    Destroyed,
    Erased,
    JournalEntry,
    NominationProposed,
    Result,
    Stored,
)
from memquorum.core.tiers import ALIVE, GONE, LONG_TERM, SEALED, SHORT_TERM, SUPERSEDED
from memquorum.core.vote.kinds import KINDS
from memquorum.core.vote.kinds.kind import MemoryState

AGAIN = "repeated access"


@dataclass(frozen=True, slots=True)
class Moment:
    """The totals at a tick: memories by tier, the characters of those alive, and the number recorded."""

    as_of: int
    recorded: int
    tiers: dict[str, int]
    characters: int
    everything: int
    """Characters of every episode recorded by then: the size of a store that never forgets or merges."""


@dataclass(frozen=True, slots=True)
class Epoch:
    """A nomination, and the decision about it. Times in milliseconds by the broker's clock; None: still open."""

    shard: int
    epoch: int
    as_of: int
    trigger: str
    proposals: int
    nominated_at: int
    decided_at: int | None = None
    results: tuple[Result, ...] = ()

    @property
    def latency_ms(self) -> int | None:
        """The time from the nomination's place in its topic to the decision's place in the journal's."""
        return None if self.decided_at is None else self.decided_at - self.nominated_at


@dataclass(slots=True)
class Ledger:
    """Counts the outcomes of a run. Feed it journal entries and nominations in the order of their partitions."""

    codec: Codec
    effects: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    idle_accesses: int = 0
    epochs: dict[tuple[int, int], Epoch] = field(default_factory=dict)
    moments: list[Moment] = field(default_factory=list)
    tier: dict[str, str] = field(default_factory=dict)
    """Memory id → tier. Only `_move` writes it."""
    stands_for: dict[str, str] = field(default_factory=dict)
    """Memory id of an episode that reinforced another → the memory that it reinforced."""
    _size: dict[str, int] = field(default_factory=dict)
    _tiers: Counter[str] = field(default_factory=Counter)
    _alive_characters: int = 0
    _early: dict[tuple[int, int], tuple[Decided, int]] = field(default_factory=dict)
    _everything: int = 0
    _seq: dict[int, int] = field(default_factory=dict)

    def entry(self, entry: JournalEntry, at: int) -> bool:
        """Counts a journal entry; `at` is its timestamp in the topic. False if it was counted before.

        A commit worker that was killed publishes again the entries of which it cannot know whether they were published.
        """
        if entry.seq <= self._seq.get(entry.shard, 0):
            return False
        self._seq[entry.shard] = entry.seq
        self._count(entry, at)
        return True

    def _count(self, entry: JournalEntry, at: int) -> None:
        detail = self.codec.decode(entry.detail)
        again = entry.effect == "repeated" and isinstance(detail, Accessed)
        self.effects[AGAIN if again else entry.effect] += 1
        if isinstance(detail, Stored) and entry.effect != "repeated":
            self._everything += detail.characters
        if entry.effect == "stored" and entry.memory_id is not None:
            self._size[entry.memory_id] = detail.characters
            self._move(entry.memory_id, SHORT_TERM)
        elif entry.effect == "reinforced" and entry.memory_id is not None and entry.namespace is not None:
            self.stands_for[memory_id(entry.namespace, entry.event_id)] = entry.memory_id
        elif entry.effect == "dropped":
            self.reasons[detail.outcome] += 1
        elif isinstance(detail, Accessed):
            self.idle_accesses += entry.effect == "accessed" and not detail.those(APPLIED)
        elif isinstance(detail, Decided):
            for result in detail.results:
                self._end(result)
            self._decided(entry.shard, detail, at)
        elif isinstance(detail, Destroyed | Erased):
            self._gone(detail)
        elif entry.effect == "ticked":
            self._ticked(entry.as_of)

    def _end(self, result: Result) -> None:
        """Moves the memories of a decision to the tiers that its kind gives them."""
        kind = KINDS[result.kind]
        if not kind.about_memories or not passed(result):
            return
        tiers = [self.tier.get(memory, SHORT_TERM) for memory in result.memory_ids]
        fates = kind.effect([MemoryState(tier, alive=tier in ALIVE) for tier in tiers], PPM, 0, Policy())
        for memory, fate in zip(result.memory_ids, fates, strict=True):
            if fate is not None:
                self._move(memory, fate.tier)

    def _gone(self, detail: Destroyed | Erased) -> None:
        if isinstance(detail, Destroyed):
            ids = [memory for memory in detail.memory_ids if self.tier.get(memory) == SEALED]
        else:
            ids = [episode.memory_id for episode in detail.episodes if episode.memory_id in self.tier]
        for memory in ids:
            self._move(memory, GONE)

    def nominated(self, nomination: NominationProposed, at: int) -> None:
        """Counts a nomination. Only the first of an epoch counts: the members accept no other."""
        key = (nomination.shard, nomination.epoch)
        if key in self.epochs:
            return
        self.epochs[key] = Epoch(
            nomination.shard, nomination.epoch, nomination.as_of, nomination.trigger, len(nomination.proposals), at
        )
        early = self._early.pop(key, None)
        if early is not None:
            self._decided(nomination.shard, *early)

    def memory(self, episode: str) -> str:
        """The memory that stands for an episode's memory id: its own, or the one that it reinforced."""
        return self.stands_for.get(episode, episode)

    def tiers(self) -> dict[str, int]:
        """Memories by tier, now."""
        return {tier: self._tiers[tier] for tier in (SHORT_TERM, LONG_TERM, SEALED, SUPERSEDED, GONE)}

    def settle(self) -> None:
        """Recomputes the last moment: a tick is journalled before its consequences."""
        if self.moments:
            self._ticked(self.moments[-1].as_of)

    def recorded(self) -> int:
        """The number of episodes in the journal, without repetitions."""
        return self.effects["stored"] + self.effects["reinforced"] + self.effects["dropped"]

    def outcomes(self) -> Counter[str]:
        """Counts proposals by outcome; 'open' if their epoch is not decided."""
        found = Counter(result.outcome for epoch in self.epochs.values() for result in epoch.results)
        found["open"] = sum(epoch.proposals for epoch in self.epochs.values() if epoch.decided_at is None)
        return found

    def nominations(self) -> int:
        """Proposals of all epochs."""
        return sum(epoch.proposals for epoch in self.epochs.values())

    def fingerprint(self) -> str:
        """The first digits of a SHA-256 over every proposal: memories, kind, epoch and outcome."""
        told = hashlib.sha256()
        for key in sorted(self.epochs):
            for result in self.epochs[key].results:
                named = ",".join(result.memory_ids)
                told.update(f"{key} {named} {result.kind} {result.outcome} {result.reason}\n".encode())
        return told.hexdigest()[:16]

    def latencies(self) -> list[int]:
        """The milliseconds that each decision took, ascending."""
        return sorted(e.latency_ms for e in self.epochs.values() if e.latency_ms is not None)

    def _decided(self, shard: int, decided: Decided, at: int) -> None:
        key = (shard, decided.epoch)
        if key not in self.epochs:  # two topics: the journal may be read before the nomination
            self._early[key] = (decided, at)
            return
        self.epochs[key] = replace(self.epochs[key], decided_at=at, results=decided.results)

    def _move(self, memory: str, tier: str) -> None:
        before, size = self.tier.get(memory), self._size.get(memory, 0)
        self._alive_characters += size * ((tier in ALIVE) - (before in ALIVE))
        self._tiers[tier] += 1
        if before is not None:
            self._tiers[before] -= 1
        self.tier[memory] = tier

    def _ticked(self, as_of: int) -> None:
        # Every shard ticks; the last one of them completes the moment.
        if self.moments and self.moments[-1].as_of == as_of:
            self.moments.pop()
        self.moments.append(Moment(as_of, self.recorded(), self.tiers(), self._alive_characters, self._everything))


def percentile(ascending: list[int], share: float) -> int:
    """The nearest-rank percentile: the least value that at least `share` of them do not exceed; 0 for none."""
    return ascending[max(0, math.ceil(share * len(ascending)) - 1)] if ascending else 0
