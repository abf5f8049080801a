"""A batch with rehearsals: those that the rows support are applied, the others are reported."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from db.standing import Clear
from memquorum import topics
from memquorum.core import sealing
from memquorum.core.avro import Codec
from memquorum.core.commit.applying import Scored
from memquorum.core.commit.spine import Item
from memquorum.core.experience.texts import Texts
from memquorum.core.journal.effects import Rules
from memquorum.core.records import ClockTicked, RehearsalMade, Task
from tests.builders import genesis, rehearsals, trials, votes
from tests.builders.shard import NAMESPACE, Shard, accepted, memory_id, scored
from tests.inmemory.store import InMemoryStore
from workers.commit.commit_shard import Batch, CommitShard, opened

GENESIS = genesis.make(**rehearsals.entitled())
A, MADE = memory_id("a"), memory_id("made")


@pytest.fixture
def line(codec: Codec) -> CommitShard:
    return CommitShard(Rules(codec, GENESIS), InMemoryStore().start(GENESIS.cluster, GENESIS.shards)[0])


def episode(line: CommitShard, codec: Codec, offset: int, name: str, **said: Any) -> None:
    record = accepted(name, 1_000, **said)
    line.take(topics.ACCEPTED, offset, codec.encode(record), None)
    line.take(topics.SCORED, offset, codec.encode(replace(scored(record, offset), writer_epoch=1)), None)


def rehearsal(line: CommitShard, codec: Codec, offset: int, verdict: str, seq: int) -> None:
    made = RehearsalMade(GENESIS.cluster, 0, 0, MADE, NAMESPACE, verdict, "", seq, 0, 5_000, 0)
    assert line.take(topics.REHEARSED, offset, rehearsals.signed(GENESIS, made, codec), None) is None


def applied(line: CommitShard, codec: Codec, store: InMemoryStore) -> Batch:
    batch = line.batch(100)
    assert batch is not None
    clear = {i: Clear("said", np.ones(2, np.float32)) for i in (A, MADE)}
    with store.transaction({line.state: batch.rows_touched(codec, line.tombstones, line.since)}) as transaction:
        transaction.write([batch.apply(line.rules, transaction.rows[0], clear, {}, line.tombstones)], clear, {})
    return batch


def test_a_task_that_no_trial_could_read_is_unreadable(line: CommitShard, codec: Codec) -> None:
    """An invalid context must not stop the shard that would store it, whoever seals or scores it."""
    key, said = bytes(32), Texts("Open valve 3.").content
    task = {"task": Task("failed", "ann", b"h" * 32, 7), "derives_from": (A,)}
    for text, vector, there in ((said, [0.6, 0.8], True), ("no texts", [0.6, 0.8], False), (said, [0.0, 0.0], False)):
        record = accepted("t", 1_000, sealed_content=sealing.seal_text(key, bytes(12), text, memory_id("t")), **task)
        sealed = sealing.seal_vector(key, b"1" * 12, np.array(vector, np.float32), memory_id("t"))
        item = Item(0, record, Scored(0, replace(scored(record, 0), sealed_embedding=sealed)))
        assert (opened(item, key) is not None) == there


def test_what_is_not_borne_out_is_told_and_what_is_stale_is_not(line: CommitShard, codec: Codec) -> None:
    """Also of what is born in the same batch, whose place in the journal can be guessed."""
    store = InMemoryStore()
    store.start(GENESIS.cluster, GENESIS.shards)
    line.take(topics.ACCEPTED, 0, codec.encode(ClockTicked("tick", 5_000)), None)
    episode(line, codec, 1, "a")
    episode(line, codec, 2, "made", derives_from=(A,))
    rehearsal(line, codec, 0, "groundless", 3)
    rehearsal(line, codec, 1, "held", 7)
    batch = applied(line, codec, store)
    assert [change.entry.effect for change, _ in batch.changes] == ["ticked", "stored", "stored"]
    assert batch.unborne == [(topics.REHEARSED, 0, "there is ground for the memory")]


def test_a_trial_by_whom_it_was_not_asked_is_told_and_one_of_what_is_gone_is_not(codec: Codec) -> None:
    """A finding without a signature, or about which no store could be asked, waits for nothing."""
    made = genesis.make(**trials.entitled())
    line, shard = CommitShard(Rules(codec, made), InMemoryStore().start(made.cluster, 4)[0]), Shard(codec, made)
    shard.episode("a")
    shard.tick(1_000)
    shard.decide([votes.proposal(A, "promote")])
    order = trials.drawn(shard, A, 1)
    stranger = next(one for one in trials.VERIFIERS if one not in order)
    found, gone = trials.statistics(made, A, 1), trials.statistics(made, MADE, 1)
    told = [(found, stranger), (gone, order[0]), (found, order[0])]
    for at, (one, who) in enumerate(told):
        assert line.take(topics.TRIALS, at, trials.signed(codec, made, one, who), None) is None
    forged = trials.signed(codec, made, found, order[0], signer=f"service:{stranger}")
    assert "may sign" in (line.take(topics.TRIALS, 3, forged, None) or "")
    of_another = trials.signed(codec, made, found, order[0], shard=1)
    assert line.take(topics.TRIALS, 4, of_another, None) == "of shard 1"
    batch = line.batch(100)
    assert batch is not None and [at for at, _ in batch.tried] == [0, 1, 2]
    asked = batch.rows_touched(codec, line.tombstones, line.since)
    assert (asked.admissions, asked.epochs) == ({A, MADE}, {1})
    batch.apply(line.rules, shard.rows, {}, {}, line.tombstones)
    assert [change.entry.effect for change, _ in batch.changes] == ["tried"]
    assert batch.unborne == [(topics.TRIALS, 0, f"{stranger} was not drawn")]
    assert batch.cursors(0) == {(0, topics.TRIALS): 3}
