"""score = relevance × strength × tier: each counts, and relevance leads."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from memquorum.core.policy import ExperiencePolicy, Policy
from memquorum.core.retrieval.ranking import DEFAULTS, Candidate, idle_forms, rank, scheduled, strength
from tests.builders.found import candidate, name

POLICY = Policy()
HOUR = 3_600_000
SHARE = st.floats(0, 1)


def order(*candidates: object, as_of: int = 0) -> list[str]:
    ranked = rank(list(candidates), {"e": 10, "old": 10}, as_of, POLICY)  # type: ignore[arg-type]
    return [one.candidate.hit.memory_id for one in ranked]


def test_vectors_and_words_both_rank() -> None:
    by_vector, by_words = candidate(1, cosine=0.9), candidate(2, near=False, words=3.0)
    both = candidate(3, cosine=0.8, words=2.0)
    assert order(by_vector, by_words, both)[0] == name(3)


def test_of_two_that_answer_alike_the_stronger_and_the_agreed_one_comes_first() -> None:
    one = candidate(1, cosine=0.9)
    other = candidate(0, near=False, words=1.0)
    assert order(one, other) == [name(1), name(0)], "of two that are equally strong the one that was said later"
    assert order(one, candidate(2, near=False, words=1.0, salience=0.9)) == [name(2), name(1)]
    assert order(one, candidate(2, near=False, words=1.0, tier="long-term")) == [name(2), name(1)]
    used = candidate(2, near=False, words=1.0, last_access=9 * HOUR)
    assert order(one, used, as_of=9 * HOUR) == [name(2), name(1)]


def test_equal_ones_rank_by_when_they_were_said_and_not_by_id() -> None:
    """A rank sets two texts apart, which an emoji alone tells apart, by more than their strength does."""
    earlier, later = candidate(1, cosine=0.9, words=2.0), candidate(2, cosine=0.9, words=2.0)
    assert order(earlier, later) == [name(2), name(1)]
    moved = replace(earlier, hit=replace(earlier.hit, occurred_at=later.hit.occurred_at + 1, salience=0.4))
    assert order(moved, later) == [name(1), name(2)]


def test_what_was_promoted_weakens_by_the_scales_of_its_tier() -> None:
    both = [candidate(1), candidate(2, tier="long-term")]

    def strengths(as_of: int) -> dict[str, float]:
        ranked = rank(both, {"e": 10}, as_of, POLICY)
        return {one.candidate.hit.tier: one.strength for one in ranked}

    assert strengths(0)["short-term"] == strengths(0)["long-term"]
    assert strengths(24 * HOUR)["short-term"] < strengths(24 * HOUR)["long-term"] < strengths(0)["long-term"]


def test_strength_does_not_outweigh_an_answer() -> None:
    weak = candidate(1, cosine=0.9, words=5.0, salience=0.0)
    strong = candidate(2, cosine=0.8, salience=1.0, last_access=HOUR, tier="long-term")
    assert order(weak, strong, as_of=HOUR) == [name(1), name(2)]


def test_what_stands_beside_an_answer_gains() -> None:
    many = [candidate(n, cosine=1 - n / 100) for n in range(1, 9)]
    after_best = candidate(1, cosine=0.99, after=(name(8),))
    assert order(*many)[-1] == name(8)
    assert order(after_best, *many[1:])[-1] != name(8)


def test_cosines_of_two_encoders_are_not_compared() -> None:
    low = [candidate(n, cosine=0.1 - n / 100, encoder="old") for n in (1, 2)]
    high = [candidate(n, cosine=0.9 - n / 100) for n in (3, 4)]
    assert order(*low, *high) == [name(n) for n in (3, 1, 4, 2)]


@given(st.integers(0, HOUR * 100), st.integers(0, HOUR * 100), SHARE, SHARE)
def test_strength_is_bounded_falls_with_age_and_rises_with_salience(a: int, b: int, low: float, high: float) -> None:
    early, late = sorted((a, b))
    low, high = sorted((low, high))
    share = DEFAULTS.strength_share
    weakest, strongest = strength(early, low, late, POLICY, share), strength(late, high, late, POLICY, share)
    assert 1 - share - 1e-9 <= weakest <= strongest <= 1 + 1e-9
    assert strength(late, 1.0, late, POLICY, share) == pytest.approx(1.0)
    assert strength(0, 0.0, 10**12, POLICY, share) == pytest.approx(1 - share)


def test_of_experience_what_weighs_more_comes_first_and_what_weighs_nothing_does_not_come() -> None:
    near, far, other = candidate(1, cosine=0.9), candidate(2, cosine=0.6), candidate(3, cosine=0.95, salience=1.0)
    ranked = rank([near, far, other], {"e": 10}, 0, POLICY)
    source = ExperiencePolicy(weight_roots=0)
    found = scheduled(ranked, {name(1): 500_000, name(2): 1_000_000, name(3): source.floor_ppm - 1}, source)
    assert [(one.candidate.hit.memory_id, one.weight) for one in found] == [(name(2), 1.0), (name(1), 0.5)]
    assert [one.score for one in found] == pytest.approx([0.6, 0.45])
    rooted = scheduled(ranked, {name(1): 500_000, name(2): 1_000_000}, ExperiencePolicy(weight_roots=1))
    assert [one.candidate.hit.memory_id for one in rooted] == [name(1), name(2)], "nearness counts for more by a root"
    alike = scheduled(ranked, {name(1): 600_000, name(2): 900_000}, source)
    assert [one.candidate.hit.memory_id for one in alike] == [name(1), name(2)], "ties go by id"


def test_of_experience_what_is_far_from_a_question_is_not_given_to_it() -> None:
    ranked = rank(
        [candidate(1, cosine=0.25), candidate(2, cosine=0.2499), candidate(3, cosine=-0.9)], {"e": 9}, 0, POLICY
    )
    weights = {name(1): 1_000_000, name(2): 2_000_000, name(3): 1_000_000}
    found = scheduled(ranked, weights, ExperiencePolicy())
    assert [one.candidate.hit.memory_id for one in found] == [name(1)]
    nearer = scheduled(ranked, weights, ExperiencePolicy(given_ppm=0))
    assert [one.candidate.hit.memory_id for one in nearer] == [name(2), name(1)]


def test_a_general_form_is_given_where_its_memory_is_not() -> None:
    own, form = candidate(1, cosine=0.3), candidate(2, cosine=0.6)
    form = replace(form, hit=replace(form.hit, general_of=name(1)))
    weights = {name(1): 1_000_000, name(2): 500_000}

    def given(*some: Candidate) -> list[str]:
        found = scheduled(rank(some, {"e": 9}, 0, POLICY), weights, ExperiencePolicy())
        return [one.candidate.hit.memory_id for one in found]

    assert given(own, form) == [name(1)], "which says all of it"
    far = replace(own, hit=replace(own.hit, score=0.2))
    assert given(far, form) == [name(2)] == given(form)


def test_of_general_forms_that_say_the_same_the_best_is_given() -> None:
    forms = [candidate(at, cosine=0.9 - at / 10) for at in (1, 2, 3)]
    hits = [replace(one.hit, general_of=name(at + 7), text="the same") for at, one in enumerate(forms)]
    other = replace(hits[2], text="another")
    assert idle_forms(hits) == {name(2), name(3)} and idle_forms([*hits[:2], other]) == {name(2)}
    assert idle_forms([replace(one, general_of=None) for one in hits]) == set(), "memories may say the same"
