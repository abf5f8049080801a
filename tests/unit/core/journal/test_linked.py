"""Links are noted beside a memory that is stored: to what is there in its namespace, and to nothing else."""

from __future__ import annotations

from memquorum.core.avro import Codec
from memquorum.core.journal.rows import Change, LinkRow
from memquorum.core.records import Link
from tests.builders import genesis, votes
from tests.builders.shard import NAMESPACE, Shard, memory_id

A, B, C = (memory_id(name) for name in "abc")


def links(change: Change) -> list[tuple[str, str]]:
    return [(one.kind, one.target) for one in change.of(LinkRow)]


def made(codec: Codec) -> Shard:
    shard = Shard(codec, genesis.make())
    shard.tick(1_000)
    shard.episode("a")
    return shard


def test_what_is_there_is_linked(codec: Codec) -> None:
    shard = made(codec)
    change = shard.episode("c", links=(Link("requires", A), Link("partOf", A), Link("requires", B), Link("isA")))
    assert links(change) == [("requires", A), ("partOf", A)]
    assert change.one(LinkRow) is not None and change.of(LinkRow)[0] == LinkRow(
        0, change.entry.seq, NAMESPACE, C, "requires", A
    )


def test_nothing_is_linked_in_a_circle(codec: Codec) -> None:
    shard = made(codec)
    assert links(shard.episode("b", links=(Link("requires", C), Link("requires", B)))) == []
    assert links(shard.episode("c", links=(Link("requires", B),))) == [("requires", B)]


def test_what_another_namespace_has_is_not_linked(codec: Codec) -> None:
    assert links(made(codec).episode("c", namespace="n0", links=(Link("requires", A),))) == []


def test_what_is_forgotten_or_becomes_no_memory_is_not_linked(codec: Codec) -> None:
    shard = made(codec)
    assert links(shard.episode("b", outcome="below_threshold", links=(Link("requires", A),))) == []
    shard.tick(10**9)
    shard.decide([votes.proposal(A, "forget")])
    assert links(shard.episode("c", links=(Link("requires", A),))) == []


def test_what_repeats_a_memory_and_is_linked_is_one_of_its_own(codec: Codec) -> None:
    shard = made(codec)
    assert shard.episode("b", outcome="reinforced", reinforces=A).entry.effect == "reinforced"
    change = shard.episode("c", outcome="reinforced", reinforces=A, links=(Link("isA"),))
    assert (change.entry.effect, change.entry.memory_id) == ("stored", C)
