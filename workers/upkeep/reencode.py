"""Encodes a store's memories with another encoder while the fleet works (infra/decisions/0013).

The store shows the remaining work: the memories of another encoder. So a run may end at any point, and the next one
continues. Embeddings are published sealed; the commit worker replaces the old ones and journals it.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass

from confluent_kafka import KafkaException, Producer

from db.encodings import Encoded, Encodings
from memquorum import topics
from memquorum.core import sealing
from memquorum.core.avro import Codec
from memquorum.core.consolidation.rendering import embedded_texts
from memquorum.core.identity.stamps import Writer
from memquorum.core.records import MemoryReencoded
from memquorum.encoders.each import each, together
from memquorum.ports import Encoder, Vault, Vector
from workers.kafka import loop
from workers.kafka.strangers import stamped

log = logging.getLogger("memquorum.reencode")

_SOURCE = "memquorum/reencode"
_LOOK_S = 0.05
# The time to wait for Kafka before checking again whether to stop.
_FLUSH_S = 0.2
_STALLED_S = 60.0


class Stalled(RuntimeError):
    """The commit worker does not apply published embeddings; the message says for how long."""


@dataclass(frozen=True, slots=True)
class Progress:
    """`done` memories of `total`, which grows while the fleet still stores with the previous encoder."""

    done: int
    total: int


@dataclass(frozen=True, slots=True)
class ReencodeResult:
    """The result of a run. `left`: memories of another encoder; `failed`: those that this one cannot encode."""

    done: int
    left: int
    failed: tuple[str, ...]
    seconds: float


def run(
    bootstrap: str,
    codec: Codec,
    *,
    memory_dsn: str,
    vault: Vault,
    encoder: Encoder,
    stop: loop.Stop,
    stamps: Writer | None = None,
    progress: Callable[[Progress], None] = lambda _: None,
    patience_s: float = _STALLED_S,
) -> ReencodeResult:
    """Works until every memory is encoded by `encoder`, or `stop`. Raises Stalled, StoreUnavailable, VaultUnavailable,
    and KafkaException if Kafka rejects a record. Memories done until then stay done."""
    began = time.monotonic()
    producer = loop.producer(bootstrap)
    with closing(Encodings(memory_dsn)) as encodings:
        work = _Work(codec, vault, encoder, encodings, producer, stop=stop, stamps=stamps, patience_s=patience_s)
        try:
            # Once more after a round with any work: the fleet continues to store.
            while not stop and work.round(progress):
                pass
        finally:
            producer.purge()
            producer.close()
        return ReencodeResult(
            work.done, encodings.count(encoder.name), tuple(sorted(work.failed)), time.monotonic() - began
        )


class _Work:
    def __init__(
        self,
        codec: Codec,
        vault: Vault,
        encoder: Encoder,
        encodings: Encodings,
        producer: Producer,
        *,
        stop: loop.Stop,
        stamps: Writer | None,
        patience_s: float,
    ) -> None:
        self.done = 0
        self.failed: set[str] = set()
        self._codec, self._vault, self._encoder, self._encodings = codec, vault, encoder, encodings
        self._producer, self._stop, self._stamps, self._patience_s = producer, stop, stamps, patience_s
        self._refused: Exception | None = None

    def round(self, progress: Callable[[Progress], None]) -> bool:
        """Handles all remaining memories, once; True if any was published."""
        total = self.done + self._encodings.count(self._encoder.name) - len(self.failed)
        after: str | None = None
        pending: list[Encoded] = []
        any_published = False
        progress(Progress(self.done, total))
        while not self._stop:
            found = self._encodings.others(self._encoder.name, after, self._encoder.batch)
            published = self._publish([memory for memory in found if memory.memory_id not in self.failed])
            # While the commit worker applies the previous batch, this one is encoded: no more than two are pending.
            self.done += self._await(pending)
            progress(Progress(self.done, max(total, self.done)))
            pending, any_published = published, any_published or bool(published)
            if not found:
                break
            after = found[-1].memory_id
        self.done += self._await(pending)
        return any_published

    def _publish(self, memories: Sequence[Encoded]) -> list[Encoded]:
        """Encodes and publishes memories that have keys; the others were just forgotten.

        Waits until Kafka has them, through an outage, or for `stop`.
        """
        keys = self._vault.open([memory.memory_id for memory in memories]) if memories else {}
        readable = [memory for memory in memories if memory.memory_id in keys]
        published = []
        for memory, vector in zip(readable, self._encode(readable), strict=True):
            if vector is None:
                self.failed.add(memory.memory_id)
                continue
            key = keys[memory.memory_id]
            nonces = os.urandom(sealing.NONCE_BYTES), os.urandom(sealing.NONCE_BYTES)
            self._send(memory, *sealing.seal_rows(key, nonces, vector, memory.memory_id))
            published.append(memory)
        while self._producer.flush(_FLUSH_S) and not self._stop:
            pass
        if self._refused is not None:
            raise self._refused
        return published

    def _encode(self, memories: Sequence[Encoded]) -> list[list[Vector] | None]:
        """Returns the vector of each, and of a summary those of its sentences; None for a text that cannot be encoded,
        which is logged."""
        texts = [embedded_texts(memory.text, summary=memory.summary) for memory in memories]
        encoded = together(each(self._encoder, [text for of in texts for text in of]), map(len, texts))
        vectors: list[list[Vector] | None] = []
        for memory, found in zip(memories, encoded, strict=True):
            if isinstance(found, Exception):
                # The error's words may hold content.
                log.error("memory %s cannot be encoded: %s", memory.memory_id, type(found).__name__)
            vectors.append(None if isinstance(found, Exception) else found)
        return vectors

    def _send(self, memory: Encoded, sealed: bytes, below: bytes | None) -> None:
        name = self._encoder.name
        value = self._codec.encode(
            MemoryReencoded(memory.memory_id, memory.namespace, memory.encoder, name, sealed, memory.seq, below)
        )
        headers = loop.headers("MemoryReencoded", _SOURCE, f"{name}/{memory.memory_id}")
        self._producer.produce(
            topics.REENCODED,
            value,
            str(memory.shard).encode(),
            partition=memory.shard,
            headers=stamped(headers, self._stamps, topics.REENCODED, memory.shard, value),
            on_delivery=self._delivered,
        )

    def _delivered(self, error: object, _: object) -> None:
        if error is not None:
            self._refused = self._refused or KafkaException(error)

    def _await(self, memories: Sequence[Encoded]) -> int:
        """Waits until the commit worker has applied them, or they were forgotten or changed, or `stop`; returns the
        number of finished ones. Raises Stalled."""
        least, since = len(memories) + 1, time.monotonic()
        while memories:
            waiting = self._encodings.waiting(self._encoder.name, memories)
            if not waiting.unchanged or self._stop:
                return len(memories) - waiting.left
            if waiting.unchanged < least:
                least, since = waiting.unchanged, time.monotonic()
            elif time.monotonic() - since > self._patience_s:
                raise Stalled(
                    f"{waiting.unchanged} embeddings were published and none was taken for {self._patience_s:.0f} s: "
                    "does the commit worker run?"
                )
            self._stop.wait(_LOOK_S)
        return 0
