"""Feeds a shard as intake, salience and nomination do, without them: for rows that begin behind these stages."""

from __future__ import annotations

import os
from collections.abc import Sequence

import numpy as np

from bench.parts import AGENTS, Parts, names_of
from bench.texts import sentences
from db.vault import PostgresVault
from infra import genesis
from memquorum import topics
from memquorum.core import ids, sealing
from memquorum.core.identity.messages import sign
from memquorum.core.records import ClockTicked, EpisodeAccepted, EpisodeScored, NominationProposed, Proposal
from tests.builders.worths import weighed
from workers.kafka import loop
from workers.kafka.strangers import stamped

START = 1_700_000_000_000
HOUR = 3_600_000
DIMENSIONS = 384
_SIGNER = "service:nomination"


class Feed:
    """Counts the offsets of the accepted stream itself, so nobody else may write to it, and topics must be fresh."""

    def __init__(self, parts: Parts) -> None:
        self.genesis, self.codec = parts.genesis, parts.codec
        self.shards = range(parts.genesis.shards)
        self.namespaces = names_of(self.shards, parts.genesis)
        self.offset = dict.fromkeys(self.shards, 0)
        self.memories: dict[int, list[str]] = {shard: [] for shard in self.shards}
        self._stamps = genesis.stamps(parts.settings, parts.genesis.n)
        self._vault = PostgresVault(parts.settings.vault_dsn, genesis.secret(parts.settings.master_key_file))
        self._seed = genesis.signing_seed(parts.settings, "service-nomination", parts.genesis.services["nomination"])
        self._producer = loop.producer(parts.bootstrap, linger_ms=5)
        self._random = np.random.default_rng(11)
        self._agents = list(AGENTS)

    def episodes(self, shard: int, count: int, *, scored: bool = True) -> None:
        """Accepted, each of another text; and scored, all stored, each of another vector, where no stage does it."""
        namespace, first = self.namespaces[shard], len(self.memories[shard])
        texts = sentences(count, seed=1_000 * shard + first)
        for start in range(0, count, 500):
            self._some(shard, namespace, first + start, texts[start : start + 500], scored)

    def _some(self, shard: int, namespace: str, first: int, texts: Sequence[str], score: bool) -> None:
        events = [f"e{first + i}" for i in range(len(texts))]
        agents = [self._agents[(first + i) % len(self._agents)] for i in range(len(texts))]
        memories = [ids.memory_id(namespace, event) for event in events]
        keys = self._vault.create([(m, namespace, a) for m, a in zip(memories, agents, strict=True)])
        vectors = self._random.standard_normal((len(texts), DIMENSIONS), dtype=np.float32)
        for event, agent, memory, text, vector in zip(events, agents, memories, texts, vectors, strict=True):
            key, at = keys[memory], START + len(self.memories[shard])
            offset = self.offset[shard]
            accepted = EpisodeAccepted(
                event_id=event, memory_id=memory, namespace=namespace, agent=agent, subject=agent, occurred_at=at,
                sealed_content=sealing.seal_text(key, os.urandom(12), text, memory),
                commitment=sealing.commitment(key, text), characters=len(text), origin_topic=topics.EPISODES,
                origin_partition=0, origin_offset=offset, session="s1", role="planning",
            )  # fmt: skip
            self._accept(shard, accepted)
            self.memories[shard].append(memory)
            if not score:
                continue
            scored = EpisodeScored(
                event_id=event, memory_id=memory, namespace=namespace, agent=agent, accepted_offset=offset,
                occurred_at=at, outcome="stored", salience_ppm=450_000, early=False, encoder="bench",
                novelty_ppm=450_000, sealed_embedding=sealing.seal_vector(key, os.urandom(12), vector, memory),
                **weighed(key, text, memory),
            )  # fmt: skip
            self._send(topics.SCORED, shard, scored, f"scored/{shard}/{offset}")

    def tick(self, shard: int, as_of: int) -> int:
        """A tick; its offset."""
        return self._accept(shard, ClockTicked(f"tick-{as_of}", as_of))

    def nominate(  # noqa: PLR0917
        self, shard: int, epoch: int, as_of: int, tick: int, memories: Sequence[str], kind: str = "forget",
        reason: str = "decayed",
    ) -> None:  # fmt: skip
        """Proposes to forget these, or what `kind` says, as of a tick. Flushes: what is timed from here is
        acknowledged."""
        namespace = self.namespaces[shard]
        proposals = tuple(Proposal((m,), namespace, kind, reason, START, START, 450_000) for m in memories)
        body = self.codec.encode(
            NominationProposed(
                cluster=self.genesis.cluster,
                config=self.genesis.config,
                shard=shard,
                epoch=epoch,
                as_of=as_of,
                accepted_offset=tick,
                trigger="interval",
                proposals=proposals,
            )
        )
        signed = sign(self.genesis.cluster, _SIGNER, self._seed, body)
        self._send(topics.NOMINATIONS, shard, signed, f"nomination/{shard}/{epoch}")
        self.flush()

    def flush(self) -> None:
        assert self._producer.flush(60) == 0

    def close(self) -> None:
        """Lets the broker go, before it goes itself."""
        self.flush()
        self._producer.close()
        self._vault.close()

    def _accept(self, shard: int, record: EpisodeAccepted | ClockTicked) -> int:
        self._send(topics.ACCEPTED, shard, record, record.event_id)
        self.offset[shard] += 1
        return self.offset[shard] - 1

    def _send(self, topic: str, shard: int, record: object, event_id: str) -> None:
        value = self.codec.encode(record)
        headers = loop.headers(type(record).__name__, "benchmarks", event_id)
        headers = stamped(headers, self._stamps, topic, shard, value)
        while True:
            try:
                self._producer.produce(topic, value, b"k", partition=shard, headers=headers)
                break
            except BufferError:
                self._producer.poll(0.05)
        self._producer.poll(0)
