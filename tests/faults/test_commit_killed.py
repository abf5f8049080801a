"""Killing the commit worker with -9 in the middle of its work: same rows, a gapless journal, nothing twice."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest

from db.vault import PostgresVault
from memquorum import topics
from memquorum.core.avro import Codec
from memquorum.core.commit import applying
from memquorum.core.ids import memory_id
from memquorum.core.journal import hash_chain
from memquorum.core.journal.effects import Rules
from memquorum.core.journal.rows import Rows
from memquorum.core.journal.workset import Workset
from memquorum.core.records import AccessAccepted, EpisodeAccepted
from memquorum.core.tiers import GONE, LONG_TERM
from tests import ROOT
from tests.support.commit_process import GENESIS, MASTER
from tests.support.flow import Flow, journal_of
from tests.support.waiting import PATIENCE_S
from tests.support.watch import check_journal, rows

pytestmark = pytest.mark.slow
EPISODES, READS = 400, 100


def start(bootstrap: str, databases: tuple[str, str], log: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "tests.support.commit_process", bootstrap, *databases]
    with log.open("ab") as out:
        return subprocess.Popen(command, cwd=ROOT, stdout=out, stderr=out)


def await_total(databases: tuple[str, str], total: int, running: Callable[[], bool]) -> None:
    """Waits for so many journal entries over all shards, by the notification of each transaction."""
    with psycopg.connect(databases[0], autocommit=True) as connection:
        connection.execute("LISTEN journal")
        deadline = time.monotonic() + PATIENCE_S
        while connection.execute("SELECT coalesce(sum(seq), 0) FROM shard").fetchone()[0] < total:  # type: ignore[index]
            assert time.monotonic() < deadline, f"{total} entries not reached"
            assert running(), "the worker ended by itself"
            for _ in connection.notifies(timeout=0.5, stop_after=1):
                pass


def feed(flow: Flow, shard: int) -> int:
    """Episodes, repetitions, accesses, a tick and a decision; how many journal entries they come to."""
    names = [f"e{i}" for i in range(EPISODES)]
    flow.episodes(shard, names)
    first = memory_id(flow.namespace(shard), "e0")
    flow.episodes(shard, ["again"], outcome="reinforced", reinforces=first, at=1_500)
    for number in range(READS):
        flow.access(shard, memory_id(flow.namespace(shard), names[-1 - number % 50]), 2_000 + number)
    flow.tick(shard, 1_000_000)
    flow.decide(
        shard,
        [*(flow.proposal(shard, f"e{i}", "forget") for i in range(20)), flow.proposal(shard, "e30", "promote")],
        lambda _, p: p.memory_ids != (memory_id(flow.namespace(shard), "e5"),),
    )
    return EPISODES + 1 + READS + 1 + 2  # the decision, and the destruction of what it forgot


def expected(flow: Flow, codec: Codec, shard: int) -> Workset:
    """Returns the state after an undisturbed run, by the rules alone and without the decision, which no later record
    touches.
    """
    rules, work = Rules(codec, GENESIS), Workset(Rows(hash_chain.beginning(GENESIS.cluster, shard)))
    for item in flow.log[shard]:
        place, record = applying.RecordPosition(topics.ACCEPTED, shard, item.offset), item.record
        if isinstance(record, EpisodeAccepted):
            change = applying.apply_episode(rules, work.rows, place, record, scored=item.scored, readable=True)
        elif isinstance(record, AccessAccepted):
            change = applying.apply_access(rules, work.rows, place, record)
        else:
            change = applying.apply_tick(rules, work.rows, place, record)
        work.absorb(change)
    return work


def test_killed_again_and_again(fresh_kafka: str, databases: tuple[str, str], codec: Codec, tmp_path: Path) -> None:
    vault = PostgresVault(databases[1], MASTER)
    flow = Flow(fresh_kafka, codec, GENESIS, vault)
    total = sum(feed(flow, shard) for shard in range(4))
    assert total >= 2_000
    flow.flush()
    log = tmp_path / "worker.log"
    for part in (0.2, 0.45, 0.7):
        worker = start(fresh_kafka, databases, log)
        await_total(databases, int(total * part), lambda w=worker: w.poll() is None)  # type: ignore[misc]
        os.kill(worker.pid, signal.SIGKILL)
        worker.wait(PATIENCE_S)
        done = rows(databases, "SELECT sum(seq) FROM shard")[0][0]
    assert done < total, "it was too fast to be killed in the middle"
    worker = start(fresh_kafka, databases, log)
    try:
        await_total(databases, total, lambda: worker.poll() is None)
        began = time.monotonic()
        worker.terminate()
        assert worker.wait(PATIENCE_S) == 0
        assert time.monotonic() - began < 5
    finally:
        worker.kill()

    for shard in range(4):
        found, wanted = check_journal(databases, codec, shard), expected(flow, codec, shard)
        namespace = flow.namespace(shard)
        gone = {memory_id(namespace, f"e{i}") for i in range(20)} - {memory_id(namespace, "e5")}
        promoted = memory_id(namespace, "e30")
        # Every record once: nothing was lost, and nothing was taken for a repetition.
        effects = dict(rows(databases, "SELECT effect, count(*) FROM journal WHERE shard = %s GROUP BY 1", shard))
        assert effects == {
            "stored": EPISODES, "reinforced": 1, "accessed": READS, "ticked": 1, "decided": 1, "destroyed": 1
        }  # fmt: skip
        assert found.rows.strengths.keys() == wanted.rows.strengths.keys() - gone
        for memory, strength in found.rows.strengths.items():
            if memory not in (promoted, memory_id(namespace, "e5")):
                assert strength == wanted.rows.strengths[memory]
        tiers = {m.id: m.tier for m in found.rows.memories.values()}
        assert {i for i, tier in tiers.items() if tier == GONE} == gone
        assert [i for i, tier in tiers.items() if tier == LONG_TERM] == [promoted]
        readable = "SELECT memory_id::text FROM content JOIN memory ON id = memory_id WHERE shard = %s"
        contents = {i for (i,) in rows(databases, readable, shard)}
        assert contents == found.rows.strengths.keys()
        assert set(vault.open(gone)) == set()
        # The topic holds the same journal, whole; what a kill made it hold twice is the same both times.
        entries = journal_of(fresh_kafka, codec, shard, found.rows.state.seq)
        assert [e.seq for e in entries] == list(range(1, found.rows.state.seq + 1))
        assert entries == [entry for entry, _ in found.net().journal]
        cursors = dict(rows(databases, "SELECT topic, next_offset FROM cursor WHERE shard = %s", shard))
        assert cursors[topics.ACCEPTED] == flow.offset[shard]
        assert cursors[topics.SCORED] == flow.scored[shard] - 1
