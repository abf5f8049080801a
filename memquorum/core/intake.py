"""Validates the records that come in from outside, once, so that the code behind it need not (DESIGN 4).

Bytes of an outside topic are JSON, Avro, or one of them in an envelope or a registry's framing (`core.framing`). All
are held to the same schema and the same limits. Each ends as an intent, which the worker seals and writes to the
accepted stream, or as a Refusal, which names the field and the reason and repeats no content.

The fields of a record:

- `namespace`: 1 to 128 of `A-Z a-z 0-9 . _ : @ + -`, the first a letter or digit; absent means `default`.
- `agent`, `subject`, `event_id`, `session`, and the texts that are only carried along (`records.episodes.Carried`):
  1 to 128 printable characters, no blank at either end.
- Names and texts of these, of `path` and of attributes are brought into Unicode's composed form (`names.normal`). An
  `agent` that is not in it is refused. An `event_id`, and texts in words, stay as they are.
- `content`, `query`, `goal`: up to 64 KiB of UTF-8, not blank, without NUL, which the store's text cannot hold; a
  task's `inputs` and `outputs` likewise, and they may be blank. `tools`: up to 64, each of up to 4 KiB.
- `reward`, `confidence`, `uncertainty`: numbers in [0, 1].
- `occurred_at`, `accessed_at`, `asked_at`, `ended_at`, `finished_at`, `given_at`: milliseconds since the epoch, from
  the year 2000 to one day ahead of the clock.
- `task`: a UUID with hyphens, in either case; `derives_from`: up to 64 of them; `supersedes`: up to 8; `memory_ids`:
  of a use 1 to 100, of a query up to 1,000; `retrieved`, `helped`, `did_not_help`: up to 1,000.
- `outcome`: of a task, one of `experience.texts.OUTCOMES`; `configuration`: a SHA-256 in hexadecimal; `seed`: in [0,
  2^63).
- `links`: up to 16, each of a kind, to a memory or to a name (`core.linking`).
- `key`, `supersedes`: with `explicit` alone.
- `clears`: with `explicit` and either `key` or `supersedes`, and without `content`, which everything else needs.
- `path`, `attributes`: see `core.labelling`; in JSON attributes are an object.
- `vector`: numbers of a vector of unit length.
- `summary`: of the agent `consolidator` alone, signed with its key.
- `type`, `sensitivity`, `purposes`, `jurisdiction`: see `core.facets`.

An unknown field is refused by name, so that a misspelt `occured_at` is noticed and not ignored. A namespace may ask
for signatures (`core.identity.signatures`). Orders are Avro, and signed in themselves.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Collection
from typing import Any, TypeVar

from msgspec import Struct
from msgspec.structs import asdict, replace

from memquorum import topics
from memquorum.core import (
    asked,
    enveloped,
    facets,
    framing,
    ids,
    jsontext,
    labelling,
    linking,
    names,
    payloads,
    sealing,
)
from memquorum.core.asked import QueryIntent
from memquorum.core.avro import Codec
from memquorum.core.contained import Failed, Failures, attempt
from memquorum.core.experience import abstract
from memquorum.core.experience.texts import OUTCOMES, UNKNOWN, Texts
from memquorum.core.framing import Written
from memquorum.core.identity import grants, signatures
from memquorum.core.identity.membership import CONSOLIDATOR, Genesis
from memquorum.core.labelling import Labels
from memquorum.core.orders import profile, table
from memquorum.core.orders.envelope import BadOrder
from memquorum.core.policy import PPM
from memquorum.core.privacy.sensitivity import Weights, suggested_ppm
from memquorum.core.reasons import Reason
from memquorum.core.records import (
    USES_MOST,
    AccessAccepted,
    AccessRecorded,
    ClockRequested,
    EpisodeAccepted,
    EpisodeRecorded,
    FeedbackAccepted,
    FeedbackGiven,
    Link,
    OrderAccepted,
    QueryRecorded,
    Quote,
    SessionEnded,
    Signed,
    Summary,
    Task,
    TaskFinished,
)
from memquorum.core.records.episodes import SHARES, Carried, Said, fields_of

V = TypeVar("V")
W = TypeVar("W")

RECORD_BYTES_MAX = 1_000_000
CONTENT_BYTES_MAX = 64 * 1024
OLDEST_MS = 946_684_800_000  # 2000-01-01
NEWEST_MS = 7_258_118_400_000  # 2200-01-01, where a driven clock ends
AHEAD_MS = 24 * 3600 * 1000
PARENTS_MAX = 64
SUPERSEDES_MAX = 8
QUOTES_MAX = 1_000
FOUND_MAX = 1_000
TOOLS_MAX = 64
TOOL_BYTES_MAX = 4 * 1024
_TASK = "task"
"""The type of what a finished task leaves (`core.facets`)."""
_NO_CONFIGURATION = hashlib.sha256(b"").hexdigest()


class Origin(Struct, frozen=True):
    """The place that a record came from. `timestamp_ms`: Kafka's timestamp of it, −1 if it has none.

    `first`: of a replay, the partition and offset where it was refused; its event id is made from these if it carries
    none.
    """

    topic: str
    partition: int
    offset: int
    timestamp_ms: int = -1
    first: tuple[int, int] | None = None


class Refusal(Struct, frozen=True):
    """The reason why a record was refused. `detail` says what was wrong and what to do, and repeats no content."""

    reason: Reason
    field: str | None
    detail: str


class Event(Struct, frozen=True):
    """The names of a published event. `agent`: None if the record has none."""

    namespace: str
    event_id: str
    agent: str | None


class EpisodeIntent(Said, frozen=True, kw_only=True):
    """An episode that may come in, its content not yet sealed."""

    event_id: str
    memory_id: str
    namespace: str
    content: str
    earlier: str | None = None
    """The event id that earlier releases gave this record, which comes without one; None where it has its own."""
    names: tuple[str, ...] = ()
    """The names that its links point to, in the order of the links that name one."""
    labels: Labels = Labels()
    """The key, path and attributes that it is filed under."""
    signed: bytes | None = None
    """The agent's signature, checked, and after it the bytes that it signed (`core.authorship`); None: it did not
    sign."""


class EndIntent(Struct, frozen=True):
    """The end of a session: of one agent's part of it, or of every agent's."""

    event_id: str
    namespace: str
    agent: str | None
    session: str
    ended_at: int


class AccessIntent(AccessAccepted, frozen=True, kw_only=True):
    """A use record in which some ids are not valid memory ids. `refusal`: the ids and the reason; the others count."""

    refusal: Refusal

    @property
    def accepted(self) -> AccessAccepted:
        """The use as it goes into the accepted stream."""
        return AccessAccepted(self.event_id, self.memory_ids, self.namespace, self.agent, self.accessed_at)


class ProfileIntent(OrderAccepted, frozen=True, kw_only=True):
    """A profile that comes with a list, which is not yet sealed. `subject`: whose profile it is."""

    subject: str
    listed: profile.Listed

    def sealed_with(self, key: bytes | None, nonce: bytes) -> OrderAccepted:
        """The order as it goes into the accepted stream; without its list if the `key` of that was destroyed."""
        sealed = None if key is None else profile.seal(self.listed, key, nonce, self.event_id)
        told = {name: getattr(self, name) for name in OrderAccepted.__struct_fields__}
        return OrderAccepted(**(told | {"sealed": sealed}))


class TickIntent(Struct, frozen=True):
    """A tick that is requested for every shard."""

    event_id: str
    as_of: int


Nonces = tuple[bytes, bytes, bytes]
Published = EpisodeRecorded | AccessRecorded | QueryRecorded | SessionEnded | TaskFinished | FeedbackGiven
Outside = Published | ClockRequested | Signed
_Said = EpisodeIntent | AccessAccepted | QueryIntent | EndIntent | FeedbackAccepted
Intent = _Said | OrderAccepted | TickIntent
LetIn = EpisodeAccepted | AccessAccepted | FeedbackAccepted | OrderAccepted


_FAILED = Refusal(
    Reason.FAILED,
    None,
    "a check failed on it, and the log names the error: tell the operator; replayed it is checked again",
)


class _Refused(Exception):
    """Carries a Refusal to `accept`."""

    def __init__(self, reason: Reason, field: str | None, detail: str) -> None:
        super().__init__(reason)
        self.refusal = Refusal(reason, field, detail)


def accept(
    codec: Codec,
    data: bytes | None,
    origin: Origin,
    now_ms: int,
    driven: bool,
    *,
    genesis: Genesis | None = None,
    signature: bytes | None = None,
    granted: bytes | None = None,
    listed: bytes | None = None,
    refused: Collection[str] = (),
    written: Written | None = None,
    signs: bool = False,
    failures: Failures | None = None,
) -> Intent | Refusal:
    """Checks a record of an outside topic: returns its intent, or why it is refused. Never raises for any bytes.

    `now_ms` is the time: the wall clock, or, where the clock is `driven`, the last tick (0 before the first). A record
    without a time of its own gets, by the wall clock, the time that Kafka gave it, since a redelivery then gets the
    same; where the clock is driven, the last tick. `genesis` says who must sign, `signature` is the header; without a
    genesis nobody must. `granted`: the header by which an API key takes slots; `listed`: the one with the list of a
    profile. `refused`: the signers whose orders are refused, whatever the genesis says. `written`: what a schema
    registry says of the record, if it is in such a framing. `signs`: it will be signed later, so the check of names
    that only a signature may use is left to the one who verifies it. A record on which a check raises is refused;
    `failures` takes the error.
    """
    place = "/".join(map(str, (origin.topic, *(origin.first or (origin.partition, origin.offset)))))
    return (failures or Failures()).answer(
        "intake", [place], _FAILED,
        _accept, codec, data, origin, _Clock(now_ms, driven, origin.timestamp_ms),
        genesis=genesis, signature=signature, granted=granted, listed=listed, refused=refused, written=written,
        signs=signs,
    )  # fmt: skip


def _accept(
    codec: Codec,
    data: bytes | None,
    origin: Origin,
    clock: _Clock,
    *,
    genesis: Genesis | None,
    signature: bytes | None,
    granted: bytes | None,
    listed: bytes | None,
    refused: Collection[str],
    written: Written | None,
    signs: bool,
) -> Intent | Refusal:
    """Checks a record; see `accept`."""
    try:
        record, named = _record(codec, data, origin.topic, written)
        if signature is not None and framing.schema_id(data) is not None:
            told = "members read what an agent signed and ask no registry: sign JSON or single-object Avro"
            raise _Refused(Reason.UNKNOWN_FRAMING, signatures.HEADER, told)
        if isinstance(record, ClockRequested):
            return _tick(record, origin, clock)
        if isinstance(record, Signed):
            if record.signer in refused:
                told = f"the operator has intake refuse every order that {record.signer} signs; ask the operator"
                raise _Refused(Reason.NOT_ENTITLED, "signer", told)
            return _ordered(codec, genesis, data or b"", origin, clock, listed=listed)
        proven = _proven(genesis, origin.topic, record, data or b"", signature)
        if record.event_id is None:
            made: tuple[str, ...] = _event_ids(record, origin, named, data if proven else None)
            intent = _intent(replace(record, event_id=made[0]), origin, clock)
        else:
            made = (record.event_id,)
            _check_own(record)
            intent = _intent(record, origin, clock)
        if isinstance(intent, EpisodeIntent):
            intent = replace(intent, earlier=made[1] if len(made) > 1 else None)
            _check_summary(intent, proven)
        if not (proven or signs):
            _check_names(genesis, intent)
        if genesis is not None and data is not None:
            _check_signature(genesis, origin.topic, intent, data, signature)
            if signature is not None and isinstance(intent, EpisodeIntent):
                intent = replace(intent, signed=signature + data)
            _check_composed(genesis, record)
            if granted is not None and isinstance(intent, EpisodeIntent):
                intent = replace(intent, granted=_granted(genesis, intent, data, granted))
        return intent
    except _Refused as stays_out:
        return stays_out.refusal


def suggesting(intent: Intent | Refusal, weights: Weights, failures: Failures | None = None) -> Intent | Refusal:
    """Returns the intent with the sensitivity that its content suggests, if its publisher stated none (`core.privacy`).

    A summary says what its sources say, and is as sensitive as they are: nothing is suggested for it. A text on which
    the rules fail counts as most sensitive. `failures`: takes the errors.
    """
    if not isinstance(intent, EpisodeIntent) or intent.sensitivity_ppm is not None or intent.summary is not None:
        return intent
    if intent.clears:
        return intent
    found = (failures or Failures()).answer(
        "sensitivity", [intent.memory_id], PPM,
        suggested_ppm, intent.content, intent.purposes, intent.jurisdiction, weights,
    )  # fmt: skip
    return intent if found is None else replace(intent, sensitivity_ppm=found, suggested=weights.rules)


def recorded(codec: Codec, data: bytes, topic: str = topics.EPISODES) -> Outside | None:
    """Decodes a record of an outside topic as `accept` does; None if the bytes are no such record."""
    found = _read(codec, data, topic)
    return None if found is None else found[0]


def _read(codec: Codec, data: bytes, topic: str) -> tuple[Outside, framing.Named | None] | None:
    """Decodes a record with the name of its CloudEvent; None if the bytes are no record, or reading them raises."""
    found = attempt("intake", (), _record, codec, data, topic)
    return None if isinstance(found, Failed) else found


def event_of(
    codec: Codec,
    data: bytes | None,
    origin: Origin,
    *,
    genesis: Genesis | None = None,
    signature: bytes | None = None,
    written: Written | None = None,
) -> Event | None:
    """Returns the event that a refused record tells of, as far as its bytes can be read; None where they do not say
    one, or a check raises on them. Takes what `accept` takes."""
    found = attempt("intake", (), _event_of, codec, data, origin, genesis=genesis, signature=signature, written=written)
    return None if isinstance(found, Failed) else found


def _event_of(
    codec: Codec,
    data: bytes | None,
    origin: Origin,
    *,
    genesis: Genesis | None,
    signature: bytes | None,
    written: Written | None,
) -> Event | None:
    """Reads the names of an event; see `event_of`."""
    try:
        record, named = _record(codec, data, origin.topic, written)
    except _Refused:
        return _loosely(data, origin.topic)
    if isinstance(record, ClockRequested | Signed):
        return None
    event_id = record.event_id
    if event_id is None:
        proven = _proven(genesis, origin.topic, record, data or b"", signature)
        event_id = _event_ids(record, origin, named, data if proven else None)[0]
    return Event(record.namespace or ids.DEFAULT_NAMESPACE, event_id, record.agent)


def _loosely(data: bytes | None, topic: str) -> Event | None:
    """Returns the event that a JSON object names which is no record of its schema, in an envelope or without one."""
    if not data or len(data) > RECORD_BYTES_MAX or topic not in _FROM_AGENTS:
        return None
    try:
        value = jsontext.load(data)
    except jsontext.JsonRefused:
        return None
    if enveloped.is_event(value):
        value = value.get("data")
    if not isinstance(value, dict):
        return None
    namespace, event_id, agent = (value.get(name) for name in ("namespace", "event_id", "agent"))
    if not isinstance(namespace, str | None) or not isinstance(event_id, str):
        return None
    return Event(namespace or ids.DEFAULT_NAMESPACE, event_id, agent if isinstance(agent, str) else None)


def signed_ids(codec: Codec, data: bytes, topic: str = topics.EPISODES) -> tuple[str, ...]:
    """The event ids that a signed record may have been given: by this release, and by earlier ones. Its own, if it has
    one; none where the bytes are no record that an agent signs."""
    found = _read(codec, data, topic)
    if found is None:
        return ()
    record, named = found
    if isinstance(record, ClockRequested | Signed):
        return ()
    return _event_ids(record, Origin(topic, 0, 0), named, data) if record.event_id is None else (record.event_id,)


def seal_episode(
    intent: EpisodeIntent, origin: Origin, key: bytes, nonces: Nonces, space: bytes | None = None
) -> EpisodeAccepted:
    """The episode as it goes into the accepted stream: content, what the agent signed, what it is filed under and the
    names of its links only sealed, under the memory's key. `nonces`: fresh ones of 12 bytes, for content, what was
    signed, and the rest. `space`: the namespace's key, by which its slot and its label are told, if it is filed."""
    nonce, second, third = nonces
    if space is not None:
        labels = intent.labels
        intent = replace(intent, slot=labelling.slot(space, labels), label=labelling.label(space, labels))
    signed = None if intent.signed is None else sealing.seal_signed(key, second, intent.signed, intent.memory_id)
    return EpisodeAccepted(
        **fields_of(Said, intent),
        event_id=intent.event_id,
        memory_id=intent.memory_id,
        namespace=intent.namespace,
        sealed_content=sealing.seal_text(key, nonce, intent.content, intent.memory_id),
        commitment=sealing.commitment(key, intent.content),
        characters=len(intent.content),
        origin_topic=origin.topic,
        origin_partition=origin.partition,
        origin_offset=origin.offset,
        sealed_signed=signed,
        sealed_labels=labelling.seal(key, third, intent.labels, intent.names, intent.memory_id),
    )


