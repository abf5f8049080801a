"""Prepares records for judgement and encodes the results: origin, signature, the keys they need, dead letters."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, TypedDict

from confluent_kafka import Message
from msgspec import Struct

from memquorum import topics
from memquorum.core import asked, framing, ids, intake, labelling, letters, sealing
from memquorum.core.asked import QueryIntent
from memquorum.core.avro import Codec
from memquorum.core.identity import grants, signatures
from memquorum.core.identity.membership import Genesis
from memquorum.core.intake import (
    AccessIntent,
    EndIntent,
    EpisodeIntent,
    Event,
    Intent,
    Origin,
    ProfileIntent,
    Refusal,
)
from memquorum.core.orders import profile
from memquorum.core.reasons import Reason
from memquorum.core.records import EpisodeAccepted, IntakeRefused, OrderAccepted, QueryAsked, SessionClosed
from workers.kafka import loop

if TYPE_CHECKING:
    from workers.intake.registry import Registry

FIRST_AT = "first_at"
"""Header of a replayed record, and of its dead letter if it is refused again: TOPIC/PARTITION/OFFSET of its first
refusal."""
_PLACE = re.compile(rb"([a-z0-9.-]{1,249})/([0-9]{1,9})/([0-9]{1,18})")

# The dead letters' max.message.bytes is 2 MiB.
_PAYLOAD_BYTES_MAX = 2_000_000
# A vault namespace that no record can have: '!' is no character of a namespace.
DEAD_LETTERS = "!intake"
_SUBJECT = "dead-letter"


_SCHEMA = "__value_schema_id"
"""Header in which Confluent's serializers may name the schema, in place of the value's first bytes."""


class Judged(Struct, frozen=True):
    """A record that was read, and the answer to it. `size`: its bytes."""

    message: Message
    origin: Origin
    answer: Intent | Refusal
    size: int


def value_of(message: Message) -> bytes | None:
    """The value of a message. A schema named in a header is put before it, as a serializer might have done: it is then
    kept when a letter is opened, or published again."""
    value, named = message.value(), proof(message, _SCHEMA)
    return value if not named or not value or framing.schema_id(named) is None else named + value


def wanted(origin: Origin, answer: Intent | Refusal) -> Iterator[tuple[str, str, str]]:
    """Yields the vault keys that an answer needs, each as id, namespace and subject; also its namespace's key if it is
    filed under a path or key."""
    if isinstance(answer, EpisodeIntent):
        yield answer.memory_id, answer.namespace, answer.subject
        if answer.labels.filed:
            yield ids.space_key_id(answer.namespace), labelling.KEYS, answer.namespace
    if isinstance(answer, QueryIntent):
        yield answer.key_id, asked.KEYS, asked.owner(answer.namespace, answer.agent)
    if isinstance(answer, ProfileIntent):
        yield profile.key_id(answer.event_id), profile.KEYS, profile.owner(answer.namespace, answer.subject)
    # No letter keeps the payload of a record that a subject keeps out.
    if isinstance(answer, AccessIntent) or (isinstance(answer, Refusal) and answer.reason is not Reason.BY_POLICY):
        yield letters.dead_letter_id(origin), DEAD_LETTERS, _SUBJECT


def sealed(
    answer: EpisodeIntent | QueryIntent | ProfileIntent, origin: Origin, keys: Mapping[str, bytes]
) -> EpisodeAccepted | QueryAsked | OrderAccepted | None:
    """Seals an accepted episode or query, or the list of a profile; None if its key was destroyed: a query's, if its
    agent was erased on this day."""
    nonces = os.urandom(sealing.NONCE_BYTES), os.urandom(sealing.NONCE_BYTES), os.urandom(sealing.NONCE_BYTES)
    if isinstance(answer, EpisodeIntent):
        key, whole = keys.get(answer.memory_id), keys.get(ids.space_key_id(answer.namespace))
        return None if key is None else intake.seal_episode(answer, origin, key, nonces, whole)
    if isinstance(answer, ProfileIntent):
        return answer.sealed_with(keys.get(profile.key_id(answer.event_id)), nonces[0])
    key = keys.get(answer.key_id)
    return None if key is None else asked.seal(answer, key, nonces[:2])


def ending(answers: Iterable[Intent | Refusal], shards: int) -> list[tuple[str, int]]:
    """The partitions of the accepted stream that sessions end in."""
    ended = {ids.shard_of(end.namespace, shards) for end in answers if isinstance(end, EndIntent)}
    return [(topics.ACCEPTED, shard) for shard in sorted(ended)]


def session_closed(end: EndIntent, shards: int, reached: Mapping[tuple[str, int], int]) -> SessionClosed:
    """The session's end as it is sent to the consolidator. `reached`: the next offsets of those partitions."""
    shard = ids.shard_of(end.namespace, shards)
    return SessionClosed(
        event_id=end.event_id, shard=shard, namespace=end.namespace, agent=end.agent, session=end.session,
        closed_at=end.ended_at, why="ended", accepted_offset=reached[topics.ACCEPTED, shard],
    )  # fmt: skip


