"""The commit worker on a real broker and a real Postgres: records in, rows, journal and offsets out."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest

from db import keys_to_destroy
from db.vault import PostgresVault
from memquorum import topics
from memquorum.core.avro import Codec
from memquorum.core.commit import spine
from memquorum.core.commit.assembly import DigestConflict
from memquorum.core.identity.messages import open_signed
from memquorum.core.ids import memory_id
from memquorum.core.records import ClockTicked, Decided, Destroyed, JournalHead, Stored
from tests.builders import votes
from tests.support.commit_process import GENESIS, MASTER
from tests.support.flow import Flow, journal_of, read_topic
from tests.support.waiting import PATIENCE_S, until
from tests.support.watch import Worker, await_seq, check_journal, rows, store
from workers.commit import worker as commit
from workers.kafka.own_clock import OwnClock
from workers.kafka.partition import standing


@pytest.fixture
def flow(fresh_kafka: str, codec: Codec, databases: tuple[str, str]) -> Flow:
    return Flow(fresh_kafka, codec, GENESIS, PostgresVault(databases[1], MASTER))


@pytest.fixture
def worker(flow: Flow, databases: tuple[str, str]) -> Iterator[Worker]:
    with Worker(flow.bootstrap, flow.codec, databases) as worker:
        yield worker


def cut(databases: tuple[str, str]) -> None:
    """Breaks the worker's connection to its store."""
    with store(databases) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE application_name = 'memquorum-writer' AND datname = current_database()"
        )


def test_the_whole_life_of_memories(flow: Flow, worker: Worker, databases: tuple[str, str], codec: Codec) -> None:
    shard = 2
    namespace = flow.namespace(shard)
    a, b, c, d = (memory_id(namespace, e) for e in "abcd")
    flow.episodes(shard, ["a", "b", "c"])
    flow.episodes(shard, ["a2"], outcome="reinforced", reinforces=a, at=1_500)
    flow.episodes(shard, ["d"], outcome="below_threshold")
    flow.access(shard, b, 2_000)
    flow.episodes(shard, ["c"])  # delivered again
    flow.tick(shard, 1_000_000)
    flow.flush()
    await_seq(databases, shard, 9, worker)
    kinds = {"a": "forget", "b": "forget", "c": "promote"}
    flow.decide(
        shard, [flow.proposal(shard, e, kind) for e, kind in kinds.items()], lambda _, p: p.memory_ids != (b,)
    )  # fmt: skip
    flow.flush()
    await_seq(databases, shard, 11, worker)

    entries = journal_of(flow.bootstrap, codec, shard, 11)
    assert [e.effect for e in entries] == [
        "stored", "stored", "stored", "reinforced", "dropped", "accessed", "repeated",
        "ticked", "destroyed", "decided", "destroyed",
    ]  # fmt: skip
    assert codec.decode_as(Destroyed, entries[8].detail).memory_ids == (d,)
    assert [(r.outcome, r.reason) for r in codec.decode_as(Decided, entries[9].detail).results] == [
        ("forgotten", "quorum"), ("kept", "too_few_votes"), ("promoted", "quorum")
    ]  # fmt: skip
    memories = dict(rows(databases, "SELECT id::text, tier FROM memory"))
    assert memories == {a: "gone", b: "short-term", c: "long-term"}
    contents = dict(rows(databases, "SELECT memory_id::text, body FROM content"))
    assert contents == {b: "Valve b opens at 4 bar.", c: "Valve c opens at 4 bar."}
    assert rows(databases, "SELECT vector_dims(vector::vector) FROM embedding") == [(384,)] * 2
    # The key of what was forgotten is gone, those of the episode that had repeated it and of the one that was dropped.
    vault = PostgresVault(databases[1], MASTER)
    assert set(vault.open([a, b, c, d, memory_id(namespace, "a2")])) == {b, c}
    outcomes = rows(databases, "SELECT outcome, count(*) FROM event GROUP BY 1 ORDER BY 1")
    assert outcomes == [("accessed", 1), ("below_threshold", 1), ("reinforced", 1), ("stored", 3)]
    cursors = dict(rows(databases, "SELECT topic, next_offset FROM cursor WHERE shard = %s", shard))
    assert cursors[topics.ACCEPTED] == 8
    assert cursors[topics.SCORED] == 5  # at the last that counts: its epoch is to be known
    assert rows(databases, "SELECT count(*) FROM ballot") == [(12,)]
    check_journal(databases, codec, shard)
    # Signed heads: the last one reaches as far as the journal.
    heads = [open_signed(codec, GENESIS, h, JournalHead)[1] for h in read_topic(flow.bootstrap, topics.HEADS, shard, 1)]
    assert all(head.cluster == GENESIS.cluster and head.shard == shard for head in heads)


