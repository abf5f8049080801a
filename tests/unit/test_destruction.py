"""The end of keys, a bounded round at a time."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import pytest

from db import due
from db.inmemory import InMemoryStore, InMemoryVault
from memquorum.core.avro import Codec
from memquorum.core.journal import links
from memquorum.core.journal.effects import Rules
from memquorum.core.journal.rows import Keys, ShardState
from memquorum.core.policy import ForgetPolicy, Policy
from memquorum.core.records import Destroyed
from memquorum.telemetry.health import Health
from tests.unit import genesis, votes
from tests.unit.shard import NAMESPACE, Shard, memory_id
from workers import destruction
from workers.destruction import Destruction, Done
from workers.line import Line
from workers.ownclock import OwnClock

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
            with self.store.transaction({net.before: Keys()}) as transaction:
                transaction.write([net], {}, {})
        self.vault.create([(i, NAMESPACE, "planner") for i in self.all])
        starts = self.store.start(GENESIS.cluster, GENESIS.shards)
        self.lines = {shard: Line(rules, start) for shard, start in starts.items()}
        self.destruction = Destruction(rules, cast(Any, self.store), self.destroy, own_clock, self.health)
        self.destruction.look_at(self.lines)

    @property
    def all(self) -> list[str]:
        faint = [memory_id(f"faint {shard} {n}") for shard in (0, 1) for n in range(4)]
        return [*(memory_id(f"a{n}") for n in range(5)), A, *faint]

    def destroy(self, memory_ids: list[str]) -> None:
        self.rounds.append(memory_ids)
        self.vault.destroy(memory_ids)

    def round(self) -> list[Done]:
        done = self.destruction.round(self.lines)
        for one in done:
            self.lines[one.net.after.shard].state = one.net.after
            named = self.codec.decode_as(Destroyed, one.change.entry.detail).memory_ids
            assert sorted(named) == sorted(one.memory_ids)
        return done


def test_a_backlog_is_worked_off_in_bounded_rounds(codec: Codec, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(due, "MOST", 3)
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
    monkeypatch.setattr(due, "MOST", 4)
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


class _Journal:
    """The part of the store that tells of destroyed keys: by sequence, whose."""

    def __init__(self, entries: dict[int, list[str]]) -> None:
        self.entries, self.asked = entries, 0

    def destroyed(self, _codec: object, _shard: int, after: int, limit: int) -> list[tuple[int, list[str]]]:
        self.asked += 1
        return [(seq, ids) for seq, ids in sorted(self.entries.items()) if seq > after][:limit]


def test_a_vault_that_is_put_back_is_followed_from_its_own_note(codec: Codec, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(destruction, "_AGAIN", 2)
    vault = InMemoryVault()
    names = [memory_id(name) for name in "abcdef"]
    vault.create([(name, NAMESPACE, "ada") for name in names])
    journal = _Journal({3: names[:1], 5: names[1:4], 9: [], 12: names[4:5]})
    state = replace(links.beginning(b"c" * 32, 1), seq=20)

    def again(at: ShardState) -> int:
        return destruction.again(codec, journal, vault, lambda ask, ids: ask(ids), [at])  # type: ignore[arg-type]

    vault.follow(1, 4)
    assert again(state) == 4
    assert set(vault.open(names)) == {names[0], names[5]} and vault.followed(1) == 20
    asked = journal.asked
    assert again(state) == 0 and journal.asked == asked
    # Another journal, or an older one: from its beginning.
    assert again(replace(state, seq=15)) == 1
    assert set(vault.open(names)) == {names[5]} and vault.followed(1) == 15
