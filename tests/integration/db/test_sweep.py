"""After a sweep no file of Postgres holds what was deleted; before it, they do. The outside topics: as one asks."""

from __future__ import annotations

import time
from contextlib import closing
from pathlib import Path

import numpy as np
import psycopg
import pytest
from confluent_kafka import TopicPartition
from pgvector import HalfVector
from pgvector.psycopg import register_vector

from db import sweeping
from infra.embedded.postgres import Postgres
from memquorum import topics
from tests.conftest import SHARDS
from workers.intake import outside
from workers.kafka import loop
from workers.kafka.partition import Partition

ID = "0b8f6f2e-64b2-5c3a-9d2f-0d5c0f6f1a11"
TEXT = "canary-7f1c2e: the spare key hangs behind the third boiler"
VECTOR = np.linspace(-1, 1, 384, dtype=np.float32)
NEEDLES = {"text": TEXT.encode(), "vector": VECTOR.astype("<f2").tobytes()[:256]}


def files_with_needles(folder: Path) -> dict[str, set[str]]:
    """Returns the files that hold each needle."""
    held: dict[str, set[str]] = {}
    for file in folder.rglob("*"):
        try:
            data = file.read_bytes() if file.is_file() else b""
        except FileNotFoundError:  # the server lets go of files meanwhile
            continue
        for name, needle in NEEDLES.items():
            if needle in data:
                held.setdefault(name, set()).add(str(file.relative_to(folder)))
    return held


@pytest.fixture
def store(databases: tuple[str, str]) -> str:
    """A store that holds one memory."""
    with psycopg.connect(databases[0], autocommit=True) as link:
        register_vector(link)
        link.execute(
            "INSERT INTO memory (id, shard, namespace, agent, subject, event_id, tier, created, characters, commitment,"
            " encoder, early, changed, seq)"
            " VALUES (%s, 0, 'n', 'a', 'a', 'e', 'short-term', 1, 1, '', 'x', false, 1, 1)",
            (ID,),
        )
        link.execute("INSERT INTO content VALUES (%s, %s, 'n')", (ID, TEXT))
        link.execute("INSERT INTO embedding VALUES (%s, 'n', %s, 'e')", (ID, HalfVector(VECTOR)))
        link.execute("CHECKPOINT")
    return databases[0]


def test_what_was_deleted_is_in_no_file_after_a_sweep(store: str, postgres: Postgres) -> None:
    assert set(files_with_needles(postgres.folder)) == {"text", "vector"}
    with psycopg.connect(store, autocommit=True) as link:
        link.execute("DELETE FROM content")
        link.execute("DELETE FROM embedding")
        link.execute("CHECKPOINT")
    assert set(files_with_needles(postgres.folder)) == {"text", "vector"}, "it lies in dead rows and in the log"
    steps = list(sweeping.sweep(store, sweeping.MEMORY))
    assert [step.what for step in steps] == [*sweeping.MEMORY, "write-ahead log"]
    assert files_with_needles(postgres.folder) == {}
    assert not sweeping.recycles(store)


def test_a_statement_that_fails_leaves_nothing_in_the_servers_log(store: str, postgres: Postgres) -> None:
    with psycopg.connect(store, autocommit=True) as link, pytest.raises(psycopg.errors.UniqueViolation):
        link.execute(f"INSERT INTO content (memory_id, body, namespace) VALUES ('{ID}', '{TEXT}', 'n')")
    assert TEXT not in postgres.log.read_text(errors="replace")


def test_who_may_not_sweep_is_told_what_it_lacks(store: str, postgres: Postgres) -> None:
    with psycopg.connect(store, autocommit=True) as link:
        link.execute("CREATE ROLE may_not_sweep LOGIN PASSWORD 'x'")
        link.execute(f"GRANT CONNECT ON DATABASE {link.info.dbname} TO may_not_sweep")
        try:
            stranger = psycopg.conninfo.make_conninfo(store, user="may_not_sweep", password="x")
            with pytest.raises(sweeping.MayNotSweep, match="memquorum_keeper"):
                list(sweeping.sweep(stranger, sweeping.MEMORY))
        finally:
            link.execute(f"REVOKE ALL ON DATABASE {link.info.dbname} FROM may_not_sweep")
            link.execute("DROP ROLE may_not_sweep")


def test_what_intake_has_let_in_is_told_and_deleted_and_nothing_else(fresh_kafka: str) -> None:
    producer = loop.producer(fresh_kafka)
    # Young enough that the topic's own retention takes nothing.
    began = time.time_ns() // 1_000_000 - 60_000
    for at in range(5):
        producer.produce(topics.EPISODES, value=b"{}", partition=1, timestamp=began + at)
    assert producer.flush(10) == 0
    producer.close()
    intake = loop.consumer(fresh_kafka, outside.GROUP)
    intake.commit(offsets=[TopicPartition(topics.EPISODES, 1, 3)], asynchronous=False)
    intake.close()
    found = {each.topic: each for each in outside.topic_states(fresh_kafka, SHARDS)}
    assert (found[topics.EPISODES].reach, found[topics.EPISODES].oldest) == ({1: (0, 3)}, began)
    assert {name for name, each in found.items() if each.records} == {topics.EPISODES}
    outside.delete(fresh_kafka, list(found.values()))
    assert not any(each.records for each in outside.topic_states(fresh_kafka, SHARDS))
    with closing(Partition(fresh_kafka, topics.EPISODES, 1)) as left:
        assert (left.low, left.end) == (3, 6), "and a record that says nothing began another file"
