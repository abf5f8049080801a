"""Publishes what the consolidator makes of memories, in its own name."""

from __future__ import annotations

from confluent_kafka import Producer
from msgspec import Struct

from memquorum import topics
from memquorum.core import ids
from memquorum.core.avro import Codec
from memquorum.core.identity import signatures
from memquorum.core.identity.membership import Genesis
from memquorum.core.records import EpisodeRecorded
from workers.kafka import loop

SOURCE = "memquorum/consolidator"


class Voice(Struct, frozen=True):
    """The publisher: the consolidator of an installation, with the seed of its key."""

    genesis: Genesis
    codec: Codec
    seed: bytes

    def publish(self, producer: Producer, record: EpisodeRecorded, namespace: str, parent: str | None = None) -> None:
        """Hands a signed record to the producer, which has to be flushed. `parent`: the trace that it belongs to."""
        value = self.codec.encode(record)
        signed = signatures.sign(self.genesis.cluster, topics.EPISODES, self.seed, value)
        headers = loop.headers(EpisodeRecorded.__name__, SOURCE, record.event_id or "", parent)
        producer.produce(
            topics.EPISODES, value, key=namespace.encode(), partition=ids.shard_of(namespace, self.genesis.shards),
            headers=[*headers, (signatures.HEADER, signed)],
        )  # fmt: skip
