"""A candidate is tried on other tasks: what helps scores, what does not costs, and everybody finds the same bytes."""

from __future__ import annotations

import uuid
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from memquorum.core.experience.context import Context
from memquorum.core.experience.reward import Reach
from memquorum.core.experience.trial import BadStatistics, Case, again, fault, judges, read, score_ppm, tried
from memquorum.core.experience.view import Experience, Held
from memquorum.core.policy import PPM, ExperiencePolicy
from tests import examples
from tests.builders.experience import context, held, tasks, vector

POLICY = ExperiencePolicy()
REACH = Reach()


def case(candidate: Held, contexts: Sequence[Context], *others: Held) -> Case:
    return Case(candidate, contexts, Experience("mini", 2, others), 41)


def score(of: Case, policy: ExperiencePolicy = POLICY) -> int:
    told = tried(of, REACH, policy)
    assert told is not None
    return score_ppm(told, policy)


def test_what_helps_all_of_them_scores_one_less_what_it_costs() -> None:
    helps = held()
    assert score(case(helps, tasks(4))) == PPM - 100_000 * helps.tokens // 500


def test_what_helps_nobody_scores_below_nothing() -> None:
    assert score(case(held("m", "The orchard's fence is green."), tasks(4))) < 0


def test_what_is_there_already_helps_only_where_it_is_not() -> None:
    twin = held("twin")
    alone, beside = score(case(held(), tasks(5))), score(case(held(), tasks(5), twin))
    assert 0 < beside < alone


def test_too_few_other_tasks_say_nothing() -> None:
    assert tried(case(held(), tasks(2)), REACH, POLICY) is None
    assert tried(case(held(sources=("c1",)), tasks(3)), REACH, POLICY) is None
    assert tried(case(held(sources=("c9",)), tasks(3)), REACH, POLICY) is not None


def test_a_task_that_is_far_away_is_no_judge() -> None:
    away = [context(id=f"a{at}", vector=vector(-0.8, 0.6)) for at in range(5)]
    assert tried(case(held(), [*tasks(2), *away]), REACH, POLICY) is None


def test_the_nearest_judge_and_ties_go_by_id() -> None:
    same = [context(id=name) for name in "dcba"]
    found = judges(held(), [*tasks(5)[1:], *same], REACH, POLICY)
    assert [one.id for one in found] == ["a", "b", "c", "d", "c2"]


def test_what_failed_and_what_another_encoder_made_are_no_judges() -> None:
    others = [context(id="x", outcome="failed"), context(id="y", encoder="other")]
    assert judges(held(), [*others, *tasks(2)], REACH, POLICY) == []


def test_what_was_made_of_a_judge_is_in_neither_run() -> None:
    own = [held(f"own{at}", sources=(f"c{at}",)) for at in range(1, 5)]
    # Each judge has the other three, so that nothing is left to gain while all are there.
    one = tried(case(held("new"), tasks(4), own[0]), REACH, POLICY)
    assert one is not None
    gained = {judged.context: judged.reward_with - judged.reward_without for judged in one.judged}
    assert gained[tasks(4)[0].id] == POLICY.runs * PPM
    assert all(gained[task.id] < POLICY.runs * PPM for task in tasks(4)[1:])


def test_a_candidate_is_not_tried_beside_itself() -> None:
    assert tried(case(held(), tasks(4), held()), REACH, POLICY) == tried(case(held(), tasks(4)), REACH, POLICY)


@pytest.mark.parametrize("change", [{"position": 42}, {"candidate": held("m2", "Port 8443, the gateway has.")}])
def test_the_digest_binds_what_was_tried(change: dict[str, object]) -> None:
    of = case(held(), tasks(4))
    one, other = tried(of, REACH, POLICY), tried(of._replace(**change), REACH, POLICY)
    assert one is not None
    assert other is not None
    assert one.digest != other.digest


def test_other_numbers_are_other_rules() -> None:
    of = case(held(), tasks(4))
    one, other = tried(of, REACH, POLICY), tried(of, REACH, replace(POLICY, eta_ppm=60_000))
    assert one is not None
    assert other is not None
    assert one.digest != other.digest


