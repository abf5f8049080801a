"""A vote takes the general form of a memory into experience, at a share of the other's weight."""

from __future__ import annotations

from typing import Any

import pytest

from memquorum.core.avro import Codec
from memquorum.core.journal.rows import AdmissionRow, Change, Memory, WeightRow
from memquorum.core.policy import PPM
from memquorum.core.records import Decided
from tests.builders import genesis, trials, votes
from tests.builders.published import POLICY, kinds, publish
from tests.builders.shard import Shard, memory_id
from tests.builders.trials import experienced, rebuilt

GENESIS = genesis.make(policy=POLICY, **trials.entitled())
A, B, D, FORM = (memory_id(name) for name in ("a", "b", "d", "form"))


@pytest.fixture
def shard(codec: Codec) -> Shard:
    """A and B are admitted, D is not; the general form of A waits for its vote."""
    made = experienced(codec, GENESIS, "ab", outside="d")
    made.general("form", A)
    return made


def decide(into: Shard) -> Change:
    return trials.idle(into, D)


def generalise(into: Shard, form: str, of: str, vote: votes.Vote = votes.everybody, *, opened: bool = True) -> Change:
    into.tick(into.rows.state.as_of + 1)
    return into.generalise(form, of, vote, opened=opened)


def stands(into: Shard, memory: str) -> tuple[Any, ...]:
    one = into.rows.admissions[memory]
    return one.status, one.version, one.weight_ppm, one.gains, one.losses


def result(into: Shard, change: Change) -> tuple[str, str]:
    detail = into.rules.codec.decode_as(Decided, change.entry.detail)
    return detail.results[0].outcome, detail.results[0].reason


def test_it_waits_as_a_draft_and_is_a_memory_of_experience_at_half_of_the_weight(shard: Shard) -> None:
    row = shard.rows.memories[FORM]
    assert (row.tier, row.general_of, row.made_by) == ("draft", A, None) and FORM not in shard.rows.strengths
    change = generalise(shard, FORM, A)
    assert result(shard, change)[0] == "generalised"
    (row,) = change.of(Memory)
    assert (row.id, row.tier, row.general_of, row.fades) == (FORM, "short-term", A, False)
    (weight,) = change.of(WeightRow)
    assert (weight.memory_id, weight.version, weight.weight_ppm, weight.cause) == (FORM, 1, PPM // 2, "general")
    assert stands(shard, FORM) == ("admitted", 1, PPM // 2, 0, 0), "it has no evidence of its own"
    assert stands(shard, A) == ("admitted", 1, PPM, 3, 0) and shard.rows.strengths.keys() >= {A, FORM}
    assert shard.rows.state.alive == 4


def test_it_is_a_share_of_what_the_other_weighs_once_the_same_decision_has_counted_its_uses(shard: Shard) -> None:
    shard.task("t", (A,))
    change = generalise(shard, FORM, A)
    told = [(row.memory_id, row.version, row.weight_ppm, row.cause) for row in change.of(WeightRow)]
    assert told == [(A, 2, PPM + 100_000, "used"), (FORM, 1, PPM // 2 + 50_000, "general")]


def test_what_comes_of_its_use_moves_it_alone_and_what_was_before_does_not(shard: Shard) -> None:
    shard.task("before", (FORM,))
    generalise(shard, FORM, A)
    shard.task("own", (FORM,))
    shard.task("other", (A,))
    decide(shard)
    assert stands(shard, FORM) == ("admitted", 2, PPM // 2 + 100_000, 1, 0)
    assert stands(shard, A)[1:3] == (2, PPM + 100_000)
    shard.feedback(memory_id("own"), (), (FORM,))
    decide(shard)
    assert stands(shard, FORM) == ("admitted", 3, PPM // 2 - 150_000, 0, 1)


@pytest.mark.parametrize("case", ["kept", "of another", "not in experience", "sealed", "unread", "twice"])
def test_what_is_no_general_form_of_it_or_comes_too_late_leaves_all_as_it_was(shard: Shard, case: str) -> None:
    form, of = FORM, A
    if case == "of another":
        of = B
    if case == "not in experience":
        shard.general("of d", D)
        form, of = memory_id("of d"), D
    if case == "sealed":
        shard.decide([votes.proposal(A, "forget")])
    if case == "twice":
        generalise(shard, FORM, A)
    before = dict(shard.rows.admissions)
    vote = votes.nobody if case == "kept" else votes.everybody
    change = generalise(shard, form, of, vote, opened=case != "unread")
    wanted = {
        "of another": "not its general form", "not in experience": "its memory not in experience",
        "sealed": "gone already", "unread": "unreadable", "twice": "not its general form",
    }  # fmt: skip
    told = result(shard, change)
    assert told == (("kept", told[1]) if case == "kept" else ("voided", wanted[case]))
    assert not change.of(WeightRow) and not change.of(AdmissionRow) and not change.of(Memory)
    assert shard.rows.admissions == before


def test_a_memory_has_one_general_form_and_no_second_one(shard: Shard) -> None:
    shard.general("second", A)
    generalise(shard, FORM, A)
    assert shard.rows.admissions[A].general == FORM
    change = generalise(shard, memory_id("second"), A)
    assert result(shard, change) == ("voided", "not its general form")
    assert kinds(publish(shard).audit(store=True, accepted=True)) == []


def test_it_is_forgotten_as_any_other_and_leaves_the_other_where_it_is(shard: Shard) -> None:
    generalise(shard, FORM, A)
    shard.decide([votes.proposal(FORM, "forget")])
    assert shard.rows.memories[FORM].tier == "sealed" and A in shard.rows.strengths


def history(shard: Shard) -> Shard:
    """A general form comes in, is used, and the other loses what it had."""
    shard.task("first", (A, B))
    generalise(shard, FORM, A)
    shard.task("own", (FORM, A))
    shard.feedback(memory_id("own"), (FORM,), (A,))
    decide(shard)
    return shard


@pytest.mark.parametrize("size", [1, 2, 100])
def test_a_rebuild_finds_the_same_however_it_takes_the_journal(shard: Shard, size: int) -> None:
    history(shard)
    found, stand, _ = rebuilt(shard, size)
    assert found == [row for change in shard.changes for row in change.of(WeightRow)]
    assert stand == shard.rows.admissions


def test_an_audit_counts_the_same_and_finds_a_weight_that_is_no_share(shard: Shard) -> None:
    public = publish(history(shard))
    assert kinds(public.audit(store=True, accepted=True)) == []
    row = next(one for one in public.tables["weight"] if one["memory_id"] == FORM and one["version"] == 1)
    row["weight_ppm"] += 1
    assert kinds(public.audit(store=True, accepted=True)) != []
