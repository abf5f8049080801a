"""A store's handling of embeddings of another encoder, run on both adapters."""

from __future__ import annotations

import numpy as np

from memquorum import topics
from memquorum.core.avro import Codec
from memquorum.core.commit import applying
from memquorum.core.journal.rows import RowKeys, Rows
from memquorum.core.journal.workset import Workset
from memquorum.core.records import MemoryReencoded
from tests.builders import genesis
from tests.builders.shard import NAMESPACE, Shard, memory_id
from tests.support.stores import World, clear

A, B = memory_id("a"), memory_id("b")


def reencode(shard: Shard, memory: str, offset: int, previous: str = "hashing", encoder: str = "bert/1") -> None:
    place = applying.RecordPosition(topics.REENCODED, 0, offset)
    seq = shard.rows.memories[memory].seq
    change = applying.apply_reencoded(
        shard.rules, shard.rows, place, MemoryReencoded(memory, NAMESPACE, previous, encoder, b"", seq)
    )
    assert change is not None
    shard._absorb(change)


def flush(world: World, shard: Shard, vectors: dict[str, np.ndarray]) -> None:
    net = shard.work.net()
    with world.store.transaction({net.before: RowKeys()}) as transaction:
        transaction.write([net], {i: clear(i) for i in net.revealed}, {(0, topics.REENCODED): 7}, vectors)
    rows = shard.rows
    shard.work = Workset(Rows(rows.state, dict(rows.memories), dict(rows.strengths), dict(rows.events)))


def test_the_latest_embedding_is_there_with_its_encoder(world: World, codec: Codec) -> None:
    shard = world.shard(codec, genesis.make())
    other, later = np.eye(16, dtype=np.float32)[3], np.eye(4, dtype=np.float32)[1]
    shard.episode("a")
    shard.episode("b")
    reencode(shard, A, 5)
    flush(world, shard, {A: other})
    seq = shard.rows.state.seq
    found = {n.memory_id: n for n in world.reopen().neighbourhoods.changes(0, NAMESPACE, None).arrived}
    assert {i: n.encoder for i, n in found.items()} == {A: "bert/1", B: "hashing"}
    assert np.array_equal(found[A].vector, other) and np.array_equal(found[B].vector, clear(B).vector)
    reencode(shard, A, 6, "bert/1", "later/1")
    flush(world, shard, {A: later})
    again = world.reopen()
    # It arrives again, so that a reader that left it out takes it in.
    (arrived,) = again.neighbourhoods.changes(0, NAMESPACE, seq).arrived
    assert (arrived.memory_id, arrived.encoder, arrived.text) == (A, "later/1", clear(A).text)
    assert np.array_equal(arrived.vector, later)
    assert again.store.start(shard.rules.genesis.cluster, 4)[0].cursors[topics.REENCODED] == 7
    with again.store.transaction({shard.rows.state: RowKeys(frozenset({A, B}), frozenset())}) as transaction:
        assert transaction.rows[0].memories == shard.rows.memories
