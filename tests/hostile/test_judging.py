"""The checks of the command on a run: each rule broken by hand is reported as a problem."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from memquorum.core.policy import PPM
from tests.hostile import cellar, judge, memories, school
from tests.hostile.drive import liars_of
from tests.hostile.judge import LIAR, LIMIT_S, Met
from tests.hostile.memories import Epoch
from tests.hostile.table import page
from tests.hostile.watch import Decision

HONEST = {0, 2, 3}
NOBODY, ALL, DIVIDED, ONE = 0b0000, 0b1111, 0b0101, 0b1001


def epochs(wanted_by: int, kind: str = "forget") -> Any:
    return {0: (Epoch(("m",), (wanted_by,), kind),)}


def certificates(
    outcome: str, wanted_by: int, *members: int, lies: int | None = None
) -> dict[tuple[int, int], Decision]:
    """A certificate of these members' ballots; all say what they think, but who lies."""
    ballots = tuple(
        SimpleNamespace(member=m, opinions=(SimpleNamespace(yes=(not wanted_by >> m & 1) != (m == lies)),))
        for m in members
    )
    outcomes = (SimpleNamespace(memory_ids=("m",), outcome=outcome),)
    nomination = SimpleNamespace(epoch=1)
    return {(0, 1): Decision(SimpleNamespace(ballots=ballots, outcomes=outcomes, nomination=nomination), 0.0)}  # type: ignore[arg-type]


def judged(decision: Any, wanted_by: int, honest: set[int] = HONEST, kind: str = "forget") -> Met:
    met = Met("some")
    judge.decisions(met, decision, epochs(wanted_by, kind), honest)
    return met


def test_sound_certificates_have_no_problems() -> None:
    assert judged(certificates("forgotten", NOBODY, 0, 1, 2, 3), NOBODY).problems == []
    assert judged(certificates("kept", ALL, 0, 1, 2, 3, lies=LIAR), ALL).problems == []
    assert judged(certificates("forgotten", ONE, 0, 1, 2, 3, lies=0), ONE, honest={1, 2, 3}).problems == []


@pytest.mark.parametrize(
    ("decision", "wanted_by", "told"),
    [
        (certificates("kept", NOBODY, 0, 1), NOBODY, "2 ballots"),
        (certificates("kept", ALL, 0, 1, 2, lies=2), ALL, "honest member 2 says otherwise"),
        (certificates("forgotten", DIVIDED, 0, 1, 2, 3), DIVIDED, "1 honest members behind it"),
        (certificates("forgotten", ALL, 0, 1, 2, 3), ALL, "all honest members agree, and m was forgotten"),
        (certificates("kept", NOBODY, 0, 1, 2, 3), NOBODY, "all honest members agree, and m was kept"),
    ],
)
def test_what_no_certificate_may_say_is_a_problem(decision: Any, wanted_by: int, told: str) -> None:
    assert told in " ".join(judged(decision, wanted_by).problems)


def test_to_demote_takes_one_honest_member_and_to_promote_most_of_them() -> None:
    assert judged(certificates("demoted", DIVIDED, 0, 1, 2, 3), DIVIDED, kind="demote").problems == []
    told = judged(certificates("demoted", ALL, 0, 1, 2, 3, lies=LIAR), ALL, kind="demote").problems
    assert "demoted with 0 honest members behind it" in told[0]
    assert judged(certificates("promoted", NOBODY, 0, 1, 2, 3), NOBODY, kind="promote").problems == []
    assert "m was kept" in judged(certificates("kept", NOBODY, 0, 1, 2, 3), NOBODY, kind="promote").problems[0]


def rivals(*yes: tuple[bool, bool], decided: tuple[str, str]) -> Met:
    """A pair of claims that contradict each other: what members 0, 1 and so on say of both, and what is decided."""
    ballots = tuple(
        SimpleNamespace(member=m, opinions=tuple(SimpleNamespace(yes=one) for one in both))
        for m, both in enumerate(yes)
    )
    outcomes = tuple(SimpleNamespace(memory_ids=(name,), outcome=one) for name, one in zip("ab", decided, strict=True))
    checked = SimpleNamespace(ballots=ballots, outcomes=outcomes, nomination=SimpleNamespace(epoch=1))
    met = Met("some")
    epoch = Epoch(("a", "b"), (0, 0), "promote", rivals=True)
    judge.decisions(met, {(0, 1): Decision(checked, 0.0)}, {0: (epoch,)}, HONEST)  # type: ignore[arg-type]
    return met


def test_of_two_claims_that_contradict_each_other_an_honest_member_is_for_one_and_one_is_decided() -> None:
    sound = rivals((True, False), (True, True), (True, False), (False, True), decided=("promoted", "kept"))
    assert (sound.problems, sound.sides) == ([], {(0, 0), (0, 1)})
    both = rivals((True, True), (True, True), (True, False), (True, False), decided=("promoted", "kept"))
    assert "honest member 0 is for both" in both.problems[0]
    assert "both claims" in rivals(*((True, False),) * 4, decided=("promoted", "promoted")).problems[0]