def event_told(
    codec: Codec, genesis: Genesis, registry: Registry | None, message: Message, origin: Origin
) -> Event | None:
    """Returns the event of a refused record, as far as it can be read."""
    data = value_of(message)
    with loop.about(message):
        written = registry.written(data) if registry else None
        return intake.event_of(codec, data, origin, genesis=genesis, signature=proof(message), written=written)


def dead_letter(
    message: Message, origin: Origin, refusal: Refusal, key: bytes | None, refused_at: int, *,
    event: Event | None = None,
) -> IntakeRefused:  # fmt: skip
    """Builds the dead letter of a refused record. The payload is left out if it was forgotten, which leaves no `key`,
    and if it exceeds what a topic holds: compressed, it was smaller. `event`: the publisher's name for it, as far as it
    could be read; only a digest of it is written."""
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
    """The headers that hold proofs, and the one that holds a profile's list."""

    signature: bytes | None
    granted: bytes | None
    listed: bytes | None


def proofs(message: Message) -> Proofs:
    """The headers that hold proofs, as `core.intake.accept` takes them."""
    return {
        "signature": proof(message),
        "granted": proof(message, grants.HEADER),
        "listed": proof(message, profile.HEADER),
    }


def proof(message: Message, header: str = signatures.HEADER) -> bytes | None:
    """The value of a proof's header, or None. Empty, so invalid, if the header occurs twice or has no value."""
    found = [value for name, value in loop.header_items(message) if name == header]
    if not found:
        return None
    return bytes(found[0]) if len(found) == 1 and isinstance(found[0], bytes) else b""


def origin_of(message: Message) -> Origin:
    """The origin of a message: topic, partition, offset and timestamp."""
    topic, partition = loop.place(message)
    return Origin(topic, partition, loop.offset(message), message.timestamp()[1], first_at(message, topic))


def first_at(message: Message, topic: str) -> tuple[int, int] | None:
    """The place where a replayed record was first refused, if its header, or that of its letter, names a place of this
    topic.

    A forged place only gives the forger's own record another event id, which it could choose anyway.
    """
    for name, value in loop.header_items(message):
        found = _PLACE.fullmatch(value) if name == FIRST_AT and isinstance(value, bytes) else None
        if found is not None and found[1] == topic.encode():
            return int(found[2]), int(found[3])
    return None


def kept_headers(origin: Origin) -> loop.Headers:
    """The headers that the letter of a replayed record keeps: the place of its first refusal, which determines its
    event id."""
    return [] if origin.first is None else [(FIRST_AT, "/".join(map(str, (origin.topic, *origin.first))).encode())]


def at(origin: Origin) -> tuple[str, int, int]:
    """Topic, partition, offset."""
    return origin.topic, origin.partition, origin.offset
