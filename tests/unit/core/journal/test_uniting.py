"""A vote lets one memory of experience stand for others, with what came of using them; all stay memories."""

from __future__ import annotations

import random
from typing import Any

import pytest

from memquorum.core.avro import Codec
from memquorum.core.consensus.certificate import BadCertificate
from memquorum.core.experience.weights import Evidence, read_evidence
from memquorum.core.journal.rows import AdmissionRow, Change, Memory, WeightRow
from memquorum.core.policy import PPM
from memquorum.core.records import Decided, Proposal
from tests.builders import genesis, trials, votes
from tests.builders.published import POLICY, kinds, publish
from tests.builders.shard import NAMESPACE, Shard, memory_id
from tests.builders.trials import experienced, rebuilt

GENESIS = genesis.make(policy=POLICY, **trials.entitled())
A, B, C, D = (memory_id(name) for name in "abcd")


@pytest.fixture
def shard(codec: Codec) -> Shard:
    """A, B and C are admitted; D is not."""
    return experienced(codec, GENESIS, "abc", outside="d")


def unite(into: Shard, *names: str, vote: votes.Vote = votes.everybody) -> Change:
    into.tick(into.rows.state.as_of + 1)
    return into.decide([Proposal(names, NAMESPACE, "unite", "twins", 0, 0, 0)], vote)


def decide(into: Shard) -> Change:
    return trials.idle(into, D)


def stands(into: Shard, memory: str) -> tuple[Any, ...]:
    return trials.stands(into, memory, "merged_into", "merged_at")


def result(into: Shard, change: Change) -> tuple[str, str]:
    detail = into.rules.codec.decode_as(Decided, change.entry.detail)
    return detail.results[0].outcome, detail.results[0].reason


def test_the_first_stands_for_the_other_which_keeps_its_own_standing(shard: Shard) -> None:
    change = unite(shard, A, B)
    assert result(shard, change)[0] == "united"
    (row,) = change.of(WeightRow)
    assert (row.memory_id, row.version, row.weight_ppm, row.cause, row.evidence) == (A, 2, PPM, "merged", "[]")
    assert stands(shard, A) == ("admitted", 2, PPM, None, 0)
    assert stands(shard, B) == ("admitted", 1, PPM, A, 5) and stands(shard, C) == ("admitted", 1, PPM, None, 0)
    assert not change.of(Memory) and {A, B, C} <= shard.rows.strengths.keys(), "the memories are as before"


def test_three_become_one_pair_by_pair_since_whoever_left_meanwhile_would_keep_the_others_apart(shard: Shard) -> None:
    with pytest.raises(BadCertificate, match="3 memories in a proposal to unite, which takes 2"):
        unite(shard, A, B, C)
    unite(shard, A, B)
    unite(shard, A, C)
    assert stands(shard, B)[3:] == (A, 5) and stands(shard, C)[3:] == (A, 6)


def test_what_came_of_using_the_others_moves_the_first_and_no_task_counts_twice(shard: Shard) -> None:
    shard.task("both", (A, B))
    shard.feedback(memory_id("both"), (B,), (A,))
    shard.task("other", (B,))
    shard.feedback(memory_id("other"), (), (B,), event_id="harm")
    decide(shard)
    assert stands(shard, A)[2] == PPM - 150_000 and stands(shard, B)[2] == PPM + 100_000 - 150_000
    (row,) = unite(shard, A, B).of(WeightRow)
    assert read_evidence(row.evidence) == (Evidence(memory_id("other"), -PPM, 1),)
    assert row.weight_ppm == PPM - 150_000 - 150_000, "harm in the one, by its own use, and in the other"
    assert (row.gains, row.losses) == (3, 2)
    assert not unite(shard, A, C).of(WeightRow)[0].weight_ppm - row.weight_ppm


def test_what_is_said_later_of_a_task_that_both_were_given_takes_the_place_of_what_was_counted(shard: Shard) -> None:
    tasks = [f"t{at}" for at in range(4)]
    for name in tasks:
        shard.task(name, (A, B))
        shard.feedback(memory_id(name), (A,), (B,))
    decide(shard)
    unite(shard, A, B)
    for name in tasks:
        shard.feedback(memory_id(name), (), (A,), event_id=f"{name}, anew")
    decide(shard)
    row = shard.rows.admissions[A]
    assert (row.weight_ppm, row.gains, row.losses) == (PPM - 4 * 150_000, 3, 4), "as if it had been said at once"


@pytest.mark.parametrize("seed", range(6))
def test_gains_and_losses_are_never_fewer_than_none_and_an_audit_counts_the_same(shard: Shard, seed: int) -> None:
    lot = random.Random(seed)
    for at in range(4):
        shard.task(f"t{at}", lot.sample((A, B, C), lot.randint(2, 3)), lot.choice(("succeeded", "failed", "unknown")))
    for at in range(12):
        for word in range(4):
            helped = {one for one in (A, B, C) if lot.random() < 0.5}
            told = (*helped,), (*{A, B, C} - helped,)
            shard.feedback(memory_id(f"t{word}"), *told, event_id=f"word {word} of {at}")
        unite(shard, *lot.sample((A, B, C), 2))
        assert all(row.gains >= 0 and row.losses >= 0 for row in shard.rows.admissions.values())
    assert kinds(publish(shard).audit(store=True, accepted=True)) == []


