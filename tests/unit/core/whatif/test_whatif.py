"""What-if: the same topics give the same hash, reads are asked again, and only knowable facts count."""

from __future__ import annotations

import json
import random
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from memquorum.core.budgets.items import PINNED
from memquorum.core.policy import FORGETTING, BudgetPolicy, CapsPolicy
from memquorum.core.whatif import report
from memquorum.core.whatif.bounds import most_hits
from memquorum.core.whatif.events import Asked, Back, Course, Ended, Epoch, Guarded, SummedUp, Voted
from memquorum.core.whatif.keepers import DENSITIES, ORACLE, VOTED, Foresight, Setting
from memquorum.core.whatif.replaying import DAY_MS, Regret, Result, Trial, replay
from memquorum.core.whatif.report import CannotTry, compare
from memquorum.core.whatif.vectors import SCALE, Asking, Vectors, whole
from tests import examples
from tests.builders.courses import BEGAN, came, course, item, read, wild

T = BEGAN
TRIAL = Trial(BudgetPolicy())
FIFO = Setting("fifo", 20)


def _try(*events: object, setting: Setting = FIFO, trial: Trial = TRIAL) -> Result:
    results, _ = replay(course(*events), [setting], trial)  # type: ignore[arg-type]
    return results[0]


def test_what_was_read_after_it_had_gone_is_a_miss_and_regretted_once() -> None:
    told = _try(
        came("a", T), came("b", T + 1), came("c", T + 2), Epoch(T + 3),
        read("a", T + 4), read("a", T + 5), read("b", T + 6),
    )  # fmt: skip
    assert (told.counts.hits, told.counts.misses, told.counts.unknown) == (1, 2, 0)
    assert (told.counts.hit_tokens, told.counts.missed_tokens) == (10, 20)
    assert told.regrets == [Regret("a", T + 3, T + 4, 10, "oldest")]
    assert (told.counts.gone, told.counts.gone_tokens, told.counts.epochs, told.counts.held_tokens) == (1, 10, 1, 20)


def test_what_is_wanted_beyond_the_horizon_is_a_miss_and_no_regret() -> None:
    events = (came("a", T), came("b", T), came("c", T + 1), Epoch(T + 2), read("a", T + 2 + DAY_MS + 1))
    assert _try(*events).counts.regretted == 1
    told = _try(*events, trial=replace(TRIAL, horizon_ms=DAY_MS))
    assert (told.counts.regretted, told.counts.misses) == (0, 1)


def test_nothing_that_was_erased_is_regretted_or_missed() -> None:
    told = _try(
        came("a", T), came("b", T + 1), came("c", T + 2), Epoch(T + 3), read("a", T + 4), Ended(T + 5, "a", erased=True)
    )
    assert (told.counts.misses, told.counts.unknown, told.regrets) == (0, 1, [])


def test_what_nobody_knows_is_unknown_and_widens_the_bounds() -> None:
    made = compare([course(came("a", T), read("a", T + 1), read("before", T + 2))], ["fifo"], 100, TRIAL)
    assert made.line("fifo").hit() == (0.5, 1.0)


def test_pins_stay_and_what_is_beyond_the_budget_is_told() -> None:
    told = _try(came("a", T), Guarded(T, "a", PINNED), *(came(n, T + 1) for n in "bc"), Epoch(T + 2), read("a", T + 3))
    assert (told.counts.hits, told.counts.over) == (1, 0)
    told = _try(came("a", T, 90), Guarded(T, "a", PINNED), came("b", T + 1), Epoch(T + 2))
    assert (told.counts.over, told.counts.gone) == (70, 1)


def test_caps_hold_what_goes_in_an_epoch() -> None:
    many = [came(f"{n:02}", T + n) for n in range(40)]
    caps = CapsPolicy(floor=1)
    told = _try(*many, Epoch(T + 50), trial=replace(TRIAL, caps=caps))
    free = _try(*many, Epoch(T + 50))
    assert free.counts.gone == 38
    assert 0 < told.counts.gone < free.counts.gone
    assert (told.counts.capped, free.counts.capped) == (2, 0)