def test_no_key_is_destroyed_for_a_time_that_runs_away(flow: Flow, databases: tuple[str, str], codec: Codec) -> None:
    own = [1_000]
    flow.episodes(0, ["a"], outcome="below_threshold")
    flow.tick(0, 90_000)
    flow.flush()
    a = memory_id(flow.namespace(0), "a")
    vault = PostgresVault(databases[1], MASTER)
    with Worker(flow.bootstrap, codec, databases, own_clock=OwnClock(60_000, lambda: own[0])) as worker:
        await_seq(databases, 0, 2, worker)
        flow.tick(0, 90_001)
        flow.flush()
        await_seq(databases, 0, 3, worker)
        assert set(vault.open([a])) == {a}
        # The clocks agree again: the next tick makes up for it.
        own[0] = 90_000
        flow.tick(0, 90_002)
        flow.flush()
        await_seq(databases, 0, 5, worker)
    assert vault.open([a]) == {}
    effects = [e.effect for e in journal_of(flow.bootstrap, codec, 0, 5)]
    assert effects == ["dropped", "ticked", "ticked", "ticked", "destroyed"]


def test_a_stop_does_not_wait_for_a_backlog_of_keys(
    flow: Flow, databases: tuple[str, str], codec: Codec, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keys_to_destroy, "MOST", 2)
    with Worker(flow.bootstrap, codec, databases) as worker:
        flow.episodes(0, [f"e{n}" for n in range(20)], outcome="below_threshold")
        flow.flush()
        await_seq(databases, 0, 20, worker)
    flow.tick(0, 10**9)
    flow.flush()

    class Stopping(PostgresVault):
        """A vault that stops the worker at a destruction of keys."""

        def destroy(self, memory_ids: Iterable[str]) -> int:
            if ids := list(memory_ids):
                worker.stop.set()
            return super().destroy(ids)

    vault = Stopping(databases[1], MASTER)
    with Worker(flow.bootstrap, codec, databases, vault) as worker:
        await_seq(databases, 0, 22, worker)
    assert rows(databases, "SELECT count(*) FROM dropped") == [(18,)]
    with Worker(flow.bootstrap, codec, databases) as worker:
        await_seq(databases, 0, 31, worker)
    assert rows(databases, "SELECT count(*) FROM dropped") == [(0,)]
    check_journal(databases, codec, 0)


def test_the_last_head_reaches_the_last_entry(flow: Flow, databases: tuple[str, str], codec: Codec) -> None:
    with Worker(flow.bootstrap, codec, databases):
        flow.episodes(0, ["a", "b"])
        flow.flush()
        await_seq(databases, 0, 2)
    *_, last = [m.value() or b"" for m in standing(flow.bootstrap, topics.HEADS, 4) if m.partition() == 0]
    head = open_signed(codec, GENESIS, last, JournalHead)[1]
    assert rows(databases, "SELECT seq, hash, published_seq FROM shard WHERE shard = 0") == [(head.seq, head.hash, 2)]


def test_an_episode_waits_for_its_score_and_holds_only_its_shard(
    flow: Flow, worker: Worker, databases: tuple[str, str], codec: Codec
) -> None:
    ((first, at),) = flow.episodes(0, ["a"], score=False)
    flow.tick(0, 5_000)
    flow.episodes(1, ["b"])
    flow.flush()
    await_seq(databases, 1, 1, worker)
    assert rows(databases, "SELECT seq FROM shard WHERE shard = 0") == [(0,)]
    flow.score(0, first, at)
    flow.score(0, first, at, outcome="below_threshold")  # a second answer after a crash of salience
    flow.flush()
    await_seq(databases, 0, 2, worker)
    assert [e.effect for e in journal_of(flow.bootstrap, codec, 0, 2)] == ["stored", "ticked"]


