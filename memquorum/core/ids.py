"""Identities and places: which memory, which shard, which digest."""

from __future__ import annotations

import hashlib
import re
import uuid

# Fixed for ever: changing it would change the id of every memory.
_MEMORIES = uuid.UUID("6d656d71-756f-5275-8d2d-6d656d6f7279")
_UUID = re.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")

_LINE = "memquorum/"
"""The prefix of the event ids that are made here. No other event id from outside may begin so (decision 142)."""
_MADE = re.compile(_LINE + "([a-z]+)/([0-9a-f]{32})/[0-9a-f]{64}")
PLACE, SIGNED, CLOUD, SESSION, LESSON, USE, SUMMARY = (
    "place", "signed", "cloudevent", "session", "lesson", "use", "summary",
)  # fmt: skip
"""The sources that an event id is made from."""
_BY_INTAKE = frozenset({PLACE, SIGNED, CLOUD})

DEFAULT_NAMESPACE = "default"


def memory_id(namespace: str, event_id: str) -> str:
    """The id of the memory that an episode becomes: uuid5 of its namespace and event id (DESIGN, Words)."""
    return str(uuid.uuid5(_MEMORIES, f"{len(namespace)}:{namespace}:{event_id}"))


def space_key_id(namespace: str) -> str:
    """The vault id of a namespace's own key, never a memory's (`core.labelling`)."""
    return str(uuid.uuid5(_MEMORIES, f"space/{namespace}"))


def made_event_id(kind: str, agent: str | None, *said: str) -> str:
    """The event id that an agent's record gets from what is `said`; `kind`: one of those above.

    It names the agent, and intake takes it from nobody else (`is_anothers`): who can foretell it cannot use it up.
    """
    return f"{_LINE}{kind}/{_tag(agent)}/{sha256(*map(_bytes, said)).hex()}"


def is_anothers(event_id: str, agent: str | None) -> bool:
    """True if an event id begins like those that are made here, and was not made for this agent."""
    made = _MADE.fullmatch(event_id)
    return event_id.startswith(_LINE) and (made is None or made[2] != _tag(agent))


def is_made(event_id: str) -> bool:
    """Whether an event id was made here, for whatever agent."""
    return event_id.startswith(_LINE)


def made_by_intake(event_id: str) -> bool:
    """Whether an event id is of a kind that intake alone makes: of a record that comes without one."""
    made = _MADE.fullmatch(event_id)
    return made is not None and made[1] in _BY_INTAKE


def claim(kind: str, namespace: str, agent: str | None) -> bytes:
    """Returns the owner of an event id, as the vault keeps it: SHA-256 of the agent, and of the `kind` of record that
    it sent."""
    return sha256(*map(_bytes, ("claim", kind, namespace, agent or "")))


def event_digest(namespace: str, event_id: str, agent: str | None = None) -> bytes:
    """Returns the digest by which a client that knows the event finds its refusal: SHA-256 of its namespace and id, and
    of its agent if one is given."""
    return sha256(*map(_bytes, ("event", namespace, event_id, *(() if agent is None else (agent,)))))


def _tag(agent: str | None) -> str:
    return hashlib.sha256(_bytes(agent or "")).hexdigest()[:32]


def _bytes(text: str) -> bytes:
    # Called before intake has looked at the text, which may hold half of a surrogate pair.
    return text.encode(errors="surrogatepass")


def origin_event_id(agent: str | None, topic: str, partition: int, offset: int) -> str:
    """The event id of a record that carries none: its place in its topic, so that a redelivery has the same id."""
    return made_event_id(PLACE, agent, topic, str(partition), str(offset))


def signed_event_id(agent: str, topic: str, value: bytes) -> str:
    """Returns the event id of a signed record that carries none: made from its signed bytes, so that publishing them
    again repeats the same event."""
    return made_event_id(SIGNED, agent, topic, hashlib.sha256(value).hexdigest())


def cloud_event_id(agent: str | None, source: str, event_id: str) -> str:
    """The event id of a record that carries none and came as a CloudEvent: ids are unique within their source alone."""
    return made_event_id(CLOUD, agent, source, event_id)


def use_event_id(agent: str, event_id: str) -> str:
    """The event id of a use that the retrieval service publishes: `event_id` is the request's."""
    return made_event_id(USE, agent, event_id)


def session_digest(namespace: str, agent: str | None, session: str) -> str:
    """Returns the digest that the event ids of a session's finished tasks end with; with `agent`, those of that agent's
    part of it.

    The database computes the same from a memory's session (`trial_sessions`), so a verifier need not be given it.
    """
    told = f"{len(namespace)}:{namespace}{len(agent or '')}:{agent or ''}{session}"
    return hashlib.sha256(_bytes(told)).hexdigest()


def session_in(event_id: str) -> str | None:
    """The digest of the session that a finished task was, by its event id; None of any other event id."""
    before, _, found = event_id.rpartition("/")
    if before == "session":  # as earlier releases made it
        return found
    made = _MADE.fullmatch(event_id)
    return found if made is not None and made[1] == SESSION else None


def session_event_id(publisher: str, namespace: str, agent: str | None, session: str) -> str:
    """The event id of the finished task that a session was, or, with `agent`, that agent's part of it."""
    return f"{_LINE}{SESSION}/{_tag(publisher)}/{session_digest(namespace, agent, session)}"


def lesson_event_id(agent: str, task: str, place: int) -> str:
    """The event id of a lesson from a finished task, by the task's memory id: said again, it is the same one."""
    return made_event_id(LESSON, agent, task, str(place))


# The event ids that earlier releases gave such records. Anybody could use one up, so intake makes them no more: it only
# finds by them the records that such a release accepted.


def place_uuid(topic: str, partition: int, offset: int) -> str:
    """The UUID of a record's place: of a dead letter's key, and once the event id of a record without one."""
    return str(uuid.uuid5(_MEMORIES, f"{topic}/{partition}/{offset}"))


def signed_uuid(topic: str, value: bytes) -> str:
    """The event id that earlier releases gave a signed record without one."""
    return str(uuid.uuid5(_MEMORIES, f"signed/{topic}/{hashlib.sha256(value).hexdigest()}"))


def cloud_uuid(source: str, event_id: str) -> str:
    """The event id that earlier releases gave a CloudEvent whose record had none."""
    return str(uuid.uuid5(_MEMORIES, f"cloudevent/{len(source)}:{source}:{event_id}"))


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