def test_the_fleets_own_votes_count_until_the_trial_begins_and_no_longer() -> None:
    events = (came("a", T), Voted(T + 10, "a"), came("b", T + 11), Voted(T + 20, "b"), read("b", T + 30))
    late = replace(TRIAL, begins=T + 15)
    assert _try(*events, trial=late).counts.held == 1  # a went before, b's vote is not taken again
    assert _try(*events).counts.held == 2
    voted = _try(*events, setting=Setting(VOTED, None))
    assert (voted.counts.held, voted.counts.gone, voted.counts.misses) == (0, 2, 1)
    assert voted.regrets == [Regret("b", T + 20, T + 30, 10, VOTED)]
    assert _try(*events, Back(T + 31, "b"), setting=Setting(VOTED, None)).counts.held == 1


def test_a_summary_comes_where_something_of_it_is_held_still() -> None:
    summed = SummedUp(T + 9, item("sum", T + 9, 5), ("a", "b"))
    told = _try(came("a", T), came("b", T + 1), summed, read("sum", T + 10))
    assert (told.counts.held, told.counts.held_tokens, told.counts.hits) == (1, 5, 1)
    gone = _try(came("a", T, 30), came("b", T + 1, 30), came("c", T + 2), Epoch(T + 3), summed, read("sum", T + 10))
    assert (gone.counts.held, gone.counts.misses) == (1, 1)


def _asked() -> Course:
    axes = np.eye(4)
    vectors = Vectors({name: whole(axes[at]) for at, name in enumerate("abc")})
    near = axes[0] * 0.8 + axes[1] * 0.6
    events = (
        came("a", T), came("b", T + 1), came("c", T + 2), Epoch(T + 3),
        Asked(T + 4, ("c",), 0), Asked(T + 5, ("c", "lost"), 0), Asked(T + 6, ("c",), None),
    )  # fmt: skip
    return Course("farm", events, vectors, {0: whole(near)})


def test_queries_are_asked_again_of_what_a_setting_holds() -> None:
    results, demand = replay(_asked(), [FIFO, Setting("fifo", None)], TRIAL)
    small, whole_ = (one.counts for one in results)
    # Twice `a` is wanted, which went; of what nobody can open nothing is known; the last wants what the log says.
    assert (small.hits, small.misses, small.unknown) == (1, 2, 1)
    assert (whole_.hits, whole_.misses, whole_.unknown) == (3, 0, 1)
    assert (demand.again, demand.logged) == (3, 1)


def test_what_a_setting_answers_counts_as_used_there() -> None:
    told = _asked()
    events = (*told.events[:5], came("d", T + 6), Epoch(T + 7))
    # Without `a` it answers `b`, so that `c` was not used for longest.
    results, _ = replay(replace(told, events=events), [Setting("lru", 20)], TRIAL)
    kept, _ = replay(replace(told, events=(*events, read("b", T + 8), read("c", T + 9))), [Setting("lru", 20)], TRIAL)
    assert results[0].counts.gone == 2
    assert (kept[0].counts.hits, kept[0].counts.misses) == (1, 2)
    assert kept[0].regrets[-1].memory_id == "c"


def test_nearest_in_whole_numbers_is_nearest_and_exact() -> None:
    rng = np.random.default_rng(3)
    rows = rng.normal(size=(3_000, 384))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    vectors = Vectors({f"{at:04}": whole(row) for at, row in enumerate(rows)})
    kept = rng.random(3_000) < 0.1
    asking = Asking(vectors, {at: whole(query) for at, query in enumerate(rows[:5])})
    for number, query in enumerate(rows[:5]):
        near = asking.near(number, np.ones(3_000, np.bool_))
        assert near is not None
        exact = np.stack([whole(row) for row in rows]).astype(np.int64) @ whole(query).astype(np.int64)
        assert near.nearest(700, kept) == [int(at) for at in np.lexsort((np.arange(3_000), -exact)) if kept[at]][:700]
        assert abs(exact / SCALE**2 - rows @ query).max() < 0.002