_EXPECTED: dict[str, type[Outside]] = {
    topics.EPISODES: EpisodeRecorded,
    topics.ACCESSES: AccessRecorded,
    topics.QUERIES: QueryRecorded,
    topics.ENDS: SessionEnded,
    topics.TASKS: TaskFinished,
    topics.FEEDBACK: FeedbackGiven,
    topics.CLOCK: ClockRequested,
    **dict.fromkeys(table.BY_TOPIC, Signed),
}

_FROM_AGENTS = frozenset(_EXPECTED) - {topics.CLOCK, *table.BY_TOPIC}


def _record(
    codec: Codec, data: bytes | None, topic: str, written: Written | None = None
) -> tuple[Outside, framing.Named | None]:  # fmt: skip
    """The record as the schema types it; its values are not yet checked. With it the source and the id of the
    CloudEvent that it came in."""
    expected = _EXPECTED[topic]
    if not data:
        raise _Refused(Reason.EMPTY_RECORD, None, f"the record has no value; send one {expected.__name__}")
    if len(data) > RECORD_BYTES_MAX:
        raise _Refused(Reason.RECORD_TOO_LARGE, None, f"{len(data)} bytes; {RECORD_BYTES_MAX} are the most")
    if expected is Signed and (data.lstrip(b" \t\r\n")[:1] == b"{" or framing.schema_id(data) is not None):
        told = f"an order is signed, and so is Avro: use {table.BY_TOPIC[topic].command}"
        raise _Refused(Reason.UNSIGNED, None, told)
    try:
        return framing.read(codec, data, expected, written)
    except framing.Unread as wrong:
        raise _Refused(Reason(wrong.code), wrong.field, wrong.detail) from None