POOL = st.lists(
    st.tuples(st.sampled_from(["The gateway uses port 8443.", "It rains.", "x" * 900]), st.floats(-1, 1, width=16)),
    max_size=8,
)


@settings(max_examples=examples(60))
@given(POOL, st.randoms(use_true_random=False))
def test_the_order_of_arrival_changes_nothing(pool: list[tuple[str, float]], lot: object) -> None:
    others = [held(f"o{at}", text, 0.5, number) for at, (text, number) in enumerate(pool)]
    contexts = tasks(6)
    first = tried(case(held(), contexts, *others), REACH, POLICY)
    lot.shuffle(others)  # type: ignore[attr-defined]
    lot.shuffle(contexts)  # type: ignore[attr-defined]
    second = tried(case(held(), contexts, *others), REACH, POLICY)
    assert first is not None
    assert second is not None
    assert first.data == second.data
    assert -PPM - 100_000 <= score_ppm(first, POLICY) <= PPM + 100_000


def test_statistics_have_one_form_as_bytes() -> None:
    told = tried(case(held(), tasks(4)), REACH, POLICY)
    assert told is not None
    assert read(told.data) == told
    for other in (b"", told.data[1:], told.data + b"\0", told.data[:-1], told.data.replace(b"\x04", b"\xcc\x04", 1)):
        with pytest.raises(BadStatistics):
            read(other)


def test_a_sample_of_another_memory_holds_for_none() -> None:
    of = case(held(), tasks(5))
    told = tried(of, REACH, POLICY)
    assert told is not None
    assert not again(of, replace(told, candidate="m9"), 0, REACH, POLICY)


def test_a_sample_is_what_statistics_tell() -> None:
    of = case(held(), tasks(5), held("other", "It rains.", 0.5, 0.5))
    told = tried(of, REACH, POLICY)
    assert told is not None
    assert all(again(of, told, at, REACH, POLICY) for at in range(5))
    lied = replace(told.judged[2], reward_with=told.judged[2].reward_with + 1)
    lie = replace(told, judged=(*told.judged[:2], lied, *told.judged[3:]))
    assert [again(of, lie, at, REACH, POLICY) for at in range(5)] == [True, True, False, True, True]
    assert not again(of._replace(contexts=tasks(1)), told, 4, REACH, POLICY)
    assert not again(of, replace(told, said=bytes(32)), 0, REACH, POLICY)


def test_time_counts_by_what_is_given_where_it_counts() -> None:
    dear = replace(POLICY, lambda_l_ppm=500_000)
    of = case(held(), tasks(4))
    assert score(of, dear) == score(of) - 500_000 // POLICY.memories_most


def test_a_judge_that_states_nothing_goes_by_what_agents_had_told_of_it() -> None:
    judges = [replace(one, outputs="Done.", retrieved=("m1", "m2")) for one in tasks(3)]
    of = case(held("m1"), judges)
    shared, no, yes = (
        score_ppm(told, POLICY)
        for by in ({}, {"m1": -PPM}, {"m1": PPM})
        if (told := tried(of._replace(told={one.id: by for one in judges}), REACH, POLICY)) is not None
    )
    assert no < -PPM // 2 < 0 < shared < PPM // 2 < yes
    told = tried(of._replace(told={judges[0].id: {"m1": PPM}}), REACH, POLICY)
    assert told is not None
    rewards = {one.context: one.reward_with - one.reward_without for one in told.judged}
    assert [rewards[one.id] // POLICY.runs for one in judges] == [PPM, PPM // 2, PPM // 2], "each by what is told of it"


def test_what_was_found_by_an_earlier_version_of_the_rule_stays_what_it_was() -> None:
    judges = [replace(one, id=str(uuid.UUID(int=at))) for at, one in enumerate(tasks(3))]
    told = tried(case(held(), judges), REACH, POLICY)
    assert told is not None and (told.reward, fault(told, POLICY)) == ("reach/7", None)
    assert [fault(replace(told, reward=f"reach/{version}"), POLICY) for version in (5, 6)] == [None, None]
    assert fault(replace(told, reward="reach/4"), POLICY) == "statistics by other rules"
