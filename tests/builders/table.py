"""A member's seat in one shard, with streams that a test writes by hand."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from msgspec.structs import replace

from db.signstate import MemorySignState
from db.view import View
from memquorum import topics
from memquorum.core import sealing
from memquorum.core.audit.chain import Record
from memquorum.core.consensus import events as t
from memquorum.core.identity.membership import Genesis
from memquorum.core.identity.messages import digest, sign
from memquorum.core.records import (
    BallotCast,
    ClockTicked,
    EpisodeAccepted,
    EpisodeScored,
    JournalAppended,
    JournalEntry,
    NominationProposed,
    Proposal,
    Signed,
)
from memquorum.core.vote.columns import places_of, read
from memquorum.core.vote.kinds.kind import Opinion
from memquorum.ports import VaultUnavailable
from memquorum.schema_files import load_codec
from tests.builders import trials, votes
from tests.builders.genesis import make, seed_of
from tests.builders.worths import weighed
from workers.kafka.own_clock import OwnClock
from workers.replica.judge import Judge
from workers.replica.seat import LOGS, Seat

CODEC = load_codec()
GENESIS: Genesis = make(shards=1, agents={"ann": 1, "bob": 2}, **trials.entitled("rehearsal"))
ME = 1
HOUR = 3_600_000
NOW = 100 * HOUR


class Held(dict[str, bytes]):
    """Keys by memory, and the memories whose keys were taken out, in order."""

    def __init__(self) -> None:
        super().__init__()
        self.gone: list[str] = []

    def __delitem__(self, memory_id: str) -> None:
        super().__delitem__(memory_id)
        self.gone.append(memory_id)


@dataclass
class Keys:
    """The Vault port over a dictionary; it can be made to fail."""

    keys: Held = field(default_factory=Held)
    down: bool = False
    asked: list[set[str]] = field(default_factory=list)

    def create(self, wanted: Iterable[tuple[str, str, str]]) -> dict[str, bytes]:
        raise AssertionError("a replica makes no keys")

    def open(self, memory_ids: Iterable[str]) -> dict[str, bytes]:
        if self.down:
            raise VaultUnavailable("down")
        self.asked.append(set(memory_ids))
        return {memory: self.keys[memory] for memory in self.asked[-1] if memory in self.keys}

    def destroyed(self, since: int | None, most: int) -> list[tuple[int, str]]:
        if self.down:
            raise VaultUnavailable("down")
        told = list(enumerate(self.keys.gone, 1))
        return told[-1:] if since is None else [one for one in told if one[0] >= since][:most]

    def destroy(self, memory_ids: Iterable[str]) -> int:
        raise AssertionError("a replica destroys no keys")


class Table:
    """A seat, and the hand-made streams that it reads."""

    def __init__(self, path: Path, *, live: bool = True, own_clock: OwnClock | None = None) -> None:
        self.path, self.vault, self.now = path, Keys(), 0.0
        self.own_clock = own_clock
        self.texts: dict[str, str] = {}
        self.nominations: dict[bytes, NominationProposed] = {}
        self.offsets = dict.fromkeys(
            [topics.ACCEPTED, topics.SCORED, topics.REENCODED, topics.REHEARSED, *LOGS.values()], 0
        )
        self.view = View(path, GENESIS.cluster, ME)
        self.signed = MemorySignState()
        self.signed.claim([("0/0/0/began", b"", b"")])
        self.seat = self.sit()
        if live:
            self.read_to_the_end()

    def read_to_the_end(self) -> None:
        for topic in LOGS.values():
            self.seat.end(topic)

    def sit(self, shard: int = 0) -> Seat:
        return Seat(
            CODEC,
            GENESIS,
            self.view,
            Judge(CODEC, self.view, self.vault, GENESIS),
            shard=shard,
            me=ME,
            sign=lambda _: lambda body: CODEC.encode(sign(GENESIS.cluster, "member:1", seed_of("member:1"), body)),
            timings=t.Timings(),
            signed=self.signed,
            clock=lambda: self.now,
            own_clock=self.own_clock,
        )

    def put(self, topic: str, record: object) -> int:
        offset = self.offsets[topic]
        self.offsets[topic] += 1
        self.seat.take(topic, offset, record if isinstance(record, bytes) else CODEC.encode(record))
        return offset

    def accept(
        self, memory: str, agent: str = "ann", at: int = 0, text: str = "", commitment: bytes | None = None, **said: Any
    ) -> int:
        key = self.vault.keys.setdefault(memory, os.urandom(32))
        content = self.texts[memory] = text or f"{agent} saw {memory}"
        return self.put(
            topics.ACCEPTED,
            EpisodeAccepted(
                event_id=memory, memory_id=memory, namespace="space", agent=agent, subject=agent, occurred_at=at,
                sealed_content=sealing.seal_text(key, os.urandom(12), content, memory),
                commitment=commitment or sealing.commitment(key, content), characters=len(content),
                origin_topic="o", origin_partition=0, origin_offset=0, **said,
            ),
        )  # fmt: skip

    def score(
        self,
        memory: str,
        offset: int,
        vector: Iterable[float] = (1, 0),
        agent: str = "ann",
        at: int = 0,
        **changes: Any,
    ) -> None:
        sealed = sealing.seal_vector(
            self.vault.keys[memory], os.urandom(12), np.array(list(vector), np.float32), memory
        )
        record = EpisodeScored(
            event_id=memory, memory_id=memory, namespace="space", agent=agent, accepted_offset=offset, occurred_at=at,
            outcome="stored", salience_ppm=600_000, early=False, encoder="test", sealed_embedding=sealed,
            **weighed(self.vault.keys[memory], self.texts[memory], memory),
        )  # fmt: skip
        self.put(topics.SCORED, replace(record, **changes))

    def episode(
        self,
        memory: str,
        vector: Iterable[float] = (1, 0),
        agent: str = "ann",
        at: int = 0,
        *,
        text: str = "",
        **more: Any,
    ) -> None:
        self.score(memory, self.accept(memory, agent, at, text), vector, agent, at, **more)

    def tick(self, as_of: int = NOW) -> int:
        return self.put(topics.ACCEPTED, ClockTicked(f"tick-{as_of}", as_of))

    def nominate(
        self, offset: int, *memories: str | Proposal, epoch: int = 1, as_of: int = NOW, kind: str = "forget"
    ) -> bytes:
        proposals = tuple(
            Proposal((m,), "space", kind, "decayed", 0, 0, 600_000) if isinstance(m, str) else m for m in memories
        )
        record = NominationProposed(GENESIS.cluster, 0, 0, epoch, as_of, offset, "interval", proposals)
        data = votes.signed(CODEC, GENESIS, "service:nomination", record)
        self.put(topics.NOMINATIONS, data)
        named = digest(CODEC.decode_as(Signed, data).body)
        self.nominations[named] = record
        return named

    def decide(self, epoch: int, *proposals: Proposal, **told: Any) -> None:
        """Writes a decision of the other members into the logs."""
        pre_prepare, commits = decision_on(epoch, *proposals, **told)
        for data in commits:
            self.put(topics.COMMITS, data)
        self.put(topics.PRE_PREPARES, pre_prepare)

    def turn(self, seconds: float = 0.0) -> list[Opinion] | None:
        """Runs one turn, so much later; returns the opinions of a ballot that was cast in it."""
        self.now += seconds
        with self.view.batch():
            self.seat.turn()
        cast = [s for s in self.seat.outbox if s.message == t.Message.BALLOT]
        self.seat.outbox.clear()
        if not cast:
            return None
        ballot = CODEC.decode_as(BallotCast, CODEC.decode_as(Signed, cast[0].data).body)
        return list(opinions_of(ballot, self.nominations[ballot.nomination]))


class Journal:
    """The interface of `workers.kafka.partition.Partition` for a reader from its beginning."""

    def __init__(self, *entries: tuple[str, bytes]) -> None:
        self.data = [
            CODEC.encode(JournalAppended(CODEC.encode(JournalEntry(0, n, 0, effect, "", "", 0, n, detail)), b"", b""))
            for n, (effect, detail) in enumerate(entries)
        ]

    def records(self, patience_s: float, start: int | None = None) -> Iterator[Record]:
        yield from (Record(at, data) for at, data in enumerate(self.data))


def opinions_of(ballot: BallotCast, nomination: NominationProposed) -> tuple[Opinion, ...]:
    return read(ballot, nomination, places_of(nomination), GENESIS.policy).opinions


def decision_on(epoch: int, *proposals: Proposal, **told: Any) -> tuple[bytes, list[bytes]]:
    wanted = proposals or [votes.proposal("m1", "forget", namespace="space")]
    return votes.decision(CODEC, GENESIS, wanted, epoch=epoch, **told)