@given(st.integers(0, 10**6))
def test_epochs_in_which_nothing_happened_change_nothing(seed: int) -> None:
    told = wild(seed, memories=30)
    again = [one for event in told.events for one in ([event] * 3 if isinstance(event, Epoch) else [event])]
    tried = [Setting(name, 200) for name in FORGETTING]
    assert replay(told, tried, TRIAL)[0] == replay(replace(told, events=again), tried, TRIAL)[0]


def test_what_caps_put_off_goes_at_later_epochs_though_nothing_happens() -> None:
    limits = CapsPolicy(floor=1)
    events = [*(came(f"m{n:03}", T + n) for n in range(100)), *(Epoch(T + n * DAY_MS // 24) for n in range(1, 24 * 12))]
    (result,), _ = replay(course(*events), [Setting("fifo", 300)], replace(TRIAL, caps=limits))
    assert result.counts.held_tokens == 300 and result.counts.epochs > 7
    at_first = [point.tokens for point in result.points[:4]]
    assert at_first[-1] >= 700, "a quarter in a day"


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([64, 200, 500]))
def test_the_same_topics_give_the_same_hash_in_whatever_order(seed: int, tokens: int) -> None:
    courses = [wild(seed + n, name, memories=30) for n, name in enumerate(("farm", "attic"))]
    assert compare(courses[::-1], FORGETTING, tokens, TRIAL) == compare(courses, FORGETTING, tokens, TRIAL)


@pytest.mark.parametrize("seed", range(3))
def test_the_hash_covers_which_keys_exist_and_the_budget(seed: int) -> None:
    courses = [wild(seed + n, name) for n, name in enumerate(("farm", "attic"))]
    first = compare(courses, FORGETTING, 200, TRIAL).hash
    less = replace(courses[0], vectors=Vectors({}))
    assert compare([less, courses[1]], FORGETTING, 200, TRIAL).hash != first
    assert compare(courses, FORGETTING, 201, TRIAL).hash != first


@settings(max_examples=examples(40), deadline=None)
@given(st.integers(0, 10**6))
def test_a_budget_that_holds_all_regrets_nothing_and_hits_all(seed: int) -> None:
    made = compare([wild(seed)], FORGETTING, 10**7, TRIAL)
    for policy in FORGETTING:
        told = made.line(policy)
        assert (told.counts["misses"], told.counts["gone"], told.regrets) == (0, 0, ())
        assert told.share_ppm is None


@settings(max_examples=examples(40), deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([64, 200, 500]), st.booleans())
def test_the_oracle_serves_no_less_than_a_policy_and_the_ceiling_no_less_than_it(
    seed: int, tokens: int, plain: bool
) -> None:
    made = compare([wild(seed, plain=plain)], FORGETTING, tokens, TRIAL)
    oracle = made.line(ORACLE)
    for policy in FORGETTING:
        told = made.line(policy)
        assert told.counts["hits"] <= oracle.counts["hits"] <= made.ceiling + 1e-9
        assert told.share_ppm is None or told.share_ppm <= 1_000_000


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6))
def test_by_itself_the_oracle_is_no_worse_where_all_weigh_the_same(seed: int) -> None:
    made = wild(seed, plain=True)
    results, demand = replay(made, report.settings(FORGETTING, 100), TRIAL)
    oracles, _ = replay(made, [Setting(ORACLE, 100, density=one) for one in DENSITIES], TRIAL, demand)
    best = max(one.counts.hits for one in oracles)
    assert all(one.counts.hits <= best for one in results if one.setting.policy != VOTED)


