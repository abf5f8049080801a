"""What a client says of an error of Kafka's: whether the brokers are away, or refuse this login."""

from __future__ import annotations

from typing import Any

from aiokafka.errors import (
    ClusterAuthorizationFailedError,
    GroupAuthorizationFailedError,
    KafkaError,
    TopicAuthorizationFailedError,
)

from memquorum.client.errors import NotAllowed, Unreachable
from memquorum.kafka import Address

_REFUSED = (TopicAuthorizationFailedError, GroupAuthorizationFailedError, ClusterAuthorizationFailedError)


async def shown(consumer: Any, topic: str, kafka: str) -> None:
    """Raises at once where the brokers show this login no such topic: Unreachable, or Kafka's error of a refusal.

    Asked for anything of a topic that it is not shown, aiokafka would wait 40 s for it.
    """
    if topic in await consumer.topics():
        return
    if isinstance(kafka, Address):
        raise TopicAuthorizationFailedError(topic)
    raise Unreachable(
        f"there is no topic {topic} at {kafka}: is that a cluster of ours? `make up` starts one of one's own, and "
        "`python -m infra topics` makes the topics on brokers that run"
    )


def explained(error: KafkaError, kafka: str, does: str, topic: str, otherwise: str) -> NotAllowed | Unreachable:
    """The error to raise for one of Kafka's. `does`: read or write. `otherwise`: what to say of any but a refusal."""
    if not isinstance(error, _REFUSED):
        return Unreachable(otherwise)
    who = kafka.security.username if isinstance(kafka, Address) else ""
    login = f"the login {who!r}" if who else "this login"
    return NotAllowed(
        f"the brokers at {kafka} answer, but {login} may not {does} the topic {topic}. Log in as who may "
        "(MEMQUORUM_KAFKA_IDENTITY; `operator` reads what is audited), or ask whoever runs them for the right to "
        f"{does} it (docs/security.md)"
    )
