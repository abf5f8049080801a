"""A summary that an order erases is made anew of what others said, where that can still be read; no other is."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from memquorum.core.avro import Codec
from memquorum.core.journal.anew import ANEW, FEW, MODEL, NAMED, OVER, fates
from memquorum.core.journal.rows import ErasedRow, ErasureRow, Strength
from memquorum.core.records import Decided, ErasedEpisode
from tests.builders import erasures, votes
from tests.builders import genesis as cluster
from tests.builders.policies import by_the_paper
from tests.builders.protections import accepted as protection
from tests.builders.shard import NAMESPACE, Shard, memory_id

GENESIS = cluster.make(policy=by_the_paper(), **erasures.entitled(signed=()))
A, B, C, D, E = SOURCES = tuple(memory_id(name) for name in "abcde")
SUMMARY, AGAIN = memory_id("sum"), memory_id("again")
GRACE = GENESIS.policy.forget.grace_ms


@pytest.fixture
def shard(codec: Codec) -> Shard:
    """Five memories of a session, summed up by a vote."""
    made = Shard(codec, GENESIS)
    for at, name in enumerate("abcde"):
        made.episode(name, at=1_000 + at, sensitivity_ppm=900_000 if name == "a" else 100_000)
    made.summary("sum", SOURCES, at=1_004)
    made.tick(20_000)
    made.consolidate(SUMMARY, SOURCES)
    return made


def erase(shard: Shard, *taken: str, fate: str | None = ANEW, value: str = A, number: int = 1) -> None:
    """An order to erase one of the memories: it takes that, and what was made of it."""
    order = erasures.ordered(GENESIS, "memory", value, order_id=memory_id(f"order {number}", "orders"))
    data = erasures.signed(shard.rules.codec, GENESIS, order)
    found = [ErasedEpisode(value, shard.rows.memories[value].tier, b"c" * 32)]
    found += [ErasedEpisode(one, shard.rows.memories[one].tier, b"c" * 32, fate) for one in taken]
    shard.erase(erasures.accepted(order, data, 25_000 + number), found)


def made_anew(shard: Shard, sources: Sequence[str] = (B, C, D, E), renews: str = SUMMARY, name: str = "again") -> None:
    shard.summary(name, sources, at=1_004, renews=renews)
    shard.consolidate(memory_id(name), sources)


def result(shard: Shard) -> tuple[str, str]:
    (one,) = shard.rules.codec.decode_as(Decided, shard.changes[-1].entry.detail).results
    return one.outcome, one.reason


def tiers(shard: Shard) -> dict[str, str]:
    return {i: one.tier for i, one in shard.rows.memories.items()}


def test_it_takes_the_place_of_what_rests_sealed_and_prolongs_nothing(shard: Shard) -> None:
    until = shard.rows.memories[B].sealed_until
    erase(shard, SUMMARY)
    shard.tick(30_000)
    made_anew(shard)
    assert result(shard) == ("consolidated", "quorum")
    assert tiers(shard) == {
        A: "gone", **dict.fromkeys((B, C, D, E), "sealed"), SUMMARY: "gone", AGAIN: "short-term"
    }  # fmt: skip
    assert {shard.rows.memories[one].sealed_until for one in (B, C, D, E)} == {until}
    assert {shard.rows.memories[one].told_by for one in (B, C, D, E)} == {AGAIN}
    assert (shard.rows.state.alive, len(shard.rows.strengths)) == (1, 1), "what rested sealed was counted off twice"
    assert shard.changes[-1].ended(Strength) == ()


def test_its_gates_are_those_of_what_is_left(shard: Shard) -> None:
    assert shard.rows.memories[SUMMARY].sensitivity_ppm == 900_000
    erase(shard, SUMMARY)
    made_anew(shard)
    assert shard.rows.memories[AGAIN].sensitivity_ppm == 100_000


def test_what_was_forgotten_by_a_vote_comes_back_by_no_summary(shard: Shard) -> None:
    """Only what rests sealed because of that very summary is summed up anew."""
    shard.episode("f", at=1_005)
    shard.decide([votes.proposal(memory_id("f"), "forget")])
    assert shard.rows.memories[memory_id("f")].tier == "sealed"
    erase(shard, SUMMARY)
    made_anew(shard, (B, C, D, memory_id("f")))
    assert result(shard) == ("voided", "gone already")
    assert shard.rows.memories[AGAIN].tier == "draft"


def test_nobody_stands_in_the_place_of_what_is_there(shard: Shard) -> None:
    shard.summary("again", (B, C, D, E), at=1_004, renews=SUMMARY)
    assert shard.rows.memories[AGAIN].renews is None, "the summary is alive"
    named = votes.proposal(AGAIN, "consolidate")
    shard.decide([replace(named, memory_ids=(AGAIN, B, C, D, E))])
    assert result(shard) == ("voided", "gone already")


def test_when_the_grace_time_is_over_nothing_is_made_anew(shard: Shard) -> None:
    erase(shard, SUMMARY)
    shard.tick(30_000)
    shard.summary("again", (B, C, D, E), at=1_004, renews=SUMMARY)
    shard.tick(20_000 + GRACE)
    assert (shard.rows.memories[AGAIN].sealed_until or 0) > 20_000 + GRACE, "it still waits"
    shard.consolidate(AGAIN, (B, C, D, E))
    assert result(shard) == ("voided", "gone already")


def test_a_hold_on_what_rests_sealed_keeps_no_summary_out(shard: Shard) -> None:
    shard.protect(protection(shard.rules.codec, "hold", B, cluster=GENESIS.cluster))
    erase(shard, SUMMARY)
    made_anew(shard)
    assert result(shard) == ("consolidated", "quorum")


def test_one_after_another(shard: Shard) -> None:
    """A renewed summary is erased with its next source, and renewed once more, of three."""
    erase(shard, SUMMARY)
    made_anew(shard)
    erase(shard, AGAIN, value=B, number=2)
    made_anew(shard, (C, D, E), renews=AGAIN, name="third")
    assert result(shard) == ("consolidated", "quorum")
    assert shard.rows.memories[memory_id("third")].renews == AGAIN
    assert shard.rows.memories[C].told_by == memory_id("third")


def test_a_draft_on_its_way_when_one_of_its_sources_is_erased_is_kept_out(shard: Shard) -> None:
    erase(shard, SUMMARY)
    erase(shard, value=B, number=2)
    change = shard.summary("again", (B, C, D, E), at=1_004, renews=SUMMARY)
    assert (change.entry.effect, AGAIN in shard.rows.memories) == ("dropped", False)
    assert shard.rows.memories[C].told_by == SUMMARY, "the next one is made in the place of the same"
    made_anew(shard, (C, D, E), name="third")
    assert result(shard) == ("consolidated", "quorum")


def test_an_order_notes_what_becomes_of_each_summary(shard: Shard) -> None:
    erase(shard, SUMMARY)
    change = shard.changes[-1]
    assert {row.memory_id: row.summary for row in change.of(ErasedRow)} == {A: None, SUMMARY: ANEW}
    (row,) = change.of(ErasureRow)
    assert (row.memories, row.summaries, row.anew) == (2, 1, 1)


def fate(shard: Shard, taken: Sequence[str], roots: Sequence[str] = (A,), erased: Sequence[str] = ()) -> str | None:
    rows = shard.rows
    return fates(taken, roots, rows.memories, {SUMMARY: SOURCES}, erased, as_of=rows.state.as_of).get(SUMMARY)


def test_what_becomes_of_a_summary(shard: Shard, codec: Codec) -> None:
    assert fate(shard, [A]) is None, "it is not among what goes"
    assert fate(shard, [A, SUMMARY]) == ANEW
    assert fate(shard, [A, B, SUMMARY]) == ANEW
    assert fate(shard, [A, B, C, SUMMARY]) == FEW
    assert fate(shard, [C, SUMMARY], [C], [A, B]) == FEW, "two were erased before"
    assert fate(shard, [SUMMARY], [SUMMARY]) == NAMED, "whoever names the summary wants it gone"
    shard.tick(20_000 + GRACE)
    assert fate(shard, [A, SUMMARY]) == OVER
    by_model = Shard(codec, GENESIS)
    for name in "abcde":
        by_model.episode(name)
    by_model.summary("sum", SOURCES, by="model/some")
    assert fate(by_model, [A, SUMMARY]) == MODEL


def test_of_what_is_alive_it_is_made_anew(codec: Codec) -> None:
    """In a namespace of strict determinism, or before the vote."""
    made = Shard(codec, GENESIS)
    for name in "abcde":
        made.episode(name)
    made.summary("sum", SOURCES)
    assert fate(made, [A, SUMMARY]) == ANEW
    assert made.rows.memories[A].namespace == NAMESPACE