@settings(max_examples=examples(40), deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(FORGETTING))
def test_what_was_erased_is_never_named(seed: int, policy: str) -> None:
    made = wild(seed, memories=90)
    erased = {one.memory_id for one in made.events if isinstance(one, Ended) and one.erased}
    assert not erased & {one.memory_id for one in compare([made], [policy], 100, TRIAL).line(policy).regrets}


def test_random_is_a_mean_of_seeds_and_shares_lie_between_it_and_the_oracle() -> None:
    made = compare([wild(n, f"n{n}") for n in range(6)], ("random", "worth"), 150, TRIAL)
    assert made.line("random").share_ppm == 0
    assert made.line(ORACLE).share_ppm == 1_000_000
    assert made.line(VOTED).share_ppm is None
    assert len(made.line("worth").points) == 48
    assert json.dumps(made.line("worth").counts)


@pytest.mark.parametrize(
    ("policies", "tokens", "courses", "why"),
    [
        (["smart"], 100, [wild(1)], "policy 'smart' is unknown; known: fifo"),
        (["lru"], -5, [wild(1)], "--budget -5: 64 tokens are the least"),
        (["lru"], 63, [wild(1)], "--budget 63"),
        (["lru"], 100, [], "nothing to replay"),
        (["lru"], 100, [course()], "nothing to replay"),
    ],
)
def test_what_cannot_be_tried_is_refused(policies: list[str], tokens: int, courses: list[Course], why: str) -> None:
    with pytest.raises(CannotTry, match=why):
        compare(courses, policies, tokens, TRIAL)
    with pytest.raises(CannotTry, match="--from"):
        compare([wild(1)], ["lru"], 100, replace(TRIAL, begins=T * 2))


def test_a_ceiling_is_what_fits() -> None:
    events = (came("a", T), came("b", T), Epoch(T + 1), read("a", T + 2), read("b", T + 2))
    _, demand = replay(course(*events), [Setting("fifo", 10)], TRIAL)
    # One epoch has to be lived through, and 10 tokens were held then.
    assert most_hits(demand, {"a": T, "b": T}, 5) == most_hits(demand, {"a": T, "b": T}, 10) == 1.0
    assert most_hits(demand, {"a": T, "b": T}, 15) == 1.5
    assert most_hits(demand, {"a": T, "b": T}, 20) == 2.0


@settings(max_examples=examples(60), deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(DENSITIES), st.one_of(st.none(), st.integers(1, 80)))
def test_the_oracle_lets_go_what_is_worth_least_in_order(seed: int, density: str, most: int | None) -> None:
    lot = random.Random(seed)
    items = {f"m{n:03}": item(f"m{n:03}", tokens=lot.choice((5, 10, 20))) for n in range(90)}
    asked = {name: sorted(T + lot.randrange(1, 5) for _ in range(lot.randrange(3))) for name in items}
    oracle = Foresight(density, asked, items)
    for one in items.values():
        oracle.put(one)

    def worth(name: str) -> Fraction:
        times = asked[name]
        if not times:
            return Fraction(0)
        ahead = {"next": (1, times[0] - T), "all": (len(times), times[-1] - T), "count": (len(times), 1)}
        return Fraction(ahead[density][0], ahead[density][1] * items[name].tokens)

    wanted = oracle.tokens - lot.randrange(1, 900)
    never = [name for name in items if not asked[name]]
    some = never if oracle.tokens - sum(items[name].tokens for name in never) <= wanted else list(items)
    expected, left = list[str](), oracle.tokens
    for name in sorted(some, key=lambda one: (worth(one), -items[one].tokens, one))[:most]:
        if left <= wanted:
            break
        expected.append(name)
        left -= items[name].tokens
    gone, _ = oracle.shed(wanted, T, most)
    assert [one.memory_id for one in gone] == expected
    assert (oracle.tokens, len(oracle)) == (left, 90 - len(expected))
