"""Rows made again from the journal are the rows that were written, however it is cut; sources are checked."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from memquorum.core import sealing
from memquorum.core.avro import Codec
from memquorum.core.ids import shard_of
from memquorum.core.journal.effects import Rules
from memquorum.core.journal.replay import CannotReplay, DecodedLink, Replay, Sealed, open_content
from memquorum.core.journal.rows import Event
from memquorum.core.labelling import Labels
from memquorum.core.records import EpisodeAccepted, EpisodeScored, Stored
from tests import examples
from tests.builders import votes
from tests.builders.published import GENESIS, LATE, A, B, C, D, Published, lively, publish
from tests.builders.replayed import replayed
from tests.builders.shard import NAMESPACE, Shard, accepted, memory_id, scored

SECOND = next(f"n{i}" for i in range(99) if shard_of(f"n{i}", GENESIS.shards) == 0)


@pytest.fixture(scope="module")
def shard(codec: Codec) -> Shard:
    return lively(Shard(codec, GENESIS))


@pytest.fixture
def public(shard: Shard) -> Published:
    return publish(shard)


def test_what_failed_before_is_tried_again_in_the_row_that_it_has(codec: Codec) -> None:
    shard = Shard(codec, GENESIS)
    changes = [shard.episode("a", outcome="failed"), shard.tick(10_000), shard.episode("a")]
    replay = Replay(shard.rules, 0)
    nets = [replay.take([replay.read(codec.encode(change.appended))]).net for change in changes]
    assert [[one.outcome for one in net.new[Event]] for net in nets] == [["failed"], [], []]
    assert [[one.outcome for one in net.changed[Event]] for net in nets] == [[], [], ["stored"]]


@settings(max_examples=examples(40), deadline=None)
@given(cuts=st.lists(st.integers(1, 16), max_size=5))
def test_the_rows_are_the_same_however_the_journal_is_cut(shard: Shard, cuts: list[int]) -> None:
    made, replay = replayed(publish(shard), cuts)
    rows = shard.rows
    assert (made.memories, made.strengths) == (rows.memories, rows.strengths)
    assert {(e.namespace, e.event_id): e for e in made.events} == rows.events
    assert made.contents == set(rows.strengths) and made.entries == 17
    assert replay.state == rows.state


def test_one_namespace_alone(codec: Codec) -> None:
    shard = Shard(codec, GENESIS)
    shard.episode("a")
    shard.episode("x", namespace=SECOND)
    shard.episode("y", namespace=SECOND)
    shard.tick(10_000)
    shard.decide([votes.proposal(A, "forget"), votes.proposal(memory_id("x", SECOND), "forget", namespace=SECOND)])
    shard.access(memory_id("y", SECOND), 11_000, namespace=SECOND)
    made, replay = replayed(publish(shard), [2, 4], SECOND)
    assert set(made.memories) == {memory_id("x", SECOND), memory_id("y", SECOND)}
    assert made.strengths == {i: s for i, s in shard.rows.strengths.items() if i == memory_id("y", SECOND)}
    assert {e.namespace for e in made.events} == {SECOND}
    assert made.entries == 6 and replay.state == shard.rows.state


def test_what_is_named_to_be_opened(public: Published) -> None:
    replay = Replay(public.rules, 0)
    step = replay.take([replay.read(data) for data in public.entries])
    late = public.detail(LATE)
    assert isinstance(late, Stored)
    assert step.sealed[-1] == Sealed(LATE + 1, memory_id("late"), NAMESPACE, "late", late)
    assert {s.memory_id for s in step.sealed} == {B, D, memory_id("late")}  # A and C came and went


@pytest.mark.parametrize(
    "tamper",
    [
        pytest.param(lambda p: p.entries.pop(3), id="an entry missing"),
        pytest.param(lambda p: p.relink(3, hash=bytes(32)), id="a hash altered"),
        pytest.param(lambda p: p.relink(3, previous_hash=bytes(32)), id="a link altered"),
        pytest.param(lambda p: p.relink(3, entry=p.link(4).entry), id="an entry altered"),
        pytest.param(lambda p: p.entries.__setitem__(3, b"junk"), id="junk"),
        pytest.param(lambda p: p.rewrite(3, detail=b"junk"), id="a detail that is none"),
        pytest.param(lambda p: p.rewrite(3, effect="accessed"), id="an effect that does not fit"),
        pytest.param(lambda p: p.rewrite(LATE, effect="reinforced", memory_id=A), id="an effect on what is gone"),
        pytest.param(lambda p: p.forge(12, replace(p.detail(12), pre_prepare=b"x")), id="a certificate that is none"),
        pytest.param(lambda p: p.forge(12, replace(p.detail(12), results=())), id="results that do not follow"),
    ],
)
def test_a_journal_that_cannot_be_followed_is_refused(public: Published, tamper: Any) -> None:
    tamper(public)
    with pytest.raises(CannotReplay, match="shard 0"):
        replayed(public, [])


def test_the_journal_of_another_cluster_is_refused(public: Published, codec: Codec) -> None:
    from tests.builders import genesis

    public.rules = Rules(codec, genesis.make(n=7))
    with pytest.raises(CannotReplay, match="follows"):
        replayed(public, [])


# Content --------------------------------------------------------------------------------------------------------------

KEY, NONCE = b"k" * 32, b"n" * 12
TEXT, VECTOR = "Valve 3 opens at 4 bar.", np.linspace(0, 1, 8, dtype=np.float32)


def sources(**changes: Any) -> tuple[Sealed, EpisodeAccepted, EpisodeScored]:
    episode = replace(
        accepted("a", 1),
        sealed_content=sealing.seal_text(KEY, NONCE, TEXT, A),
        commitment=sealing.commitment(KEY, TEXT),
    )
    score = replace(scored(episode, 0), sealed_embedding=sealing.seal_vector(KEY, NONCE, VECTOR, A))
    detail = Stored(
        agent="planner", subject="planner", occurred_at=1, commitment=episode.commitment, characters=len(TEXT),
        outcome="stored", salience_ppm=600_000, early=False, accepted_offset=0, scored_offset=0, encoder="hashing",
    )  # fmt: skip
    return Sealed(2, A, NAMESPACE, "a", detail), replace(episode, **changes), score


def test_content_is_opened() -> None:
    text, vector, named, labels = open_content(KEY, *sources())
    assert (text, named, labels) == (TEXT, (), Labels())
    assert vector.tolist() == VECTOR.astype(np.float16).tolist()


def test_content_that_is_not_the_one_accepted_is_refused() -> None:
    sealed, episode, score = sources()
    other = replace(episode, sealed_content=sealing.seal_text(KEY, NONCE, "another text", A))
    cases: list[tuple[bytes, Sealed, EpisodeAccepted, EpisodeScored, str]] = [
        (b"x" * 32, sealed, episode, score, "cannot be opened with its key"),
        (KEY, sealed, other, score, "not the one that the journal's commitment is of"),
        (KEY, sealed, replace(episode, memory_id=C), score, f"the accepted record that it names is of memory {C}"),
        (KEY, sealed, replace(episode, event_id="b"), score, "the accepted record"),
        (KEY, sealed, episode, replace(score, namespace="n"), "the scored record"),
        (KEY, sealed, episode, replace(score, sealed_embedding=None), "holds no embedding"),
        (KEY, sealed, episode, replace(score, sealed_embedding=b"short"), "cannot be opened with its key"),
    ]
    for key, named, first, second, complaint in cases:
        with pytest.raises(CannotReplay, match=complaint) as raised:
            open_content(key, named, first, second)
        assert f"entry 2, memory {A}" in str(raised.value)


def test_a_read_holds_the_decoded_parts(public: Published) -> None:
    read = Replay(public.rules, 0).read(public.entries[0])
    assert read == DecodedLink(public.link(0), public.entry(0), public.detail(0))
