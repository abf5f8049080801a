"""Identities and places: which memory, which shard, which digest."""

from __future__ import annotations

import hashlib
import re
import uuid

# Fixed for ever: changing it would change the id of every memory.
_MEMORIES = uuid.UUID("6d656d71-756f-5275-8d2d-6d656d6f7279")
_UUID = re.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")

DEFAULT_NAMESPACE = "default"


def memory_id(namespace: str, event_id: str) -> str:
    """The id of the memory that an episode becomes: uuid5 of its namespace and event id (DESIGN, Words)."""
    return str(uuid.uuid5(_MEMORIES, f"{len(namespace)}:{namespace}:{event_id}"))


def space_key_id(namespace: str) -> str:
    """The vault id of a namespace's own key, never a memory's (`core.labelling`)."""
    return str(uuid.uuid5(_MEMORIES, f"space/{namespace}"))


def origin_event_id(topic: str, partition: int, offset: int) -> str:
    """The event id of a record that carries none: its place in its topic, so that a redelivery has the same id."""
    return str(uuid.uuid5(_MEMORIES, f"{topic}/{partition}/{offset}"))


def signed_event_id(topic: str, value: bytes) -> str:
    """The event id of a record that carries none and that its agent signed: its signed bytes, so that whoever publishes
    them again says nothing new."""
    return str(uuid.uuid5(_MEMORIES, f"signed/{topic}/{hashlib.sha256(value).hexdigest()}"))


def cloud_event_id(source: str, event_id: str) -> str:
    """The event id of a record that carries none and came as a CloudEvent: ids are unique within their source alone."""
    return str(uuid.uuid5(_MEMORIES, f"cloudevent/{len(source)}:{source}:{event_id}"))


def use_event_id(event_id: str, memory_id: str) -> str:
    """The event id of one memory's use, where a request of that event id told of several."""
    return str(uuid.uuid5(_MEMORIES, f"use/{memory_id}/{event_id}"))


def session_event_id(namespace: str, agent: str | None, session: str) -> str:
    """The event id of the finished task that a session was, or, with `agent`, that agent's part of it. The database
    makes the same of a memory's session (`trial_sessions`), so that no verifier need be told that."""
    told = f"{len(namespace)}:{namespace}{len(agent or '')}:{agent or ''}{session}"
    return f"session/{hashlib.sha256(told.encode()).hexdigest()}"


def lesson_event_id(task: str, place: int) -> str:
    """The event id of a lesson from a finished task, by the task's memory id: said again, it is the same one."""
    return str(uuid.uuid5(_MEMORIES, f"lesson/{task}/{place}"))


def is_uuid(text: str) -> bool:
    """Whether the text is a UUID in its canonical lower-case form."""
    return _UUID.fullmatch(text) is not None


def murmur2(data: bytes) -> int:
    """Kafka's murmur2 hash as an unsigned 32-bit number: what the Java default partitioner computes."""
    m, mask = 0x5BD1E995, 0xFFFFFFFF
    length = len(data)
    h = (0x9747B28C ^ length) & mask
    for i in range(0, length - length % 4, 4):
        k = int.from_bytes(data[i : i + 4], "little")
        k = (k * m) & mask
        k ^= k >> 24
        k = (k * m) & mask
        h = ((h * m) & mask) ^ k
    tail = data[length - length % 4 :]
    if tail:
        h ^= int.from_bytes(tail, "little")
        h = (h * m) & mask
    h ^= h >> 13
    h = (h * m) & mask
    return h ^ (h >> 15)


def shard_of(namespace: str, shards: int) -> int:
    """The shard, which is the partition, of everything about a namespace: murmur2 mod P, as Kafka's own partitioner."""
    return (murmur2(namespace.encode()) & 0x7FFFFFFF) % shards


def sha256(*parts: bytes) -> bytes:
    """SHA-256 over length-prefixed parts, so that no two lists of parts share a digest by concatenation."""
    h = hashlib.sha256()
    for part in parts:
        h.update(len(part).to_bytes(8, "big"))
        h.update(part)
    return h.digest()
