"""What becomes of a batch in which there are rehearsals: what the rows bear out is applied, what not is told."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from db.inmemory import InMemoryStore
from db.standing import Clear
from memquorum import topics
from memquorum.core.avro import Codec
from memquorum.core.journal.effects import Rules
from memquorum.core.records import ClockTicked, RehearsalMade
from tests.builders import genesis, rehearsals
from tests.builders.shard import NAMESPACE, accepted, memory_id, scored
from workers.commit.line import Batch, Line

GENESIS = genesis.make(**rehearsals.entitled())
A, MADE = memory_id("a"), memory_id("made")


@pytest.fixture
def line(codec: Codec) -> Line:
    return Line(Rules(codec, GENESIS), InMemoryStore().start(GENESIS.cluster, GENESIS.shards)[0])


def episode(line: Line, codec: Codec, offset: int, name: str, **said: Any) -> None:
    record = accepted(name, 1_000, **said)
    line.take(topics.ACCEPTED, offset, codec.encode(record), None)
    line.take(topics.SCORED, offset, codec.encode(replace(scored(record, offset), writer_epoch=1)), None)


def rehearsal(line: Line, codec: Codec, offset: int, verdict: str, seq: int) -> None:
    made = RehearsalMade(GENESIS.cluster, 0, 0, MADE, NAMESPACE, verdict, "", seq, 0, 5_000, 0)
    assert line.take(topics.REHEARSED, offset, rehearsals.signed(GENESIS, made, codec), None) is None


def applied(line: Line, codec: Codec, store: InMemoryStore) -> Batch:
    batch = line.batch(100)
    assert batch is not None
    clear = {i: Clear("said", np.ones(2, np.float32)) for i in (A, MADE)}
    with store.transaction({line.state: batch.keys(codec, line.tombstones, line.since)}) as transaction:
        transaction.write([batch.apply(line.rules, transaction.rows[0], clear, {}, line.tombstones)], clear, {})
    return batch


def test_what_is_not_borne_out_is_told_and_what_is_stale_is_not(line: Line, codec: Codec) -> None:
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
    assert batch.unborne == [(0, "there is ground for the memory")]
