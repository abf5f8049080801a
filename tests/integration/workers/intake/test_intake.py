"""Intake on a real broker and a real vault: what gets in, what does not, and what a crash or an outage costs."""

from __future__ import annotations

import json
import logging
import threading
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from confluent_kafka import ConsumerGroupTopicPartitions, KafkaError, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource, ResourceType
from confluent_kafka.schema_registry import SchemaRegistryClient, header_schema_id_serializer
from confluent_kafka.schema_registry.avro import AvroSerializer
from confluent_kafka.serialization import MessageField, SerializationContext
from msgspec.structs import replace
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict

from db.vault import PostgresVault
from infra.embedded.kafka_broker import Kafka
from memquorum import topics
from memquorum.core import asked, authorship, ids, letters, sealing
from memquorum.core.avro import Codec
from memquorum.core.identity import grants, signatures
from memquorum.core.identity.stamps import HEADER, Writer
from memquorum.core.intake import EpisodeIntent
from memquorum.core.quota import Limits, Plan
from memquorum.core.records import (
    AccessAccepted,
    AccessRecorded,
    ClockRequested,
    ClockTicked,
    EpisodeAccepted,
    EpisodeRecorded,
    IntakeRefused,
    OrderAccepted,
    QueryAsked,
    QueryRecorded,
    SessionClosed,
    SessionEnded,
)
from memquorum.telemetry.bundle import Telemetry
from tests import ROOT
from tests.builders import erasures, genesis
from tests.builders.protections import NAMESPACE, signed, wanted
from tests.support.intake import GENESIS, MASTER, SHARDS, START, Line
from tests.support.registry import Schemas, serving
from tests.support.waiting import PATIENCE_S
from workers.intake.registry import Registry
from workers.intake.worker import Intake
from workers.kafka import group_membership, loop
from workers.kafka.group_membership import PlaceLost
from workers.upkeep import dead_letters
from workers.upkeep.dead_letters import Wanted

CANARY = "canary-81f2"
EACH = 40  # episodes of a partition


@pytest.fixture
def line(fresh_kafka: str, databases: tuple[str, str], codec: Codec) -> Iterator[Line]:
    found = Line(fresh_kafka, codec, PostgresVault(databases[1], MASTER))
    yield found
    found.close()


def test_queries_are_sealed_in_a_topic_of_their_own_and_not_after_their_askers_erasure(
    line: Line, codec: Codec
) -> None:
    said = QueryRecorded("planner", f"where is the key, {CANARY}?", "garden", "q1", START, (), "minilm", (0.6, -0.8))
    line.publish(topics.QUERIES, codec.encode(said), {"agent": "planner", "query": " "})
    line.publish(topics.QUERIES, {"agent": "eve", "query": "?", "namespace": "garden", "asked_at": START}, partition=1)
    line.publish(topics.CLOCK, codec.encode(ClockRequested(START)))
    with line.intake():
        line.until(lambda: len(line.of(QueryAsked)) == 2 and len(line.of(IntakeRefused)) == 1)
    found, other = sorted(line.of(QueryAsked), key=lambda one: one.agent, reverse=True)
    assert CANARY.encode() not in b"".join(m.value() or b"" for m in line.messages)
    keys = line.vault.open([found.key_id, other.key_id])
    text, vector = asked.opened(found, keys[found.key_id])
    assert text == said.query and vector is not None and vector.tolist() == pytest.approx([0.6, -0.8], abs=1e-3)
    assert [(r.reason, r.field) for r in line.of(IntakeRefused)] == [("empty_value", "query")]

    assert line.vault.destroy_of(asked.KEYS, asked.owner("garden", "planner")) == 1
    line.publish(topics.QUERIES, codec.encode(replace(said, event_id="q2")))
    line.publish(topics.QUERIES, codec.encode(replace(said, event_id="q3", agent="eve")))
    with line.intake():
        line.until(lambda: len(line.of(QueryAsked)) == 3)
    assert [(one.agent, one.event_id) for one in line.of(QueryAsked)][-1] == ("eve", "q3")


