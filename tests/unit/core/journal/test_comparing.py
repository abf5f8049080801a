"""A model's comparisons of pairs of memories: whose they are, of which memories, each pair once; they open no vote."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from memquorum.core.avro import Codec
from memquorum.core.commit import applying
from memquorum.core.identity.membership import CONSOLIDATOR
from memquorum.core.journal.grounds import NOTHING
from memquorum.core.journal.rows import Change, Conflict
from memquorum.core.orders.compare import COMPARE, COMPARISONS_MOST, NUMBER_MOST, SIGNER
from memquorum.core.orders.envelope import BadOrder
from memquorum.core.records import Compared, Comparison, ErasedEpisode
from tests.builders import comparisons, erasures
from tests.builders import genesis as cluster
from tests.builders.published import POLICY, kinds, publish
from tests.builders.shard import NAMESPACE, Shard, memory_id

ENTITLED = erasures.entitled()
KEYS = {**ENTITLED["agent_keys"], CONSOLIDATOR: cluster.public_key(SIGNER)}
GENESIS = cluster.make(policy=POLICY, **{**ENTITLED, "agent_keys": KEYS})
A, B, C, ELSEWHERE = memory_id("a"), memory_id("b"), memory_id("c"), memory_id("x", "elsewhere")


@pytest.fixture
def shard(codec: Codec) -> Shard:
    made = Shard(codec, GENESIS)
    made.tick(900)
    made.episode("a", 500)
    made.episode("b", 600)
    made.episode("c", 700, contradicts=(A,))
    return made


def compared(shard: Shard, newer: str, *older: tuple[str, tuple[int, ...]], **said: Any) -> Change:
    codec = shard.rules.codec
    return shard.protect(comparisons.accepted(codec, GENESIS, comparisons.wanted(GENESIS, newer, *older, **said)))


def applied(change: Change, codec: Codec) -> tuple[int, ...]:
    return codec.decode_as(Compared, change.entry.detail).applied


def test_what_is_overtaken_is_a_row_with_numbers_and_no_words(shard: Shard, codec: Codec) -> None:
    change = compared(shard, C, (B, (1, 3)))
    assert change.entry.effect == "compared" and applied(change, codec) == (0,)
    (row,) = change.of(Conflict)
    assert (row.newer, row.older, row.statements, row.stated, row.compared) == (C, B, (1, 3), False, True)
    assert kinds(publish(shard).audit(store=True, accepted=True)) == []


def test_where_nothing_is_overtaken_there_is_a_row_only_beside_what_rules_found(shard: Shard, codec: Codec) -> None:
    change = compared(shard, C, (B, ()), (A, ()))
    assert applied(change, codec) == (0, 1)
    (row,) = change.of(Conflict)
    assert (row.older, row.statements) == (A, ())
    assert kinds(publish(shard).audit(store=True, accepted=True)) == []


def test_a_pair_is_compared_once_whatever_the_model_says_the_next_time(shard: Shard, codec: Codec) -> None:
    compared(shard, C, (B, (1,)))
    again = compared(shard, C, (B, (1,)))
    assert again.entry.effect == "repeated" and not again.of(Conflict)
    other = compared(shard, C, (B, (2,)), (A, (1,)))
    assert applied(other, codec) == (1,) and [one.older for one in other.of(Conflict)] == [A]
    assert kinds(publish(shard).audit(store=True, accepted=True)) == []


def test_what_is_gone_is_nothing_that_a_model_speaks_of(shard: Shard, codec: Codec) -> None:
    row = shard.rows.memories[B]
    gone = [ErasedEpisode(B, row.tier, row.commitment, None)]
    order = erasures.ordered(GENESIS, "memory", B, order_id=memory_id("order", "orders"))
    shard.erase(erasures.accepted(order, erasures.signed(codec, GENESIS, order), 25_000), gone)
    assert applied(compared(shard, C, (B, (1,)), (A, (2,))), codec) == (1,)
    assert applied(compared(shard, B, (A, (1,))), codec) == ()
    assert applied(compared(shard, C, (ELSEWHERE, (1,))), codec) == ()


def test_it_opens_no_vote_and_is_no_ground(shard: Shard) -> None:
    before = shard.rows.state.contested_at, dict(shard.rows.grounds)
    change = compared(shard, C, (B, (1,)))
    assert (change.state.contested_at, dict(shard.rows.grounds)) == before
    assert shard.rows.grounds.get(B, NOTHING).newer == frozenset()


def test_nobody_else_says_what_a_model_answered(codec: Codec) -> None:
    order = comparisons.wanted(GENESIS, C, (B, (1,)))
    for signer in ("operator", "agent:planner"):
        with pytest.raises(BadOrder, match="only consolidator may give"):
            COMPARE.make(codec, GENESIS, signer, cluster.seed_of(signer), order)
    with pytest.raises(BadOrder, match="only consolidator may give"):
        COMPARE.make(codec, GENESIS, SIGNER, cluster.seed_of(SIGNER), replace(order, ordered_by="anna"))


MANY = tuple(Comparison(memory_id(f"m{at}"), ()) for at in range(COMPARISONS_MOST + 1))


@pytest.mark.parametrize(
    "changes",
    [
        {"comparisons": ()},
        {"comparisons": MANY},
        {"comparisons": (Comparison(B, ()), Comparison(B, ()))},
        {"comparisons": (Comparison(C, ()),)},
        {"comparisons": (Comparison("x", ()),)},
        {"comparisons": (Comparison(B, (0,)),)},
        {"comparisons": (Comparison(B, (NUMBER_MOST + 1,)),)},
        {"comparisons": (Comparison(B, (2, 1)),)},
        {"comparisons": (Comparison(B, (1, 1)),)},
        {"newer": "x"},
        {"by": " "},
    ],
    ids=str,
)
def test_what_is_no_such_word_is_refused(codec: Codec, changes: dict[str, Any]) -> None:
    with pytest.raises(BadOrder):
        order = replace(comparisons.wanted(GENESIS, C, (B, (1,))), **changes)
        COMPARE.make(codec, GENESIS, SIGNER, cluster.seed_of(SIGNER), order)


def test_the_audit_knows_which_apply(shard: Shard, codec: Codec) -> None:
    order = comparisons.wanted(GENESIS, C, (B, (1,)), (A, (1,)))
    record = comparisons.accepted(codec, GENESIS, order)
    place = shard._place(record)
    detail = Compared(record.order, record.accepted_at, (1,))
    with pytest.raises(Exception, match="the places that apply are not"):
        applying.apply_entry(
            shard.rules, shard.rows, place, effect="compared", detail=detail, event_id=record.event_id,
            namespace=NAMESPACE,
        )  # fmt: skip
