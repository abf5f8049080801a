"""Reads dead letters, opens them to be read, and publishes them again to their topics.

A record published without an event id keeps, when it is published again, the id that follows from its first place
(header `first_at`), so a letter may be replayed any number of times and counts once.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from confluent_kafka import KafkaError, KafkaException, Message

from memquorum import topics
from memquorum.core import intake, sealing
from memquorum.core.avro import Codec, DecodeError
from memquorum.core.identity import signatures
from memquorum.core.identity.membership import Genesis
from memquorum.core.identity.stamps import Reader
from memquorum.core.intake import EpisodeIntent, Intent, Origin, Refusal
from memquorum.core.letters import open_payload
from memquorum.core.records import IntakeRefused
from memquorum.ports import Vault
from workers.intake.arrivals import FIRST_AT, first_at
from workers.intake.registry import Registry
from workers.kafka import loop
from workers.kafka.loop import TopicUnreadable
from workers.kafka.partition import standing
from workers.kafka.strangers import Strangers

_LOG = logging.getLogger("memquorum.deadletters")
_SOURCE = "memquorum/dead-letters"
_FLUSH_S = 30.0
# The number of keys requested from the vault at a time.
_OPEN_MOST = 500


@dataclass(frozen=True, slots=True)
class Letter:
    """A refused record, and the place of its letter. `traceparent`: its trace. `first`: partition and offset of its
    first refusal, if it was published again from another letter."""

    partition: int
    offset: int
    record: IntakeRefused
    traceparent: str | None
    first: tuple[int, int] | None = None

    @property
    def name(self) -> str:
        """The name that users give: its place among the dead letters."""
        return f"{self.partition}/{self.offset}"

    @property
    def origin(self) -> tuple[str, int, int]:
        """The place where the record was published: topic, partition, offset."""
        return self.record.origin_topic, self.record.origin_partition, self.record.origin_offset

    @property
    def size(self) -> int | None:
        """The record's size in bytes; None if the payload was not kept."""
        sealed = len(self.record.sealed_payload)
        return sealed - sealing.OVERHEAD_BYTES if sealed else None


@dataclass(frozen=True, slots=True)
class Wanted:
    """A filter of letters; an empty field does not filter. `since` and `until`: the time of refusal, in
    milliseconds."""

    names: frozenset[str] = frozenset()
    reasons: frozenset[str] = frozenset()
    fields: frozenset[str] = frozenset()
    topics: frozenset[str] = frozenset()
    since: int = 0
    until: int = 2**62

    def __contains__(self, letter: Letter) -> bool:
        record = letter.record
        return (
            (not self.names or letter.name in self.names)
            and (not self.reasons or record.reason in self.reasons)
            and (not self.fields or record.field in self.fields)
            and (not self.topics or record.origin_topic in self.topics)
            and self.since <= record.refused_at < self.until
        )


def read(bootstrap: str, shards: int, codec: Codec, stamps: Reader | None, wanted: Wanted) -> list[Letter]:
    """Returns the matching letters now in the topic, by the time of their refusal; one that a crash wrote twice is
    returned once.

    Strangers' records are left out. Raises KafkaException or TopicUnreadable.
    """
    found: dict[str, Letter] = {}
    strangers = Strangers(_LOG, stamps)
    for message in standing(bootstrap, topics.REFUSED, shards):
        if strangers.wrote(message):
            continue
        try:
            record = codec.decode_as(IntakeRefused, message.value() or b"")
        except DecodeError as error:
            strangers.note(*loop.place(message), loop.offset(message), str(error))
            continue
        first = first_at(message, record.origin_topic)
        letter = Letter(loop.place(message)[1], loop.offset(message), record, loop.traceparent(message), first)
        if letter in wanted:
            found.setdefault(record.key_id, letter)
    return sorted(found.values(), key=lambda letter: letter.record.refused_at)


