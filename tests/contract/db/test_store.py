"""The commit worker's use of its store, run on both adapters."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor, wait

import numpy as np
import psycopg
import pytest
from msgspec.structs import replace

from db import keys_to_destroy
from db.keys_to_destroy import Due
from db.standing import Clear, Fenced, ForeignStore
from db.store import PostgresStore
from memquorum import topics
from memquorum.core.avro import Codec
from memquorum.core.journal.rows import DecisionRow, Dropped, RowKeys
from memquorum.core.policy import ForgetPolicy
from memquorum.ports import StoreUnavailable
from tests.builders import genesis, votes
from tests.builders.policies import by_the_paper
from tests.builders.shard import NAMESPACE, Shard, memory_id
from tests.support.stores import World, clear
from tests.support.waiting import PATIENCE_S

GENESIS = genesis.make(policy=by_the_paper(forget=ForgetPolicy(grace_ms=500)))
A, B, C, D = (memory_id(e) for e in "abcd")


@pytest.fixture
def shard(world: World, codec: Codec) -> Shard:
    return world.shard(codec, GENESIS)


def everything(shard: Shard) -> RowKeys:
    rows = shard.rows
    return RowKeys(frozenset(rows.memories), frozenset(rows.events), epochs=frozenset(rows.nominated))


def test_what_is_written_is_what_is_loaded(world: World, shard: Shard) -> None:
    for event in "abc":
        shard.episode(event, namespace=NAMESPACE)
    world.flush(shard)
    shard.access(B, 9_000)
    shard.tick(10_000)
    shard.decide([votes.proposal(A, "forget"), votes.proposal(C, "promote"), votes.proposal(B, "promote")],
                 lambda _, p: p.memory_ids != (B,))  # fmt: skip
    world.flush(shard)
    again = world.reopen()
    with again.store.transaction({shard.rows.state: everything(shard)}) as transaction:
        assert replace(transaction.rows[0], loaded=None) == shard.rows
    standing = again.store.start(GENESIS.cluster, GENESIS.shards)
    assert standing[0].state == shard.rows.state
    assert standing[0].cursors == {topics.ACCEPTED: 5}
    assert standing[0].decided == {1: shard.changes[-1].one(DecisionRow).digest}  # type: ignore[union-attr]
    assert standing[1].cursors == {}


def test_what_was_not_asked_for_is_not_loaded(world: World, shard: Shard) -> None:
    shard.episode("a")
    world.flush(shard)
    with world.store.transaction(
        {shard.rows.state: RowKeys(frozenset({B}), frozenset({(NAMESPACE, "b")}))}
    ) as transaction:
        rows = transaction.rows[0]
    assert (dict(rows.memories), dict(rows.strengths), dict(rows.events)) == ({}, {}, {})


def test_a_second_writer_is_fenced(world: World, shard: Shard) -> None:
    before = shard.rows.state
    shard.episode("a")
    world.flush(shard)
    complaint = "shard 0 stands at sequence 1, and this worker left it at sequence 0"
    with pytest.raises(Fenced, match=complaint), world.reopen().store.transaction({before: RowKeys()}):
        pytest.fail("let in")


def test_cursors_move_forward_only(world: World, shard: Shard) -> None:
    shard.episode("a")
    world.flush(shard)
    net = replace(shard.work.net(), cursors={topics.ACCEPTED: 0})
    with world.store.transaction({shard.rows.state: RowKeys()}) as transaction:
        transaction.write([net], {}, {(0, topics.COMMITS): 9, (0, topics.SCORED): 3})
        transaction.write([net], {}, {(0, topics.SCORED): 2})
    standing = world.store.start(GENESIS.cluster, GENESIS.shards)[0]
    assert standing.cursors == {topics.ACCEPTED: 1, topics.SCORED: 3, topics.COMMITS: 9}


def test_the_journal_is_there_to_be_published_again(world: World, shard: Shard) -> None:
    for event in "abc":
        shard.episode(event)
    world.flush(shard)
    assert world.store.start(GENESIS.cluster, GENESIS.shards)[0].published == 0
    rows = world.store.journal(0, 1, 10)
    assert [(r.seq, r.event_id, r.link) for r in rows] == [
        (c.entry.seq, c.entry.event_id, c.appended) for c in shard.changes[1:]
    ]
    assert [r.seq for r in world.store.journal(0, 0, 2)] == [1, 2]
    world.store.published({0: 3})
    world.store.published({0: 2})
    assert world.store.start(GENESIS.cluster, GENESIS.shards)[0].published == 3


def test_sealed_memories_are_due_when_their_grace_is_over_with_what_repeated_them(world: World, shard: Shard) -> None:
    shard.episode("a")
    shard.episode("b", outcome="reinforced", reinforces=A)
    shard.episode("c")
    shard.tick(10_000)
    shard.decide([votes.proposal(A, "forget")])
    world.flush(shard)
    assert world.store.keys_due(range(4)) == {}
    shard.tick(10_499)
    world.flush(shard)
    assert world.store.keys_due([0]) == {}
    shard.tick(10_500)
    world.flush(shard)
    assert world.store.keys_due([1, 2]) == {}
    assert world.store.keys_due([0, 1]) == {0: Due([B, A])}
    shard.destroy(A, B)
    world.flush(shard)
    assert world.store.keys_due([0]) == {}


def test_many_echoes_are_named_a_bounded_number_at_a_time_and_their_memory_last(
    world: World, shard: Shard, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keys_to_destroy, "MOST", 3)
    for event in "acd":
        shard.episode(event)
    for event in range(7):
        shard.episode(f"a{event}", outcome="reinforced", reinforces=A)
    shard.episode("c0", outcome="reinforced", reinforces=C)
    shard.episode("e", outcome="below_threshold")
    shard.tick(10_000)
    shard.decide([votes.proposal(A, "forget")])
    shard.tick(10_100)
    shard.decide([votes.proposal(C, "forget"), votes.proposal(D, "forget")])
    shard.tick(20_000)
    world.flush(shard)
    echoed: dict[str, int] = {}
    rounds = []
    while found := world.store.keys_due([0], echoed).get(0):
        assert len(found.ids) <= 3
        rounds.append(found.ids)
        echoed |= found.echoed
        shard.destroy(*found.ids)
        world.flush(shard)
    named = [one for ids in rounds for one in ids]
    assert named == [*(memory_id(f"a{n}") for n in range(7)), A, *_by_id(C, D), memory_id("e")]


def _by_id(c: str, d: str) -> list[str]:
    """Sealed together, they go by their ids; the one with an echo after it."""
    return [memory_id("c0"), c, d] if c < d else [d, memory_id("c0"), c]


def test_who_forgets_how_far_it_was_names_a_memorys_echoes_again(
    world: World, shard: Shard, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keys_to_destroy, "MOST", 2)
    shard.episode("a")
    echoes = [memory_id(f"a{n}") for n in range(3)]
    for n in range(3):
        shard.episode(f"a{n}", outcome="reinforced", reinforces=A)
    shard.tick(10_000)
    shard.decide([votes.proposal(A, "forget")])
    shard.tick(20_000)
    world.flush(shard)
    for known in ({}, {}, world.store.keys_due([0])[0].echoed):
        found = world.store.keys_due([0], known)[0]
        shard.destroy(*found.ids)
        world.flush(shard)
    assert (found.ids, world.store.keys_due([0])) == ([echoes[2], A], {})


@pytest.mark.parametrize("batches", [1, 2])
@pytest.mark.parametrize("outcome", ["stored", "below_threshold", "failed"])
def test_what_failed_is_tried_again_in_one_batch_or_another(
    world: World, shard: Shard, outcome: str, batches: int
) -> None:
    shard.episode("b", namespace=NAMESPACE)
    first = shard.episode("a", outcome="failed", derives_from=(B,), namespace=NAMESPACE)
    if batches == 2:
        world.flush(shard)
    shard.episode("a", outcome=outcome, derives_from=(B,), namespace=NAMESPACE)
    world.flush(shard)
    with world.reopen().store.transaction({shard.rows.state: everything(shard)}) as transaction:
        assert transaction.rows[0].events == shard.rows.events
        assert transaction.rows[0].events[NAMESPACE, "a"].outcome == outcome
    (dropped,) = first.of(Dropped)
    shard.tick(dropped.destroy_at)
    world.flush(shard)
    # The key of what came in is not due, and that of what did not is once.
    assert {k: found.ids for k, found in world.store.keys_due([0]).items()} == ({} if outcome == "stored" else {0: [A]})


def test_dropped_episodes_are_due_after_the_same_grace(world: World, shard: Shard) -> None:
    shard.tick(10_000)
    shard.episode("a", at=9_000, outcome="below_threshold")
    shard.episode("b", at=10_100, outcome="stored", readable=False)
    shard.episode("c", outcome="below_threshold", namespace=NAMESPACE)
    world.flush(shard)
    assert world.store.keys_due(range(4)) == {}
    shard.tick(10_500)
    world.flush(shard)
    assert world.store.keys_due([1]) == {}
    assert {k: set(found.ids) for k, found in world.store.keys_due([0, 1]).items()} == {0: {A, C}}
    shard.destroy(A, C)
    world.flush(shard)
    assert world.store.keys_due([0]) == {}
    shard.tick(10_600)
    shard.episode("d", outcome="below_threshold")
    shard.tick(20_000)
    world.flush(shard)
    assert sorted(world.reopen().store.keys_due([0])[0].ids) == sorted([B, memory_id("d")])
    # A memory that a batch drops and destroys never existed.
    shard.destroy(B, memory_id("d"))
    shard.episode("e", outcome="below_threshold")
    shard.tick(30_000)
    shard.destroy(memory_id("e"))
    world.flush(shard)
    assert world.store.keys_due([0]) == {}


def test_content_goes_with_the_memory(databases: tuple[str, str], codec: Codec) -> None:
    store = PostgresStore(databases[0])
    world = World(store, None, None, None, None, None, None, None, None, None, lambda: world)  # type: ignore[arg-type]
    shard = world.shard(codec, GENESIS)
    shard.episode("a")
    several = Clear("text", np.vstack([clear(A).vector] * 3))
    world.flush(shard, {A: several})
    shard.tick(10_000)
    shard.decide([votes.proposal(A, "forget")])
    with psycopg.connect(databases[0]) as connection:
        tables = ("content", "embedding", "sentence", "strength")
        count = "SELECT " + ", ".join(f"(SELECT count(*) FROM {table})" for table in tables)
        assert connection.execute(count).fetchone() == (1, 1, 2, 1)
        world.flush(shard)
        connection.rollback()
        assert connection.execute(count).fetchone() == (0, 0, 0, 0)
        assert connection.execute(
            "SELECT memory_id::text, ballots_for, weight::float, needed::float, tier FROM audit_forgotten"
        ).fetchall() == [(A, 4, 5.0, 3.333334, "sealed")]
        votes_seen = connection.execute("SELECT member, yes, outcome FROM audit_votes ORDER BY member").fetchall()
        assert votes_seen == [(member, True, "forgotten") for member in range(4)]
    store.close()


def test_what_votes_kept_is_told_in_sql(databases: tuple[str, str], codec: Codec) -> None:
    """SQL shows how often in a row, and when it may be proposed again, or that it waits for a use."""
    store = PostgresStore(databases[0])
    world = World(store, None, None, None, None, None, None, None, None, None, lambda: world)  # type: ignore[arg-type]
    shard = world.shard(codec, GENESIS)
    for event in "ab":
        shard.episode(event)
    shard.tick(100_000)
    shard.decide([votes.proposal(B, "forget")], votes.nobody)
    for _ in range(4):
        shard.decide([votes.proposal(A, "promote")], votes.contradicted)
    with psycopg.connect(databases[0], autocommit=True) as connection:
        asked = "SELECT memory_id::text, kind, kept, from_epoch, until_used FROM audit_kept ORDER BY kind"
        world.flush(shard)
        assert connection.execute(asked).fetchall() == [(B, "forget", 1, 3, False), (A, "promote", 4, None, True)]
        shard.access(A, 100_001)
        world.flush(shard)
        assert connection.execute(asked).fetchall()[1] == (A, "promote", 4, 14, False)  # kept by epoch 5, for 8 epochs
    store.close()


def test_a_transaction_that_fails_leaves_nothing(databases: tuple[str, str], codec: Codec) -> None:
    store = PostgresStore(databases[0])
    world = World(store, None, None, None, None, None, None, None, None, None, lambda: world)  # type: ignore[arg-type]
    shard = world.shard(codec, GENESIS)
    shard.episode("a")
    net = shard.work.net()
    with pytest.raises(ZeroDivisionError), store.transaction({net.before: RowKeys()}) as transaction:
        transaction.write([net], {}, {})
        raise ZeroDivisionError
    assert store.start(GENESIS.cluster, GENESIS.shards)[0].state == net.before
    world.flush(shard)
    store.close()


def test_who_begins_while_another_writes_sees_all_of_it_or_nothing(databases: tuple[str, str], codec: Codec) -> None:
    """Cursors of before a transaction beside the stand of after it would have a record applied twice."""
    writer, beginner = PostgresStore(databases[0]), PostgresStore(databases[0])
    world = World(writer, None, None, None, None, None, None, None, None, None, lambda: world)  # type: ignore[arg-type]
    shard = world.shard(codec, GENESIS)
    shard.episode("a")
    with (
        ThreadPoolExecutor(1) as beside,
        psycopg.connect(databases[0]) as locker,
        psycopg.connect(databases[0], autocommit=True) as watcher,
    ):
        # A starting worker has read the cursors by then, and not yet the shards' progress.
        locker.execute("LOCK TABLE erasure IN ACCESS EXCLUSIVE MODE")
        begun = beside.submit(beginner.start, GENESIS.cluster, GENESIS.shards)
        waiting, end = "SELECT count(*) FROM pg_locks WHERE NOT granted", time.monotonic() + PATIENCE_S
        while watcher.execute(waiting).fetchone() == (0,) and time.monotonic() < end:
            wait([begun], timeout=0.01)
        world.flush(shard)
        locker.rollback()
        start = begun.result(PATIENCE_S)[0]
    assert (start.state.seq, start.cursors.get(topics.ACCEPTED)) in [(0, None), (1, 1)]
    assert beginner.start(GENESIS.cluster, GENESIS.shards)[0].cursors[topics.ACCEPTED] == 1
    beginner.close()
    writer.close()


def test_another_clusters_database_is_refused(databases: tuple[str, str], codec: Codec) -> None:
    store = PostgresStore(databases[0])
    store.start(GENESIS.cluster, GENESIS.shards)
    with pytest.raises(ForeignStore, match="another genesis file"):
        store.start(bytes(32), GENESIS.shards)
    with pytest.raises(ForeignStore, match="another genesis file"):
        store.start(GENESIS.cluster, GENESIS.shards - 1)
    store.close()


def test_a_broken_connection_is_told_and_made_again(databases: tuple[str, str]) -> None:
    store = PostgresStore(databases[0])
    standing = store.start(GENESIS.cluster, GENESIS.shards)
    with pytest.raises(StoreUnavailable), store.transaction({standing[0].state: RowKeys()}) as transaction:
        with psycopg.connect(databases[0], autocommit=True) as other:
            other.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE application_name = 'memquorum-writer' AND datname = current_database()"
            )
        transaction.write([], {}, {(0, topics.ACCEPTED): 5})
    assert store.start(GENESIS.cluster, GENESIS.shards) == standing
    store.close()
