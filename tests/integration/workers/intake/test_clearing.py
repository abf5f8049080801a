"""Accepted records are deleted from topics that this installation provisioned, and from no others."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from confluent_kafka import TopicPartition
from confluent_kafka.admin import AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource, OffsetSpec, ResourceType

from db.vault import PostgresVault
from infra.embedded.kafka_broker import Kafka
from memquorum import topics
from memquorum.core.avro import Codec
from memquorum.core.records import EpisodeAccepted
from tests.builders import genesis
from tests.support.waiting import PATIENCE_S, until
from workers.intake import clearing
from workers.intake import worker as intake
from workers.intake.old_keys import OldKeys
from workers.kafka import loop
from workers.kafka.partition import Partition

SHARDS = 4
GENESIS = genesis.make(shards=SHARDS)
PLACE = (topics.EPISODES, 0)
CANARY = b"canary-c1ea: the ladder leans on the fourth beam"


@pytest.fixture
def admin(fresh_kafka: str) -> AdminClient:
    """A client of a cluster in which this installation provisioned the topic of episodes, and no other."""
    found = AdminClient({"bootstrap.servers": fresh_kafka})
    ours = ConfigResource(ResourceType.TOPIC, topics.EPISODES)
    entry = ConfigEntry(clearing.MARK, clearing.mark(GENESIS.cluster), incremental_operation=AlterConfigOpType.SET)
    ours.add_incremental_config(entry)
    found.incremental_alter_configs([ours])[ours].result()
    return found


@pytest.fixture
def vault(databases: tuple[str, str]) -> Iterator[PostgresVault]:
    found = PostgresVault(databases[1], bytes(range(32)))
    yield found
    found.close()


@contextmanager
def working(bootstrap: str, codec: Codec, vault: PostgresVault, keep_ms: int) -> Iterator[intake.Intake]:
    """Intake, with its clearing, until the block is over."""
    stop = loop.Stop()
    client = intake.Intake(bootstrap, GENESIS, codec, vault, stop=stop)
    old_keys = OldKeys(vault, 10**9, 10**9)
    thread = threading.Thread(
        target=intake.serve, args=(client, keep_ms), kwargs={"clock": "driven", "tick_ms": 1000, "old_keys": old_keys}
    )
    thread.start()
    try:
        yield client
    finally:
        stop.set()
        thread.join(PATIENCE_S)
        assert not thread.is_alive()


def whole(file: Path) -> bytes:
    """All of a file; nothing where the broker has let it go since it was listed."""
    try:
        return file.read_bytes()
    except FileNotFoundError:
        return b""


def publish(bootstrap: str, topic: str, *values: bytes, ahead_ms: int = 0) -> None:
    producer = loop.producer(bootstrap)
    for value in values:
        producer.produce(topic, value, partition=0, timestamp=time.time_ns() // 1_000_000 + ahead_ms)
    assert producer.flush(10) == 0
    producer.close()


def episode(number: int) -> bytes:
    return json.dumps({"agent": "a", "content": f"{CANARY.decode()} {number}"}).encode()


def low(admin: AdminClient, topic: str) -> int:
    place = TopicPartition(topic, 0)
    answer = admin.list_offsets({place: OffsetSpec.earliest()})[place].result()  # type: ignore[no-untyped-call]
    return int(answer.offset)


def accepted(bootstrap: str, codec: Codec) -> int:
    found = 0
    for shard in range(SHARDS):
        partition = Partition(bootstrap, topics.ACCEPTED, shard)
        records = [codec.decode(record.data) for record in partition.records(0)]
        found += sum(isinstance(record, EpisodeAccepted) for record in records)
        partition.close()
    return found


def test_what_was_let_in_goes_with_its_file_and_what_others_provisioned_stays(
    fresh_kafka: str, kafka_server: Kafka, admin: AdminClient, vault: PostgresVault, codec: Codec
) -> None:
    publish(fresh_kafka, topics.EPISODES, episode(1))
    publish(fresh_kafka, topics.EPISODES, episode(2), ahead_ms=3_000_000)  # its own word for the time
    publish(fresh_kafka, topics.ACCESSES, b"not a record at all")
    with working(fresh_kafka, codec, vault, 500) as client:
        until(lambda: low(admin, topics.EPISODES) == 2)
        told = f"topic {topics.ACCESSES}"
        until(lambda: told in client.health.able()[1].get("alarms", {}))  # type: ignore[operator]
        assert "7 days" in client.health.able()[1]["alarms"][told]  # type: ignore[index]
        assert f"topic {topics.EPISODES}" not in client.health.able()[1]["alarms"]  # type: ignore[operator]
        folder = kafka_server.folder / "data" / f"{topics.EPISODES}-0"
        # A broker looks for files to delete every 15 s, for the first time after half a minute.
        until(lambda: not any(CANARY in whole(file) for file in folder.glob("*.log")))
        assert low(admin, topics.ACCESSES) == 0
    assert accepted(fresh_kafka, codec) == 2


def test_what_a_process_left_that_ended_goes_later_and_what_none_has_read_never(
    fresh_kafka: str, admin: AdminClient, vault: PostgresVault, codec: Codec
) -> None:
    publish(fresh_kafka, topics.EPISODES, episode(1), episode(2))
    with working(fresh_kafka, codec, vault, 0):
        until(lambda: accepted(fresh_kafka, codec) == 2)
    assert low(admin, topics.EPISODES) == 0
    publish(fresh_kafka, topics.EPISODES, episode(3))
    with working(fresh_kafka, codec, vault, 600_000):
        until(lambda: accepted(fresh_kafka, codec) == 3)
    assert low(admin, topics.EPISODES) == 0, "its ten minutes are not over"
    with working(fresh_kafka, codec, vault, 500):
        until(lambda: low(admin, topics.EPISODES) == 3)
    assert accepted(fresh_kafka, codec) == 3, "a record that only begins a file is passed over"
