"""A rehearsal looks at what it drew until its time is up, and keeps the share of old memories."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from memquorum.core.avro import Codec
from memquorum.core.journal.rows import RowKeys
from memquorum.core.policy import CapsPolicy, Policy, RehearsePolicy
from memquorum.core.rehearsal import Verdict
from memquorum.core.tiers import LONG_TERM
from tests.builders import genesis, rehearsals, votes
from tests.builders.shard import Shard, memory_id
from tests.inmemory.rehearsals import InMemoryRehearsals
from tests.inmemory.store import InMemoryStore
from workers.rehearsal.rehearsal_turn import Rehearsed, rehearse
from workers.rehearsal.worker import report

NOW = 100_000_000
GENESIS = genesis.make(**rehearsals.entitled())


def stored(codec: Codec, made: Shard) -> InMemoryStore:
    store = InMemoryStore()
    store.start(made.rules.genesis.cluster, made.rules.genesis.shards)
    net = made.work.net()
    with store.transaction({net.before: RowKeys()}) as transaction:
        transaction.write([net], {}, {})
    return store


@pytest.fixture
def shard(codec: Codec) -> Shard:
    """60 short-term memories, of which every third was used, and 20 long-term ones."""
    made = Shard(codec, GENESIS)
    for at in range(80):
        made.episode(f"m{at}", NOW - 90_000, salience=500_000)
    for at in range(0, 60, 3):
        made.access(memory_id(f"m{at}"), NOW - 80_000)
    made.tick(NOW)
    made.decide([votes.proposal(memory_id(f"m{at}"), "promote") for at in range(60, 80)])
    return made


def made(store: InMemoryStore, codec: Codec, *times: float, **changes: object) -> Rehearsed:
    """`times`: what the clock says; the last one from then on."""
    left: Iterator[float] = iter(times or (0.0,))
    told = [0.0]

    def clock() -> float:
        told[0] = next(left, told[0])
        return told[0]

    return rehearse(InMemoryRehearsals(store), codec, GENESIS, budget_ms=500, clock=clock, **changes)  # type: ignore[arg-type]


def old(found: Rehearsed) -> int:
    return sum(one.seen.tier == LONG_TERM for one in found.found)


def test_fifty_and_twenty_are_looked_at(shard: Shard, codec: Codec) -> None:
    found = made(stored(codec, shard), codec)
    assert (found.drawn, len(found.found), old(found)) == (70, 70, 20)
    assert {one.conclusion.verdict for one in found.found} == {Verdict.HELD, Verdict.UNUSED}
    assert {(one.shard, one.as_of) for one in found.found} == {(0, NOW)}
    held = sum(one.conclusion.verdict is Verdict.HELD for one in found.found)
    assert report(found, held) == (
        f"70 memories in 0 ms, 20 of them long-term: {held} held, {70 - held} unused; {held} recorded"
    )


def test_what_is_cut_short_has_kept_the_share(shard: Shard, codec: Codec) -> None:
    # The third question is not asked any more.
    found = made(stored(codec, shard), codec, 0.0, 0.1, 0.2, 0.5)
    assert (len(found.found), old(found)) == (14, 4)
    assert report(found, 0).endswith("56 left for want of time")


def test_how_many_is_a_setting(shard: Shard, codec: Codec) -> None:
    found = made(stored(codec, shard), codec, recent=10, old=4)
    assert (len(found.found), old(found)) == (14, 4)


def test_nothing_is_looked_at_where_the_policy_says_so_or_no_time_has_come(shard: Shard, codec: Codec) -> None:
    off = genesis.make(policy=Policy(rehearse=RehearsePolicy(every_ms=0), caps=CapsPolicy()), **rehearsals.entitled())
    found = rehearse(InMemoryRehearsals(stored(codec, shard)), codec, off, budget_ms=500)
    assert found.found == ()
    timeless = Shard(codec, GENESIS)
    timeless.episode("m", 5)
    assert made(stored(codec, timeless), codec).found == ()