def _event_ids(
    record: Published, origin: Origin, named: framing.Named | None, signed: bytes | None
) -> tuple[str, str]:  # fmt: skip
    """The event id of a record that comes without one, and what earlier releases gave it. `named`: the source and the
    id of its CloudEvent; `signed`: the bytes, where its agent has signed them."""
    if named is not None:
        return ids.cloud_event_id(record.agent, *named), ids.cloud_uuid(*named)
    if signed is not None and record.agent is not None:
        # Made from its place, the id would differ each time that a stranger publishes the same bytes again.
        return ids.signed_event_id(record.agent, origin.topic, signed), ids.signed_uuid(origin.topic, signed)
    place = (origin.topic, *(origin.first or (origin.partition, origin.offset)))
    return ids.origin_event_id(record.agent, *place), ids.place_uuid(*place)


def _check_own(record: Published) -> None:
    """Raises _Refused where an event id from outside is one that is made here, for another agent or by intake alone.

    An episode that failed comes again with the id that intake gave it: the vault knows that
    (`workers.intake.event_owners`).
    """
    event_id = record.event_id or ""
    again = isinstance(record, EpisodeRecorded | TaskFinished)
    if ids.is_anothers(event_id, record.agent) or (ids.made_by_intake(event_id) and not again):
        raise _Refused(Reason.BAD_ID, "event_id", NOT_YOURS)


