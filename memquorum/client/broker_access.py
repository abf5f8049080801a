"""Holds what the client uses of aiokafka, and translates Kafka's errors: the brokers cannot be reached, or refuse this
login.

Only this module imports aiokafka, and only what reads or writes Kafka imports this module: a client that goes through
the retrieval service needs neither. Without the extra `kafka` the import raises NotInstalled.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, NamedTuple

from memquorum.client.errors import NotAllowed, NotInstalled, Unreachable
from memquorum.kafka import MISSING, Address, installed

if not installed():
    raise NotInstalled(MISSING)

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.client import AIOKafkaClient
from aiokafka.errors import (
    ClusterAuthorizationFailedError,
    GroupAuthorizationFailedError,
    KafkaError,
    TopicAuthorizationFailedError,
)

from memquorum.kafka import aiokafka, place

__all__ = [
    "AIOKafkaClient",
    "AIOKafkaConsumer",
    "AIOKafkaProducer",
    "KafkaError",
    "Row",
    "TopicPartition",
    "explained",
    "producer",
    "send",
    "shown",
]


class Row(NamedTuple):
    """A record to send."""

    key: bytes
    value: bytes
    headers: list[tuple[str, bytes]]
    timestamp_ms: int


_REFUSED = (TopicAuthorizationFailedError, GroupAuthorizationFailedError, ClusterAuthorizationFailedError)


async def producer(address: str) -> AIOKafkaProducer:
    """Connects a producer to the brokers. Raises Unreachable."""
    made = AIOKafkaProducer(**aiokafka(address), enable_idempotence=True, acks="all")
    try:
        await made.start()
    except KafkaError as error:
        await made.stop()
        raise Unreachable(f"Kafka at {address} cannot be reached: does it run (`make status`)? ({error})") from error
    return made


async def send(producer: AIOKafkaProducer, address: str, topic: str, rows: Sequence[Row]) -> list[str | None]:
    """Sends records to a topic in order, and waits until Kafka has all. Returns the place of each, if it is known.
    Raises Unreachable, NotAllowed."""
    try:
        sent = [
            await producer.send(topic, one.value, key=one.key, headers=one.headers, timestamp_ms=one.timestamp_ms)
            for one in rows
        ]
        return [place(one) for one in await asyncio.gather(*sent)]
    except KafkaError as error:
        away = f"Kafka at {address} did not confirm: {error}"
        raise explained(error, address, "write", topic, away) from error


async def shown(consumer: Any, topic: str, kafka: str) -> None:
    """Raises at once if the brokers do not show this login the topic: Unreachable, or Kafka's error of a refusal.

    aiokafka would otherwise wait 40 s for a topic that it is not shown.
    """
    if topic in await consumer.topics():
        return
    if isinstance(kafka, Address):
        raise TopicAuthorizationFailedError(topic)
    raise Unreachable(
        f"there is no topic {topic} at {kafka}: is that a cluster of ours? `make up` starts one of one's own, and "
        "`memquorum admin kafka topics` makes the topics on brokers that run"
    )


def explained(error: KafkaError, kafka: str, does: str, topic: str, otherwise: str) -> NotAllowed | Unreachable:
    """The error to raise for one of Kafka's. `does`: read or write. `otherwise`: the message for any error but a
    refusal."""
    if not isinstance(error, _REFUSED):
        return Unreachable(otherwise)
    who = kafka.security.username if isinstance(kafka, Address) else ""
    login = f"the login {who!r}" if who else "this login"
    return NotAllowed(
        f"the brokers at {kafka} answer, but {login} may not {does} the topic {topic}. Log in as who may "
        "(MEMQUORUM_KAFKA_IDENTITY; `operator` reads what is audited), or ask whoever runs them for the right to "
        f"{does} it (docs/operate/security.md)"
    )
