"""What intake asks of a record before and after it is judged: its place, its signature, the key that it needs."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TypedDict

from confluent_kafka import Message

from memquorum import topics
from memquorum.core import asked, framing, ids, intake, labelling, letters, sealing
from memquorum.core.asked import QueryIntent
from memquorum.core.avro import Codec
from memquorum.core.identity import grants, signatures
from memquorum.core.identity.membership import Genesis
from memquorum.core.intake import EndIntent, EpisodeIntent, Event, Intent, Origin, Refusal
from memquorum.core.records import EpisodeAccepted, IntakeRefused, QueryAsked, SessionClosed
from workers.intake.registry import Registry
from workers.kafka import loop

FIRST_AT = "first_at"
"""Header of a replayed record, and of its letter if it is refused again: TOPIC/PARTITION/OFFSET where it stood when it
was refused first."""
_PLACE = re.compile(rb"([a-z0-9.-]{1,249})/([0-9]{1,9})/([0-9]{1,18})")

# The dead letters' max.message.bytes is 2 MiB.
_PAYLOAD_BYTES_MAX = 2_000_000
# A vault namespace that no record can have: '!' is no character of a namespace.
DEAD_LETTERS = "!intake"
_SUBJECT = "dead-letter"


_SCHEMA = "__value_schema_id"
"""Header in which Confluent's serializers may say the schema, in place of the value's first bytes."""


def value_of(message: Message) -> bytes | None:
    """What was published. A schema that a header names stands before it, as its serializer might have put it: so it is
    there too when a letter is opened, or published again."""
    value, named = message.value(), proof(message, _SCHEMA)
    return value if not named or not value or framing.schema_id(named) is None else named + value


def wanted(origin: Origin, answer: Intent | Refusal) -> Iterator[tuple[str, str, str]]:
    """The vault keys that an answer needs, each as id, namespace, subject: its namespace's too, where it is filed."""
    if isinstance(answer, EpisodeIntent):
        yield answer.memory_id, answer.namespace, answer.subject
        if answer.labels.filed:
            yield ids.space_key_id(answer.namespace), labelling.KEYS, answer.namespace
    if isinstance(answer, QueryIntent):
        yield answer.key_id, asked.KEYS, asked.owner(answer.namespace, answer.agent)
    if isinstance(answer, Refusal):
        yield letters.dead_letter_id(origin), DEAD_LETTERS, _SUBJECT


def sealed(
    answer: EpisodeIntent | QueryIntent, origin: Origin, keys: Mapping[str, bytes]
) -> EpisodeAccepted | QueryAsked | None:
    """What comes in, sealed; None where its key was destroyed: of a query, if its agent was erased on this day."""
    nonces = os.urandom(sealing.NONCE_BYTES), os.urandom(sealing.NONCE_BYTES), os.urandom(sealing.NONCE_BYTES)
    if isinstance(answer, EpisodeIntent):
        key, whole = keys.get(answer.memory_id), keys.get(ids.space_key_id(answer.namespace))
        return None if key is None else intake.seal_episode(answer, origin, key, nonces, whole)
    key = keys.get(answer.key_id)
    return None if key is None else asked.seal(answer, key, nonces[:2])


def ending(answers: Iterable[Intent | Refusal], shards: int) -> list[tuple[str, int]]:
    """The partitions of the accepted stream that sessions end in."""
    ended = {ids.shard_of(end.namespace, shards) for end in answers if isinstance(end, EndIntent)}
    return [(topics.ACCEPTED, shard) for shard in sorted(ended)]


def session_closed(end: EndIntent, shards: int, reached: Mapping[tuple[str, int], int]) -> SessionClosed:
    """The session's end as it goes to whoever consolidates it. `reached`: how far those partitions went."""
    shard = ids.shard_of(end.namespace, shards)
    return SessionClosed(
        event_id=end.event_id, shard=shard, namespace=end.namespace, agent=end.agent, session=end.session,
        closed_at=end.ended_at, why="ended", accepted_offset=reached[topics.ACCEPTED, shard],
    )  # fmt: skip


def event_told(
    codec: Codec, genesis: Genesis, registry: Registry | None, message: Message, origin: Origin
) -> Event | None:
    """Returns the event that a refused record tells of, as far as it can be read."""
    data = value_of(message)
    with loop.about(message):
        written = registry.written(data) if registry else None
        return intake.event_of(codec, data, origin, genesis=genesis, signature=proof(message), written=written)


def dead_letter(
    message: Message, origin: Origin, refusal: Refusal, key: bytes | None, refused_at: int, *,
    event: Event | None = None,
) -> IntakeRefused:  # fmt: skip
    """What stays outside, and why. Without its payload goes what was forgotten, which has no `key`, and what no topic
    could hold: compressed, it came in small. `event`: what its publisher calls it, as far as that could be read; only a
    digest of it is written."""
    letter, payload = letters.dead_letter_id(origin), value_of(message) or b""
    closed = b""
    if key is not None and len(payload) <= _PAYLOAD_BYTES_MAX:
        closed = letters.seal_payload(letter, key, os.urandom(sealing.NONCE_BYTES), payload)
    return IntakeRefused(
        origin_topic=origin.topic, origin_partition=origin.partition, origin_offset=origin.offset,
        reason=refusal.reason, detail=refusal.detail, refused_at=refused_at, key_id=letter, sealed_payload=closed,
        field=refusal.field, signature=proof(message) if closed else None,
        event=None if event is None else ids.event_digest(event.namespace, event.event_id),
        publisher=None if event is None or event.agent is None
        else ids.event_digest(event.namespace, event.event_id, event.agent),
    )  # fmt: skip


class Proofs(TypedDict):
    """The headers that prove something."""

    signature: bytes | None
    granted: bytes | None


def proofs(message: Message) -> Proofs:
    """The headers that prove something, as `core.intake.accept` takes them."""
    return {"signature": proof(message), "granted": proof(message, grants.HEADER)}


def proof(message: Message, header: str = signatures.HEADER) -> bytes | None:
    """The header that proves something. Two of them are none that could hold, nor is a header without a value."""
    found = [value for name, value in loop.header_items(message) if name == header]
    if not found:
        return None
    return bytes(found[0]) if len(found) == 1 and isinstance(found[0], bytes) else b""


def origin_of(message: Message) -> Origin:
    """Where it came from."""
    topic, partition = loop.place(message)
    return Origin(topic, partition, loop.offset(message), message.timestamp()[1], first_at(message, topic))


def first_at(message: Message, topic: str) -> tuple[int, int] | None:
    """Where a replayed record stood first, if its header, or that of its letter, says a place of this topic.

    Whoever lies in it gives its own record another event id, as it might have done in the record.
    """
    for name, value in loop.header_items(message):
        found = _PLACE.fullmatch(value) if name == FIRST_AT and isinstance(value, bytes) else None
        if found is not None and found[1] == topic.encode():
            return int(found[2]), int(found[3])
    return None


def kept(origin: Origin) -> loop.Headers:
    """What the letter of a record that was published again keeps: where it stood first, and with that its event id."""
    return [] if origin.first is None else [(FIRST_AT, "/".join(map(str, (origin.topic, *origin.first))).encode())]


def at(origin: Origin) -> tuple[str, int, int]:
    """Topic, partition, offset."""
    return origin.topic, origin.partition, origin.offset