NOT_YOURS = (
    "ids that begin with memquorum/ are made by memquorum, each for one agent: send an id of your own, or leave it out"
)


def _intent(record: Published, origin: Origin, clock: _Clock) -> _Said:
    if isinstance(record, EpisodeRecorded):
        return _episode(record, origin, clock)
    if isinstance(record, SessionEnded):
        return _end(record, origin, clock)
    if isinstance(record, TaskFinished):
        return _task(record, origin, clock)
    if isinstance(record, FeedbackGiven):
        return _feedback(record, origin, clock)
    return _query(record, origin, clock) if isinstance(record, QueryRecorded) else _access(record, origin, clock)


def _episode(record: EpisodeRecorded, origin: Origin, clock: _Clock) -> EpisodeIntent:
    _check_purpose(record)
    namespace = _namespace(record.namespace)
    event_id = _event_id(record.event_id, origin)
    agent = _agent("agent", record.agent)
    memory_id = ids.memory_id(namespace, event_id)
    supersedes = _memories("supersedes", record.supersedes, SUPERSEDES_MAX)
    if memory_id in supersedes:
        raise _Refused(Reason.BAD_ID, "supersedes", "names the episode itself; name what was said before")
    links, named = _links(record.links, namespace, memory_id)
    said: dict[str, Any] = {name: _carried(name, value) for name, value in fields_of(Carried, record).items()}
    said |= {f"{name}_ppm": _optional(name, getattr(record, name), _share) for name in SHARES}
    intent = EpisodeIntent(
        event_id=event_id,
        memory_id=memory_id,
        namespace=namespace,
        agent=agent,
        subject=agent if record.subject is None else _name("subject", record.subject),
        **clock.episode("occurred_at", record.occurred_at),
        content="" if record.content is None else _text("content", record.content),
        derives_from=_memories("derives_from", record.derives_from, PARENTS_MAX),
        supersedes=supersedes,
        links=links,
        names=named,
        labels=_labels(record),
        type=facets.EPISODIC if record.type is None else record.type,
        purposes=tuple(sorted(set(record.purposes))),
        jurisdiction=record.jurisdiction,
        summary=None if record.summary is None else _quoting(record.summary),
        clears=record.clears,
        **said,
    )
    try:
        facets.check(intent)
    except facets.BadFacet as wrong:
        raise _Refused(Reason(wrong.code), wrong.field, wrong.detail) from None
    stands = payloads.standing(intent.type, labelling.read(intent.labels.attributes))
    return replace(intent, deadline=stands.deadline, over=stands.over)