def test_a_session_ends_after_what_was_said_in_it_and_outside_the_accepted_stream(line: Line, codec: Codec) -> None:
    spoken = [{"agent": "planner", "content": f"valve {k}", "namespace": "garden", "session": "s1"} for k in range(5)]
    line.publish(topics.ENDS, codec.encode(SessionEnded("s1", "planner", "garden", "x1", START)), {"agent": "planner"})
    line.publish(topics.EPISODES, *spoken, partition=1)
    line.publish(topics.CLOCK, codec.encode(ClockRequested(START)))
    with line.intake():
        line.until(lambda: len(line.of(ClockTicked)) == SHARDS and len(line.of(SessionClosed)) == 1)
        line.publish(topics.ENDS, {"agent": "planner", "session": "s1", "namespace": "garden", "event_id": "x1"})
        line.until(lambda: len(line.of(SessionClosed)) == 2)
    first, again = line.of(SessionClosed)
    shard = ids.shard_of("garden", SHARDS)
    (message, _) = (m for m in line.messages if m.topic() == topics.CLOSED)
    assert (message.partition(), message.key()) == (shard, b"garden")
    # Five episodes stand before it, and of a tick no word.
    assert first == SessionClosed("x1", shard, "garden", "planner", "s1", START, "ended", 5)
    assert (again.event_id, again.accepted_offset) == ("x1", 6)
    assert [(r.origin_topic, r.reason, r.field) for r in line.of(IntakeRefused)] == [
        (topics.ENDS, "missing_field", "session")
    ]
    assert len([m for m in line.messages if m.topic() == topics.ACCEPTED]) == 5 + SHARDS


def test_where_queries_are_not_logged_they_are_passed_over(line: Line, codec: Codec) -> None:
    line.publish(topics.QUERIES, codec.encode(QueryRecorded("planner", "where?", "garden", "q1", START)), {"query": 7})
    line.publish(topics.CLOCK, codec.encode(ClockRequested(START)))
    with line.intake(queries_ms=0):
        line.until(lambda: len(line.of(ClockTicked)) == SHARDS)
    assert not line.of(QueryAsked) and not line.of(IntakeRefused)
    assert line.vault.open([asked.key_id("garden", "planner", START)]) == {}


def test_sound_records_come_in_sealed_and_the_others_are_told_why(line: Line, codec: Codec) -> None:
    trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    said = f"the key is under the mat, {CANARY}"
    memory = ids.memory_id("garden", "e1")
    line.publish(
        topics.EPISODES,
        {"agent": "planner", "content": said, "namespace": "garden", "event_id": "e1", "reward": 0.5},
        headers=[("traceparent", trace.encode())],
    )
    line.publish(topics.EPISODES, codec.encode(EpisodeRecorded("executor", said, "attic", "e2")), partition=1)
    line.publish(topics.EPISODES, {"agent": "planner", "content": said, "reward": 7}, f"no json: {said}".encode())
    line.publish(topics.ACCESSES, codec.encode(AccessRecorded("planner", (memory,), "garden", accessed_at=START)))
    line.publish(topics.ACCESSES, {"agent": "planner", "memory_ids": [CANARY]})
    line.publish(topics.CLOCK, codec.encode(ClockRequested(START)))
    with line.intake():
        line.until(lambda: len(line.of(ClockTicked)) == SHARDS and len(line.of(IntakeRefused)) == 3)

    first, second = sorted(line.of(EpisodeAccepted), key=lambda e: e.event_id)
    keys = line.vault.open([first.memory_id, second.memory_id])
    assert first.memory_id == memory
    assert (first.reward_ppm, first.subject, first.origin_offset) == (500_000, "planner", 0)
    assert [sealing.open_text(keys[e.memory_id], e.sealed_content, e.memory_id) for e in (first, second)] == [said] * 2
    assert [(a.memory_ids, a.accessed_at) for a in line.of(AccessAccepted)] == [((memory,), START)]

    refused = line.of(IntakeRefused)
    assert {(r.origin_topic, r.reason, r.field) for r in refused} == {
        (topics.EPISODES, "out_of_range", "reward"),
        (topics.EPISODES, "unknown_framing", None),
        (topics.ACCESSES, "bad_id", "memory_ids"),
    }
    letter = next(r for r in refused if r.reason == "unknown_framing")
    key = line.vault.open([letter.key_id])[letter.key_id]
    assert letters.open_payload(letter.key_id, key, letter.sealed_payload) == f"no json: {said}".encode()

    # No topic behind intake shows the content.
    for message in line.messages:
        assert (
            CANARY.encode() not in (message.value() or b"") + (message.key() or b"") + repr(message.headers()).encode()
        )

    by_event = {codec.decode(m.value() or b"").event_id: m for m in line.messages if m.topic() == topics.ACCEPTED}
    found = by_event["e1"]
    assert (found.partition(), found.key()) == (ids.shard_of("garden", SHARDS), b"garden")
    headers = dict(found.headers() or [])
    assert headers["traceparent"] == trace.encode()
    assert (headers["ce_type"], headers["ce_id"]) == (b"EpisodeAccepted", b"e1")


