"""A memory's way into experience in words: each number is told with what it is held against."""

from __future__ import annotations

from typing import Any

import pytest

from db import admission_rows
from memquorum.core.accounts.admitting import counted, lines, short
from memquorum.core.api.answers import Admission, Experienced, Experiences, Judge, Trial
from memquorum.core.experience.weights import Evidence, written
from memquorum.core.policy import PPM, ExperiencePolicy
from tests.builders import genesis, trials
from tests.builders.shard import memory_id

POLICY = ExperiencePolicy()
GENESIS = genesis.make(**trials.entitled())
GAINS = {memory_id(f"use {at}"): told for at, told in enumerate(("+0.3333", "-1", "0", "+0", "+0"))}
A, ONE, TWO, THREE = (memory_id(name) for name in ("a", "task 0", "task 1", "task 2"))


def admission_lines(status: str | None = "admitted", helped: int = 2, weight_ppm: int | None = 666_666,
         merged_into: str | None = None, idle_ms: int = 0) -> list[str]:  # fmt: skip
    found, other = (trials.statistics(GENESIS, A, 3, count) for count in (helped, 0))
    agreed = found.digest.hex()
    score = helped * PPM // 3
    row = (
        "greenhouse",
        status,
        3,
        agreed,
        score,
        1 if weight_ppm else 0,
        weight_ppm,
        0,
        "short-term",
        1,
        merged_into,
        None,
        None,
        idle_ms,
    )
    tried = [("verifier-1", 3, agreed, score, found.data, 8), ("verifier-2", 3, other.digest.hex(), 0, other.data, 9)]
    votes = [(4, "admitted", "quorum", 3, 3_500_000, 3_350_000, "admit")] if weight_ppm else []
    evidence = written((Evidence(ONE, 3 * PPM, 3), Evidence(TWO, -1, 1)))
    used = written(Evidence(memory_id(f"use {at}"), gain, 1) for at, gain in enumerate((333_333, -PPM, 0, 5, 5)))
    rows = [(1, weight_ppm, 4, "admitted", 1, 1, evidence, 10), (2, 800_000, 5, "used", 2, 2, used, 12)]
    weights = rows if weight_ppm else []
    return lines(admission_rows.whole(A, row, POLICY, 2, tried, votes, weights))


def test_what_was_admitted_is_told_with_who_found_what_and_how_members_voted() -> None:
    assert admission_lines() == [
        f"memory {A} in greenhouse: admitted, experience gives it to questions that it is near to",
        "2 tasks may judge it, of 3 that it takes",
        "S = 0.6667 ≥ 0.05",
        "weight 0.6667, version 1",
        "verifier-1, as of epoch 3: S = 0.6667",
        f"  task {ONE}: 0 without it, 1 with it; as many tokens",
        f"  task {TWO}: 0 without it, 1 with it; as many tokens",
        f"  task {THREE}: 0 without it, 0 with it; as many tokens",
        "verifier-2, as of epoch 3: S = 0, otherwise than what was agreed in",
        f"  task {ONE}: 0 without it, 0 with it; as many tokens",
        f"  task {TWO}: 0 without it, 0 with it; as many tokens",
        f"  task {THREE}: 0 without it, 0 with it; as many tokens",
        "epoch 4: admitted, 3 members for it, with 3.5 where 3.35 is needed: enough members were for it",
        "version 1, from epoch 4 on: 0.6667, admitted; by then it helped in 1 task, did harm in 1",
        "version 2, from epoch 5 on: 0.8, used; by then it helped in 2 tasks, did harm in 2; new in "
        + ", ".join(f"{task} {gain}" for task, gain in sorted(GAINS.items())[:3])
        + ", and 2 more",
    ]


def test_who_agreed_in_an_earlier_trial_is_not_told_to_have_found_otherwise() -> None:
    """Verifiers agree on a position: on a retry other judges find other sums, with other digests."""
    first, other, again = (trials.statistics(GENESIS, A, at, count) for at, count in ((3, 0), (3, 1), (9, 3)))
    early, odd, late = (one.digest.hex() for one in (first, other, again))
    row = ("greenhouse", "admitted", 9, late, 5, 1, 5, 0, "short-term", 1, None, None, None, 0)
    tried = [("v-1", 3, early, 0, first.data, 8), ("v-2", 3, odd, 0, other.data, 9),
             ("v-3", 3, early, 0, first.data, 10), ("v-1", 5, early, 0, first.data, 11),
             ("v-2", 5, odd, 0, other.data, 12), ("v-1", 9, late, 5, again.data, 13),
             ("v-2", 9, odd, 5, other.data, 14)]  # fmt: skip
    found = admission_rows.whole(A, row, POLICY, None, tried, [], [])
    assert [one.agrees for one in found.trials] == [True, False, True, None, None, True, False]
    alone = admission_rows.whole(A, row, POLICY, None, tried, [], [], alike=3)
    assert [one.agrees for one in alone.trials] == [None, None, None, None, None, True, False], "two are not enough"


def test_what_a_judge_was_to_do_is_told_in_short_where_it_may_be_read() -> None:
    found = trials.statistics(GENESIS, A, 3, 2)
    row = ("greenhouse", "admitted", 3, found.digest.hex(), 5, 1, 5, 0, "short-term", 1, None, None, None, 0)
    tried = [("verifier-1", 3, found.digest.hex(), 5, found.data, 8)]
    told = lines(admission_rows.whole(A, row, POLICY, None, tried, [], []), {ONE: "open\n valve", TWO: "a" * 90})
    said = {line.split()[1].rstrip(":"): line for line in told if line.startswith("  task")}
    assert said[ONE].endswith('as many tokens; asked: "open valve"')
    assert said[TWO].endswith(f'; asked: "{"a" * 80}…"') and said[THREE].endswith("as many tokens")


