"""Finds destroyed keys in the journals' topic, for processes that open keys and are not the commit worker."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from confluent_kafka import KafkaException, TopicPartition

from memquorum import topics
from memquorum.core.avro import Codec, DecodeError
from memquorum.core.identity.stamps import Reader
from memquorum.core.journal.effects import destroyed
from memquorum.core.records import JournalAppended, JournalEntry
from memquorum.ports import VaultUnavailable
from workers.kafka import loop
from workers.kafka.published import between
from workers.kafka.strangers import Strangers

_LOG = logging.getLogger("memquorum.vault")
_ANSWER_S = 5.0
_TELLING = frozenset(("destroyed", "erased", "dropped"))


@dataclass(frozen=True, slots=True)
class Journals:
    """The journals of a cluster. `stamps` identifies strangers' records, which are ignored; None: every record is
    accepted."""

    bootstrap: str
    shards: int
    codec: Codec
    stamps: Reader | None = None

    def __call__(self, followed: Mapping[int, int]) -> dict[int, int]:
        """Returns for each shard the last entry after a sequence that names destroyed keys. Raises VaultUnavailable."""
        try:
            return {shard: seq for shard, seq, _ in self.destroyed(followed)}
        except KafkaException as error:
            raise VaultUnavailable(
                f"the journal cannot be read, which the vault must follow before it gives keys: {error}"
            ) from error

    def destroyed(self, followed: Mapping[int, int]) -> Iterator[tuple[int, int, list[str]]]:
        """Yields shard, sequence and memories of the entries after a sequence of each shard that name destroyed keys.

        Raises KafkaException, and VaultUnavailable if the topic does not deliver its records."""
        strangers = Strangers(_LOG, self.stamps)
        consumer = loop.reader(self.bootstrap)
        try:
            spans = {}
            for shard in range(self.shards):
                low, end = consumer.get_watermark_offsets(TopicPartition(topics.JOURNAL, shard), timeout=_ANSWER_S)
                # Every entry is in the topic, in order and some twice: none at an offset before its sequence less one.
                start = max(low, min(followed.get(shard, 0), end))
                if start < end:
                    spans[shard] = (start, end)
            for message in between(consumer, spans, _still()) if spans else ():
                if strangers.wrote(message):
                    continue
                shard = loop.place(message)[1]
                seq, ids = self._told(message.value() or b"")
                if seq > followed.get(shard, 0):
                    yield shard, seq, ids
        finally:
            consumer.close()

    def _told(self, data: bytes) -> tuple[int, list[str]]:
        try:
            entry = self.codec.decode_as(JournalEntry, self.codec.decode_as(JournalAppended, data).entry)
            ids = destroyed(self.codec, entry) if entry.effect in _TELLING else []
            # An erasure that found no memory may have taken queries.
            return (entry.seq, ids) if ids or entry.effect == "erased" else (0, [])
        except DecodeError:
            return 0, []


def _still() -> Callable[[str | None], None]:
    """Returns a callback that raises VaultUnavailable once it has reported silence for long enough."""
    heard = time.monotonic()

    def still(waits: str | None) -> None:
        nonlocal heard
        if waits is None:
            heard = time.monotonic()
        elif time.monotonic() - heard > _ANSWER_S:
            raise VaultUnavailable(
                f"the journal cannot be read, which the vault must follow before it gives keys: {waits}"
            )

    return still
