"""The dead letters of webhooks: which entry a target did not take, and later that it was sent again."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated

import msgspec
from confluent_kafka import Message, Producer
from msgspec import Meta, Struct

from memquorum import cloudevents, topics
from workers.events.mirror import SOURCE
from workers.kafka.partition import standing


class WebhookUndelivered(Struct, frozen=True):
    """An entry that a target of webhooks did not take. The last record of an entry and a target counts."""

    target: Annotated[str, Meta(description="The target, as the operator names it.")]
    id: Annotated[str, Meta(description="The entry, SHARD/SEQ.")]
    type: Annotated[str, Meta(description="The entry's effect.")]
    shard: Annotated[int, Meta(description="Its shard.")]
    offset: Annotated[int, Meta(description="Its offset in the journal's topic.")]
    at: Annotated[int, Meta(description="The time of the last attempt, in milliseconds since the epoch.")]
    attempts: Annotated[int, Meta(description="The number of attempts in all.")]
    why: Annotated[str, Meta(description="Why the last attempt failed; empty once the target has taken it.")]

    @property
    def name(self) -> str:
        """The name that users give: TARGET/SHARD/SEQ."""
        return f"{self.target}/{self.id}"


def put(producer: Producer, letter: WebhookUndelivered) -> None:
    """Produces a letter; the caller flushes."""
    headers = cloudevents.headers(WebhookUndelivered.__name__, SOURCE, letter.name, content=cloudevents.JSON)
    producer.produce(
        topics.UNDELIVERED, msgspec.json.encode(letter), letter.target.encode(), partition=letter.shard,
        headers=[*headers],
    )  # fmt: skip


def read(bootstrap: str, shards: int) -> list[WebhookUndelivered]:
    """Returns the letters that are still undelivered, the oldest first. Raises KafkaException or TopicUnreadable."""
    return latest(standing(bootstrap, topics.UNDELIVERED, shards))


def latest(messages: Iterable[Message]) -> list[WebhookUndelivered]:
    """Returns of each entry and target the last letter, unless that says that it was taken."""
    found: dict[str, WebhookUndelivered] = {}
    for message in messages:
        try:
            letter = msgspec.json.decode(message.value() or b"", type=WebhookUndelivered)
        except msgspec.DecodeError:
            continue  # a stranger's
        found.pop(letter.name, None)
        found[letter.name] = letter
    return sorted((one for one in found.values() if one.why), key=lambda one: one.at)