def _task(record: TaskFinished, origin: Origin, clock: _Clock) -> EpisodeIntent:
    """A finished task as an episode of its own kind: it derives from what it retrieved, and goes where that goes."""
    namespace, event_id = _namespace(record.namespace), _event_id(record.event_id, origin)
    agent = _agent("agent", record.agent)
    intent = EpisodeIntent(
        event_id=event_id,
        memory_id=ids.memory_id(namespace, event_id),
        namespace=namespace,
        agent=agent,
        subject=agent if record.subject is None else _name("subject", record.subject),
        **clock.episode("finished_at", record.finished_at),
        content=_checked_texts(record),
        derives_from=_memories("retrieved", record.retrieved, FOUND_MAX),
        sensitivity_ppm=_optional("sensitivity", record.sensitivity, _share),
        type=_TASK,
        purposes=tuple(sorted(set(record.purposes))),
        jurisdiction=record.jurisdiction,
        task=_ended(record, agent),
    )
    try:
        facets.check(intent)
    except facets.BadFacet as wrong:
        raise _Refused(Reason(wrong.code), wrong.field, wrong.detail) from None
    return intent


def task_content(record: TaskFinished) -> str:
    """Returns the texts of a task as they are sealed. `record`: one that was accepted."""
    return Texts(record.goal, record.inputs or "", record.outputs or "", record.tools).content


def _checked_texts(record: TaskFinished) -> str:
    """Checks the texts of a task and returns them as they are sealed."""
    _text("goal", record.goal)
    for name in ("inputs", "outputs"):
        _text(name, getattr(record, name) or "", blank=True)
    if len(record.tools) > TOOLS_MAX:
        raise _Refused(Reason.TOO_MANY, "tools", f"{len(record.tools)} calls; {TOOLS_MAX} are the most: sum them up")
    for told in record.tools:
        _text("tools", told, most=TOOL_BYTES_MAX)
    return task_content(record)


def _ended(record: TaskFinished, agent: str) -> Task:
    """Reads how a task ended, who says so, and the configuration it ran under."""
    if record.outcome not in OUTCOMES:
        raise _Refused(Reason.OUT_OF_RANGE, "outcome", f"must be one of {', '.join(OUTCOMES)}")
    if record.outcome == UNKNOWN and record.said_by is not None:
        told = f"nobody says how it ended where the outcome is {UNKNOWN}: leave it out, or say how"
        raise _Refused(Reason.OUT_OF_RANGE, "said_by", told)
    said_by = "" if record.outcome == UNKNOWN else _optional("said_by", record.said_by, _agent) or agent
    configuration = _NO_CONFIGURATION if record.configuration is None else record.configuration
    if _SHA256.fullmatch(configuration) is None:
        raise _Refused(Reason.BAD_ID, "configuration", "not a SHA-256 in hexadecimal: 64 digits, lower case")
    seed = record.seed or 0
    if seed < 0:
        raise _Refused(Reason.OUT_OF_RANGE, "seed", "must lie in [0, 2^63)")
    return Task(record.outcome, said_by, bytes.fromhex(configuration), seed)


_SHA256 = re.compile("[0-9a-f]{64}")


def _feedback(record: FeedbackGiven, origin: Origin, clock: _Clock) -> FeedbackAccepted:
    task = names.uuid(record.task)
    if task is None:
        raise _Refused(Reason.BAD_ID, "task", "not a UUID; send the id that the task was given when it was published")
    helped = _memories("helped", record.helped, FOUND_MAX)
    others = _memories("did_not_help", record.did_not_help, FOUND_MAX)
    if not (helped or others):
        raise _Refused(Reason.MISSING_FIELD, "helped", "name memories that have helped, or that did_not_help")
    if set(helped) & set(others):
        raise _Refused(Reason.OUT_OF_RANGE, "did_not_help", "a memory is in both lists: it helped, or it did not")
    return FeedbackAccepted(
        event_id=_event_id(record.event_id, origin),
        memory_id=task,
        namespace=_namespace(record.namespace),
        agent=_agent("agent", record.agent),
        helped=helped,
        did_not_help=others,
        given_at=clock.time("given_at", record.given_at),
    )


def _check_purpose(record: EpisodeRecorded) -> None:
    """Checks that a write which takes or empties a slot, or takes memories away, says so: a forgotten field must take
    nothing."""
    if (record.key is not None or record.supersedes or record.clears) and not record.explicit:
        told = "key and supersedes replace what was there: send explicit: true as well, to say that this is meant"
        raise _Refused(Reason.MISSING_FIELD, "explicit", told)
    if not record.clears:
        if record.content is None:
            told = "say what happened; what is to empty a slot says clears: true with key and explicit: true"
            raise _Refused(Reason.MISSING_FIELD, "content", told)
        return
    if record.key is None and not record.supersedes:
        told = "clears empties a slot, or takes memories away: send the key of the slot, or their ids as supersedes"
        raise _Refused(Reason.MISSING_FIELD, "key", told)
    for name in _SAYING if record.key is None else (*_SAYING, "supersedes"):
        if getattr(record, name):
            told = "what clears a slot says nothing: leave it out, or leave out clears"
            raise _Refused(Reason.TOO_MANY, name, told)