def test_who_leaves_an_honest_ballot_out_delays_and_is_counted() -> None:
    met = judged(certificates("kept", NOBODY, 0, 1, 2, lies=LIAR), NOBODY)
    assert (met.problems, met.delayed, met.agreed) == ([], 1, 1)


@pytest.mark.parametrize(
    ("wanted_by", "mine", "theirs", "delayed", "swayed", "told"),
    [
        (NOBODY, "gone", "gone", 0, 0, None),
        (NOBODY, "short-term", "gone", 1, 0, None),
        (NOBODY, "short-term", "gone", 0, 0, "1 memories are kept"),
        (ALL, "gone", "short-term", 0, 0, "without faults short-term"),
        (DIVIDED, "gone", "short-term", 0, 1, None),
    ],
)
def test_the_store_is_held_against_the_fault_free_run(
    *, wanted_by: int, mine: str, theirs: str, delayed: int, swayed: int, told: str | None
) -> None:
    met, truth = Met("some", tiers={"m": mine}, delayed=delayed), Met("none", tiers={"m": theirs})
    judge.store(met, truth, epochs(wanted_by), HONEST)
    assert met.swayed == swayed
    assert told in met.problems[0] if told else not met.problems


@pytest.mark.parametrize("delayed", [0, 1])
def test_a_general_form_may_be_late_where_something_was_delayed(delayed: int) -> None:
    met, truth = Met("some", tiers={"m": "draft"}, delayed=delayed), Met("none", tiers={"m": "short-term"})
    judge.store(met, truth, epochs(NOBODY, "generalise"), HONEST)
    assert bool(met.problems) == (delayed == 0)


@pytest.mark.parametrize(
    ("gone", "asked", "delayed", "told"),
    [
        (range(cellar.CHAFF), len(cellar.ACTS), 0, None),
        (range(cellar.CHAFF - 1), len(cellar.ACTS), 0, "30 tokens beyond the budget after 3 epochs"),
        (range(cellar.CHAFF - 1), len(cellar.ACTS), 1, None),
        (range(cellar.CHAFF), len(cellar.ACTS) + 1, 0, "0 tokens beyond the budget after 4 epochs"),
        ((*range(cellar.CHAFF - 1), cellar.CHAFF), len(cellar.ACTS), 1, "others are worth less"),
        (range(cellar.CHAFF + 1), len(cellar.ACTS), 0, "30 tokens less than the budget are left"),
    ],
)
def test_a_budget_is_held_and_what_is_worth_most_stays(
    gone: Sequence[int], asked: int, delayed: int, told: str | None
) -> None:
    ids = [f"m{at}" for at in range(cellar.CHAFF + cellar.GRAIN)]
    met = Met("some", delayed=delayed, tiers={ids[at]: "gone" for at in gone})
    made = SimpleNamespace(
        shard=0,
        ids=ids,
        chaff=ids[: cellar.CHAFF],
        asked=dict.fromkeys(range(asked), ""),
        epochs=lambda: len(cellar.ACTS),
    )
    judge.budgets(met, [made])  # type: ignore[list-item]
    assert told in " ".join(met.problems) if told else not met.problems


ALL_IN = {**dict.fromkeys(school.FACTS, ("admitted", None)), school.ASIDE: ("rejected", None)}
AS_ONE = ALL_IN | {"again": ("admitted", "fact")}
BACK = {"other": [("admitted", PPM), ("used", PPM - 50_000), ("rolled back", PPM)]}


@pytest.mark.parametrize(
    ("stands", "weights", "general", "delayed", "told"),
    [
        (AS_ONE, BACK, ["third"], 0, None),
        (AS_ONE | {school.ASIDE: ("admitted", None)}, BACK, ["third"], 1, "in experience"),
        (AS_ONE | {"third": ("agreed", None)}, BACK, ["third"], 0, "in experience"),
        (AS_ONE | {"third": ("agreed", None)}, BACK, ["third"], 1, None),
        (ALL_IN, BACK, ["third"], 0, "united"),
        (ALL_IN, BACK, ["third"], 1, None),
        (AS_ONE | {"third": ("admitted", "other")}, BACK, ["third"], 1, "united"),
        (AS_ONE, {}, ["third"], 0, "rolled back"),
        (AS_ONE, {}, ["third"], 1, None),
        (AS_ONE, {"other": [*BACK["other"], ("rolled back", PPM)]}, ["third"], 1, "rolled back"),
        (AS_ONE, BACK | {"fact": [("rolled back", PPM)]}, ["third"], 1, "rolled back"),
        (AS_ONE, BACK, [], 0, "general forms"),
        (AS_ONE, BACK, [], 1, None),
        (AS_ONE, BACK, ["other", "third"], 1, "general forms"),
    ],
)
def test_experience_holds_what_helps_as_one_with_the_weight_that_was_asked_for_and_nothing_else(
    stands: dict[str, Any], weights: dict[str, Any], general: list[str], delayed: int, told: str | None
) -> None:
    met = Met("some", delayed=delayed)
    made = SimpleNamespace(shard=0, stands=lambda: stands, weights=lambda: weights, generalised=lambda: general)
    judge.experience(met, [made])  # type: ignore[list-item]
    assert told in " ".join(met.problems) if told else not met.problems


