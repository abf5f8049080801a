"""What a client says of an error of Kafka's: whether the brokers are away, or refuse this login."""

from __future__ import annotations

from aiokafka.errors import (
    ClusterAuthorizationFailedError,
    GroupAuthorizationFailedError,
    KafkaError,
    TopicAuthorizationFailedError,
)

from memquorum.client.errors import NotAllowed, Unreachable
from memquorum.kafka import Address

_REFUSED = (TopicAuthorizationFailedError, GroupAuthorizationFailedError, ClusterAuthorizationFailedError)


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