def test_what_of_a_memory_bears_out_or_contradicts_what_a_judge_came_to_is_told_in_short() -> None:
    judges = (
        Judge(ONE, 0, 1, 0, 0, 0, 0, "Port\n8443.", "a" * 90), Judge(TWO, 0, -1, 0, 0, 0, 0, None, "Port 1."),
        Judge(THREE, 0, 0, 0, 0, 0, 0),
    )  # fmt: skip
    found = Admission(A, "greenhouse", "rejected", 0.05, trials=(Trial("verifier-1", 3, 0.0, True, judges, 8),))
    one, two, three = (line for line in lines(found, {TWO: "Open it."}) if line.startswith("  task"))
    assert one.endswith(f'as many tokens; "Port 8443." bears that out; "{"a" * 80}…" contradicts that')
    assert two.endswith('; asked: "Open it."; "Port 1." contradicts that') and three.endswith("as many tokens")


def test_what_another_stands_for_is_told_with_that() -> None:
    assert f"memory {ONE} stands for it in experience: they say the same" in admission_lines(merged_into=ONE)


def test_what_nobody_used_for_long_is_told_with_what_it_counts() -> None:
    half = POLICY.idle_half_ms
    assert "weight 0.6667, version 1; it counts 0.3333 in reads, since nobody has used it for long" in admission_lines(
        idle_ms=half
    )
    assert "weight 0.6667, version 1" in admission_lines(idle_ms=-half), "the clock of a use may be ahead"


def test_what_was_rejected_is_told_with_what_it_lacks() -> None:
    first, judges, second, *_ = admission_lines("rejected", 0, None)
    assert judges == "2 tasks that came since may judge it, of 3 that it takes"
    assert first.endswith("it helps too little: it is tried again once enough tasks came since")
    assert second == "S = 0 < 0.05"


@pytest.mark.parametrize(("judges", "status", "said"), [
    (2, "provisional", "too few finished tasks"), (3, "untried", "it is tried as of the next decision"),
])  # fmt: skip
def test_of_what_nobody_tried_it_is_told_whether_tasks_enough_may_judge_it(judges: int, status: str, said: str) -> None:
    found = admission_rows.whole(A, standing(None), POLICY, judges, [], [], [])
    first, second = lines(found)
    assert (found.status, found.judges, found.judges_needed) == (status, judges, 3)
    assert first.startswith(f"memory {A} in greenhouse: {status}, {said}")
    assert second == f"{judges} tasks may judge it, of 3 that it takes"


def test_what_was_rejected_twice_waits_for_twice_as_many_tasks() -> None:
    found = admission_rows.whole(A, standing("rejected", rejections=2), POLICY, 4, [], [], [])
    assert (found.status, found.judges_needed) == ("rejected", 6)


@pytest.mark.parametrize("tier", ["sealed", "superseded"])
def test_what_is_not_alive_is_in_nobodys_experience_whatever_was_decided_of_it(tier: str) -> None:
    for stood, said in (("admitted", "it stood as admitted"), (None, "nobody had tried it")):
        row = standing(stood, tier)
        assert not admission_rows.open_to_trial(row)
        found = admission_rows.whole(A, row, POLICY, None, [], [], [])
        (line,) = lines(found)
        assert (found.status, found.tier, found.stood) == ("resting", tier, stood)
        assert line.startswith(f"memory {A} in greenhouse: resting, it is {tier}, so") and line.endswith(said)
    assert admission_rows.whole(A, standing(None, "gone"), POLICY, None, [], [], []).status == "left"


def test_it_is_told_when_members_vote_on_it() -> None:
    (line,) = lines(admission_rows.whole(A, standing("agreed"), POLICY, None, [], [], []))
    assert "members vote on it in the next epoch of its shard that a contradiction does not open" in line


def standing(status: str | None, tier: str = "short-term", rejections: int = 0) -> tuple[Any, ...]:
    """A row of what has no trial."""
    return ("greenhouse", status, None, None, None, None, None, None, tier, rejections, None, None, None, None)


@pytest.mark.parametrize("more", [4, -5])
def test_what_it_costs_is_told(more: int) -> None:
    found = trials.statistics(GENESIS, A, 3, 1)
    judge = found.judged[0]
    dear = type(judge)(judge.context, 0, PPM * 3, 9, 9 + 3 * more, 1, 1)
    changed = type(found)(*[*[getattr(found, n) for n in found.__struct_fields__[:-1]], (dear, *found.judged[1:])])
    row = ("greenhouse", "provisional", 3, None, None, 0, None, 2, "long-term", 0, None, None, None, 0)
    tried = [("verifier-1", 3, changed.digest.hex(), 5, changed.data, 8)]
    said = lines(admission_rows.whole(A, row, POLICY, None, tried, [], []))
    assert said[1] == "it is tried as of a decision after epoch 2"
    assert said[3].endswith(f"1 with it; {abs(more)} tokens {'more' if more > 0 else 'less'}")


def test_a_memory_is_told_in_two_lines_and_all_of_them_in_one() -> None:
    one = Experienced(A, "admitted", "Valve 3 opens.", 0.9, 1.1, 2, 4, 1, 3, 9)
    told = f"        {A}  admitted; S = 0.9; weight 1.1, version 2; helped in 4 tasks, did harm in 1"
    assert short(one) == ("Valve 3 opens.", told)
    gone = Experienced(A, "provisional", None, None, None, 0, 0, 0, 0, 9)
    assert short(gone) == ("(its text is not there)", f"        {A}  provisional")
    assert counted(Experiences("mill", {"admitted": 2, "rejected": 1}, ())) == "mill: 2 admitted, 1 rejected"
    assert counted(Experiences("mill", {}, ())) == "mill: no memory was tried yet"
