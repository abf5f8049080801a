"""The effects of an order to erase on a shard, and the records that its tombstone refuses."""

from __future__ import annotations

from typing import Any

import pytest

from memquorum import topics
from memquorum.core import intake
from memquorum.core.avro import Codec
from memquorum.core.commit import applying
from memquorum.core.identity import signatures
from memquorum.core.intake import EpisodeIntent, Origin
from memquorum.core.journal import hash_chain
from memquorum.core.journal.effects import redo
from memquorum.core.journal.replay import Replay
from memquorum.core.journal.rows import Dropped, ErasedRow, ErasureRow, Memory, Provenance, Rows, Strength
from memquorum.core.journal.tables import TABLES
from memquorum.core.records import Erased, Stored
from tests.builders import genesis, votes
from tests.builders.erased import ALL, AT, GENESIS, A, B, C, D, filled, order
from tests.builders.erasures import NAMESPACE, ORDER, accepted, among, entitled, ordered, signed
from tests.builders.genesis import seed_of
from tests.builders.shard import Shard, memory_id

NOW = 1_750_000_000_000


@pytest.fixture
def shard(codec: Codec) -> Shard:
    return Shard(codec, GENESIS)


def test_what_it_names_is_gone_and_nothing_else(shard: Shard, codec: Codec) -> None:
    filled(shard)
    before, record = shard.rows.state, order(codec)
    (change,) = shard.erase(record, among(NAMESPACE, ALL))
    entry = change.entry
    assert (entry.effect, entry.event_id, entry.namespace, entry.memory_id) == ("erased", ORDER, NAMESPACE, None)
    assert (entry.source_topic, entry.source_offset) == (topics.ACCEPTED, shard.offset)
    assert change.cursors == ((topics.ACCEPTED, shard.offset + 1),)
    tiers = {i: (m.tier, m.sealed_until) for i, m in shard.rows.memories.items()}
    assert tiers == {A: ("gone", None), B: ("gone", None), C: ("gone", None), D: ("short-term", None)}
    assert set(shard.rows.strengths) == {D}
    # B had no strength any more: it was sealed.
    assert set(change.ended(Strength)) == {A, C}
    assert (shard.rows.state.alive, before.alive) == (1, 3)
    assert shard.rows.state.interactions == before.interactions
    assert (shard.rows.state.unattested, before.unattested) == (1, 0)
    assert not shard.work.net().of(Dropped)
    assert {one.was for one in change.of(ErasedRow)} == set(ALL.values())
    detail = codec.decode_as(Erased, entry.detail)
    assert (detail.part, detail.parts, detail.accepted_at, detail.residue_until) == (0, 1, AT, AT + 1_000)
    assert change.one(ErasureRow) == ErasureRow(
        0, NAMESPACE, ORDER, "subject", "ada", "operator", "ada", "ticket-7", 5_000, record.order, AT,
        shard.offset, entry.seq, entry.seq, 3, 5, AT + 1_000,
    )  # fmt: skip


def test_an_order_of_many_has_entries_in_a_row_and_its_counts_add_up(shard: Shard, codec: Codec) -> None:
    filled(shard)
    changes = shard.erase(order(codec), among(NAMESPACE, ALL), most=2)
    parts = [codec.decode_as(Erased, change.entry.detail) for change in changes]
    assert [(part.part, part.parts, len(part.episodes)) for part in parts] == [(0, 3, 2), (1, 3, 2), (2, 3, 1)]
    assert [one.memory_id for part in parts for one in part.episodes] == sorted(memory_id(name) for name in ALL)
    (row,) = shard.work.net().of(ErasureRow)
    assert (row.first_seq, row.last_seq) == (changes[0].entry.seq, changes[2].entry.seq)
    assert (row.memories, row.episodes) == (3, 5)
    assert shard.rows.state.unattested == 1


def test_an_order_that_names_nothing_says_so(shard: Shard, codec: Codec) -> None:
    (change,) = shard.erase(order(codec), [])
    assert codec.decode_as(Erased, change.entry.detail).episodes == ()
    assert change.one(ErasureRow) is not None and (
        change.one(ErasureRow).memories,
        change.one(ErasureRow).episodes,
    ) == (0, 0)


def test_the_same_order_again_changes_nothing(shard: Shard, codec: Codec) -> None:
    filled(shard)
    shard.erase(order(codec), among(NAMESPACE, ALL))
    state = shard.rows.state
    (change,) = shard.erase(order(codec, at=9_000), [], repeated=True)
    assert (change.entry.effect, change.one(ErasureRow), change.of(Memory)) == ("repeated", None, ())
    assert shard.rows.state.alive == state.alive