def payloads(vault: Vault, letters: Sequence[Letter]) -> dict[str, bytes]:
    """Returns the refused bytes by letter's name, of letters whose payload was kept and can be opened. Raises
    VaultUnavailable."""
    found: dict[str, bytes] = {}
    for start in range(0, len(letters), _OPEN_MOST):
        batch = [letter for letter in letters[start : start + _OPEN_MOST] if letter.record.sealed_payload]
        keys = vault.open([letter.record.key_id for letter in batch])
        for letter in batch:
            key = keys.get(letter.record.key_id)
            try:
                if key is not None:
                    opened = open_payload(letter.record.key_id, key, letter.record.sealed_payload)
                    found[letter.name] = opened
            except sealing.SealError as error:
                _LOG.error("letter %s cannot be opened: %s", letter.name, error)
    return found


def judge(
    codec: Codec, genesis: Genesis, letter: Letter, payload: bytes, *, now_ms: int, driven: bool,
    registry: Registry | None = None,
) -> Intent | Refusal:  # fmt: skip
    """Judges a letter as intake would now. Times as for `core.intake.accept`; `registry` as for
    `workers.intake.worker`."""
    origin = Origin(*letter.origin, letter.record.refused_at, letter.first)
    return intake.accept(
        codec, payload, origin, now_ms, driven, genesis=genesis, signature=letter.record.signature,
        written=registry.written(payload) if registry else None,
    )  # fmt: skip


def parted(
    letters: Sequence[Letter], judged: Mapping[str, Intent | Refusal], inside: Mapping[str, str], full: Collection[str]
) -> tuple[list[Letter], Counter[str], Counter[str]]:
    """Returns the letters to publish again, one of each episode; the counts, by reason, of other letters whose records
    are not stored; and the counts, by reason, of letters that need not be published.

    `judged`: intake's present judgement, by letter's name, of each that can be opened. `inside`: the outcomes of
    records that were let in before. `full`: the namespaces without room for a memory.
    """
    sound, left, needless = dict[tuple[str, str, str], Letter](), Counter[str](), Counter[str]()
    for letter in letters:
        answer = judged.get(letter.name)
        if answer is None:
            left["its bytes were not kept"] += 1
        elif isinstance(answer, Refusal):
            left[f"still refused: {answer.reason}" + (f" ({answer.field})" if answer.field else "")] += 1
        elif letter.name in inside:
            needless[f"came in before: {inside[letter.name]}"] += 1
        elif isinstance(answer, EpisodeIntent) and answer.namespace in full:
            left[f"no room in {answer.namespace}"] += 1
        else:
            which = (type(answer).__name__, getattr(answer, "namespace", ""), answer.event_id)
            needless["another letter of the same episode is enough"] += which in sound
            sound.setdefault(which, letter)
    return list(sound.values()), left, +needless


def replay(
    bootstrap: str, letters: Iterable[Letter], opened: Mapping[str, bytes], told: Callable[[Letter], None]
) -> int:
    """Publishes the letters again, each to the topic that it came from, and waits until Kafka has all of them.

    A record without a time of its own gets the time of its refusal. `told` is called for each that Kafka has; returns
    their number. Raises KafkaException if a record is rejected.
    """
    producer = loop.producer(bootstrap)
    done, failed = 0, list[KafkaError]()

    def answered(letter: Letter) -> Callable[[KafkaError | None, Message], None]:
        def answer(error: KafkaError | None, _: Message) -> None:
            nonlocal done
            if error is not None:
                failed.append(error)
                return
            done += 1
            told(letter)

        return answer

    for letter in letters:
        producer.produce(
            letter.record.origin_topic,
            opened[letter.name],
            headers=_headers(letter),
            timestamp=letter.record.refused_at,
            on_delivery=answered(letter),
        )
        producer.poll(0)
    if producer.flush(_FLUSH_S):
        raise TopicUnreadable(f"Kafka has not confirmed everything in {_FLUSH_S:.0f} s; a second replay does no harm")
    if failed:
        raise KafkaException(failed[0])
    return done


def _headers(letter: Letter) -> loop.Headers:
    topic, *place = letter.origin
    first = "/".join(map(str, (topic, *(letter.first or place))))
    found = loop.headers("Replayed", _SOURCE, letter.record.key_id, letter.traceparent)
    # Intake determines the kind of the record itself.
    found = [(name, value) for name, value in found if name not in ("ce_type", "content-type")]
    found.append((FIRST_AT, first.encode()))
    if letter.record.signature is not None:
        found.append((signatures.HEADER, letter.record.signature))
    return found