def test_what_has_a_budget_weighs_alike_and_what_is_worth_little_has_the_fewest_words() -> None:
    texts = [text for _, text in cellar.cellar_texts(0)]
    assert {(len(text.encode()) + 3) // 4 for text in texts} == {cellar.WEIGHS}
    assert len(texts) * cellar.WEIGHS - cellar.BUDGET_TOKENS == cellar.CHAFF * cellar.WEIGHS
    assert max(map(words, texts[: cellar.CHAFF])) < min(map(words, texts[cellar.CHAFF :]))


def words(text: str) -> int:
    return len(text.split())


@pytest.mark.parametrize(
    ("accused", "must", "liars", "told"),
    [
        (LIAR, True, {LIAR}, None),
        (2, True, {LIAR, 2}, None),
        (None, True, {LIAR}, "nobody has proven it"),
        (0, False, {LIAR}, "honest member 0 is convicted"),
        (LIAR, False, set(), "honest member 1 is convicted"),
    ],
)
def test_who_lies_is_convicted_and_nobody_else(
    accused: int | None, must: bool, liars: set[int], told: str | None
) -> None:
    met = Met("some", liars=liars)
    proof = [SimpleNamespace(verdict="proven", accused=accused, what="two ballots")] if accused is not None else []
    judge.convictions(met, proof, must)  # type: ignore[arg-type]
    assert told in met.problems[0] if told else not met.problems


def test_a_late_decision_is_a_problem() -> None:
    met = Met("some", took_s=[0.1, LIMIT_S + 1])
    judge.times(met)
    assert met.problems == ["1 epochs took longer than 5 s"]


def test_with_more_members_and_more_liars_an_epoch_may_take_longer() -> None:
    assert judge.limit_of(0, 10) == judge.limit_of(1, 10) == 12.5
    assert judge.limit_of(3, 10) == 12.5 + 6
    # The extra time of ten members and three liars is also allowed while a broker is away.
    assert [judge.away_limit_of(away, 1) for away in (1, 2)] == [judge.PASSED_BY_S, judge.RETURN_LIMIT_S]
    assert judge.away_limit_of(1, 3, 10) == judge.PASSED_BY_S + 13.5
    assert [judge.limit_of(liars) for liars in (0, 1, 2, 3)] == [LIMIT_S, LIMIT_S, LIMIT_S + 2, LIMIT_S + 6]


@pytest.mark.parametrize("members", [4, 7, 10, 13])
def test_every_epoch_proposes_what_nobody_wants_and_what_all_want_and_what_some_do(members: int) -> None:
    sets = memories.sets_of(members)
    assert len(set(sets)) == 16
    for number in range(20):
        nobody, everybody, *some = memories.planned(number, 8, members)
        assert (nobody, everybody) == (0, 2**members - 1)
        assert set(some) <= set(sets) - {nobody, everybody} and len(set(some)) == 6


def test_of_ten_members_three_lie_on_every_shard_each_another_lie_and_twice_where_it_is_primary() -> None:
    liars = liars_of("mixed", judge.bearable(10))
    assert [member for member, _ in liars.values()] == [1, 2, 3]
    for shard in range(4):
        lies = [lie for _, by_shard in liars.values() for lie in by_shard[shard]]
        assert len(set(lies)) == 3
    assert all(by_shard[member] == ("other-victims",) for member, by_shard in liars.values())


def test_the_page_tells_the_runs_of_each_number_of_members_apart() -> None:
    machine = {"cores": 2, "processor": "some", "commit": "c" * 40}
    few, many = (Met("silent", n, range(judge.bearable(n)), nominated=1, took_s=[n / 2]).row() for n in (4, 10))
    told = page([{"rows": [row], "machine": machine} for row in (many, few)], ["ten", "four"])
    first, second = told.split("### 10 members")
    assert "From `four`" in first and "at most 1 of 4 members is bad" in first and "2.00 s, and 0 exceeded" in first
    assert "From `ten`" in second and "at most 3 of 10 members are bad" in second and "limit of 18.5 s" in second


def test_the_page_tells_the_problems() -> None:
    met = Met("twins", nominated=1, took_s=[0.1], problems=["it said two things, and nobody has proven it"])
    story = {"rows": [met.row()], "machine": {"cores": 2, "processor": "some", "commit": "c" * 40}}
    told = page([story], ["somewhere"])
    assert "| twins | 1 | 100.0 % |" in told
    assert "- twins: it said two things, and nobody has proven it" in told
