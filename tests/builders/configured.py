"""Orders of another configuration, and their decisions: in a shard, in the store, and in their topic."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from msgspec.structs import replace

from memquorum import topics
from memquorum.core.avro import Codec
from memquorum.core.commit import applying
from memquorum.core.consensus.certificate import check_decision
from memquorum.core.identity.membership import Genesis
from memquorum.core.journal.rows import Change
from memquorum.core.records import ConfigurationOrdered
from memquorum.ports import OrderVote
from tests.builders.shard import Shard
from tests.builders.votes import configuring, order, ordered


def carried_out(shard: Shard, action: str, vote: Any = None, **changes: Any) -> Change:
    """Decides an order in the shard's present configuration; returns what the shard applies."""
    codec, genesis, state = shard.rules.codec, shard.rules.genesis, shard.rows.state
    made = configuring(
        codec, genesis, order(genesis, action, **changes), vote, epoch=state.last_epoch + 1, seq=state.decided_seq + 1,
        as_of=state.as_of, accepted_offset=shard.offset,
    )  # fmt: skip
    checked = check_decision(codec, genesis, *made)
    place = applying.RecordPosition(topics.PRE_PREPARES, 0, state.decided_seq)
    change = shard._absorb(applying.apply_decision(shard.rules, shard.rows, place, checked, made[1]))
    shard.rules = replace(shard.rules, genesis=change.configures or genesis)
    return change


@dataclass
class Topic:
    """The Orders port over a list."""

    records: list[bytes] = field(default_factory=list)

    def of(self, shard: int) -> list[bytes]:
        return self.records


def vote(codec: Codec, genesis: Genesis, wanted: ConfigurationOrdered, epoch: int, *, done: bool) -> OrderVote:
    pre_prepare, commits = configuring(codec, genesis, wanted, epoch=epoch)
    return OrderVote(ordered(codec, wanted).memory_ids[0], epoch, done, pre_prepare, tuple(commits))