@pytest.mark.parametrize(
    ("said", "out"),
    [
        ({"subject": "ada"}, True),
        ({"subject": "ada", "at": AT + 1}, False),
        ({"agent": "ada", "subject": "grace"}, False),
        ({"subject": "ada", "namespace": "acme"}, False),
        # A memory made of an erased one is refused whenever it occurred; one made of others, or of another agent's, is
        # accepted.
        ({"derives_from": (D, A), "at": AT + 1}, True),
        ({"derives_from": (C,)}, True),
        ({"derives_from": (memory_id("echo"),)}, True),
        ({"derives_from": (D, memory_id("nowhere"))}, False),
        ({"derives_from": (A,), "namespace": "acme"}, False),
        # It was judged while A was there, and says nearly the same.
        ({"outcome": "reinforced", "reinforces": A}, True),
        ({"outcome": "reinforced", "reinforces": A, "at": AT + 1}, False),
    ],
)
def test_what_comes_late_stays_out(shard: Shard, codec: Codec, said: dict[str, Any], out: bool) -> None:
    filled(shard)
    shard.erase(order(codec), among(NAMESPACE, ALL))
    change = shard.episode("late", **said)
    own = memory_id("late", said.get("namespace", NAMESPACE))
    detail = codec.decode_as(Stored, change.entry.detail)
    assert (detail.outcome == "erased") is out
    assert [one.memory_id for one in change.of(ErasedRow)] == ([own] if out else [])
    if out:
        assert (change.entry.effect, change.entry.memory_id, change.revealed) == ("dropped", own, None)
        assert change.one(Dropped) is None  # no grace time
        assert shard.rows.events[NAMESPACE, "late"].outcome == "erased"
        # And so does what is made of it.
        later = shard.episode("later", derives_from=(own,), at=AT + 1)
        assert codec.decode_as(Stored, later.entry.detail).outcome == "erased"
    else:
        assert change.entry.effect == "stored"


@pytest.mark.parametrize(
    ("selector", "value", "said"),
    [
        ("agent", "planner", {}),
        ("source", "feed", {"source": "feed"}),
        ("namespace", "", {}),
        ("memory", memory_id("late"), {}),
        ("memory", memory_id("never seen"), {"derives_from": (memory_id("never seen"),)}),
    ],
)
def test_every_selector_keeps_out(shard: Shard, codec: Codec, selector: str, value: str, said: dict[str, Any]) -> None:
    shard.erase(order(codec, selector, value), [])
    assert codec.decode_as(Stored, shard.episode("late", **said).entry.detail).outcome == "erased"
    assert shard.episode("new", at=AT + 1, agent="reviewer").entry.effect == "stored"


OLD = "episodic,social before 1970-01-01T00:00:02.000Z"


@pytest.mark.parametrize(
    ("said", "out"),
    [
        ({"at": 1_999}, True),
        ({"at": 2_000}, False),
        ({"at": 1_999, "type": "social"}, True),
        ({"at": 1_999, "type": "task"}, False),
        ({"at": 1_999, "namespace": "acme"}, False),
        # A row whose key was destroyed before: it would have been taken.
        ({"at": AT + 1, "derives_from": (A,)}, True),
        ({"at": AT + 1, "derives_from": (B,)}, False),
    ],
)
def test_an_order_by_age_keeps_out_what_is_as_old(shard: Shard, codec: Codec, said: dict[str, Any], out: bool) -> None:
    shard.tick(1_000)
    for name, at in (("a", 1_000), ("b", 2_500)):
        shard.episode(name, at=at)
    shard.decide([votes.proposal(A, "forget"), votes.proposal(B, "forget")])
    shard.tick(2_000)
    shard.destroy(A)
    shard.destroy(B)
    shard.erase(order(codec, "age", OLD), [])
    # One that says less takes nothing back, and one of before its time is about what has occurred.
    shard.erase(order(codec, "age", "social before 1970-01-01T00:00:01.000Z", order_id=memory_id("another")), [])
    found = codec.decode_as(Stored, shard.episode("late", **said).entry.detail).outcome
    assert (found == "erased") is out


def test_what_is_said_again_later_than_what_went_by_its_age_comes_in(shard: Shard, codec: Codec) -> None:
    """It was judged while that was there: it was to make it stronger, and is a memory of its own."""
    shard.tick(1_000)
    shard.episode("a")
    shard.erase(order(codec, "age", OLD), among(NAMESPACE, {"a": "short-term"}))
    again = {"outcome": "reinforced", "reinforces": A}
    assert codec.decode_as(Stored, shard.episode("old", at=1_999, **again).entry.detail).outcome == "erased"
    assert shard.episode("new", at=2_000, **again).entry.effect == "stored"


