"""A memory's embedding replaced by another encoder's: what is applied, journalled, audited, replayed and told."""

from __future__ import annotations

import os

import numpy as np
import pytest
from msgspec.structs import replace

from memquorum import topics
from memquorum.core import sealing
from memquorum.core.accounts.tail import Tail
from memquorum.core.audit.findings import Kind
from memquorum.core.avro import Codec
from memquorum.core.journal.replay import CannotReplay, Replay, open_embedding
from memquorum.core.journal.rows import Memory, Rows, Strength
from memquorum.core.journal.workset import Workset
from memquorum.core.records import MemoryReencoded, Reencoded
from tests.builders import genesis, votes
from tests.builders.published import publish
from tests.builders.shard import NAMESPACE, Shard, memory_id, reencode

A, B = memory_id("a"), memory_id("b")


@pytest.fixture
def shard(codec: Codec) -> Shard:
    return Shard(codec, genesis.make())


def test_it_takes_the_place_of_the_one_that_was_there(shard: Shard) -> None:
    shard.episode("a")
    shard.tick(10_000)
    before = shard.rows.memories[A], shard.rows.strengths[A]
    change = reencode(shard, A, 4)
    assert change is not None and change.reencoded == A and change.revealed is None
    assert change.cursors == ((topics.REENCODED, 5),)
    assert shard.rows.memories[A] == replace(before[0], encoder="bert/1", seq=3)
    assert shard.rows.strengths[A] == before[1]
    assert (change.entry.effect, change.entry.as_of, change.entry.source_topic) == (
        "reencoded", 10_000, topics.REENCODED
    )  # fmt: skip
    assert shard.rules.codec.decode(change.entry.detail) == Reencoded("hashing", "bert/1")


def test_one_that_comes_too_late_changes_nothing(shard: Shard) -> None:
    shard.episode("a")
    assert reencode(shard, B, 0) is None
    assert reencode(shard, A, 1, namespace="elsewhere") is None
    assert reencode(shard, A, 2, previous="minilm") is None
    assert reencode(shard, A, 3) is not None
    assert reencode(shard, A, 3) is None  # delivered again
    shard.tick(10_000)
    shard.decide([votes.proposal(A, "forget")])
    assert reencode(shard, A, 4, previous="bert/1", encoder="other/1") is None


def test_one_that_comes_again_after_the_way_back_changes_nothing(shard: Shard) -> None:
    """By the encoders' names alone it would: the memory is with the encoder of before again."""
    shard.episode("a")
    seq = shard.rows.memories[A].seq
    assert reencode(shard, A, 0, memory_seq=seq) is not None
    assert reencode(shard, A, 1, "hashing", previous="bert/1") is not None
    assert reencode(shard, A, 2, memory_seq=seq) is None
    assert shard.rows.memories[A].encoder == "hashing"
    assert reencode(shard, A, 3) is not None  # and forth, in earnest


def test_one_made_before_the_memory_was_promoted_comes_too_late(shard: Shard) -> None:
    shard.episode("a")
    seq = shard.rows.memories[A].seq
    shard.tick(100_000)
    shard.decide([votes.proposal(A, "promote")])
    assert reencode(shard, A, 0, memory_seq=seq) is None
    assert reencode(shard, A, 1) is not None


def test_what_a_batch_leaves(shard: Shard) -> None:
    shard.episode("a")
    shard.episode("b")
    reencode(shard, A, 0)
    net = shard.work.net()
    assert (net.revealed, net.reencoded, net.changed[Memory]) == ((A, B), (A,), ())
    shard.work = Workset(Rows(shard.rows.state, dict(shard.rows.memories), dict(shard.rows.strengths)))
    reencode(shard, B, 1)
    net = shard.work.net()
    assert (net.revealed, net.reencoded, [m.encoder for m in net.changed[Memory]]) == ((), (B,), ["bert/1"])
    shard.tick(10_000)
    shard.decide([votes.proposal(B, "forget")])
    net = shard.work.net()
    assert (net.reencoded, net.gone[Strength]) == ((), (B,))


