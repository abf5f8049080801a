"""The end of keys, a bounded round at a time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import pytest

from db import keys_to_destroy
from memquorum.core.avro import Codec
from memquorum.core.journal.effects import Rules
from memquorum.core.journal.rows import RowKeys
from memquorum.core.policy import ForgetPolicy, Policy
from memquorum.core.records import Destroyed
from memquorum.telemetry.health import Health
from tests.builders import genesis, votes
from tests.builders.shard import NAMESPACE, Shard, memory_id
from tests.inmemory.store import InMemoryStore, InMemoryVault
from workers.commit.commit_shard import CommitShard
from workers.commit.destruction import Destruction, Done
from workers.kafka.own_clock import OwnClock

GENESIS = genesis.make(policy=Policy(forget=ForgetPolicy(grace_ms=500)))
A = memory_id("a")


class Table:
    """Two shards in memory: in the first a memory with echoes whose time is over, in the second dropped episodes."""

    def __init__(self, codec: Codec, own_clock: OwnClock | None = None) -> None:
        self.store, self.vault, self.health = InMemoryStore(), InMemoryVault(), Health()
        self.codec = codec
        self.rounds: list[list[str]] = []
        rules = Rules(codec, GENESIS)
        self.store.start(GENESIS.cluster, GENESIS.shards)
        for number in (0, 1):
            shard = Shard(codec, GENESIS, number)
            if number == 0:
                shard.episode("a")
                for n in range(5):
                    shard.episode(f"a{n}", outcome="reinforced", reinforces=A)
                shard.tick(10_000)
                shard.decide([votes.proposal(A, "forget")])
            for n in range(4):
                shard.episode(f"faint {number} {n}", outcome="below_threshold")
            shard.tick(20_000)
            net = shard.work.net()
            with self.store.transaction({net.before: RowKeys()}) as transaction:
                transaction.write([net], {}, {})
        self.vault.create([(i, NAMESPACE, "planner") for i in self.all])
        starts = self.store.start(GENESIS.cluster, GENESIS.shards)
        self.lines = {shard: CommitShard(rules, start) for shard, start in starts.items()}
        self.destruction = Destruction(rules, cast(Any, self.store), self.destroy, own_clock, self.health)
        self.destruction.look_at(self.lines)

    @property
    def all(self) -> list[str]:
        faint = [memory_id(f"faint {shard} {n}") for shard in (0, 1) for n in range(4)]
        return [*(memory_id(f"a{n}") for n in range(5)), A, *faint]

    def destroy(self, memory_ids: list[str], through: Mapping[int, int]) -> None:
        self.rounds.append(memory_ids)
        self.vault.destroy(memory_ids)
        self.through = dict(through)

    def round(self) -> list[Done]:
        done = self.destruction.round(self.lines)
        for one in done:
            self.lines[one.net.after.shard].state = one.net.after
            assert self.through.pop(one.net.after.shard) == one.change.entry.seq
            named = self.codec.decode_as(Destroyed, one.change.entry.detail).memory_ids
            assert sorted(named) == sorted(one.memory_ids)
        return done


def test_a_backlog_is_worked_off_in_bounded_rounds(codec: Codec, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keys_to_destroy, "MOST", 3)
    table = Table(codec)
    assert table.round() and len(table.rounds) == 1
    while table.round():
        pass
    assert all(len(ids) <= 3 for ids in table.rounds) and len(table.rounds) == 5
    assert [i for ids in table.rounds for i in ids][:6] == table.all[:6]
    assert sorted(i for ids in table.rounds for i in ids) == sorted(table.all)
    assert table.vault.open(table.all) == {}


def test_nothing_is_asked_until_a_shards_time_moves(codec: Codec, monkeypatch: pytest.MonkeyPatch) -> None:
    table = Table(codec)
    while table.round():
        pass
    monkeypatch.setattr(table.store, "keys_due", None)
    assert table.round() == []
    table.destruction.look_at([0])
    with pytest.raises(TypeError):
        table.round()


def test_a_successor_begins_a_memorys_echoes_again_and_ends_them(codec: Codec, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keys_to_destroy, "MOST", 4)
    table = Table(codec)
    table.round()
    rules = Rules(codec, GENESIS)
    table.destruction = Destruction(rules, cast(Any, table.store), table.destroy, None, table.health)
    table.destruction.look_at(table.lines)
    while table.round():
        pass
    assert table.rounds[0] == table.rounds[1] == table.all[:4]
    assert table.vault.open(table.all) == {}


def test_keys_stay_while_a_shards_time_runs_away(codec: Codec) -> None:
    table = Table(codec, OwnClock(tolerance_ms=1_000, now_ms=lambda: 15_000))
    assert table.round() == []
    assert (table.rounds, list(table.health.brakes)) == ([], ["keys of shard 0", "keys of shard 1"])
