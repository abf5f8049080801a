"""A history's suggestion: the best policy for it, with a regret within its bound, and the shares that a type needs."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from memquorum.core.policy import PPM, BudgetPolicy
from memquorum.core.whatif.choosing import ARMS, READS_LEAST, Suggestion, _lately, _Weights
from memquorum.core.whatif.choosing import _Round as Round
from memquorum.core.whatif.events import Course, Epoch, Event
from memquorum.core.whatif.replaying import Trial
from memquorum.core.whatif.report import compare, plain
from tests.builders.courses import BEGAN, HOUR, came, course, of_types, of_use, read, wild

TRIAL = Trial(BudgetPolicy())


def suggested(told: Course, tokens: int = 100) -> list[Suggestion]:
    return list(compare([told], ["lru"], tokens, TRIAL, suggesting=True).suggestions)


def test_the_policy_that_serves_a_history_is_suggested_with_its_regret() -> None:
    (told,) = suggested(of_use())
    assert told.hits["lru"] > told.hits["fifo"] and told.best in ARMS
    assert told.policy == told.best and told.hits[told.best] == max(told.hits.values())
    assert told.over_chance.certain and told.over_standing is not None and told.over_standing.certain
    assert told.followed <= told.hits[told.best] and told.regret == pytest.approx(told.hits[told.best] - told.followed)
    assert told.regret <= told.bound and told.reads == 200


def test_of_few_reads_nothing_is_suggested() -> None:
    few = [came("a", BEGAN), *(read("a", BEGAN + n) for n in range(1, READS_LEAST))]
    assert suggested(course(*few)) == []
    assert len(suggested(course(*few, read("a", BEGAN + READS_LEAST)))) == 1


def test_where_a_history_ends_as_it_never_was_before_what_served_it_is_suggested_still() -> None:
    """Nothing was learned of windows in which more comes and more is read than ever before."""
    events: list[Event] = [came(f"old-{n}", BEGAN + n) for n in range(5)]
    for n in range(47):
        at = BEGAN + n * HOUR + HOUR // 2
        events += [*(came(f"new-{n:03}-{k}", at + k) for k in range(5)), read(f"old-{n % 5}", at + 10), Epoch(at + 20)]
    end = BEGAN + 48 * HOUR
    events += [*(came(f"late-{n}", end - 100 + n) for n in range(9)), read("old-1", end - 1), read("old-2", end)]
    (told,) = suggested(course(*events))
    assert told.policy == "priority" and told.hits["priority"] > 2 * told.chance > 4 * told.hits["worth"]


def test_what_is_not_beyond_chance_is_not_suggested() -> None:
    (told,) = suggested(wild(1, plain=True), tokens=200)
    assert told.hits[told.best] > told.chance
    assert told.policy is None and not told.over_chance.certain


def test_a_namespace_keeps_its_policy_unless_another_one_serves_more_beyond_chance() -> None:
    budget = BudgetPolicy(tokens="farm=100/lru")
    (told,) = compare([of_use()], ["lru"], 100, Trial(budget), suggesting=True).suggestions
    assert (told.standing, told.policy, told.over_standing) == ("lru", "lru", None), "priority serves as much, no more"
    assert told.hits["priority"] == told.hits["lru"]


def test_what_serves_the_present_context_better_is_told_and_not_suggested() -> None:
    weights = _Weights(1)
    rounds = [Round((True, False), (1, 0, 0, 0, 0), 1) for _ in range(10)]
    rounds += [Round((False, False), (0, 1, 1, 1, 1), 1) for _ in range(9)]
    for one in rounds:
        weights.take(one)
    late = _lately(rounds, (False, False), weights, "hybrid")
    assert late is not None and (late.policy, late.hits, late.reads) == ("worth", 9, 9)
    assert late.lead.certain and not (late.more_came or late.more_read)
    assert _lately(rounds, (True, False), weights, "hybrid") is None, "it is the best of all the time"
    assert _lately(rounds, (True, True), weights, "hybrid") is None, "nothing is known of such windows"


@given(
    st.lists(
        st.tuples(st.booleans(), st.booleans(), st.lists(st.integers(0, 9), min_size=len(ARMS), max_size=len(ARMS))),
        min_size=1, max_size=200,
    )
)  # fmt: skip
def test_whatever_happens_the_regret_stays_within_its_bound(
    windows: list[tuple[bool, bool, list[int]]],
) -> None:
    weights = _Weights(9)
    missed = sum(weights.take(Round((came, asked), tuple(lost), 9)) for came, asked, lost in windows)
    best = min(sum(lost[at] for _, _, lost in windows) for at in range(len(ARMS)))
    assert missed - best <= weights.bound() + 1e-9


def test_each_context_has_its_own_best() -> None:
    weights = _Weights(1)
    for _ in range(40):
        weights.take(Round((True, False), (1, 0, 0, 0, 0), 1))
        weights.take(Round((False, False), (0, 1, 1, 1, 1), 1))
    assert weights.of((True, False))[0] < 0.01
    assert weights.of((False, False))[0] > 0.9


def test_a_type_that_is_asked_for_gets_a_share_and_the_later_half_says_what_it_is_worth() -> None:
    (told,) = suggested(of_types(), tokens=80)
    assert sum(told.shares_ppm) == PPM and told.shares_ppm[0] > PPM // 4, "of all that came notes are a sixtieth"
    assert 0 <= told.unshared < told.shared <= told.later


def test_shares_that_the_later_half_does_not_bear_out_are_not_suggested() -> None:
    (told,) = suggested(of_types(later="tasks"), tokens=80)
    assert told.shares_ppm == ()


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 1_000))
def test_a_suggestion_changes_nothing_of_the_report_but_itself(seed: int) -> None:
    told = wild(seed)
    without = compare([told], list(ARMS), 300, TRIAL)
    made = compare([told], list(ARMS), 300, TRIAL, suggesting=True)
    assert replace(made, suggestions=()) == without
    assert plain(made) == plain(compare([told], list(ARMS), 300, TRIAL, suggesting=True))