def test_of_a_use_the_ids_that_are_none_stay_outside_alone(line: Line) -> None:
    memory = ids.memory_id("default", "e1")
    line.publish(topics.ACCESSES, {"agent": "planner", "memory_ids": [CANARY, memory], "event_id": "use"})
    with line.intake():
        line.until(lambda: len(line.of(AccessAccepted)) == 1 and len(line.of(IntakeRefused)) == 1)
    (use,), (letter,) = line.of(AccessAccepted), line.of(IntakeRefused)
    assert (use.event_id, use.memory_ids) == ("use", (memory,))
    assert (letter.reason, letter.field) == ("bad_id", "memory_ids")
    assert "by their places, 1:" in letter.detail and CANARY not in letter.detail
    key = line.vault.open([letter.key_id])[letter.key_id]
    assert CANARY.encode() in letters.open_payload(letter.key_id, key, letter.sealed_payload)


def test_a_tick_follows_what_was_published_before_it_and_time_never_falls(line: Line) -> None:
    def publish(number: int) -> None:
        for partition in range(SHARDS):
            episodes = ({"agent": "a", "content": f"{number}.{i}", "namespace": f"n{i}"} for i in range(EACH))
            line.publish(topics.EPISODES, *episodes, partition=partition)
        line.publish(topics.CLOCK, {"as_of": START + number * 1000})

    publish(1)
    with line.intake():
        line.until(lambda: len(line.of(ClockTicked)) == SHARDS)
        publish(2)
        line.until(lambda: len(line.of(ClockTicked)) == 2 * SHARDS)
    line.publish(topics.CLOCK, {"as_of": START + 1999})
    line.publish(topics.CLOCK, {"as_of": START + 3000})
    with line.intake():  # another process knows the last tick
        line.until(lambda: len(line.of(ClockTicked)) == 3 * SHARDS and len(line.of(IntakeRefused)) == 1)

    assert [(r.reason, r.field) for r in line.of(IntakeRefused)] == [("clock_backwards", "as_of")]
    assert len(line.of(EpisodeAccepted)) == 2 * SHARDS * EACH, "a restart brings nothing twice"
    for shard in range(SHARDS):
        kinds = [
            (codec_record.as_of - START) // 1000 if isinstance(codec_record, ClockTicked) else "episode"
            for m in line.messages
            if m.topic() == topics.ACCEPTED and m.partition() == shard
            for codec_record in (line.codec.decode(m.value() or b""),)
        ]
        spoken = kinds.index(1)
        assert kinds[spoken:] == [1, *["episode"] * spoken, 2, 3]
    # An episode without a time happened at the last tick.
    assert {e.occurred_at for e in line.of(EpisodeAccepted)[-EACH:]} == {START + 1000}


def test_a_strangers_tick_does_not_move_the_clock_of_who_takes_it_up(line: Line) -> None:
    stamps = Writer(b"s" * 32, members=4)
    line.publish(topics.CLOCK, {"as_of": START})
    with line.intake(stamps=stamps):
        line.until(lambda: len(line.of(ClockTicked)) == SHARDS)
    own = line.messages[-1]
    forged = line.codec.encode(ClockTicked("doom", START + 10**12))
    line.publish(topics.ACCEPTED, forged)
    line.publish(topics.ACCEPTED, forged, headers=[(HEADER, loop.stamp(own))])
    line.publish(topics.CLOCK, {"as_of": START + 1})
    with line.intake(stamps=stamps):
        line.until(lambda: len(line.all()) == 2 * SHARDS + 2)
    assert line.of(IntakeRefused) == []
    assert [record.as_of for record in line.of(ClockTicked)].count(START + 1) == SHARDS
    reader = stamps.reader()
    told = [reader.genuine(*loop.place(m), m.value() or b"", loop.stamp(m)) for m in line.messages]
    assert told.count(True) == 2 * SHARDS


