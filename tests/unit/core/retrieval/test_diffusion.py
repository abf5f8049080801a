"""The weight of another namespace's general form, and the readers that may have one."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from memquorum.core.journal.rows import FeedbackRow, TaskRow
from memquorum.core.policy import ExperiencePolicy
from memquorum.core.retrieval import diffusion
from memquorum.core.retrieval.diffusion import Form
from memquorum.core.retrieval.query import BadRequest, Filters, passes, read_gates, read_search
from memquorum.core.retrieval.ranking import scheduled
from memquorum.core.retrieval.requests import read_recall, read_retrieve
from tests.builders.found import candidate, name

POLICY = ExperiencePolicy()
FORM, OTHER = Form(candidate(1, cosine=0.9), 500_000), Form(candidate(2, cosine=0.8), 500_000)


def task(number: int, *given: int, ended: str = "succeeded") -> TaskRow:
    retrieved = tuple(map(name, given))
    return TaskRow(name(100 + number), 0, number, "elsewhere", ended, "ann", b"h" * 32, 7, retrieved, number)


def feedback_row(number: int, memory: int, helped: bool) -> FeedbackRow:
    return FeedbackRow(
        0, 1_000 + number, "elsewhere", name(100 + number), name(memory), "ann", helped, 0, 1_000 + number
    )


def test_it_begins_with_what_it_weighs_at_home_and_moves_by_tasks_here() -> None:
    assert diffusion.weights([FORM, OTHER], [], {}, POLICY) == {name(1): 500_000, name(2): 500_000}
    helped = diffusion.weights([FORM, OTHER], [task(1, 1), task(2, 1, 3)], {}, POLICY)
    assert helped == {name(1): 500_000 + POLICY.alpha_ppm + POLICY.alpha_ppm // 2, name(2): 500_000}
    no_gain = diffusion.weights([FORM], [task(1, 1, ended="failed"), task(2, 1, ended="unknown")], {}, POLICY)
    assert no_gain == {name(1): 500_000 - POLICY.beta_ppm}


def test_what_led_tasks_astray_here_is_not_given_here_any_more() -> None:
    tasks = [task(number, 1) for number in range(1, 5)]
    harm = {one.memory_id: [feedback_row(one.seq, 1, False)] for one in tasks}
    weights = diffusion.weights([FORM, OTHER], tasks, harm, POLICY)
    assert weights[name(1)] < POLICY.floor_ppm
    given = scheduled(diffusion.scored([FORM, OTHER]), weights, POLICY)
    assert [one.candidate.hit.memory_id for one in given] == [name(2)]
    assert given[0].weight == 0.5


def test_at_home_and_elsewhere_are_ranked_together_and_what_says_the_same_is_given_once() -> None:
    same = [replace(one, candidate=replace(one.candidate, hit=replace(one.candidate.hit, general_of=name(9 + at))))
            for at, one in enumerate((FORM, OTHER))]  # fmt: skip
    weights = diffusion.weights(same, [], {}, POLICY)
    assert [one.candidate.hit.memory_id for one in scheduled(diffusion.scored(same), weights, POLICY)] == [name(1)]


@pytest.mark.parametrize("bound", [{"agents": ("ann",)}, {"path": "a/b"}, {"keys": ("k",)}, {"sessions": ("s",)}])
def test_who_asks_for_somebody_of_this_namespace_is_given_nothing_of_another(bound: dict[str, object]) -> None:
    assert diffusion.asked(Filters(experience=True, diffusion=True))
    assert not diffusion.asked(Filters(experience=True, diffusion=True, **bound))  # type: ignore[arg-type]
    assert not diffusion.asked(Filters(experience=True))


def test_it_is_of_experience_alone_and_a_search_or_a_retrieval_may_ask_for_it() -> None:
    for read in (read_search, read_retrieve):
        filters = read(b'{"query": "valve", "agent": "ann", "diffusion": true}').filters
        assert (filters.experience, filters.diffusion) == (True, True)
    with pytest.raises(BadRequest, match="no field of RecallRequest"):
        read_recall(b'{"query": "valve", "agent": "ann", "diffusion": true}')


def test_what_lets_its_general_form_cross_is_for_anything_at_home() -> None:
    told = {"sensitivity": 0.0, "jurisdictions": ()}
    assert passes(Filters(), purposes=("diffusion",), **told)  # type: ignore[arg-type]
    assert not passes(Filters(), purposes=("billing", "diffusion"), **told)  # type: ignore[arg-type]
    assert passes(Filters(purpose="billing"), purposes=("billing", "diffusion"), **told)  # type: ignore[arg-type]
    with pytest.raises(BadRequest, match="diffusion: true"):
        read_gates(None, "diffusion", None)