_SAYING = ("content", "attributes", "derives_from", "links", "summary")
"""Fields by which an episode says something, or is bound to a memory."""


def _access(record: AccessRecorded, origin: Origin, clock: _Clock) -> AccessAccepted:
    """Reads a use. Only ids that are no UUID are refused, not the others."""
    if not 1 <= len(record.memory_ids) <= USES_MOST:
        told = f"{len(record.memory_ids)} ids; 1 to {USES_MOST} are told in one record"
        raise _Refused(Reason.TOO_MANY if record.memory_ids else Reason.MISSING_FIELD, "memory_ids", told)
    found = [names.uuid(one) for one in record.memory_ids]
    bad = [str(place) for place, one in enumerate(found, 1) if one is None]
    told = (
        f"of the {len(found)} ids, by their places, {', '.join(bad)}: no UUID; send ids that a search or a receipt gave"
    )
    if len(bad) == len(found):
        raise _Refused(Reason.BAD_ID, "memory_ids", told)
    accepted = AccessAccepted(
        event_id=_event_id(record.event_id, origin),
        memory_ids=tuple(dict.fromkeys(filter(None, found))),
        namespace=_namespace(record.namespace),
        agent=_agent("agent", record.agent),
        accessed_at=clock.time("accessed_at", record.accessed_at),
    )
    if not bad:
        return accepted
    return AccessIntent(**asdict(accepted), refusal=Refusal(Reason.BAD_ID, "memory_ids", f"{told}. The others count"))


def _query(record: QueryRecorded, origin: Origin, clock: _Clock) -> QueryIntent:
    if not asked.sound(record.vector):
        told = f"at most {asked.VECTOR_MOST} numbers of a vector of unit length"
        raise _Refused(Reason.OUT_OF_RANGE, "vector", told)
    return QueryIntent(
        event_id=_event_id(record.event_id, origin),
        namespace=_namespace(record.namespace),
        agent=_agent("agent", record.agent),
        asked_at=clock.time("asked_at", record.asked_at),
        query=_text("query", record.query),
        memory_ids=_memories("memory_ids", record.memory_ids, FOUND_MAX),
        encoder=_optional("encoder", record.encoder, _plain),
        vector=record.vector,
    )


def _end(record: SessionEnded, origin: Origin, clock: _Clock) -> EndIntent:
    return EndIntent(
        event_id=_event_id(record.event_id, origin),
        namespace=_namespace(record.namespace),
        agent=_optional("agent", record.agent, _agent),
        session=_name("session", record.session),
        ended_at=clock.time("ended_at", record.ended_at),
    )


def _tick(record: ClockRequested, origin: Origin, clock: _Clock) -> TickIntent:
    if not OLDEST_MS <= record.as_of < NEWEST_MS:
        raise _Refused(Reason.OUT_OF_RANGE, "as_of", "not milliseconds between the years 2000 and 2200")
    if record.as_of < clock.now_ms:
        raise _Refused(
            Reason.CLOCK_BACKWARDS, "as_of", f"{record.as_of} is before the last tick, {clock.now_ms}; time only rises"
        )
    return TickIntent(event_id=_event_id(record.event_id, origin), as_of=record.as_of)


def _ordered(
    codec: Codec, genesis: Genesis | None, data: bytes, origin: Origin, clock: _Clock, *, listed: bytes | None
) -> OrderAccepted:
    """Accepts an order or a request from a signer that may give it. It counts from the time it was accepted, whatever
    time it states."""
    if genesis is None:
        raise _Refused(Reason.NOT_ENTITLED, None, "nobody may order anything here: no genesis file says who may")
    # Before its first tick a driven clock has no time.
    at = clock.now_ms if clock.now_ms >= OLDEST_MS else clock.time("accepted_at", None)
    try:
        order = table.let_in(codec, genesis, data, at, (origin.topic, origin.partition, origin.offset))
        if order.kind != profile.PROFILE.name:
            return order
        _, said = profile.PROFILE.opened(codec, genesis, data)
        beside = profile.read(said, listed)
        return order if beside is None else ProfileIntent(**asdict(order), subject=said.subject, listed=beside)
    except BadOrder as wrong:
        raise _Refused(Reason(wrong.code), wrong.field, wrong.detail) from None


def _quoting(summary: Summary) -> Summary:
    """A summary whose sentences name memories as they are written behind the wall."""
    if not 0 <= summary.importance_ppm <= PPM:
        raise _Refused(Reason.OUT_OF_RANGE, "summary", f"importance_ppm must lie in 0..{PPM}")
    if not 0 <= (summary.distortion_ppm or 0) <= 2 * PPM:
        raise _Refused(Reason.OUT_OF_RANGE, "summary", f"distortion_ppm must lie in 0..{2 * PPM}")
    if len(summary.quotes) > QUOTES_MAX:
        raise _Refused(Reason.TOO_MANY, "summary", f"{len(summary.quotes)} sentences; {QUOTES_MAX} are the most")
    named = [names.uuid(quote.memory_id) for quote in summary.quotes]
    if None in named:
        raise _Refused(Reason.BAD_ID, "summary", "a sentence of what is no UUID; name the memory that says it")
    _plain("summary", summary.by)
    renews = names.uuid(summary.renews) if summary.renews is not None else None
    if summary.renews is not None and renews is None:
        raise _Refused(Reason.BAD_ID, "summary", "renews is no UUID; name the summary that was erased")
    quotes = (
        Quote(str(memory_id), quote.start, quote.end, _plain("summary", quote.section), quote.at, quote.sentence)
        for memory_id, quote in zip(named, summary.quotes, strict=True)
    )
    return Summary(
        summary.by,
        summary.session and _plain("summary", summary.session),  # empty if it was made for want of room
        summary.importance_ppm,
        summary.commitment,
        tuple(quotes),
        renews,
        summary.distortion_ppm,
    )


