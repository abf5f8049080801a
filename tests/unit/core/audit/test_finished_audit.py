"""The audit judges finished tasks and feedback again: who holds the journal's key and lies about them is found."""

from __future__ import annotations

import pytest

from memquorum.core.audit.findings import Kind
from memquorum.core.avro import Codec
from memquorum.core.records import Assessed
from tests.builders.published import GENESIS, Published, kinds, publish
from tests.builders.shard import Shard, memory_id

A, B, T = (memory_id(name) for name in "abt")
FINISHED, AGAIN, REPEATED, ASSESSED, UNFOUNDED = 2, 3, 4, 5, 6  # counted from 0


@pytest.fixture
def public(codec: Codec) -> Published:
    shard = Shard(codec, GENESIS)
    shard.episode("a")
    shard.episode("b")
    shard.task("t", [A])
    shard.task("t", [A], "failed")
    shard.task("t", [A])
    shard.feedback(T, [A])
    shard.feedback(T, [B])
    shard.feedback(T, [A], event_id="feedback-6")
    return publish(shard)


def test_what_is_true_is_found_to_be(public: Published) -> None:
    assert kinds(public.audit(store=True, accepted=True)) == []


@pytest.mark.parametrize(("at", "effect"), [
    (FINISHED, "stored"), (AGAIN, "repeated"), (AGAIN, "finished"), (REPEATED, "contradicted"),
    (ASSESSED, "unfounded"), (UNFOUNDED, "assessed"),
])  # fmt: skip
def test_another_effect_is_found(public: Published, at: int, effect: str) -> None:
    public.rewrite(at, effect=effect)
    found = public.audit().findings
    assert (found[0].kind, found[0].seq) == (Kind.EFFECT_IMPOSSIBLE, at + 1)


def test_feedback_that_was_turned_is_found(public: Published) -> None:
    told: Assessed = public.detail(UNFOUNDED)
    public.forge(UNFOUNDED, Assessed(told.agent, told.helped, told.did_not_help, told.given_at, "never mind"))
    assert kinds(public.audit())[0] == Kind.EFFECT_IMPOSSIBLE
    public.forge(ASSESSED, Assessed("eve", (), (A,), told.given_at))
    assert Kind.RECORD_CONTRADICTED in kinds(public.audit(accepted=True))


@pytest.mark.parametrize(("table", "column", "value"), [
    ("task", "outcome", "failed"), ("task", "retrieved", [B]), ("feedback", "helped", False),
    ("experience", "encoder", "x"),
])  # fmt: skip
def test_a_row_that_was_changed_is_found(public: Published, table: str, column: str, value: object) -> None:
    public.tables[table][0][column] = value
    assert kinds(public.audit(store=True)) == [Kind.ROW_ALTERED]
    public.tables[table].pop()
    assert Kind.ROW_MISSING in kinds(public.audit(store=True))
