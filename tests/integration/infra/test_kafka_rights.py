"""Brokers that demand a login and grant by ACLs: each identity can do its work and nothing else
(docs/operate/security.md)."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import faust
import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka.errors import KafkaError as AioKafkaError
from aiokafka.errors import TopicAuthorizationFailedError
from confluent_kafka import ConsumerGroupTopicPartitions, KafkaError, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient

from infra import kafkalogins, settings
from infra import topic_files as provided
from infra.embedded.brokers import Brokers
from infra.embedded.kafka_broker import Demands
from infra.settings import Settings, SettingsError
from memquorum import kafka, topics
from memquorum.client import Memory, NotAllowed, audit, tail
from memquorum.schema_files import load_codec
from streams import faust_app as streams
from tests.builders.genesis import make
from tests.conftest import SHARDS
from workers.kafka import loop

_REFUSED = (KafkaError.TOPIC_AUTHORIZATION_FAILED, KafkaError.GROUP_AUTHORIZATION_FAILED)


@pytest.fixture(scope="module", params=["SASL_SSL", "SSL"])
def guarded(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Settings]:
    """Settings for one broker that demands passwords over TLS, or certificates; topics and ACLs are made."""
    folder = tmp_path_factory.mktemp(request.param)
    made = replace(settings.load({}, folder), kafka_protocol=request.param)
    with Brokers(folder / "kafka", 1, demands=Demands(request.param, kafkalogins.make(made))) as brokers:
        kafkalogins.tell_passwords(brokers.nodes[0].administered, made.kafka_dir)
        made = replace(made, bootstrap=brokers.bootstrap)
        admin = kafkalogins.of(made, "admin").bootstrap
        provided.ensure(admin, SHARDS)
        granted, _ = kafkalogins.ensure_acls(admin)
        assert granted == len(kafkalogins.wanted())
        assert kafkalogins.ensure_acls(admin) == (0, 0)
        yield made


def as_(guarded: Settings, identity: str) -> str:
    return kafkalogins.of(guarded, identity).bootstrap


def writes(address: str, topic: str) -> KafkaError | None:
    """Returns the error of a write; None: it was accepted."""
    told: list[KafkaError | None] = []
    producer = loop.producer(address, log_level=0, **{"delivery.timeout.ms": 8000})
    try:
        producer.produce(topic, b"{}", partition=0, on_delivery=lambda error, _: told.append(error))
        producer.flush(10)
    except KafkaException as error:
        told.append(error.args[0])
    finally:
        producer.close()
    assert told, f"{topic}: no answer"
    return told[0]


def reads(address: str, topic: str) -> KafkaError | None:
    """Returns the error of a read; None: it is permitted, and sees the partition's end."""
    with closing(loop.consumer(address, None, log_level=0, **{"enable.partition.eof": True})) as reader:
        ended: set[tuple[str, int]] = set()
        try:
            reader.get_watermark_offsets(TopicPartition(topic, 0), timeout=10)
            loop.assign(reader, {(topic, 0): None})
            for _ in range(100):
                loop.records(reader, 100, 0.1, ended)
                if ended:
                    return None
        except KafkaException as error:
            found: KafkaError = error.args[0]
            return found
    raise AssertionError(f"{topic}: no answer")


def declared(identity: str) -> tuple[set[str], set[str]]:
    """The topics that an identity writes and reads, as schemas/topics say."""
    every = provided.declared()
    written = {t.name for t in every if identity in map(kafkalogins.identity, t.producers)}
    return written, {t.name for t in every if identity in map(kafkalogins.identity, t.consumers)}