def _check_summary(intent: EpisodeIntent, proven: bool) -> None:
    """Only the consolidator makes summaries, and nobody else says anything in its name: a summary is never taken for
    what an agent has said, nor what an agent says for a summary."""
    if intent.agent == CONSOLIDATOR and not proven:
        told = f"only the service that has the key of {CONSOLIDATOR} says anything in its name; use another name"
        raise _Refused(Reason.NOT_ENTITLED, "agent", told)
    if (intent.agent == CONSOLIDATOR) != (intent.summary is not None):
        told = f"only {CONSOLIDATOR} publishes summaries, and nothing else: leave it out"
        raise _Refused(Reason.NOT_ENTITLED, "summary", told)
    if intent.summary is None:
        return
    if intent.explicit or intent.links or intent.labels.attributes is not None or not intent.derives_from:
        raise _Refused(Reason.MISSING_FIELD, "derives_from", "a summary names its sources alone, and is not explicit")
    if not {quote.memory_id for quote in intent.summary.quotes} <= set(intent.derives_from):
        raise _Refused(Reason.BAD_ID, "summary", "a sentence of a memory that derives_from does not name")
    if abstract.made(intent.summary) and (len(intent.derives_from) != 1 or intent.summary.quotes):
        raise _Refused(Reason.TOO_MANY, "derives_from", "a general form is made of one memory, and quotes nothing")


def _check_names(genesis: Genesis | None, intent: _Said) -> None:
    """Refuses names of the installation's own, and a role whose words are orders to models, to who has not signed."""
    members = () if genesis is None else [member.name for member in genesis.members]
    fault = None if intent.agent is None else names.agent_fault(intent.agent, members)
    if fault is not None:
        raise _Refused(Reason(fault.code), "agent", fault.detail)
    if isinstance(intent, EpisodeIntent) and intent.role is not None and names.above(intent.role):
        told = "only an agent that signs what it says speaks in this role: leave it out, or say user or assistant"
        raise _Refused(Reason.NOT_ENTITLED, "role", told)


def _proven(genesis: Genesis | None, topic: str, record: Published, data: bytes, signature: bytes | None) -> bool:
    """Whether the agent signed these bytes: its signature is here, it has a key, and the signature is of that."""
    if genesis is None or signature is None or record.agent is None or record.agent not in genesis.agent_keys:
        return False
    namespace = ids.DEFAULT_NAMESPACE if record.namespace is None else record.namespace
    return signatures.fault(genesis, topic, namespace, record.agent, value=data, signature=signature) is None


def _check_signature(
    genesis: Genesis,
    topic: str,
    intent: _Said,
    data: bytes,
    signature: bytes | None,
) -> None:
    if intent.agent is None:
        if intent.namespace in genesis.signed:
            told = "in this namespace each agent says of its own part of a session that it is over, and signs that"
            raise _Refused(Reason.UNSIGNED, "agent", told)
        return
    fault = signatures.fault(genesis, topic, intent.namespace, intent.agent, value=data, signature=signature)
    if fault is not None:
        raise _Refused(Reason(fault.code), signatures.HEADER, fault.detail)


def _check_composed(genesis: Genesis, record: Published) -> None:
    """Checks that key and path were signed in the form in which they are filed: members compare the signed bytes with
    the slot that an episode fills, and change neither."""
    if not isinstance(record, EpisodeRecorded) or (record.namespace or ids.DEFAULT_NAMESPACE) not in genesis.signed:
        return
    for name in ("key", "path"):
        value = getattr(record, name)
        if value is not None and names.normal(value) != value:
            told = "letters and accents apart: in this namespace it is signed in Unicode's composed form, NFC"
            raise _Refused(Reason.BAD_NAME, name, told)


def _granted(genesis: Genesis, intent: EpisodeIntent, data: bytes, header: bytes) -> str | None:
    """The API key by whose right it takes its slot: none where the agent itself has to sign for that."""
    key_id = grants.granted(genesis, data, header)
    if key_id is None:
        told = "the retrieval service did not sign this; publish what needs an API key's right over POST /memories"
        raise _Refused(Reason.BAD_SIGNATURE, grants.HEADER, told)
    return key_id if intent.labels.key is not None and intent.namespace not in genesis.signed else None


class _Clock(Struct, frozen=True):
    """The time of one record."""

    now_ms: int
    driven: bool
    timestamp_ms: int

    def time(self, field: str, value: int | None) -> int:
        """The record's own time if it is plausible, or the one that it gets."""
        # A driven clock may stand in the past of the world that drives it, so there the record's wall time counts too.
        latest = min((max(self.now_ms, self.timestamp_ms) if self.driven else self.now_ms) + AHEAD_MS, NEWEST_MS)
        if value is None:
            return self._default(latest)
        if value < OLDEST_MS:
            raise _Refused(Reason.OUT_OF_RANGE, field, "before the year 2000; send milliseconds since the epoch")
        if value > latest:
            raise _Refused(Reason.OUT_OF_RANGE, field, "more than a day ahead of the clock; send milliseconds, in UTC")
        return value

    def episode(self, field: str, value: int | None) -> dict[str, Any]:
        """Returns when an episode occurred and when it was accepted. A driven clock sets the time: an episode is never
        accepted before it occurred."""
        at = self.time(field, value)
        return {"occurred_at": at, "accepted_at": max(self.now_ms, at) if self.driven else self.now_ms}

    def _default(self, latest: int) -> int:
        first, second = (self.now_ms, self.timestamp_ms) if self.driven else (self.timestamp_ms, self.now_ms)
        # Kafka's timestamp is the publisher's word: a wild one is no better than none.
        return first if OLDEST_MS <= first <= latest else min(max(second, OLDEST_MS), latest)


