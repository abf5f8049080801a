"""Reads a cluster's configurations from the journal's topic, without trusting it.

Every decision that changed one is checked by the previous configuration, so that all follow from the genesis file.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from memquorum import topics
from memquorum.core.avro import Codec, DecodeError
from memquorum.core.consensus.certificate import BadCertificate, check_decision
from memquorum.core.consensus.reliability import WINDOW
from memquorum.core.identity.membership import Genesis
from memquorum.core.records import Decided, JournalAppended, JournalEntry
from memquorum.core.vote.kinds import KINDS
from workers.kafka.partition import standing


def read(bootstrap: str, genesis: Genesis, codec: Codec) -> list[Genesis]:
    """Reads the configuration in force of each shard, whose `of` and `at` lead back to earlier ones.

    Raises KafkaException or TopicUnreadable.
    """
    found = [genesis] * genesis.shards
    if genesis.operator is None:
        return found
    for message in standing(bootstrap, topics.JOURNAL, genesis.shards):
        decided = _decided(codec, message.value() or b"")
        shard = message.partition()
        if decided is None or shard is None or all(KINDS[result.kind].about_memories for result in decided.results):
            continue
        try:
            configures = check_decision(codec, found[shard], decided.pre_prepare, decided.commits).configures
        except BadCertificate:
            continue  # of an earlier configuration, written a second time; or a lie
        found[shard] = configures or found[shard]
    return found


def shown(bootstrap: str, now: Sequence[Genesis], codec: Codec) -> list[tuple[dict[int, frozenset[int]], int]]:
    """Reads for each shard which members' ballots the latest decisions hold, by sequence, each proven; and the last
    sequence. `now`: the result of `read`.

    Raises KafkaException or TopicUnreadable.
    """
    late: list[dict[int, Decided]] = [{} for _ in now]
    for message in standing(bootstrap, topics.JOURNAL, len(now)):
        decided, shard = _decided(codec, message.value() or b""), message.partition()
        if decided is not None and shard is not None:
            late[shard][decided.seq] = decided
            late[shard].pop(decided.seq - WINDOW, None)
    found = []
    for genesis, decisions in zip(now, late, strict=True):
        ballots = {}
        for seq, decided in decisions.items():
            with suppress(BadCertificate):
                checked = check_decision(codec, genesis.at(seq), decided.pre_prepare, decided.commits)
                ballots[checked.body.seq] = frozenset(ballot.member for ballot in checked.ballots)
        found.append((ballots, max(ballots, default=0)))
    return found


def _decided(codec: Codec, data: bytes) -> Decided | None:
    """The decision in a journal record, if there is one."""
    try:
        entry = codec.decode_as(JournalEntry, codec.decode_as(JournalAppended, data).entry)
        return codec.decode_as(Decided, entry.detail) if entry.effect == "decided" else None
    except DecodeError:
        return None
