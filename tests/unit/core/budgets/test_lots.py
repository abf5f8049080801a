"""Draws among near-ties: the frequencies, the bound that is proven, who pays, and who is refused."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from memquorum.core.budgets.items import Item, score
from memquorum.core.budgets.ledger import Going, Ledger
from memquorum.core.budgets.lots import Lots, Near, draw, quality_ppm, sensitivity_ppm, weights
from memquorum.core.budgets.rules import BY_LOT, LEAST
from memquorum.core.policy import PPM, BudgetPolicy, PolicyError, from_json

CHI_SQUARE = {2: 9.210, 4: 13.277}
"""By degrees of freedom, what a chi-square exceeds once in a hundred times."""
NOW = 1_790_000_000_000
ON = BudgetPolicy(epsilon_ppm=PPM, w_max=64, lipschitz_ppm=30_000, subject_epsilon_ppm=3 * PPM)
SHARP = replace(ON, epsilon_ppm=8 * PPM, subject_epsilon_ppm=100 * PPM)


def _item(name: str, worth: int = 10 * PPM, tokens: int = 10, sensitivity: int = 0, **told: object) -> Item:
    return Item(name, "episodic", tokens, NOW, NOW, worth=worth, sensitivity_ppm=sensitivity, **told)  # type: ignore[arg-type]


def _near(*items: Item) -> list[Near]:
    return [Near((1, at), one, LEAST) for at, one in enumerate(items)]


def _lots(policy: BudgetPolicy = ON, seed: bytes = b"seed", spent: dict[str, int] | None = None, **of: str) -> Lots:
    return Lots(policy, seed, of, spent or {})


def _chi_square(found: list[int], expected: list[float]) -> float:
    return sum((one - other) ** 2 / other for one, other in zip(found, expected, strict=True))


def test_the_sensitivity_is_that_of_the_spec_and_q_lies_within_it() -> None:
    assert sensitivity_ppm(ON) == 64 * 30_000 + 500_000
    qualities = [quality_ppm(net, ON) for net in (-(10**12), -400_000, 0, 12_345, 10**12)]
    assert qualities == [500_000, 400_000, 0, -12_345, -64 * 30_000]
    assert max(qualities) - min(qualities) == sensitivity_ppm(ON)


def test_what_is_drawn_is_as_frequent_as_the_exponential_mechanism_says() -> None:
    """A chi-square over 40,000 seeds, against e^(ε·q/2Δq) in floating point."""
    nets = [0, 300_000, 900_000, 1_500_000, -300_000]
    qualities = [quality_ppm(net, SHARP) for net in nets]
    weighs = weights(qualities, SHARP)
    found = [0] * len(nets)
    draws = 40_000
    for seed in range(draws):
        found[draw(weighs, seed.to_bytes(4), b"label")] += 1
    expected = [math.exp(8 * q / (2 * sensitivity_ppm(SHARP))) for q in qualities]
    expected = [draws * one / sum(expected) for one in expected]
    assert max(expected) > 3 * min(expected), "it is no even draw"
    assert _chi_square(found, expected) < CHI_SQUARE[4]
    assert _chi_square(found, [draws / len(nets)] * len(nets)) > 100 * CHI_SQUARE[4]


def test_a_whole_draw_goes_by_the_scores_of_what_it_is_about() -> None:
    """From items to frequencies: what is worth less, or is more sensitive, goes oftener, as often as its q says."""
    items = [_item("a", 40 * PPM), _item("b", 40 * PPM, sensitivity=PPM), _item("c", 5 * PPM)]
    nets = [score(one, NOW, SHARP).net_ppm for one in items]
    expected = [math.exp(8 * quality_ppm(net, SHARP) / (2 * sensitivity_ppm(SHARP))) for net in nets]
    found = dict.fromkeys("abc", 0)
    for seed in range(8_000):
        drawn = _lots(SHARP, seed.to_bytes(4)).draw(_near(*items), NOW, 10**6)
        assert drawn is not None
        found[drawn[0].item.memory_id] += 1
    assert _chi_square([*found.values()], [8_000 * one / sum(expected) for one in expected]) < CHI_SQUARE[2]
    assert found["a"] < found["c"] < found["b"]


@given(
    epsilon=st.integers(1, 10 * PPM),
    nets=st.lists(st.tuples(*[st.integers(-(10**9), 10**9)] * 2), min_size=2, max_size=16),
)
def test_whatever_becomes_of_the_features_no_draw_gets_likelier_by_more_than_e_to_the_epsilon(
    epsilon: int, nets: list[tuple[int, int]]
) -> None:
    """The bound that is proven: for the same candidates, of exact weights, and so of every set of outcomes."""
    policy = replace(ON, epsilon_ppm=epsilon, subject_epsilon_ppm=10 * PPM)
    one, other = (weights([quality_ppm(net[side], policy) for net in nets], policy) for side in (0, 1))
    for mine, theirs in zip(one, other, strict=True):
        assert mine > 0 and theirs > 0
        ratio = (mine / sum(one)) / (theirs / sum(other))
        assert abs(math.log(ratio)) <= epsilon / PPM + 1e-12


def test_the_same_candidates_under_the_same_seed_draw_the_same_in_whatever_order() -> None:
    items = [_item(name) for name in "abcdefgh"]
    told = [_lots().draw(_near(*some), NOW, 10**6) for some in (items, items[::-1])]
    assert told[0] is not None and told[1] is not None
    assert told[0][0].item == told[1][0].item
    others = {
        found[0].item.memory_id
        for seed in range(50)
        if (found := _lots(seed=bytes([seed])).draw(_near(*items), NOW, 10**6)) is not None
    }
    assert len(others) > 4


def test_each_subject_pays_once_for_a_draw_and_the_lowest_of_it_stands_for_it() -> None:
    lots = _lots(a="ada", b="bob", c="ada")
    found = lots.draw(_near(*(_item(name) for name in "cab")), NOW, 10**6)
    assert found is not None
    assert (found[1].among, found[1].charged, found[1].refused) == (3, ("b", "c"), 0)


def test_who_has_spent_takes_part_no_more_and_as_the_lowest_stands_in_order() -> None:
    spent = {"ada": 2 * PPM + 1}
    near = _near(*(_item(name) for name in "bca"))
    lots = _lots(spent=spent, a="ada", b="bob", c="cy")
    found = lots.draw(near, NOW, 10**6)
    assert found is not None
    assert (found[1].among, found[1].charged, found[1].refused) == (2, ("b", "c"), 1)
    refused = _lots(spent=spent, a="bob", b="ada", c="cy").draw(near, NOW, 10**6)
    assert refused is not None
    assert refused[0].item.memory_id == "b"
    assert (refused[1].among, refused[1].charged, refused[1].refused) == (1, (), 1)


def test_what_a_plan_would_have_spent_is_not_spent_by_looking() -> None:
    lots = _lots(a="ada", b="bob")
    near = _near(_item("a"), _item("b"))
    drawn = []
    for _ in range(5):
        found = lots.draw(near, NOW, 10**6)
        assert found is not None
        drawn.append(bool(found[1].charged))
    assert drawn == [True, True, True, False, False]
    lots.begin()
    found = lots.draw(near, NOW, 10**6)
    assert found is not None and found[1].charged


def test_of_one_there_is_no_draw_and_nobody_is_drawn_before_whom_more_stands_than_members_may_find() -> None:
    near = _near(_item("a", tokens=10), _item("b", tokens=10), _item("c", tokens=10))
    assert _lots().draw(near[:1], NOW, 10**6) is None
    assert _lots().draw(near, NOW, 9) is None
    assert {
        found[0].item.memory_id
        for seed in range(60)
        if (found := _lots(seed=bytes([seed])).draw(near, NOW, 10)) is not None
    } == {"a", "b"}


def _goes(policy: str, constants: BudgetPolicy, items: list[Item], budget: int, lots: Lots | None) -> list[Going]:
    ledger = Ledger(policy, constants, b"", lots)
    for one in items:
        ledger.put(one)
    assert ledger.plan(budget, NOW).goes == ledger.plan(budget, NOW).goes, "looking changes nothing"
    return list(ledger.plan(budget, NOW).goes)


@pytest.mark.parametrize("policy", ["priority", "reflection", "hybrid", "worth"])
def test_a_plan_draws_among_what_scores_alike_and_leaves_the_others_in_order(policy: str) -> None:
    alike = [_item(f"alike{at}", 10 * PPM, uses=0) for at in range(6)]
    others = [_item(f"other{at}", (20 + 10 * at) * PPM, uses=20 + 20 * at) for at in range(3)]
    of = {one.memory_id: one.memory_id for one in (*alike, *others)}
    firsts = set()
    for seed in range(30):
        goes = _goes(policy, ON, [*others, *alike], 0, Lots(ON, bytes([seed]), of, {}))
        assert {one.memory_id for one in goes[:6]} == {one.memory_id for one in alike}
        assert [one.memory_id for one in goes[6:]] == ["other0", "other1", "other2"]
        assert goes[0].why == BY_LOT and goes[0].lot is not None and goes[0].lot.among == 6
        assert goes[-1].why != BY_LOT and goes[-1].lot is None
        firsts.add(goes[0].memory_id)
    assert len(firsts) > 3


@pytest.mark.parametrize("policy", ["fifo", "lru", "random"])
def test_times_and_lots_are_no_scores(policy: str) -> None:
    items = [_item(name) for name in "abc"]
    goes = _goes(policy, ON, items, 0, _lots())
    assert [one.memory_id for one in goes] == [one.memory_id for one in _goes(policy, ON, items, 0, None)]
    assert all(one.lot is None for one in goes)


def test_once_its_subject_has_spent_a_memory_stands_in_the_order_of_its_policy() -> None:
    items = [_item(f"m{at}", (100_000 + at) * 100) for at in range(12)]
    of = {one.memory_id: "ada" for one in items}
    goes = _goes("worth", ON, items, 0, Lots(ON, b"seed", of, {}))
    drawn = [one for one in goes if one.lot is not None and one.lot.charged]
    assert goes[:3] == drawn, "ε is 1, and 3 may be spent"
    left = [one.memory_id for one in goes[3:]]
    assert left == sorted(left, key=lambda name: int(name[1:]))
    assert all(one.lot is not None and one.lot.refused > 1 and one.why == LEAST for one in goes[3:-1])
    assert goes[-1].lot is None


@pytest.mark.parametrize(
    ("told", "complaint"),
    [
        ({"epsilon_ppm": -1}, r"budget\.epsilon_ppm must lie in"),
        ({"epsilon_ppm": 10_000_001}, r"budget\.epsilon_ppm must lie in"),
        ({"epsilon_ppm": 5, "subject_epsilon_ppm": 4}, r"budget\.subject_epsilon_ppm = 4 does not pay for one draw"),
        ({"subject_epsilon_ppm": -1}, r"budget\.subject_epsilon_ppm must lie in"),
        ({"w_max": 0}, r"budget\.w_max must lie in"),
        ({"lipschitz_ppm": 0}, r"budget\.lipschitz_ppm must lie in"),
        ({"epsilon_ppm": "much"}, r"budget\.epsilon_ppm = 'much' is not a int"),
    ],
)
def test_what_no_draw_can_be_is_refused_with_its_field(told: dict[str, object], complaint: str) -> None:
    with pytest.raises(PolicyError, match=complaint):
        from_json({"budget": told})
