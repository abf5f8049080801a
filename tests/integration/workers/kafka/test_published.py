"""The end of the journal's topic, on a real broker."""

from __future__ import annotations

import logging
import time

from memquorum import topics
from memquorum.core.avro import Codec
from memquorum.core.identity.keys import Keys
from memquorum.core.identity.stamps import Writer
from tests.builders import genesis
from tests.builders.shard import Shard
from workers.commit.outbox import SIGNER, Outbox, Outgoing
from workers.kafka import loop, published
from workers.kafka.strangers import Strangers

GENESIS = genesis.make()
STAMPS = Writer(b"k" * 32, len(GENESIS.members))


def test_the_last_genuine_entry_is_found_behind_what_strangers_wrote(fresh_kafka: str, codec: Codec) -> None:
    producer = loop.producer(fresh_kafka)
    outbox = Outbox(producer, codec, Keys(codec, SIGNER, genesis.seed_of("service:journal")), STAMPS)
    states, entries = [], []
    shard = Shard(codec, GENESIS, 1)
    for time_ms in range(1, 6):
        change = shard.tick(time_ms)
        states.append(change.state)
        entries.append(Outgoing(change.entry.seq, change.entry.event_id, change.appended))
    outbox.send(entries, states[-1], GENESIS)
    outbox.send(entries[2:4], states[3], GENESIS)  # sent again by a start that was cut off
    beyond = Shard(codec, GENESIS, 1)
    for time_ms in range(1, 10):
        forged = beyond.tick(time_ms + 50)
    for number in range(200):
        value = codec.encode(forged.appended) if number % 2 else b"rubbish"
        producer.produce(topics.JOURNAL, value, b"k", partition=1)
    producer.flush(10)
    turns: list[str | None] = []
    strangers = Strangers(logging.getLogger("test"), STAMPS.reader())
    began = time.monotonic()
    found = published.last_entries(fresh_kafka, codec, strangers, range(GENESIS.shards), turns.append)
    print(f"{time.monotonic() - began:.3f} s")
    assert found == {1: published.Last(5, states[-1].hash)}
    assert turns[-1] is None
    outbox.close()