def test_a_tick_read_first_still_comes_last(line: Line) -> None:
    client = Intake(line.bootstrap, GENESIS, line.codec, line.vault, stop=loop.Stop())
    client.join(driven=True)
    while not client.ready:
        client.handle(client.reading.records(1, 0.05))
    for partition in range(SHARDS):
        line.publish(topics.EPISODES, *({"agent": "a", "content": f"{i}"} for i in range(EACH)), partition=partition)
    line.publish(topics.CLOCK, {"as_of": START})
    clock = loop.consumer(line.bootstrap)
    loop.assign(clock, {(topics.CLOCK, 0): None})
    client.handle(loop.records(clock, 1, 10))
    clock.close()
    client.close()
    shard = ids.shard_of("default", SHARDS)

    def spoken() -> list[Any]:  # the tick may be read twice, so ticks of other partitions say nothing of this one
        return [line.codec.decode(m.value() or b"") for m in line.messages if m.partition() == shard]

    line.until(lambda: any(isinstance(record, ClockTicked) for record in spoken()))
    assert [type(r) for r in spoken()[: SHARDS * EACH + 1]] == [EpisodeAccepted] * (SHARDS * EACH) + [ClockTicked]


def test_an_erasure_read_first_still_comes_after_the_hold_that_was_published_before_it(line: Line) -> None:
    client = Intake(line.bootstrap, GENESIS, line.codec, line.vault, stop=loop.Stop())
    client.join(driven=False)
    while not client.ready:
        client.handle(client.reading.records(1, 0.05))
    hold = wanted("hold", ids.memory_id(NAMESPACE, "a"), cluster=GENESIS.cluster)
    line.publish(topics.PROTECTIONS, signed(line.codec, hold), partition=3)
    line.publish(topics.ERASURES, erasures.signed(line.codec, GENESIS, erasures.ordered(GENESIS, namespace=NAMESPACE)))
    reader = loop.consumer(line.bootstrap)
    loop.assign(reader, {(topics.ERASURES, 0): None})
    client.handle(loop.records(reader, 1, 10))
    reader.close()
    client.close()
    line.until(lambda: len(line.of(OrderAccepted)) >= 2)
    assert [order.kind for order in line.of(OrderAccepted)][:2] == ["protect", "erase"]


def test_many_ticks_that_wait_are_preceded_by_one_look_at_the_topics(
    line: Line, monkeypatch: pytest.MonkeyPatch
) -> None:
    ends, looks = loop.ends, []

    def counted(*arguments: Any) -> Any:
        looks.append(arguments)
        return ends(*arguments)

    monkeypatch.setattr(loop, "ends", counted)
    line.publish(topics.CLOCK, *({"as_of": START + i} for i in range(40)), {"as_of": START + 38})
    with line.intake():
        line.until(lambda: len(line.of(ClockTicked)) == 40 * SHARDS)
        line.until(lambda: len(line.of(IntakeRefused)) == 1)
    for shard in range(SHARDS):
        spoken = [line.codec.decode(m.value() or b"") for m in line.messages if m.partition() == shard]
        assert [r.as_of for r in spoken if isinstance(r, ClockTicked)] == [START + i for i in range(40)]
    assert len(looks) < 20


def test_who_is_started_again_under_its_name_takes_up_its_partitions_at_once(line: Line) -> None:
    def joined(group_member: Intake, patience_s: float) -> bool:
        deadline = time.monotonic() + patience_s
        while not group_member.ready and time.monotonic() < deadline:
            group_member.handle(group_member.reading.records(1, 0.05))
        return group_member.ready

    clients = [
        Intake(line.bootstrap, GENESIS, line.codec, line.vault, stop=loop.Stop(), instance="supervised")
        for _ in range(2)
    ]
    for client in clients:  # the first is never heard of again, as if it had been killed
        client.join(driven=True)
        assert joined(client, 5), "the session of the one before was waited for"
    for client in reversed(clients):
        client.close()


