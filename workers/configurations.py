"""Which configurations a cluster's shards have had: read from the journal's topic, and from nobody's word.

Every decision that changed one is checked by the configuration before it, so the genesis file alone vouches for all.
"""

from __future__ import annotations

from memquorum import topics
from memquorum.core.avro import Codec, DecodeError
from memquorum.core.consensus.certificate import BadCertificate, check_decision
from memquorum.core.consensus.membership import Genesis
from memquorum.core.records import Decided, JournalAppended, JournalEntry
from workers.partition import standing

_KIND = "configure"


def read(bootstrap: str, genesis: Genesis, codec: Codec) -> list[Genesis]:
    """By shard, the configuration in force, from which `of` and `at` lead back to those before it.

    Raises KafkaException or TopicUnreadable.
    """
    found = [genesis] * genesis.shards
    if genesis.operator is None:
        return found
    for message in standing(bootstrap, topics.JOURNAL, genesis.shards):
        decided = _decided(codec, message.value() or b"")
        shard = message.partition()
        if decided is None or shard is None:
            continue
        try:
            configures = check_decision(codec, found[shard], decided.pre_prepare, decided.commits).configures
        except BadCertificate:
            continue  # of an earlier configuration, written a second time; or a lie
        found[shard] = configures or found[shard]
    return found


def _decided(codec: Codec, data: bytes) -> Decided | None:
    """The decision that a record of the journal tells of, if it is one about the members."""
    try:
        entry = codec.decode_as(JournalEntry, codec.decode_as(JournalAppended, data).entry)
        detail = codec.decode_as(Decided, entry.detail) if entry.effect == "decided" else None
    except DecodeError:
        return None
    return detail if detail is not None and any(r.kind == _KIND for r in detail.results) else None
