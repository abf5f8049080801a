"""Reads memories and their use from the journals, as examples for learning."""

from __future__ import annotations

import logging

from memquorum import topics
from memquorum.core.avro import Codec, DecodeError
from memquorum.core.identity.stamps import Reader
from memquorum.core.learning import Example, Gathered
from memquorum.core.records import JournalAppended, JournalEntry
from workers.kafka import loop
from workers.kafka.partition import standing
from workers.kafka.strangers import Strangers

_LOG = logging.getLogger("memquorum.learning")
_TELLING = frozenset(("stored", "reinforced", "accessed", "asked"))


def examples(
    bootstrap: str, shards: int, codec: Codec, stamps: Reader | None, *, within_ms: int, namespace: str | None = None
) -> list[Example]:
    """The stored memories of all shards, or of a namespace, with whether they were used. Strangers' records are left
    out. Raises KafkaException or TopicUnreadable."""
    strangers, found = Strangers(_LOG, stamps), [Gathered(within_ms) for _ in range(shards)]
    for message in standing(bootstrap, topics.JOURNAL, shards):
        if strangers.wrote(message):
            continue
        shard = loop.place(message)[1]
        try:
            entry = codec.decode_as(JournalEntry, codec.decode_as(JournalAppended, message.value() or b"").entry)
            wanted = entry.effect in _TELLING and namespace in (None, entry.namespace)
            detail = codec.decode(entry.detail) if wanted else None
        except DecodeError as error:
            strangers.note(*loop.place(message), loop.offset(message), str(error))
            continue
        found[shard].take(entry.effect, entry.memory_id, entry.as_of, detail)
    return [one for shard in found for one in shard.examples()]