def test_uses_that_the_same_decision_counts_come_first(shard: Shard) -> None:
    shard.task("t", (A,))
    shard.task("u", (B,))
    change = unite(shard, A, B)
    told = [(row.memory_id, row.version, row.weight_ppm, row.cause) for row in change.of(WeightRow)]
    assert (A, 2, PPM + 100_000, "used") in told and (B, 2, PPM + 100_000, "used") in told
    assert told[-1] == (A, 3, PPM + 200_000, "merged")
    assert sorted(row.memory_id for row in change.of(AdmissionRow)) == sorted((A, B)), "each stands in one way"
    assert stands(shard, B) == ("admitted", 2, PPM + 100_000, A, 5)


def test_a_use_of_what_another_stands_for_still_moves_its_own_weight(shard: Shard) -> None:
    unite(shard, A, B)
    shard.task("u", (B,))
    assert [(row.memory_id, row.version) for row in decide(shard).of(WeightRow)] == [(B, 2)]
    assert stands(shard, B) == ("admitted", 2, PPM + 100_000, A, 5)


def test_what_stays_in_a_later_vote_has_nothing_that_stands_for_it(shard: Shard) -> None:
    unite(shard, A, B)
    unite(shard, B, C)
    assert stands(shard, B) == ("admitted", 2, PPM, None, 0) and stands(shard, C)[3:] == (B, 6)


@pytest.mark.parametrize("case", ["not admitted", "sealed", "kept"])
def test_what_is_not_in_experience_or_gone_is_voided_and_what_members_keep_stays(shard: Shard, case: str) -> None:
    if case == "sealed":
        shard.tick(shard.rows.state.as_of + 1)
        shard.decide([votes.proposal(B, "forget")])
    names = (A, D) if case == "not admitted" else (A, B)
    change = unite(shard, *names, vote=votes.nobody if case == "kept" else votes.everybody)
    wanted = {"not admitted": ("voided", "not all in experience"), "sealed": ("voided", "gone already")}
    assert result(shard, change) == wanted.get(case, ("kept", result(shard, change)[1]))
    assert not change.of(WeightRow) and not change.of(AdmissionRow)
    assert stands(shard, A) == ("admitted", 1, PPM, None, 0)
    rests = shard.rows.strengths[A].rest.get("unite", 0) > shard.rows.state.last_epoch
    assert rests == (case == "kept"), "what members keep apart is not proposed again at once"


def history(shard: Shard) -> Shard:
    """A's uses and B's, a vote, and further uses and another vote."""
    for at in range(3):
        shard.task(f"t{at}", (A, B) if at else (B,))
        shard.feedback(memory_id(f"t{at}"), (A,) if at == 1 else (), (B,) if at < 2 else ())
    unite(shard, A, B)
    shard.task("later", (A, B, C))
    shard.feedback(memory_id("t1"), (), (A,), event_id="anew")
    decide(shard)
    unite(shard, C, A)
    unite(shard, C, B)
    return shard


@pytest.mark.parametrize("size", [1, 2, 5, 100])
def test_a_rebuild_finds_the_same_however_it_takes_the_journal(shard: Shard, size: int) -> None:
    history(shard)
    found, stand, _ = rebuilt(shard, size)
    assert found == [row for change in shard.changes for row in change.of(WeightRow)]
    assert stand == {i: shard.rows.admissions[i] for i in (A, B, C)}


def test_an_audit_counts_the_same_and_finds_a_row_that_says_otherwise(shard: Shard) -> None:
    public = publish(history(shard))
    assert kinds(public.audit(store=True, accepted=True)) == []
    row = next(one for one in public.tables["admission"] if one["memory_id"] == B)
    assert row["merged_into"] == C
    row["merged_into"] = None
    assert kinds(public.audit(store=True, accepted=True)) != []


FORMS = tuple(memory_id(f"form {name}") for name in "abc")


@pytest.fixture
def family(shard: Shard) -> Shard:
    """A, B and C have each a general form in experience; B helped in a task."""
    for name, form in zip((A, B, C), FORMS, strict=True):
        shard.general(f"form {'abc'[FORMS.index(form)]}", name)
        shard.tick(shard.rows.state.as_of + 1)
        shard.generalise(form, name)
    shard.task("of b", (B,))
    shard.feedback(memory_id("of b"), (B,))
    decide(shard)
    return shard


def represent(into: Shard) -> Change:
    into.tick(into.rows.state.as_of + 1)
    return into.decide([Proposal((FORMS[0], A, B, C), NAMESPACE, "unite", "family", 0, 0, 0)])


def test_a_general_form_stands_for_its_family_with_what_came_of_using_it(family: Shard) -> None:
    before = stands(family, FORMS[0])
    change = represent(family)
    assert result(family, change)[0] == "united"
    assert {stands(family, one)[3] for one in (A, B, C)} == {FORMS[0]} and stands(family, FORMS[0])[3] is None
    (row,) = change.of(WeightRow)
    assert (row.memory_id, row.cause, row.weight_ppm) == (FORMS[0], "merged", before[2] + 100_000)
    assert read_evidence(row.evidence) == (Evidence(memory_id("of b"), PPM, 1),)
    assert not change.of(Memory) and {A, B, C} <= family.rows.strengths.keys(), "the lessons are as before"


def test_an_audit_and_a_rebuild_count_a_family_the_same(family: Shard) -> None:
    represent(family)
    decide(family)
    assert kinds(publish(family).audit(store=True, accepted=True)) == []
    assert rebuilt(family, 1)[1] == rebuilt(family, 100)[1] and rebuilt(family, 3)[1][A].merged_into == FORMS[0]