@pytest.mark.parametrize("code", [KafkaError._TIMED_OUT, KafkaError._DESTROY_BROKER])
def test_a_tick_waits_for_a_broker_that_does_not_say_where_the_topics_end(
    line: Line, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    ends, failed = loop.ends, threading.Event()

    def late(*arguments: Any) -> Any:
        if not failed.is_set():
            failed.set()
            raise KafkaException(KafkaError(code))
        return ends(*arguments)

    with line.intake():
        line.publish(topics.EPISODES, {"agent": "a", "content": "before"})
        line.until(lambda: len(line.of(EpisodeAccepted)) == 1)
        monkeypatch.setattr(loop, "ends", late)
        line.publish(topics.CLOCK, {"as_of": START})
        line.until(lambda: len(line.of(ClockTicked)) == SHARDS)
    assert failed.is_set()


def test_a_tick_that_the_group_takes_away_while_it_waits_is_left_to_whoever_has_it(line: Line) -> None:
    line.publish(topics.CLOCK, {"as_of": START})
    clock = loop.consumer(line.bootstrap)
    loop.assign(clock, {(topics.CLOCK, 0): None})
    requests = loop.records(clock, 1, 10)
    client = Intake(line.bootstrap, GENESIS, line.codec, line.vault, stop=loop.Stop())
    client.join(driven=True)
    client._drain = lambda _: client._revoked(client.reading.member, [TopicPartition(topics.CLOCK, 0)])  # type: ignore
    client.handle(requests)
    client.close()
    clock.close()
    assert len(requests) == 1
    assert line.of(ClockTicked) == []


def test_who_lost_its_place_and_gets_none_back_ends_unless_the_broker_is_away(
    own_kafka: Kafka, codec: Codec, databases: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(group_membership, "_PATIENCE_S", 0.0)
    shown = Telemetry()
    client = Intake(own_kafka.bootstrap, GENESIS, codec, PostgresVault(databases[1], MASTER), stop=loop.Stop(),
                    telemetry=shown)  # fmt: skip
    client.join(driven=True)
    while not client.ready:
        client.handle(client.reading.records(1, 0.05))
    client.place.check()
    client._revoked(client.reading.member, [TopicPartition(topics.CLOCK, 0)])
    assert "place in the group" in shown.health.waits
    with pytest.raises(PlaceLost, match="though the broker answers"):
        client.place.check()
    own_kafka.stop()
    client.place.check()
    client.reading.member.close()


def test_a_vault_outage_delays_and_loses_nothing(line: Line, databases: tuple[str, str], postgres: Any) -> None:
    name = str(conninfo_to_dict(databases[1])["dbname"])
    waiting = threading.Event()

    class Warned(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if "vault cannot be reached" in record.getMessage():
                waiting.set()

    def allow(connections: bool) -> None:
        with psycopg.connect(postgres.dsn("postgres"), autocommit=True) as admin:
            admin.execute(
                sql.SQL("ALTER DATABASE {} ALLOW_CONNECTIONS {}").format(sql.Identifier(name), sql.Literal(connections))
            )
            admin.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", [name])

    allow(False)
    handler = Warned()
    logging.getLogger("memquorum.intake").addHandler(handler)
    with line.intake():
        line.publish(topics.EPISODES, *({"agent": "a", "content": f"{i}", "event_id": f"e{i}"} for i in range(5)))
        line.publish(
            topics.ACCESSES, {"agent": "a", "memory_ids": [ids.memory_id("default", "e1")], "event_id": "read"}
        )
        line.publish(topics.CLOCK, {"as_of": START})
        assert waiting.wait(PATIENCE_S), "intake noticed no outage"
        allow(True)
        line.until(lambda: len(line.of(ClockTicked)) == SHARDS)
    logging.getLogger("memquorum.intake").removeHandler(handler)
    assert [e.event_id for e in line.of(EpisodeAccepted)] == [f"e{i}" for i in range(5)]
    assert len(line.of(AccessAccepted)) == 1
    assert line.of(IntakeRefused) == []


def test_feedback_comes_in_after_the_tasks_that_stood_there_before_it(line: Line) -> None:
    tasks = [{"agent": "a", "goal": f"task {i}", "outcome": "failed", "event_id": f"t{i}"} for i in range(700)]
    given = {"agent": "a", "task": ids.memory_id("default", "t699"), "helped": [ids.memory_id("default", "m")]}
    line.publish(topics.TASKS, *tasks, {"agent": "a", "goal": "no outcome"})
    line.publish(topics.FEEDBACK, given, {"agent": "a", "task": "t1", "helped": []})
    line.publish(topics.CLOCK, {"as_of": START})
    with line.intake():
        line.until(lambda: len(line.of(ClockTicked)) == SHARDS and len(line.of(IntakeRefused)) == 2)
    (shard,) = {m.partition() for m in line.messages if m.topic() == topics.ACCEPTED and m.key() == b"default"}
    here = [m for m in line.messages if (m.topic(), m.partition()) == (topics.ACCEPTED, shard)]
    order = [type(line.codec.decode(m.value() or b"")).__name__ for m in here]
    assert order == ["EpisodeAccepted"] * 700 + ["FeedbackAccepted", "ClockTicked"]
    assert {(r.origin_topic, r.reason, r.field) for r in line.of(IntakeRefused)} == {
        (topics.TASKS, "missing_field", "outcome"), (topics.FEEDBACK, "bad_id", "task"),
    }  # fmt: skip
    (first, *_) = line.of(EpisodeAccepted)
    assert first.task is not None and b"task 0" not in first.sealed_content


def test_what_was_forgotten_does_not_come_back_under_its_old_event(line: Line) -> None:
    episode = {"agent": "a", "content": CANARY, "event_id": "e1"}
    memory = ids.memory_id("default", "e1")
    with line.intake():
        line.publish(topics.EPISODES, episode)
        line.until(lambda: len(line.of(EpisodeAccepted)) == 1)
        assert line.vault.destroy([memory]) == 1
        line.publish(topics.EPISODES, episode)
        line.until(lambda: len(line.of(IntakeRefused)) == 1)
    assert [(r.reason, r.field, r.sealed_payload) for r in line.of(IntakeRefused)] == [("forgotten", "event_id", b"")]


def _packed(bootstrap: str, codec: str, size: int) -> KafkaError | None:
    """Publishes one record of `size` bytes, packed; what the broker says to it."""
    settings: dict[str, Any] = {"compression.type": codec, "message.max.bytes": 100_000_000}
    packed, told = loop.producer(bootstrap, **settings), []
    packed.produce(topics.EPISODES, b"x" * size, partition=0, on_delivery=lambda error, _: told.append(error))
    assert packed.flush(10) == 0
    return told[0]


@pytest.mark.parametrize("codec", ["gzip", "lz4", "snappy", "zstd"])
def test_what_is_small_only_because_it_is_packed_does_not_get_in(kafka: str, codec: str) -> None:
    # A zstd record that grows too far cannot be read: a reader of the partition would never get past it.
    error = _packed(kafka, codec, 20_000_000)
    assert error is not None and error.code() == KafkaError.MSG_SIZE_TOO_LARGE


def test_what_is_delivered_again_comes_in_under_the_same_ids(line: Line) -> None:
    line.publish(
        topics.EPISODES, *({"agent": "a", "content": f"{i}", "namespace": f"n{i}"} for i in range(20)), b"no json"
    )
    line.publish(topics.ACCESSES, {"agent": "a", "memory_ids": [ids.memory_id("n1", "e")]})
    with line.intake():
        line.until(lambda: len(line.messages) == 22)
    # As if it had been killed before it could say how far it had come.
    admin = AdminClient({"bootstrap.servers": line.bootstrap})
    back = [TopicPartition(topic, 0, 0) for topic in (topics.EPISODES, topics.ACCESSES)]
    asked = ConsumerGroupTopicPartitions("intake", back)
    admin.alter_consumer_group_offsets([asked])["intake"].result()
    with line.intake():
        line.until(lambda: len(line.messages) == 44)

    def known(kind: type, *names: str) -> list[tuple[Any, ...]]:
        return [tuple(getattr(record, name) for name in names) for record in line.of(kind)]

    for kind, names in (
        (EpisodeAccepted, ("event_id", "memory_id", "namespace", "commitment", "origin_offset")),
        (AccessAccepted, ("event_id", "memory_ids", "accessed_at")),
        (IntakeRefused, ("key_id", "reason", "origin_offset")),
    ):
        found = Counter(known(kind, *names))
        assert set(found.values()) == {2}, found
    # The key is the first one's, so both open.
    for record in line.of(EpisodeAccepted):
        sealing.open_text(
            line.vault.open([record.memory_id])[record.memory_id], record.sealed_content, record.memory_id
        )


def test_an_api_keys_slot_comes_in_where_the_retrieval_service_signed_for_it(line: Line) -> None:
    value = json.dumps({"agent": "a", "content": "c", "event_id": "e1", "explicit": True, "key": "door"}).encode()
    proof = grants.grant(GENESIS.cluster, genesis.seed_of("service:erasure"), "9fd12932bb0c", value)
    forged = grants.grant(GENESIS.cluster, genesis.seed_of("service:journal"), "9fd12932bb0c", value)
    with line.intake():
        line.publish(topics.EPISODES, value, headers=[(grants.HEADER, proof)])
        line.publish(topics.EPISODES, value, headers=[(grants.HEADER, forged)])
        line.publish(topics.EPISODES, value.replace(b"e1", b"e2"), headers=[(grants.HEADER, proof)])
        line.publish(topics.EPISODES, value.replace(b"e1", b"e3"))
        line.until(lambda: len(line.of(EpisodeAccepted)) == len(line.of(IntakeRefused)) == 2)
    assert [(one.event_id, one.granted) for one in line.of(EpisodeAccepted)] == [("e1", "9fd12932bb0c"), ("e3", None)]
    assert {(one.reason, one.field) for one in line.of(IntakeRefused)} == {("bad_signature", "granted")}


def test_what_was_signed_lies_sealed_beside_the_content(line: Line) -> None:
    small = json.dumps({"agent": "planner", "content": CANARY}).encode()
    # As large as a record may be: the accepted record holds the content beside it.
    large = small[:-1] + b" " * (1_000_000 - len(small)) + b"}"
    for value in (small, large):
        signature = signatures.sign(GENESIS.cluster, topics.EPISODES, genesis.seed_of("agent:planner"), value)
        line.publish(topics.EPISODES, value, headers=[("signature", signature)])
    line.publish(topics.EPISODES, small)
    with line.intake():
        line.until(lambda: len(line.messages) == 3)
    signed, larger, unsigned = line.of(EpisodeAccepted)
    for record, value in ((signed, small), (larger, large)):
        key = line.vault.open([record.memory_id])[record.memory_id]
        opened = sealing.open_signed(key, record.sealed_signed, record.memory_id)
        assert opened[authorship.SIGNATURE_BYTES :] == value
        said = {"namespace": "default", "agent": "planner", "text": CANARY, "memory_id": record.memory_id}
        assert authorship.fault(line.codec, GENESIS, **said, sealed=record.sealed_signed, key=key) is None
    assert unsigned.sealed_signed is None
    assert not any(CANARY.encode() in (message.value() or b"") for message in line.messages)


def test_a_record_too_large_for_its_dead_letter_goes_without_its_payload(line: Line) -> None:
    # A topic of other hands, which keeps what is packed as it came.
    kept = ConfigResource(ResourceType.TOPIC, topics.EPISODES)
    kept.add_incremental_config(
        ConfigEntry("compression.type", "producer", incremental_operation=AlterConfigOpType.SET)
    )
    admin = AdminClient({"bootstrap.servers": line.bootstrap})
    admin.incremental_alter_configs([kept])[kept].result()
    line.publish(topics.EPISODES, b"x" * 1_000_100)
    assert _packed(line.bootstrap, "gzip", 5_000_000) is None
    with line.intake():
        line.until(lambda: len(line.of(IntakeRefused)) == 2)
    sizes = [(r.reason, len(r.sealed_payload)) for r in line.of(IntakeRefused)]
    assert sizes == [("record_too_large", 1_000_100 + 28), ("record_too_large", 0)]


def test_what_a_namespace_publishes_beyond_its_limit_waits_in_the_dead_letters(line: Line) -> None:
    said = [{"agent": "a", "content": f"{i}", "namespace": "busy"} for i in range(EACH)]
    line.publish(topics.EPISODES, *said, *({"agent": "a", "content": f"{i}", "namespace": "calm"} for i in range(EACH)))
    with line.intake(limits=Plan(named=(("busy", Limits(10)),))):
        line.until(lambda: len(line.all()) == 2 * EACH)
    came = Counter(record.namespace for record in line.of(EpisodeAccepted))
    # It began with one, and got another every 6 s.
    assert came["calm"] == EACH and 1 <= came["busy"] <= 10
    refused = line.of(IntakeRefused)
    assert {(r.reason, r.field) for r in refused} == {("over_quota", "namespace")}
    assert len(refused) == EACH - came["busy"]

    found = dead_letters.read(
        line.bootstrap, SHARDS, line.codec, None, dead_letters.Wanted(reasons=frozenset({"over_quota"}))
    )
    opened = dead_letters.payloads(line.vault, found)
    sound = [
        letter
        for letter in found
        if isinstance(
            dead_letters.judge(line.codec, GENESIS, letter, opened[letter.name], now_ms=START, driven=True),
            EpisodeIntent,
        )
    ]
    assert dead_letters.replay(line.bootstrap, sound, opened, lambda _: None) == len(refused)
    with line.intake():
        line.until(lambda: len(line.of(EpisodeAccepted)) == 2 * EACH)
    assert len({record.event_id for record in line.of(EpisodeAccepted)}) == 2 * EACH


def test_the_wall_clock_ticks_in_every_shard(line: Line) -> None:
    before = time.time_ns() // 1_000_000
    with line.intake("wall", tick_ms=50):
        line.until(lambda: len(line.of(ClockTicked)) >= 4 * SHARDS)
        line.publish(topics.EPISODES, {"agent": "a", "content": "c"})
        line.until(lambda: len(line.of(EpisodeAccepted)) == 1)
    for shard in range(SHARDS):
        ticks = [
            line.codec.decode(m.value() or b"").as_of
            for m in line.messages
            if m.topic() == topics.ACCEPTED and m.partition() == shard and b"ClockTicked" in repr(m.headers()).encode()
        ]
        assert len(ticks) >= 3
        assert before <= ticks[0]
        assert ticks == sorted(set(ticks))
    assert abs(line.of(EpisodeAccepted)[0].occurred_at - before) < 20_000


# A schema registry -------------------------------------------------------------------------------------------------

SCHEMA = (ROOT / "schemas/avro/EpisodeRecorded.avsc").read_text()


@pytest.fixture
def schemas() -> Iterator[Schemas]:
    with serving() as found:
        yield found


def serialized(line: Line, serializer: AvroSerializer, *contents: str) -> None:
    """As an agent does that knows Confluent's client and nothing of ours."""
    producer = Producer({"bootstrap.servers": line.bootstrap})
    for content in contents:
        context = SerializationContext(topics.EPISODES, MessageField.VALUE, [])
        value = serializer(_episode(content), context)
        producer.produce(topics.EPISODES, value, headers=context.headers)
    assert producer.flush(10) == 0


def _episode(content: str) -> dict[str, object]:
    return {"agent": "planner", "namespace": "garden", "content": content, "event_id": content}


def texts(line: Line) -> list[str]:
    found = line.of(EpisodeAccepted)
    keys = line.vault.open([one.memory_id for one in found])
    return sorted(sealing.open_text(keys[one.memory_id], one.sealed_content, one.memory_id) for one in found)


def test_what_confluents_serializer_writes_comes_in(line: Line, schemas: Schemas) -> None:
    client = SchemaRegistryClient({"url": schemas.url})
    serialized(line, AvroSerializer(client, SCHEMA), "first", "second")
    by_header = AvroSerializer(client, SCHEMA, conf={"schema.id.serializer": header_schema_id_serializer})
    serialized(line, by_header, "third")
    schemas.asked.clear()
    with line.intake(clock="wall", registry=Registry(schemas.url)):
        line.until(lambda: len(line.of(EpisodeAccepted)) == 3)
    assert texts(line) == ["first", "second", "third"]
    assert len(schemas.asked) == 2, "each schema is asked for once: by its id, and by its GUID"


def test_while_the_registry_is_away_others_come_in_and_what_waited_is_replayed(
    line: Line, schemas: Schemas, codec: Codec
) -> None:
    client = SchemaRegistryClient({"url": schemas.url})
    serialized(line, AvroSerializer(client, SCHEMA), "first")
    serialized(
        line, AvroSerializer(client, SCHEMA, conf={"schema.id.serializer": header_schema_id_serializer}), "second"
    )
    schemas.status = 503
    registry = Registry(schemas.url)
    with line.intake(clock="wall", registry=registry):
        line.publish(topics.EPISODES, _episode("in plain JSON"))
        line.until(lambda: len(line.of(EpisodeAccepted)) == 1 and len(line.of(IntakeRefused)) == 2)
        assert {one.reason for one in line.of(IntakeRefused)} == {"registry_away"}
        schemas.status = 0
        # As the operator does once it answers again.
        letters = dead_letters.read(line.bootstrap, GENESIS.shards, codec, None, Wanted())
        opened = dead_letters.payloads(line.vault, letters)
        fresh = Registry(schemas.url)
        judged = {
            one.name: dead_letters.judge(
                codec, GENESIS, one, opened[one.name], now_ms=one.record.refused_at, driven=False, registry=fresh
            )
            for one in letters
        }
        sound, *_ = dead_letters.parted(letters, judged, {}, ())
        assert len(sound) == 2
        registry._rests_until = 0.0
        dead_letters.replay(line.bootstrap, sound, opened, lambda _: None)
        line.until(lambda: len(line.of(EpisodeAccepted)) == 3)
    assert texts(line) == ["first", "in plain JSON", "second"]


def test_without_a_registry_the_letter_names_the_setting(line: Line, schemas: Schemas) -> None:
    serialized(line, AvroSerializer(SchemaRegistryClient({"url": schemas.url}), SCHEMA), "first")
    with line.intake(clock="wall"):
        line.until(lambda: len(line.of(IntakeRefused)) == 1)
    (letter,) = line.of(IntakeRefused)
    assert letter.reason == "unknown_framing" and "registry_url" in letter.detail