@pytest.mark.parametrize("identity", [name for name in kafkalogins.IDENTITIES if name != "admin"])
def test_an_identity_writes_its_own_topics_and_no_others(guarded: Settings, identity: str) -> None:
    written, _ = declared(identity)
    if identity == "intake":  # an empty record, where it deletes what it has let in (workers.intake.clearing)
        written |= set(topics.OUTSIDE)
    address = as_(guarded, identity)
    producer, told = (
        loop.producer(address, log_level=0, **{"delivery.timeout.ms": 20_000}),
        dict[str, KafkaError | None](),
    )
    for topic in topics.ALL:
        producer.produce(
            topic, b"{}", partition=0, on_delivery=lambda error, message: told.update({message.topic(): error})
        )
    producer.flush(25)
    producer.close()
    assert {topic for topic in topics.ALL if topic in told and told[topic] is None} == written
    refused = {topic: error.code() for topic, error in told.items() if error is not None}
    assert set(refused.values()) <= {KafkaError.TOPIC_AUTHORIZATION_FAILED}, refused


_CANNOT = [
    ("retrieval", "writes", topics.JOURNAL),
    ("retrieval", "reads", topics.JOURNAL),
    ("retrieval", "reads", topics.ACCEPTED),
    ("replica", "writes", topics.ACCEPTED),
    ("replica", "reads", topics.EPISODES),
    ("agent", "reads", topics.EPISODES),
    ("agent", "reads", topics.ACCEPTED),
    ("intake", "writes", topics.SCORED),
    ("commit", "reads", topics.BALLOTS),
    ("operator", "writes", topics.JOURNAL),
]


@pytest.mark.parametrize(("identity", "does", "topic"), _CANNOT)
def test_what_is_not_its_own_is_refused(guarded: Settings, identity: str, does: str, topic: str) -> None:
    found = (writes if does == "writes" else reads)(as_(guarded, identity), topic)
    # A login that may not even ask about a topic is told that there is no such partition.
    assert found is not None and found.code() in (*_REFUSED, KafkaError._UNKNOWN_PARTITION), found


@pytest.mark.parametrize("identity", ["intake", "replica", "commit", "operator"])
def test_an_identity_reads_its_own(guarded: Settings, identity: str) -> None:
    _, read = declared(identity)
    assert read
    assert {topic: reads(as_(guarded, identity), topic) for topic in read} == dict.fromkeys(read)


def test_nobody_moves_the_offsets_of_another_group(guarded: Settings) -> None:
    def moves(identity: str) -> int | None:
        """Returns the brokers' error to a commit for the group `intake`; None: it is done."""
        admin = AdminClient({**kafka.librdkafka(as_(guarded, identity)), "log_level": 0})
        wanted = ConsumerGroupTopicPartitions("intake", [TopicPartition(topics.EPISODES, 0, 8)])
        try:
            moved = admin.alter_consumer_group_offsets([wanted], request_timeout=10)["intake"].result()
        except KafkaException as error:
            return int(error.args[0].code())
        (place,) = moved.topic_partitions
        return None if place.error is None else int(place.error.code())

    denied = KafkaError.GROUP_AUTHORIZATION_FAILED
    strangers = ("agent", "retrieval", "operator", "streams")
    assert {name: moves(name) for name in strangers} == dict.fromkeys(strangers, denied)
    # Its coordinator may not be there yet on a new cluster: that is no refusal.
    assert moves("intake") != denied


@pytest.mark.parametrize("identity", ["agent", "commit", "operator"])
def test_only_the_administrator_deletes_or_grants(guarded: Settings, identity: str) -> None:
    admin = AdminClient({**kafka.librdkafka(as_(guarded, identity)), "log_level": 0})
    with pytest.raises(KafkaException):
        admin.delete_topics([topics.JOURNAL], operation_timeout=5)[topics.JOURNAL].result()
    with pytest.raises(provided.TopicsError):
        kafkalogins.ensure_acls(as_(guarded, identity))
    producer = loop.producer(as_(guarded, identity), log_level=0, **{"transactional.id": "a stranger's"})
    with pytest.raises(KafkaException):
        producer.init_transactions(5)