def test_the_audit_follows_it(shard: Shard) -> None:
    shard.episode("a")
    shard.episode("b")
    reencode(shard, A, 0)
    reencode(shard, A, 1, previous="bert/1", encoder="other/1")
    published = publish(shard)
    assert published.audit(store=True).findings == ()
    for row in published.tables["memory"]:
        if row["id"] == A:
            row["encoder"] = "hashing"
    (finding,) = published.audit(store=True).findings
    assert (finding.kind, finding.expected, finding.found) == (Kind.ROW_ALTERED, "other/1", "hashing")


@pytest.mark.parametrize(
    ("changes", "kind"),
    [
        ({"memory_id": B}, Kind.EFFECT_IMPOSSIBLE),
        ({"namespace": "elsewhere"}, Kind.EFFECT_IMPOSSIBLE),
        ({"previous": "minilm"}, Kind.EFFECT_IMPOSSIBLE),
        ({"source_offset": 3}, Kind.SOURCE_DISORDERED),
        ({"source_topic": topics.ACCEPTED}, Kind.SOURCE_DISORDERED),
    ],
)
def test_what_cannot_have_been_is_found(shard: Shard, changes: dict[str, object], kind: Kind) -> None:
    shard.episode("a")
    shard.episode("c")
    reencode(shard, memory_id("c"), 3)
    change = reencode(shard, A, 4)
    assert change is not None
    published = publish(shard)
    entry = change.entry
    if "previous" in changes:
        changes = {"detail": shard.rules.codec.encode(Reencoded("minilm", "bert/1"))}
    published.rewrite(entry.seq - 1, **changes)
    assert kind in {finding.kind for finding in published.audit().findings}


def test_a_replay_reaches_the_same_rows_and_names_the_latest_embedding(shard: Shard) -> None:
    shard.episode("a")
    shard.episode("b")
    reencode(shard, A, 0)
    reencode(shard, A, 1, previous="bert/1", encoder="other/1")
    reencode(shard, B, 2)
    replay = Replay(shard.rules, 0)
    encoded = [shard.rules.codec.encode(change.appended) for change in shard.changes]
    step = replay.take([replay.read(data) for data in encoded])
    assert step.net == shard.work.net()
    assert [(s.memory_id, s.offset, s.detail.encoder) for s in step.anew] == [(A, 1, "other/1"), (B, 2, "bert/1")]


def test_the_embedding_must_be_the_one_that_the_journal_names(shard: Shard) -> None:
    shard.episode("a")
    reencode(shard, A, 0)
    replay = Replay(shard.rules, 0)
    encoded = [shard.rules.codec.encode(change.appended) for change in shard.changes]
    (wanted,) = replay.take([replay.read(data) for data in encoded]).anew
    key, vector = os.urandom(32), np.eye(8, dtype=np.float32)[3]
    record = MemoryReencoded(A, NAMESPACE, "hashing", "bert/1", sealing.seal_vector(key, os.urandom(12), vector, A), 0)
    assert np.array_equal(open_embedding(key, wanted, record), vector)
    with pytest.raises(CannotReplay, match="cannot be opened with its key"):
        open_embedding(os.urandom(32), wanted, record)
    for changed in ({"memory_id": B}, {"encoder": "other/1"}, {"previous": "minilm"}, {"namespace": "elsewhere"}):
        with pytest.raises(CannotReplay, match="the embedding that it names is of memory"):
            open_embedding(key, wanted, replace(record, **changed))


def test_it_is_told(shard: Shard) -> None:
    shard.episode("a")
    change = reencode(shard, A, 0)
    assert change is not None
    (line,) = Tail(shard.rules.codec).lines(change.entry)
    assert line.endswith(f"reencoded   {A}  in {NAMESPACE}: by bert/1 instead of hashing")
