"""Which consensus messages nobody needs any more, and their deletion: what a stable checkpoint covers (DESIGN 13).

A shard's messages up to a sequence may go once q members have signed how the shard stood there, and the journal holds
every decision up to there with its proof, the same ones: then who comes late follows the journal (`workers.catchup`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from confluent_kafka import TopicPartition
from confluent_kafka.admin import AdminClient

from memquorum import topics
from memquorum.core.audit.agreed import stable
from memquorum.core.avro import Codec, DecodeError
from memquorum.core.consensus import rolling
from memquorum.core.consensus.certificate import proposal_digest
from memquorum.core.consensus.membership import Genesis
from memquorum.core.consensus.messages import BadMessage, open_signed
from memquorum.core.records import BallotCast, Checkpoint, Commit, NominationProposed, Prepare, PrePrepare, Signed
from workers.catchup import decisions
from workers.partition import Partition
from workers.strangers import Strangers

# Topic → what stands in it.
PRUNED: Mapping[str, Any] = {
    topics.NOMINATIONS: NominationProposed,
    topics.BALLOTS: BallotCast,
    topics.PRE_PREPARES: PrePrepare,
    topics.PREPARES: Prepare,
    topics.COMMITS: Commit,
}
_PATIENCE_S = 30


class CannotPrune(RuntimeError):
    """What would be deleted is not known to be safe elsewhere; the message says what does not fit."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What of a shard may go: everything up to sequence `seq`. `reach`: topic → (its first offset, where it would begin
    afterwards)."""

    shard: int
    seq: int
    epoch: int
    reach: dict[str, tuple[int, int]]

    @property
    def records(self) -> int:
        """How many offsets that is."""
        return sum(to - low for low, to in self.reach.values())


def plan(
    bootstrap: str,
    codec: Codec,
    genesis: Genesis,
    shard: int,
    *,
    strangers: Strangers,
    cursors: Mapping[str, int],
) -> Plan | None:
    """What of a shard may go; None without a stable checkpoint that the journal reaches.

    `cursors`: from where the commit worker reads each topic when it starts; nothing from there on goes. Raises
    CannotPrune where the journal's decisions are not those that a quorum has signed.
    """
    said = _covered(codec, genesis, shard, bootstrap, strangers)
    if said is None:
        return None
    reach = {}
    for topic in PRUNED:
        partition = Partition(bootstrap, topic, shard)
        try:
            low, to = _needed_from(codec, genesis, partition, topic, said)
        finally:
            partition.close()
        # The commit worker reads two of them: without its word nothing of those goes.
        most = cursors.get(topic, low if topic in (topics.PRE_PREPARES, topics.COMMITS) else to)
        reach[topic] = (low, max(low, min(to, most)))
    return Plan(shard, said.seq, said.epoch, reach)


def carry_out(bootstrap: str, plans: list[Plan]) -> None:
    """Deletes it. Raises KafkaException."""
    admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 3})
    wanted = [
        TopicPartition(topic, each.shard, to) for each in plans for topic, (low, to) in each.reach.items() if to > low
    ]
    for answer in admin.delete_records(wanted, request_timeout=_PATIENCE_S).values() if wanted else ():
        answer.result()


def _covered(codec: Codec, genesis: Genesis, shard: int, bootstrap: str, strangers: Strangers) -> Checkpoint | None:
    """The last stable checkpoint that the journal reaches, its decisions the same as the journal's."""
    checkpoints = Partition(bootstrap, topics.CHECKPOINTS, shard)
    try:
        known = stable(codec, genesis, shard, checkpoints.records(patience_s=0))
    finally:
        checkpoints.close()
    if not known:
        return None
    journal, last = Partition(bootstrap, topics.JOURNAL, shard, strangers), None
    hashed, seq = rolling.beginning(genesis.cluster, shard), 0
    try:
        for decided in decisions(codec, journal):
            if decided.seq <= seq:
                continue  # published a second time
            seq += 1
            body = _proposed(codec, decided.pre_prepare)
            if decided.seq != seq or body is None:
                raise CannotPrune(f"shard {shard}: the journal lacks the decision of sequence {seq}: see `verify`")
            hashed = rolling.decided(hashed, proposal_digest(body))
            said = known.get(seq)
            if said is not None and said.decisions != hashed:
                raise CannotPrune(
                    f"shard {shard}: up to sequence {seq} the journal holds other decisions than a quorum has signed: "
                    "see `verify`"
                )
            last = said or last
    finally:
        journal.close()
    return last


def _proposed(codec: Codec, pre_prepare: bytes) -> PrePrepare | None:
    try:
        return codec.decode_as(PrePrepare, codec.decode_as(Signed, pre_prepare).body)
    except DecodeError:
        return None


def _needed_from(codec: Codec, genesis: Genesis, partition: Partition, topic: str, said: Checkpoint) -> tuple[int, int]:
    """The first offset of a partition, and that of the first authentic message beyond the checkpoint."""
    low, kind = partition.low, PRUNED[topic]
    body: Any
    for record in partition.records(patience_s=0):
        try:
            _, body = open_signed(codec, genesis, record.data, kind)
        except BadMessage:
            continue
        of_epochs = isinstance(body, NominationProposed | BallotCast)
        beyond = body.epoch > said.epoch if of_epochs else body.seq > said.seq
        if body.shard == said.shard and beyond:
            return low, record.offset
    return low, partition.end