def test_who_does_not_log_in_is_refused(guarded: Settings) -> None:
    address = as_(guarded, "agent")
    assert isinstance(address, kafka.Address)
    strangers = [str(address)]
    if guarded.kafka_protocol == "SASL_SSL":
        strangers.append(kafka.Address(address, replace(address.security, password="guessed")))
    else:
        strangers.append(kafka.Address(address, replace(address.security, certificate=None, key=None)))
    for stranger in strangers:
        found = AdminClient({**kafka.librdkafka(stranger), "log_level": 0})
        with pytest.raises(KafkaException):
            found.list_topics(timeout=3)


def test_aiokafka_logs_in_and_is_held_to_its_rights(guarded: Settings) -> None:
    async def sends(address: str, topic: str) -> None:
        producer = AIOKafkaProducer(**kafka.aiokafka(address), enable_idempotence=True, acks="all")
        await producer.start()
        try:
            await producer.send_and_wait(topic, b"{}", partition=1)
        finally:
            await producer.stop()

    asyncio.run(sends(as_(guarded, "agent"), topics.EPISODES))
    with pytest.raises(TopicAuthorizationFailedError):
        asyncio.run(sends(as_(guarded, "agent"), topics.JOURNAL))

    async def reads_journal(address: str) -> None:
        consumer = AIOKafkaConsumer(topics.JOURNAL, **kafka.aiokafka(address), enable_auto_commit=False)
        try:
            await consumer.start()
        finally:
            await consumer.stop()

    asyncio.run(reads_journal(as_(guarded, "operator")))
    with pytest.raises(AioKafkaError):
        asyncio.run(reads_journal(as_(guarded, "agent")))


@pytest.mark.parametrize("does", ["tail", "verify", "add"])
def test_a_client_says_that_its_login_may_not(guarded: Settings, does: str) -> None:
    """And not that the brokers are away: nothing is mended by starting them."""
    agent = as_(guarded, "agent")
    with pytest.raises(NotAllowed, match=r"may not (read|write) the topic memory\.") as told:
        if does == "tail":
            list(tail.follow(agent, "start", forever=False))
        elif does == "verify":
            audit.verify(agent, make(), load_codec())
        else:
            with Memory(kafka=as_(guarded, "replica"), url="http://127.0.0.1:1", namespace="n", agent="a") as memory:
                memory.add("x")
    assert "MEMQUORUM_KAFKA_IDENTITY" in str(told.value)
    if guarded.kafka_protocol == "SASL_SSL" and does != "add":
        assert "the login 'agent'" in str(told.value)


def test_faust_logs_in_and_takes_its_partitions(guarded: Settings, tmp_path: Path) -> None:
    app: faust.App = streams.create(as_(guarded, "streams"), tmp_path, SHARDS)
    assigned = asyncio.Event()

    async def on_assigned(*_: object, **__: object) -> None:
        assigned.set()

    source = app.topic(topics.ACCEPTED)

    async def stage(stream: faust.Stream[bytes]) -> None:
        async for _ in stream:
            pass

    app.agent(source)(stage)
    app.on_partitions_assigned.connect(on_assigned, weak=False)  # type: ignore[arg-type]

    async def lives() -> None:
        app.loop = asyncio.get_running_loop()
        await app.start()
        try:
            await asyncio.wait_for(assigned.wait(), 30)
        finally:
            await app.stop()

    asyncio.run(lives())


def test_a_login_that_is_not_here_is_named(guarded: Settings, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"nowhere/(intake\.password|ca\.crt)"):
        kafkalogins.of(replace(guarded, kafka_dir=guarded.kafka_dir / "nowhere"), "intake")
    suffix = "password" if guarded.kafka_protocol == "SASL_SSL" else "key"
    file = guarded.kafka_dir / f"intake.{suffix}"
    file.chmod(0o644)
    try:
        with pytest.raises(SettingsError, match="may be read by others"):
            kafkalogins.of(guarded, "intake")
    finally:
        file.chmod(0o600)
