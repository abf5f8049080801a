"""Feeds a shard's internal topics as intake, salience and the replicas do, for tests of their readers."""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from confluent_kafka import Producer
from msgspec.structs import replace

from memquorum import topics
from memquorum.core import ids, sealing
from memquorum.core.avro import Codec
from memquorum.core.commit.applying import Accepted, Scored
from memquorum.core.commit.spine import Item
from memquorum.core.experience.texts import Texts
from memquorum.core.identity.membership import Genesis
from memquorum.core.ids import shard_of
from memquorum.core.reading.passages import passages
from memquorum.core.records import (
    AccessAccepted,
    ClockTicked,
    Comparison,
    EpisodeAccepted,
    EpisodeScored,
    JournalAppended,
    JournalEntry,
    Proposal,
)
from memquorum.ports import Vault
from tests.builders import votes
from tests.support.waiting import PATIENCE_S
from workers.kafka import loop


class Flow:
    """Writes to the topics and counts offsets itself, so the topics must be fresh.

    `offset[shard]`: the next offset of the accepted stream.
    """

    def __init__(self, bootstrap: str, codec: Codec, genesis: Genesis, vault: Vault) -> None:
        self.codec, self.genesis, self.vault, self.bootstrap = codec, genesis, vault, bootstrap
        self.offset = dict.fromkeys(range(genesis.shards), 0)
        self.epoch = dict.fromkeys(range(genesis.shards), 0)
        self.scored = dict.fromkeys(range(genesis.shards), 0)
        self.log: dict[int, list[Item]] = {shard: [] for shard in range(genesis.shards)}
        """Every accepted record with its score, in order, for computing a reference."""
        self._producer: Producer = loop.producer(bootstrap, linger_ms=5, log_level=0)
        self._numbers = itertools.count()
        self.sentences = False
        """True if stored episodes have a vector of a sentence too, as a summary has."""
        self.more = ""
        """The text behind each episode's sentence; a long text has vectors of its passages."""
        self._random = np.random.default_rng(5)

    def flush(self) -> None:
        assert self._producer.flush(20) == 0

    def namespace(self, shard: int) -> str:
        return next(n for n in (f"n{i}" for i in itertools.count()) if shard_of(n, self.genesis.shards) == shard)

    def _send(self, topic: str, shard: int, value: bytes, event_id: str = "e", kind: str = "Record") -> None:
        self._producer.produce(
            topic, value, b"k", partition=shard, headers=loop.headers(kind, "tests", event_id, "00-trace-01")
        )
        self._producer.poll(0)

    def accepted(self, shard: int, record: Accepted) -> int:
        self._send(topics.ACCEPTED, shard, self.codec.encode(record), record.event_id)
        self.log[shard].append(Item(self.offset[shard], record))
        self.offset[shard] += 1
        return self.offset[shard] - 1

    def episodes(
        self,
        shard: int,
        event_ids: Sequence[str],
        *,
        at: int = 1_000,
        outcome: str = "stored",
        reinforces: str | None = None,
        salience: int = 600_000,
        score: bool = True,
        contradicts: tuple[str, ...] = (),
        denies: tuple[Comparison, ...] = (),
        **said: Any,
    ) -> list[tuple[EpisodeAccepted, int]]:
        """Publishes accepted and, unless told otherwise, scored episodes; returns the records and their offsets.

        `said`: further fields.
        """
        namespace = said.pop("namespace", None) or self.namespace(shard)
        wanted = [(ids.memory_id(namespace, event_id), namespace, "planner") for event_id in event_ids]
        keys = self.vault.create(wanted)
        done = []
        for event_id, (memory_id, _, _) in zip(event_ids, wanted, strict=True):
            content, key = f"Valve {event_id} opens at 4 bar.{self.more}", keys[memory_id]
            content = content if said.get("task") is None else Texts(content, "4 bar").content
            episode = EpisodeAccepted(
                event_id=event_id, memory_id=memory_id, namespace=namespace, agent="planner", subject="planner",
                occurred_at=at, sealed_content=sealing.seal_text(key, os.urandom(12), content, memory_id),
                commitment=sealing.commitment(key, content), characters=len(content), origin_topic=topics.EPISODES,
                origin_partition=0, origin_offset=0, session="s1", role="planning",
            )  # fmt: skip
            episode = replace(episode, **said)
            offset = self.accepted(shard, episode)
            done.append((episode, offset))
            if score:
                self.score(
                    shard, episode, offset, outcome=outcome, reinforces=reinforces, salience=salience,
                    contradicts=contradicts, denies=denies,
                )  # fmt: skip
        return done

    def score(
        self,
        shard: int,
        episode: EpisodeAccepted,
        offset: int,
        *,
        outcome: str = "stored",
        reinforces: str | None = None,
        salience: int = 600_000,
        contradicts: tuple[str, ...] = (),
        denies: tuple[Comparison, ...] = (),
    ) -> None:
        sealed, below = None, None
        if outcome != "below_threshold":
            key = self.vault.open([episode.memory_id])[episode.memory_id]
            text = sealing.open_text(key, episode.sealed_content, episode.memory_id)
            vector = self._random.normal(size=384).astype(np.float32)
            parts = [vector] * max(len(passages(text)), int(self.sentences))
            nonces = os.urandom(12), os.urandom(12)
            sealed, below = sealing.seal_rows(key, nonces, [vector, *parts], episode.memory_id)
        record = EpisodeScored(
            episode.event_id, episode.memory_id, episode.namespace, episode.agent, offset, episode.occurred_at, outcome,
            salience, False, "random", reinforces, 810_000, sealed_embedding=sealed, contradicts=contradicts,
            sealed_sentences=below, denies=denies, again=contradicts if denies else (),
        )  # fmt: skip
        self._send(topics.SCORED, shard, self.codec.encode(record), episode.event_id)
        at = next(i for i, item in enumerate(reversed(self.log[shard])) if item.offset == offset)
        self.log[shard][-1 - at] = Item(offset, episode, Scored(self.scored[shard], record))
        self.scored[shard] += 1

    def access(self, shard: int, memory_id: str, at: int) -> int:
        event_id = f"access-{next(self._numbers)}"
        return self.accepted(shard, AccessAccepted(event_id, (memory_id,), self.namespace(shard), "reviewer", at))

    def tick(self, shard: int, as_of: int) -> int:
        return self.accepted(shard, ClockTicked(f"tick-{next(self._numbers)}", as_of))

    def proposal(self, shard: int, event_id: str, kind: str) -> Proposal:
        namespace = self.namespace(shard)
        return votes.proposal(ids.memory_id(namespace, event_id), kind, namespace=namespace)

    def decide(
        self,
        shard: int,
        proposals: Sequence[Proposal],
        vote: votes.Vote = votes.everybody,
        *,
        as_of: int = 1_000_000,
        accepted_offset: int | None = None,
    ) -> None:
        """Publishes the next epoch's pre-prepare and all commits."""
        self.epoch[shard] += 1
        nominated_at = self.offset[shard] - 1 if accepted_offset is None else accepted_offset
        pre_prepare, commits = votes.decision(
            self.codec, self.genesis, proposals, vote,
            shard=shard, epoch=self.epoch[shard], as_of=as_of, accepted_offset=nominated_at,
        )  # fmt: skip
        self.certificate(shard, pre_prepare, commits)

    def tried(self, shard: int, *made: bytes) -> None:
        """Publishes verifiers' findings as they signed them."""
        for data in made:
            self._send(topics.TRIALS, shard, data)

    def certificate(self, shard: int, pre_prepare: bytes | None, commits: Sequence[bytes]) -> None:
        if pre_prepare is not None:
            self._send(topics.PRE_PREPARES, shard, pre_prepare)
        for data in commits:
            self._send(topics.COMMITS, shard, data)


def read_topic(bootstrap: str, topic: str, shard: int, until: int) -> list[bytes]:
    """Reads the values of a partition from its beginning, until there are so many."""
    consumer = loop.consumer(bootstrap)
    found: list[bytes] = []
    deadline = time.monotonic() + PATIENCE_S
    try:
        loop.assign(consumer, {(topic, shard): None})
        while len(found) < until:
            assert time.monotonic() < deadline, f"{topic}/{shard}: {len(found)} records, not {until}"
            found += [m.value() or b"" for m in loop.records(consumer, 10_000, 0.2)]
    finally:
        consumer.close()
    return found


def journal_of(bootstrap: str, codec: Codec, shard: int, until: int) -> list[JournalEntry]:
    """Reads the shard's journal in the topic up to a sequence, each entry once."""
    known: dict[int, JournalEntry] = {}
    want = until
    while True:
        for data in read_topic(bootstrap, topics.JOURNAL, shard, want):
            entry = codec.decode_as(JournalEntry, codec.decode_as(JournalAppended, data).entry)
            known[entry.seq] = entry
        if len(known) >= until:
            return [known[seq] for seq in sorted(known)]
        want += until - len(known)
