"""Deletes the consensus messages that a stable checkpoint covers: they are not needed any more (DESIGN 13).

A shard's messages up to a sequence may be deleted once q members have signed its state at that sequence, and the
journal holds the same decisions up to there with their proofs. Then a late member follows the journal
(`workers.replica`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from memquorum import topics
from memquorum.core.audit.agreed import stable
from memquorum.core.audit.chain import Record
from memquorum.core.avro import Codec
from memquorum.core.consensus import rolling
from memquorum.core.consensus.certificate import BadCertificate, check_decision, looked_back
from memquorum.core.identity.membership import Genesis
from memquorum.core.identity.messages import BadMessage, UnknownConfiguration, open_any
from memquorum.core.records import (
    BallotCast,
    Checkpoint,
    Commit,
    Decided,
    NominationProposed,
    Prepare,
    PrePrepare,
)
from workers.kafka.partition import Partition, delete
from workers.kafka.strangers import Strangers
from workers.replica.catchup import decisions

# Topic → type of its records.
PRUNED: Mapping[str, Any] = {
    topics.NOMINATIONS: NominationProposed,
    topics.BALLOTS: BallotCast,
    topics.PRE_PREPARES: PrePrepare,
    topics.PREPARES: Prepare,
    topics.COMMITS: Commit,
}


class CannotPrune(RuntimeError):
    """Records to delete are not known to be safe elsewhere; the message names the mismatch."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The messages of a shard to delete: everything up to sequence `seq`. `reach`: topic → (its first offset, its first
    offset afterwards)."""

    shard: int
    seq: int
    epoch: int
    reach: dict[str, tuple[int, int]]

    @property
    def records(self) -> int:
        """The number of offsets between them."""
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
    """Plans the deletion in a shard; None without a stable checkpoint that the journal reaches.

    `genesis`: the shard's configuration in force. `cursors`: the offset at which the commit worker begins each topic
    when it starts; nothing from there on is deleted. Raises CannotPrune if the journal's decisions differ from those
    that a quorum has signed.
    """
    said = _known(codec, genesis, shard, bootstrap, strangers)
    if said is None:
        return None
    reach = {}
    for topic in PRUNED:
        with closing(Partition(bootstrap, topic, shard)) as partition:
            low, to = partition.low, needed_from(codec, genesis, topic, said, partition.records(patience_s=0))
            to = partition.end if to is None else to
        # The commit worker reads two of them: without its cursors nothing of those is deleted.
        most = cursors.get(topic, low if topic in (topics.PRE_PREPARES, topics.COMMITS) else to)
        reach[topic] = (low, max(low, min(to, most)))
    return Plan(shard, said.seq, said.epoch, reach)


def carry_out(bootstrap: str, plans: list[Plan]) -> None:
    """Deletes the planned messages. Raises KafkaException."""
    delete(
        bootstrap,
        {(topic, each.shard): to for each in plans for topic, (low, to) in each.reach.items() if to > low},
    )


def _known(codec: Codec, genesis: Genesis, shard: int, bootstrap: str, strangers: Strangers) -> Checkpoint | None:
    """The last stable checkpoint that the journal reaches."""
    with closing(Partition(bootstrap, topics.CHECKPOINTS, shard)) as checkpoints:
        known = stable(codec, genesis, shard, checkpoints.records(patience_s=0))
    if not known:
        return None
    with closing(Partition(bootstrap, topics.JOURNAL, shard, strangers)) as journal:
        return covered(codec, genesis, shard, known, decisions(codec, journal))


def covered(
    codec: Codec, genesis: Genesis, shard: int, known: Mapping[int, Checkpoint], journal: Iterable[Decided]
) -> Checkpoint | None:
    """The last of the stable checkpoints, by their sequences, that the journal's decisions reach and agree with; None
    if they reach none. Raises CannotPrune if a decision is missing or not proven, or if the decisions differ from those
    that a quorum has signed."""
    hashed, seq, last = rolling.beginning(genesis.cluster, shard), 0, None
    for decided in journal:
        if decided.seq <= seq:
            continue  # published a second time
        seq += 1
        if decided.seq != seq:
            raise CannotPrune(f"shard {shard}: the journal lacks the decision of sequence {seq}: see `verify`")
        try:
            # A late member will check the same.
            checked = check_decision(codec, genesis.at(seq), decided.pre_prepare, decided.commits)
        except BadCertificate as error:
            raise CannotPrune(f"shard {shard}: the journal does not prove sequence {seq}: {error}") from None
        hashed = rolling.decided(hashed, checked.digest)
        said = known.get(seq)
        if said is not None and said.decisions != hashed:
            raise CannotPrune(
                f"shard {shard}: up to sequence {seq} the journal holds other decisions than a quorum has signed: "
                "see `verify`"
            )
        last = said or last
    return last


def needed_from(codec: Codec, genesis: Genesis, topic: str, said: Checkpoint, records: Iterable[Record]) -> int | None:
    """Returns the offset of the first authentic message beyond the checkpoint, or of one of a configuration that began
    during the planning; None if no message is."""
    body: Any
    for record in records:
        try:
            if PRUNED[topic] is NominationProposed:
                body = looked_back(codec, genesis, record.data)
            else:
                body, _ = open_any(codec, genesis, record.data, PRUNED[topic])
        except UnknownConfiguration:
            return record.offset
        except (BadMessage, BadCertificate):
            continue
        of_epochs = isinstance(body, NominationProposed | BallotCast)
        beyond = body.epoch > said.epoch if of_epochs else body.seq > said.seq
        if body.shard == said.shard and beyond:
            return record.offset
    return None
