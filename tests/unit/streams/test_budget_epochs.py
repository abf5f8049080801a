"""Epoch after epoch by the shipped policy: how soon a budget is held, and what rests meanwhile.

The nomination stage, the commit worker's rules and a store in memory are the real ones; how members vote is said here.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator

import numpy as np
import pytest

from db.standing import Clear
from memquorum.core.avro import Codec
from memquorum.core.decay import crossings, span_ms, unused_since
from memquorum.core.journal.rows import RowKeys, Rows
from memquorum.core.journal.workset import Workset
from memquorum.core.policy import BudgetPolicy, Policy
from memquorum.core.records import DecayCrossed, NominationProposed, Proposal, Restored
from memquorum.core.vote.nomination import BUDGET
from streams.nomination_stage import Nomination
from streams.stage import Arrival
from tests.builders import genesis as cluster
from tests.builders import protections, votes
from tests.builders.shard import NAMESPACE, Shard, memory_id
from tests.inmemory.store import InMemorySchedule, InMemoryStore, InMemoryStoredOrders

MINUTE = 60_000
NOTES, TOKENS = 60, 10


class Epochs:
    """A namespace of notes that nobody used for long, of ten tokens each, and a tick every minute."""

    def __init__(self, codec: Codec, tokens: int) -> None:
        self.policy = Policy(budget=BudgetPolicy(tokens=f"{NAMESPACE}={tokens}/fifo"))
        self.genesis = cluster.make(policy=self.policy)
        self.codec, self.tokens, self.store = codec, tokens, InMemoryStore()
        self.store.start(self.genesis.cluster, self.genesis.shards)
        self.schedule = InMemorySchedule(self.store)
        self.stage = Nomination(
            codec, self.genesis, cluster.seed_of("service:nomination"), self.schedule, InMemoryStoredOrders(self.store)
        )
        self.shard, self.now = Shard(codec, self.genesis), 1_000 + 2 * span_ms(self.policy)
        for at in range(NOTES):
            self.shard.episode(f"note-{at:02}", 1_000 + at)
        self.flush()

    def flush(self) -> None:
        net, rows = self.shard.work.net(), self.shard.rows
        texts = {i: Clear("x" * 4 * TOKENS, np.ones(2, np.float32)) for i in net.revealed}
        with self.store.transaction({net.before: RowKeys()}) as transaction:
            transaction.write([net], texts, {})
        self.shard.work = Workset(Rows(rows.state, dict(rows.memories), dict(rows.strengths), dict(rows.events)))

    def held(self) -> int:
        return self.schedule.held(0, [NAMESPACE]).get(NAMESPACE, 0)

    def next(self) -> NominationProposed | None:
        """Returns the nomination of a minute later; members forget what is over the budget, and keep what
        has decayed.
        """
        self.now += MINUTE
        self.shard.tick(self.now)
        self.flush()
        state, limit = self.shard.rows.state, self.policy.epoch.proposals_max
        due = self.schedule.due(0, unused_since(self.now, self.policy), limit)
        crossed = crossings(due, self.now, self.policy)
        tick = DecayCrossed(0, self.now, self.shard.offset, state.seq, crossed, state.standing)
        made = self.stage.would(Arrival(0, self.shard.offset, self.codec.encode(tick), traceparent=None))
        if made is not None:
            resting = {i for i, s in self.shard.rows.strengths.items() for kind in s.rest if s.rest[kind] > made.epoch
                       for one in made.proposals if (one.kind, one.memory_ids) == (kind, (i,))}  # fmt: skip
            assert resting == set(), "what a vote kept rests"
            self.shard.decide(made.proposals, _vote, trigger=made.trigger)
            self.flush()
        return made

    def restore(self, memory: str) -> None:
        """Somebody asks for it back, and members agree."""
        order = votes.restore(self.genesis, memory)
        self.shard.ask(order, self.now)
        told = next(one for one in self.shard.scored if one.memory_id == memory)
        self.shard.restore(order, Restored(memory, told.salience_ppm, 0, 0, told.accepted_offset, told.accepted_offset))
        self.flush()


def _vote(_: int, proposal: Proposal) -> bool:
    return proposal.kind == "evict"


@pytest.fixture(params=[500, 450])
def epochs(request: pytest.FixtureRequest, codec: Codec) -> Iterator[Epochs]:
    yield Epochs(codec, request.param)


def test_a_budget_is_held_as_fast_as_the_shipped_caps_allow_whatever_has_decayed_beside_it(epochs: Epochs) -> None:
    took, gone = 0, list[str]()
    while epochs.held() > epochs.tokens:
        living, made = len(epochs.shard.rows.strengths), epochs.next()
        assert made is not None
        named = [one.memory_ids[0] for one in made.proposals if one.reason == BUDGET]
        excess = (living * TOKENS - epochs.tokens) // TOKENS
        # A tenth of what lives in an epoch, a quarter in a day.
        assert len(named) == min(excess, living // 10, NOTES // 4 - len(gone)), "nominations cover it in this epoch"
        gone += named
        took += 1
    assert gone == [memory_id(f"note-{at:02}") for at in range((NOTES * TOKENS - epochs.tokens) // TOKENS)]
    assert took == (2 if epochs.tokens == 500 else 3)
    made = epochs.next()
    assert made is None or all(one.reason != BUDGET for one in made.proposals)


def test_what_is_restored_rests_and_the_next_in_order_goes_in_its_place(
    codec: Codec, caplog: pytest.LogCaptureFixture
) -> None:
    epochs, first = Epochs(codec, 540), memory_id("note-00")
    epochs.next()
    assert epochs.held() == 540 and first not in epochs.shard.rows.strengths
    epochs.restore(first)
    assert epochs.held() == 550
    made = epochs.next()
    assert made is not None
    assert [one.memory_ids for one in made.proposals if one.reason == BUDGET] == [(memory_id("note-06"),)]
    assert epochs.held() == 540 and first in epochs.shard.rows.strengths
    (told,) = [one for one in epochs.schedule.weighted(0, NAMESPACE) if one.candidate.memory_id == first]
    assert told.rests

    small = Epochs(codec, 590)
    small.next()
    small.restore(first)
    for at in range(1, NOTES):
        pin = protections.accepted(codec, "pin", memory_id(f"note-{at:02}"), at, cluster=small.genesis.cluster)
        small.shard.protect(pin)
    small.flush()
    with caplog.at_level(logging.WARNING, "streams.budget_choice"):
        small.next()
    (line,) = [one.message for one in caplog.records if "budget" in one.message]
    assert "stays 10 tokens beyond its budget of 590; all that it holds may not go now: 590 pinned, 10 resting" in line
