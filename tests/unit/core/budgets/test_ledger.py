"""Budgets: what goes first by each policy, what may not go, and that no rule is broken whatever happens."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from memquorum.core.budgets.items import (
    CAPPED,
    FLOOR,
    PINNED,
    RESTING,
    SUPPORTS,
    Item,
    Score,
    accesses_ppm,
    recency_ppm,
    score,
)
from memquorum.core.budgets.ledger import Group, Ledger
from memquorum.core.budgets.limits import budget_of
from memquorum.core.budgets.rules import EXPOSED, LEAST, SENSITIVE, STALE, UnknownPolicy
from memquorum.core.policy import FORGETTING, PPM, Budget, BudgetPolicy, PolicyError, from_json, read, to_json, written
from memquorum.core.privacy.sensitivity import suggested_ppm
from tests.builders.churn import Churn

DAY = 24 * 3600 * 1000
NOW = 1_790_000_000_000
POLICY = BudgetPolicy()


def _item(name: str, tokens: int = 10, *, age: int = 0, unused: int | None = None, **told: object) -> Item:
    """`age`, `unused`: in days."""
    used = NOW - DAY * (age if unused is None else unused)
    return Item(name, told.pop("type", "episodic"), tokens, NOW - DAY * age, used, **told)  # type: ignore[arg-type]


def _went(policy: str, items: list[Item], budget: int, constants: BudgetPolicy = POLICY) -> list[str]:
    ledger = Ledger(policy, constants, b"seed")
    for one in items:
        ledger.put(one)
    return [one.memory_id for one in ledger.plan(budget, NOW).goes]


def test_fifo_lets_the_oldest_go_and_lru_what_was_not_used_for_longest() -> None:
    items = [_item("c", age=1), _item("a", age=3, unused=0), _item("b", age=2)]
    assert _went("fifo", items, 10) == ["a", "b"]
    assert _went("lru", items, 10) == ["b", "c"]


def test_what_comes_late_takes_its_place_in_the_line() -> None:
    ages = (9, 3, 7, 5, 8, 1, 2)
    items = [_item(str(age), age=age) for age in ages]
    assert _went("fifo", items, 0) == [str(age) for age in sorted(ages, reverse=True)]


def test_priority_weighs_type_recency_and_uses_per_token() -> None:
    task, episode = _item("task", type="task"), _item("episode")
    assert _went("priority", [task, episode], 10) == ["episode"]
    assert _went("priority", [_item("long", 40), _item("short", 10)], 40) == ["long"]
    assert _went("priority", [_item("used", uses=9), _item("unused")], 10) == ["unused"]
    assert _went("priority", [_item("new"), _item("old", age=20)], 10) == ["old"]


def test_worth_keeps_what_says_most_per_token_whatever_its_length() -> None:
    alike = [_item("short", 10, worth=20 * PPM, age=200), _item("long", 40, worth=100 * PPM, age=200)]
    assert _went("worth", alike, 40) == ["short"]
    assert _went("worth", [replace(alike[0], worth=40 * PPM), alike[1]], 40) == ["long"]


def test_what_speaks_for_a_memory_counts_by_what_it_is_worth_so_that_no_text_is_kept_for_being_short() -> None:
    told = {"age": 1, "uses": 4, "novelty_ppm": 900_000, "goals_ppm": 800_000}
    small, long = _item("small talk", 2, worth=0, **told), _item("long", 40, worth=60 * PPM, age=9)
    assert _went("worth", [small, long], 40) == ["small talk"]
    assert score(small, NOW, POLICY) == Score((0,) * 7, 0, 0)
    used, unused = _item("used", worth=20 * PPM, uses=4), _item("unused", worth=20 * PPM)
    assert _went("worth", [used, unused], 10) == ["unused"]
    assert score(used, NOW, POLICY).features == (400_000, 200_000, 0, 0, 400_000, 0, 0)


def test_what_is_too_sensitive_goes_first_and_the_heaviest_of_it_not_last() -> None:
    light = _item("light", 5, age=200, worth=20 * PPM, sensitivity_ppm=600_000)
    heavy = _item("heavy", 50, age=200, worth=100 * PPM, sensitivity_ppm=800_000)
    dull = _item("dull", 10, age=200, worth=PPM)
    assert score(heavy, NOW, POLICY).score < score(light, NOW, POLICY).score < 0
    # Divided by their tokens the light one would be the lower.
    assert score(light, NOW, POLICY).net_ppm / 5 < score(heavy, NOW, POLICY).net_ppm / 50
    ledger = Ledger("worth", POLICY)
    for one in (light, heavy, dull):
        ledger.put(one)
    assert [(one.memory_id, one.why) for one in ledger.plan(0, NOW).goes] == [
        ("heavy", SENSITIVE), ("light", SENSITIVE), ("dull", LEAST),
    ]  # fmt: skip


def test_health_goes_before_small_talk_unless_something_keeps_it() -> None:
    """As docs/use/budgets.md has it, with the constants as they come."""
    suggested = suggested_ppm("Ada is allergic to penicillin.") or 0
    told = {"worth": 20 * PPM, "novelty_ppm": 800_000, "age": 7}
    allergy, talk = _item("allergy", sensitivity_ppm=suggested, **told), _item("talk", **{**told, "worth": 0})
    shipped = BudgetPolicy()
    assert _went("worth", [allergy, talk], 10, shipped) == ["allergy"]
    new = _item("allergy", sensitivity_ppm=suggested, **{**told, "age": 0})
    assert _went("worth", [new, talk], 10, shipped) == ["talk"]
    for kept in (replace(allergy, protected=PINNED), replace(allergy, sensitivity_ppm=200_000)):
        assert _went("worth", [kept, talk], 10, shipped) == ["talk"]
    assert _went("worth", [allergy, talk], 10, BudgetPolicy(lambda_priv_ppm=0)) == ["talk"]
    passport = _item(
        "passport", sensitivity_ppm=suggested_ppm("Ada's passport is C01X00T47.") or 0, **{**told, "age": 1}
    )
    assert _went("hybrid", [passport, talk], 10, shipped) == ["passport"]


@pytest.mark.parametrize(
    ("novelty", "from_day", "new", "month"), [(1_000_000, (3, 9), 0.43, 0.29), (800_000, (0, 5), 0.40, 0.26)]
)
def test_from_which_day_on_what_is_sensitive_goes_first(
    novelty: int, from_day: tuple[int, int], new: float, month: float
) -> None:
    """As docs/use/budgets.md has it, with the constants as they come."""

    def net(sensitivity: int, day: int) -> int:
        one = _item("a", age=day, worth=50 * PPM, novelty_ppm=novelty, sensitivity_ppm=sensitivity)
        return score(one, NOW, BudgetPolicy()).net_ppm

    said = ("Ada's passport is C01X00T47.", "Ada is allergic to penicillin.")
    found = [suggested_ppm(text) or 0 for text in said]
    assert found == [800_000, 700_000]
    assert tuple(next(day for day in range(100) if net(one, day) < 0) for one in found) == from_day
    assert (round(net(0, 0) / PPM, 2), round(net(0, 30) / PPM, 2)) == (new, month)


def test_recency_fades_while_time_goes_by_so_one_overtakes_the_other() -> None:
    # `recent` lives of its last use, `lasting` of what it says.
    recent, lasting = _item("recent", worth=8 * PPM), _item("lasting", age=30, worth=12 * PPM)
    ledger = Ledger("worth", POLICY)
    ledger.put(recent)
    ledger.put(lasting)
    assert [one.memory_id for one in ledger.plan(10, NOW).goes] == ["lasting"]
    assert [one.memory_id for one in ledger.plan(10, NOW + 60 * DAY).goes] == ["recent"]
    ledger.used("recent", NOW + 60 * DAY)
    assert [one.memory_id for one in ledger.plan(10, NOW + 60 * DAY).goes] == ["lasting"]


@given(st.lists(st.tuples(st.integers(1, 90), st.integers(0, 60), st.integers(0, 300), st.integers(0, 9)), max_size=30))
def test_the_order_is_that_of_the_score_to_one_part_in_a_hundred(told: list[tuple[int, int, int, int]]) -> None:
    items = {str(i): _item(str(i), t, age=a, worth=w * PPM, uses=u) for i, (t, a, w, u) in enumerate(told)}
    ledger = Ledger("worth", POLICY)
    for one in items.values():
        ledger.put(one)
    scores = [one.score.score for one in ledger.plan(0, NOW).goes]
    assert len(scores) == len(items)
    assert all(a <= b * 1.011 + 2 for a, b in pairwise(scores))


def test_random_is_a_matter_of_the_seed_and_of_nothing_else() -> None:
    items = [_item(str(i), age=i) for i in range(40)]
    first = _went("random", items, 200)
    assert first == _went("random", items[::-1], 200)
    ledger = Ledger("random", POLICY, b"another")
    for one in items:
        ledger.put(one)
    assert [one.memory_id for one in ledger.plan(200, NOW).goes] != first


def test_hybrid_lets_the_stale_go_then_sums_up_then_scores_then_what_is_most_exposed_of_equals() -> None:
    stale = _item("stale", age=40, worth=200 * PPM)
    said = [_item("one", 20, age=2, worth=50 * PPM), _item("two", 20, age=2, worth=50 * PPM)]
    # Alike in score, as sensitivity has no price here; one is sensitive and old.
    equal = [_item("dull", age=6, unused=1), _item("exposed", age=6, unused=1, sensitivity_ppm=100_000)]
    ledger = Ledger("hybrid", replace(POLICY, lambda_priv_ppm=0))
    for one in (stale, *said, *equal):
        ledger.put(one)
    plan = ledger.plan(10, NOW, groups=[Group("summary", ("one", "two"), 8)])
    assert [one.memory_ids for one in plan.replaces] == [("one", "two")]
    assert [(one.memory_id, one.why) for one in plan.goes] == [
        ("stale", STALE), ("exposed", EXPOSED), ("dull", LEAST),
    ]  # fmt: skip
    assert ledger.plan(38, NOW, groups=[Group("summary", ("one", "two"), 8)]).goes[0].memory_id == "stale"


@pytest.mark.parametrize(
    ("group", "taken"),
    [
        (Group("s", ("a", "b"), 5), True),
        (Group("s", ("a", "b"), 20), False),  # no cheaper
        (Group("s", ("a", "b"), 5, distortion_ppm=600_000), False),  # says another thing
        (Group("s", ("a", "b"), 5, sensitivity_ppm=500_000), False),  # as sensitive as its sources
        (Group("s", ("a", "b"), 5, sensitivity_ppm=400_000), True),
        (Group("s", ("a", "pinned"), 5), False),
        (Group("s", ("a", "gone"), 5), False),
        (Group("s", ("a", "base"), 5), False),  # something else was made of it
    ],
)
def test_reflection_takes_a_summary_where_it_is_cheaper_near_and_less_sensitive(group: Group, taken: bool) -> None:
    ledger = Ledger("reflection", POLICY)
    for one in (
        _item("a", sensitivity_ppm=500_000), _item("b"), _item("pinned", protected=PINNED), _item("base"),
        _item("made", needs=("base",)),
    ):  # fmt: skip
        ledger.put(one)
    assert bool(ledger.plan(45, NOW, groups=[group]).replaces) is taken
    assert not Ledger("worth", POLICY).plan(45, NOW, groups=[group]).replaces


def test_leaves_go_first_and_what_carries_what_is_kept_stays() -> None:
    source, summary, other = _item("source", age=9), _item("summary", age=1, needs=("source",)), _item("other", age=5)
    assert _went("fifo", [source, summary, other], 0) == ["other", "summary", "source"]
    ledger = Ledger("fifo", POLICY)
    for one in (source, replace(summary, protected=PINNED), other):
        ledger.put(one)
    ledger.used("source", NOW)
    plan = ledger.plan(5, NOW)
    assert [one.memory_id for one in plan.goes] == ["other"]
    assert (plan.held, plan.over, plan.excess) == (20, 15, {PINNED: 10, SUPPORTS: 10})


def test_what_is_protected_counts_stays_and_is_told_as_excess() -> None:
    ledger = Ledger("fifo", POLICY)
    for one in (_item("a", 60, age=3), _item("b", 30, age=2), _item("c", 30, age=1)):
        ledger.put(one)
    ledger.protect("a", PINNED)
    assert [one.memory_id for one in ledger.plan(90, NOW).goes] == ["b"]
    # A vote keeps it: the next in order is nominated.
    ledger.protect("b", RESTING)
    assert [one.memory_id for one in ledger.plan(90, NOW).goes] == ["c"]
    ledger.protect("c", RESTING)
    plan = ledger.plan(90, NOW)
    assert (plan.goes, plan.over, plan.excess) == ((), 30, {PINNED: 60, RESTING: 60})
    ledger.protect("b", None)
    plan = ledger.plan(30, NOW, most=0)
    assert plan.excess == {PINNED: 60, RESTING: 30, CAPPED: 30}


def test_shares_are_soft_until_all_is_too_much_and_then_those_give_that_have_more() -> None:
    shares = replace(POLICY, shares_ppm=(250_000, 250_000, 250_000, 250_000))
    tasks = [_item(f"task{i}", age=9 - i, type="task") for i in range(3)]
    episodes = [_item(f"e{i}", age=i % 3) for i in range(7)]
    assert _went("fifo", [*tasks, *episodes], 100, shares) == []
    went = _went("fifo", [*tasks, *episodes], 60, shares)
    # Each share is 15: tasks and episodes both have more, until the tasks have 10.
    assert [one for one in went if one.startswith("task")] == ["task0", "task1"]
    only = _went(
        "fifo", [_item("a", age=2), _item("b", age=1), _item("pin", 200, type="task", protected=PINNED)], 60, shares
    )
    assert only == ["a", "b"], "what the task that is pinned cannot give the others do"


def test_what_was_named_has_to_gain_more_than_the_band_to_be_spared() -> None:
    policy = replace(POLICY, theta_episodic_ppm=(0, 0, 0, 0, PPM, 0, 0))
    a, b = _item("a", worth=100 * PPM), _item("b", worth=101 * PPM)
    ledger = Ledger("worth", policy)
    for one in (a, b):
        ledger.put(one)
    assert [one.memory_id for one in ledger.plan(10, NOW).goes] == ["a"]
    ledger.put(replace(a, worth=101_500_000))
    assert [one.memory_id for one in ledger.plan(10, NOW).goes] == ["a"]
    ledger.put(replace(a, worth=104 * PPM))
    assert [one.memory_id for one in ledger.plan(10, NOW).goes] == ["b"]


@pytest.mark.parametrize("name", FORGETTING)
@given(seed=st.integers(0, 10_000), shares=st.booleans(), draws=st.booleans())
@settings(max_examples=8, deadline=None)
def test_no_rule_is_broken_whatever_happens(name: str, seed: int, shares: bool, draws: bool) -> None:
    policy = BudgetPolicy(shares_ppm=(400_000, 300_000, 200_000, 100_000) if shares else ())
    if draws:
        policy = replace(policy, epsilon_ppm=PPM, subject_epsilon_ppm=5 * PPM, band_ppm=PPM)
    churn = Churn(name, seed, policy, budget=1_500)
    churn.run(1_000)
    assert not churn.broken
    assert churn.went > 50


def test_uses_and_age_make_features_between_0_and_1() -> None:
    assert accesses_ppm(0) == 0
    assert accesses_ppm(4) == PPM // 2
    assert recency_ppm(0, DAY) == recency_ppm(-5, DAY) == PPM
    assert recency_ppm(DAY, DAY) == 500_000
    assert recency_ppm(5_000 * DAY, DAY) == 0


def test_the_first_pattern_that_fits_says_the_budget() -> None:
    policy = BudgetPolicy(tokens="support=800/hybrid team-*=50000 *=900", policy="lru")
    assert budget_of(policy, "support") == Budget("support", 800, "hybrid")
    assert budget_of(policy, "team-a") == Budget("team-*", 50_000, "lru")
    assert budget_of(policy, "else") == Budget("*", 900, "lru")
    assert budget_of(BudgetPolicy(), "support") is None


def test_a_budget_has_floors_beside_it_with_or_without_a_policy() -> None:
    policy = BudgetPolicy(tokens="support=800/hybrid/task:300,social:100 team-*=900/task:500 a=70", policy="lru")
    assert budget_of(policy, "support") == Budget("support", 800, "hybrid", (0, 0, 100, 300))
    assert budget_of(policy, "team-a") == Budget("team-*", 900, "lru", (0, 0, 0, 500))
    assert budget_of(policy, "a") == Budget("a", 70, "lru")


def test_a_type_keeps_its_floor_though_its_memories_are_worth_least() -> None:
    """A floor of 35 keeps four of six tasks of ten tokens; the facts, which are worth more, go in their place."""
    items = [_item(f"task-{at}", worth=at * PPM, type="task") for at in range(6)]
    items += [_item(f"fact-{at}", worth=(50 + at) * PPM, type="semantic") for at in range(4)]
    for policy in ("worth", "hybrid", "reflection", "fifo", "lru", "priority", "random"):
        ledger = Ledger(policy, POLICY, floors=(0, 0, 0, 35))
        for one in items:
            ledger.put(one)
        for _ in range(2):
            plan = ledger.plan(50, NOW)
            went = [one.memory_id for one in plan.goes]
            assert sum(one.startswith("task") for one in went) <= 2 and len(went) == 5, policy
        assert ledger.tokens == 100, "a plan changes nothing"
        assert ledger.plan(0, NOW).excess == {FLOOR: 40}
        assert ledger.evict(0, NOW).excess == {FLOOR: 40}
        assert ledger.tokens == 40
        ledger.put(_item("task-9", type="task"))
        assert len(ledger.evict(0, NOW).goes) == 1, "what a floor kept once is not protected for good"


def test_a_floor_keeps_what_a_lighter_one_of_its_type_can_go_for() -> None:
    items = [_item("heavy", 50, worth=0, type="task"), _item("light", 10, worth=9 * PPM, type="task")]
    ledger = Ledger("worth", POLICY, floors=(0, 0, 0, 50))
    for one in items:
        ledger.put(one)
    assert [one.memory_id for one in ledger.plan(0, NOW).goes] == ["light"]


@pytest.mark.parametrize(
    ("told", "complaint"),
    [
        ({"tokens": "support=-5"}, "budget.tokens: 'support=-5' is too small a budget"),
        ({"tokens": "support=63"}, "64 tokens are the least"),
        ({"tokens": f"support={2**31}"}, "budget.tokens"),
        ({"tokens": "support"}, "'support' is not NAMESPACE=TOKENS"),
        ({"tokens": "a,b=500"}, "'a,b=500' is not NAMESPACE=TOKENS"),
        ({"tokens": "support=500/oldest"}, "unknown policy; known: fifo, lru"),
        ({"tokens": "support=500/worth/chore:5"}, "a floor of 'chore'; the types are episodic, semantic"),
        ({"tokens": "support=500/task:5,task:6"}, "the floor of task twice"),
        ({"tokens": "support=500/task:0"}, "the floor of task is a number of tokens of at least 1"),
        ({"tokens": "support=500/task:400,social:200"}, "floors of 600 tokens, more than its budget"),
        ({"policy": "oldest"}, "budget.policy 'oldest' is unknown"),
        ({"shares_ppm": [1, 2, 3]}, "budget.shares_ppm must be four shares"),
        ({"shares_ppm": [500_000, 500_000, 1, 0]}, "budget.shares_ppm must sum to 1,000,000; they sum to 1,000,001"),
        ({"shares_ppm": [0.25] * 4}, "budget.shares_ppm"),
        ({"lambda_priv_ppm": -1}, "budget.lambda_priv_ppm must lie in"),
        ({"theta_task_ppm": [1, 2]}, "budget.theta_task_ppm must be 7 numbers"),
        ({"theta_social_ppm": [-1] * 7}, "budget.theta_social_ppm must be 7 numbers"),
        ({"priority_ppm": [1, 1, 1]}, "budget.priority_ppm must sum to 1,000,000"),
        ({"ttl_ms": [1, 2, 3]}, "budget.ttl_ms must be four ages in"),
        ({"ttl_ms": [1, 2, 3, -4]}, "budget.ttl_ms must be four ages in"),
        ({"margin_ppm": 1_000_001}, "budget.margin_ppm must lie in"),
        ({"half_life_ms": 0}, "budget.half_life_ms must lie in"),
        ({"tokns": ""}, "unknown setting budget.tokns"),
    ],
)
def test_what_no_budget_can_be_is_refused_with_its_field(told: dict[str, object], complaint: str) -> None:
    with pytest.raises(PolicyError, match="policy: ") as refused:
        from_json({"budget": told})
    assert complaint in str(refused.value)


def test_a_policy_with_budgets_is_written_and_read_again() -> None:
    told = from_json({"budget": {"tokens": "a=500/fifo", "shares_ppm": [250_000] * 4}})
    assert read(written(told)) == told
    assert to_json(told)["budget"]["shares_ppm"] == [250_000] * 4


def test_an_unknown_policy_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(UnknownPolicy, match="known: fifo, lru, priority, reflection, random, hybrid, worth"):
        Ledger("oldest", POLICY)


def test_ages_are_whole_milliseconds_whatever_they_are_written_as() -> None:
    policy = from_json({"budget": {"ttl_ms": [0, 3_600_000.0, 0, 0]}})
    assert policy.budget.ttl_ms == (0, 3_600_000, 0, 0)
    assert all(isinstance(one, int) for one in read(written(policy)).budget.ttl_ms)