def test_an_order_by_age_keeps_out_no_summary_of_others(shard: Shard, codec: Codec) -> None:
    """Its sources are of another type: it is made again, however old its sentences are."""
    shard.tick(1_000)
    said = [memory_id(f"said {k}") for k in range(3)]
    for at in range(3):
        shard.episode(f"said {at}", type="task")
    shard.erase(order(codec, "age", OLD), [])
    change = shard.summary("sum", said)
    assert change.entry.effect == "drafted"


def test_what_is_made_of_one_that_was_gone_before_stays_out(shard: Shard, codec: Codec) -> None:
    shard.tick(1_000)
    shard.episode("a", subject="ada")
    shard.decide([votes.proposal(A, "forget")])
    shard.tick(2_000)
    shard.destroy(A)
    shard.erase(order(codec), [])
    assert codec.decode_as(Stored, shard.episode("late", derives_from=(A,)).entry.detail).outcome == "erased"


def test_a_replay_reaches_the_same_rows(shard: Shard, codec: Codec) -> None:
    filled(shard)
    shard.erase(order(codec), among(NAMESPACE, ALL), most=2)
    shard.episode("late", subject="ada")
    shard.erase(order(codec), [], repeated=True)
    net = shard.work.net()
    for size in (1, 4, 100):
        replay = Replay(shard.rules, 0)
        reads = [replay.read(codec.encode(change.appended)) for change in shard.changes]
        steps = [replay.take(reads[at : at + size]) for at in range(0, len(reads), size)]
        assert replay.state == shard.rows.state
        assert [row for step in steps for row in step.net.of(ErasedRow)] == list(net.of(ErasedRow))
        assert [row for step in steps for row in step.net.of(Provenance)] == list(net.of(Provenance))
        rows = [row for step in steps for row in step.net.of(ErasureRow)]
        total = rows[0]
        for part in rows[1:]:
            total = TABLES[ErasureRow].plus(total, part)
        assert total == net.of(ErasureRow)[0]


def test_another_namespaces_memory_is_never_taken(shard: Shard, codec: Codec) -> None:
    beside = next(n for n in ("n0", "n1", "n2", "n3", "n4", "n5", "n6", "n7") if n != NAMESPACE)
    shard.episode("x", namespace=beside)
    with pytest.raises(hash_chain.BrokenChain, match="another namespace"):
        shard.erase(order(codec), among(beside, {"x": "short-term"}))


def test_an_order_that_does_not_hold_is_not_redone(shard: Shard, codec: Codec) -> None:
    said = ordered(GENESIS)
    forged = accepted(said, signed(codec, GENESIS, said, seed=genesis.seed_of("member:0")), AT)
    assert "the signature is not operator" in (applying.unfit(codec, GENESIS, forged) or "")
    with pytest.raises(hash_chain.BrokenChain, match="signature"):
        shard.erase(forged, [])
    other = accepted(ordered(GENESIS, namespace="acme"), signed(codec, GENESIS, said), AT)
    assert "is not" in (applying.unfit(codec, GENESIS, other) or "")
    assert applying.unfit(codec, GENESIS, order(codec)) is None


def test_a_journals_entry_is_redone_from_its_bytes(shard: Shard, codec: Codec) -> None:
    filled(shard)
    rows = Rows(shard.rows.state, dict(shard.rows.memories), dict(shard.rows.strengths))
    (change,) = shard.erase(order(codec), among(NAMESPACE, ALL))
    assert redo(shard.rules, rows, change.appended) == change


def test_what_was_erased_stays_out_when_somebody_publishes_its_signed_bytes_again(codec: Codec) -> None:
    strict = genesis.make(**entitled())
    said = b'{"namespace": "greenhouse", "agent": "planner", "content": "ada has diabetes", "subject": "ada"}'
    signature = signatures.sign(strict.cluster, topics.EPISODES, seed_of("agent:planner"), said)
    made = Shard(codec, strict)
    for offset in (5, 9):
        # It comes without a time of its own, long after the order.
        origin, now = Origin(topics.EPISODES, 0, offset, NOW + offset), NOW + offset
        intent = intake.accept(codec, said, origin, now, False, genesis=strict, signature=signature)
        assert isinstance(intent, EpisodeIntent)
        change = made.episode(intent.event_id, intent.occurred_at, subject=intent.subject)
        if offset == 5:
            gone = ordered(strict)
            record = accepted(gone, signed(codec, strict, gone), NOW + 7)
            made.erase(record, among(NAMESPACE, {intent.event_id: "short-term"}))
    assert (change.entry.effect, made.rows.state.alive) == ("repeated", 0)