def test_a_shard_that_waits_reads_no_further_says_so_and_catches_up(
    flow: Flow,
    databases: tuple[str, str],
    codec: Codec,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(spine, "MOST_RECORDS", 20)
    monkeypatch.setattr(commit, "_READ_MOST", 30)
    held: list[int] = []
    accept = spine.Spine.accept

    def counted(self: spine.Spine, *arguments: Any) -> None:
        accept(self, *arguments)
        held.append(len(self._items))

    monkeypatch.setattr(spine.Spine, "accept", counted)
    waiting = flow.episodes(0, [f"e{i}" for i in range(500)], score=False)
    flow.flush()
    with Worker(flow.bootstrap, codec, databases, score_alarm_ms=300) as worker:
        flow.episodes(1, ["a"])
        flow.flush()
        await_seq(databases, 1, 1, worker)
        deadline = time.monotonic() + PATIENCE_S
        while not any("shard 0 stands still" in record.getMessage() for record in caplog.records):
            assert time.monotonic() < deadline
            flow.tick(1, 1_000)
            flow.flush()
            await_seq(databases, 1, flow.offset[1], worker)
        # While it is paused its session ends: the next one must read on all the same.
        cut(databases)
        for episode, offset in waiting:
            flow.score(0, episode, offset)
        flow.flush()
        await_seq(databases, 0, 500, worker)
    check_journal(databases, codec, 0)
    # One poll may exceed the bound; then the partition is paused.
    assert 20 <= max(held) < 20 + 30


def test_what_cannot_be_opened_any_more_is_dropped_and_blocks_nothing(
    flow: Flow, databases: tuple[str, str], codec: Codec
) -> None:
    flow.episodes(0, ["a", "b"])
    flow.flush()
    flow.vault.destroy([memory_id(flow.namespace(0), "a")])
    with Worker(flow.bootstrap, codec, databases) as worker:
        await_seq(databases, 0, 2, worker)
    first, second = journal_of(flow.bootstrap, codec, 0, 2)
    assert (first.effect, codec.decode_as(Stored, first.detail).outcome) == ("dropped", "unreadable")
    assert second.effect == "stored"


def test_rubbish_is_left_out_and_the_rest_goes_on(
    flow: Flow, worker: Worker, databases: tuple[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    flow._send(topics.ACCEPTED, 0, b"rubbish")
    flow._send(topics.SCORED, 0, b"\xc3\x01rubbish")
    flow.certificate(0, b"rubbish", [b"more rubbish"])
    flow._send(topics.ACCEPTED, 0, flow.codec.encode(ClockTicked("nul \0", 5)))
    flow.offset[0] += 2
    flow.episodes(0, ["a"])
    flow.flush()
    await_seq(databases, 0, 1, worker)

    def left_out() -> list[str]:
        return [r.getMessage() for r in caplog.records if "left out" in r.getMessage()]

    until(lambda: len(left_out()) >= 5)  # the journal does not wait for what stands in the topics of certificates
    assert len(left_out()) == 5
    assert any("NUL in event_id" in message for message in left_out())


def test_forged_and_thin_certificates_decide_nothing(
    flow: Flow, worker: Worker, databases: tuple[str, str], codec: Codec
) -> None:
    flow.episodes(0, ["a"])
    flow.tick(0, 10_000)
    flow.flush()
    await_seq(databases, 0, 2, worker)
    wanted = [flow.proposal(0, "a", "forget")]
    pre_prepare, commits = votes.decision(codec, GENESIS, wanted, as_of=10_000, accepted_offset=1)
    flow.certificate(0, pre_prepare, commits[:2])  # one too few
    flow.certificate(0, None, [commits[0]] * 3)  # the same member again
    flow.certificate(0, None, [commits[2][:-1] + bytes([commits[2][-1] ^ 1])])  # an altered body
    other, _ = votes.decision(codec, GENESIS, wanted, votes.nobody, as_of=10_000, accepted_offset=1)
    flow.certificate(0, other, [])  # a pre-prepare that nobody commits to
    flow.tick(0, 10_001)
    flow.flush()
    await_seq(databases, 0, 3, worker)
    assert rows(databases, "SELECT count(*) FROM decision") == [(0,)]
    flow.certificate(0, None, [commits[3]])
    flow.flush()
    await_seq(databases, 0, 5, worker)
    assert rows(databases, "SELECT cardinality(commits) FROM decision") == [(3,)]


def test_a_decision_waits_for_what_it_speaks_of(
    flow: Flow, worker: Worker, databases: tuple[str, str], codec: Codec
) -> None:
    flow.episodes(0, ["a"])
    flow.flush()
    await_seq(databases, 0, 1, worker)
    flow.decide(0, [flow.proposal(0, "a", "forget"), flow.proposal(0, "b", "promote")], accepted_offset=2)
    flow.flush()
    flow.episodes(0, ["b"])
    flow.flush()
    await_seq(databases, 0, 2, worker)
    flow.tick(0, 1_000_000)
    flow.flush()
    await_seq(databases, 0, 5, worker)
    effects = [e.effect for e in journal_of(flow.bootstrap, codec, 0, 5)]
    assert effects == ["stored", "stored", "ticked", "decided", "destroyed"]
    assert rows(databases, "SELECT outcome FROM outcome ORDER BY position") == [("forgotten",), ("promoted",)]


def test_a_contradiction_halts(flow: Flow, databases: tuple[str, str], codec: Codec) -> None:
    with Worker(flow.bootstrap, codec, databases) as worker:
        flow.episodes(0, ["a"])
        flow.tick(0, 10_000)
        wanted = [flow.proposal(0, "a", "promote")]
        one = votes.decision(codec, GENESIS, wanted, as_of=10_000, accepted_offset=1)
        two = votes.decision(codec, GENESIS, wanted, votes.nobody, as_of=10_000, accepted_offset=1)
        flow.certificate(0, *one)
        flow.flush()
        await_seq(databases, 0, 3, worker)
        flow.certificate(0, two[0], two[1][:2])  # two members contradict themselves: evidence, and no halt
        flow.tick(0, 11_000)
        flow.flush()
        await_seq(databases, 0, 4, worker)
        assert worker.error is None
        flow.certificate(0, None, two[1][2:])
        flow.flush()
        worker.join()
        assert isinstance(worker.error, DigestConflict)
        assert "shard 0, sequence 1" in str(worker.error)
    # The digests of the past are in the store: the next worker finds the contradiction again.
    with Worker(flow.bootstrap, codec, databases) as again:
        again.join()
        assert isinstance(again.error, DigestConflict)


def test_a_second_worker_stops_one_of_the_two(
    flow: Flow, worker: Worker, databases: tuple[str, str], codec: Codec
) -> None:
    with Worker(flow.bootstrap, codec, databases) as second:
        flow.episodes(0, [f"e{i}" for i in range(50)])
        flow.flush()
        await_seq(databases, 0, 50)
        deadline = time.monotonic() + PATIENCE_S
        while worker.error is None and second.error is None:
            flow.tick(0, 1_000)
            flow.flush()
            assert time.monotonic() < deadline
            threading.Event().wait(0.05)
    found = worker.error or second.error
    assert isinstance(found, commit.Fenced)
    assert "another commit worker" in str(found)
    check_journal(databases, codec, 0)


def test_it_comes_back_after_postgres_broke_the_connection(
    flow: Flow, worker: Worker, databases: tuple[str, str], codec: Codec
) -> None:
    def feed(names: Callable[[int], str]) -> None:
        flow.episodes(3, [names(i) for i in range(300)])
        flow.flush()

    feed(lambda i: f"first{i}")
    cut(databases)
    feed(lambda i: f"second{i}")
    await_seq(databases, 3, 350, worker)
    cut(databases)
    flow.tick(3, 5_000)
    flow.flush()
    await_seq(databases, 3, 601, worker)
    work = check_journal(databases, codec, 3)
    assert len(work.rows.memories) == 600
    assert [e.seq for e in journal_of(flow.bootstrap, codec, 3, 601)] == list(range(1, 602))
    assert worker.error is None