def _memories(field: str, values: tuple[str, ...], most: int) -> tuple[str, ...]:
    if len(values) > most:
        raise _Refused(Reason.TOO_MANY, field, f"{len(values)} ids; {most} are the most")
    found = tuple(dict.fromkeys(map(names.uuid, values)))
    if None in found:
        raise _Refused(Reason.BAD_ID, field, "one is not a UUID; send ids of memories")
    return tuple(filter(None, found))


def _links(said: tuple[Link, ...], namespace: str, own: str) -> tuple[tuple[Link, ...], tuple[str, ...]]:
    """The links as they stand behind the wall, and the names that some of them are to."""
    if len(said) > linking.MOST:
        raise _Refused(Reason.TOO_MANY, "links", f"{len(said)} links; {linking.MOST} are the most")
    found = list[Link]()
    for link in said:
        if link.kind not in linking.KINDS:
            raise _Refused(Reason.OUT_OF_RANGE, "links", f"kind must be one of {', '.join(linking.KINDS)}")
        if (link.to is None) == (link.name is None):
            told = "each link needs either `to`, a memory, or `name`, what is in none"
            raise _Refused(Reason.MISSING_FIELD, "links", told)
        if link.name is not None:
            if link.kind == linking.REQUIRES:
                raise _Refused(Reason.MISSING_FIELD, "links", "a memory requires memories: send `to`, not `name`")
            found.append(Link(link.kind, name=_name("links", link.name)))
            continue
        # A text that is no UUID is an event id. It is not repeated: a publisher that puts a name in `to` must not leak
        # it to the topics.
        to = _plain("links", link.to or "")
        to = names.uuid(to) or ids.memory_id(namespace, to)
        if own in linking.meant(namespace, to):
            raise _Refused(Reason.BAD_ID, "links", "names the episode itself; name what was said before")
        found.append(Link(link.kind, to))
    once = tuple(dict.fromkeys(found))
    return tuple(Link(link.kind, link.to) for link in once), tuple(link.name for link in once if link.name is not None)


def _labels(record: EpisodeRecorded) -> Labels:
    """Reads the key, path and attributes that it is filed under."""
    path = record.path
    if path is not None:
        path = names.normal(_sound("path", path, labelling.path_fault(path)))
        _sound("path", path, labelling.path_fault(path))
    try:
        attributes = None if record.attributes is None else labelling.parsed(record.attributes)
    except jsontext.JsonRefused as wrong:
        raise _Refused(Reason(wrong.code), "attributes", wrong.detail) from None
    wrong_payload = payloads.fault(facets.EPISODIC if record.type is None else record.type, labelling.read(attributes))
    if wrong_payload is not None:
        raise _Refused(Reason(wrong_payload.code), "attributes", wrong_payload.detail)
    return Labels(_optional("key", record.key, _name), path, attributes)


def _namespace(value: str | None) -> str:
    return ids.DEFAULT_NAMESPACE if value is None else _sound("namespace", value, names.namespace_fault(value))


def _event_id(value: str | None, origin: Origin) -> str:
    if value is None:
        return ids.origin_event_id(None, *(origin.topic, *(origin.first or (origin.partition, origin.offset))))
    return _plain("event_id", value)


def _name(field: str, value: str) -> str:
    """Checks a name and returns it in its composed form, in which it is also looked up."""
    found = names.normal(_plain(field, value))
    return _sound(field, found, names.name_fault(found))


def _plain(field: str, value: str) -> str:
    return _sound(field, value, names.name_fault(value))


def _agent(field: str, value: str) -> str:
    return _sound(field, value, names.composed_fault(value))


def _sound(field: str, value: str, fault: names.Fault | None) -> str:
    if fault is not None:
        raise _Refused(Reason(fault.code), field, fault.detail)
    return value


def _text(field: str, value: str, most: int = CONTENT_BYTES_MAX, *, blank: bool = False) -> str:
    try:
        size = len(value.encode())
    except UnicodeEncodeError:
        raise _Refused(Reason.FORBIDDEN_CHARACTER, field, "half of a surrogate pair, which is no character") from None
    if size > most:
        told = "sum it up" if most < CONTENT_BYTES_MAX else "split it"
        raise _Refused(Reason.TOO_LONG, field, f"{size} bytes of UTF-8; {most} are the most: {told}")
    if "\0" in value:
        raise _Refused(Reason.FORBIDDEN_CHARACTER, field, "NUL (U+0000), which the store's text cannot hold")
    if not blank and not value.strip():
        raise _Refused(Reason.EMPTY_VALUE, field, "blank; it has to say something")
    return value


def _carried(field: str, value: str | bool | None) -> str | bool | None:
    return _name(field, value) if isinstance(value, str) else value


def _share(field: str, value: float) -> int:
    if not 0 <= value <= 1:  # also refuses NaN
        raise _Refused(Reason.OUT_OF_RANGE, field, "must lie in [0, 1]")
    return round(value * PPM)


def _optional(field: str, value: V | None, check: Callable[[str, V], W]) -> W | None:
    return None if value is None else check(field, value)
