"""Packing: never over the budget, each memory in once or left out for one reason, the same thing told once."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memquorum.core.reading import agreement
from memquorum.core.reading.tokens import tokens
from memquorum.core.retrieval import packing
from memquorum.core.retrieval.overtaken import Beside, Otherwise
from memquorum.core.retrieval.packing import BUDGET, DUPLICATE, MOST, pack
from memquorum.core.retrieval.ranking import Candidate
from tests.builders.found import candidate, name, scored


def packed(*candidates: Candidate, budget: int = 1_000, k_max: int = 10) -> packing.Packed:
    return pack([scored(one) for one in candidates], budget, k_max)


def ids(found: packing.Packed) -> list[str]:
    return [item.scored.candidate.hit.memory_id for item in found.items]


@pytest.mark.parametrize(
    ("text", "count"), [("", 0), ("a", 1), ("four", 1), ("fives", 2), ("größer", 2), ("記憶の灯", 3), ("\ud800", 1)]
)
def test_tokens_are_a_quarter_of_the_bytes(text: str, count: int) -> None:
    assert tokens(text) == count


def test_what_says_the_same_is_folded_and_named() -> None:
    first, again = candidate(1, "The tank holds 40 litres."), candidate(2, "the tank holds 40  litres", angle=5)
    found = packed(first, again, candidate(3, "Lunch is at noon.", angle=90))
    assert ids(found) == [name(1), name(3)]
    assert found.items[0].folded == (name(2),)
    assert found.items[0].scored.candidate.hit.also_by == ()
    assert found.left == {DUPLICATE: packing.Left(1, (name(2),))}


@pytest.mark.parametrize(
    "other",
    [
        candidate(2, "The tank holds 50 litres.", angle=1),
        candidate(2, "The tank does not hold 40 litres.", angle=1),
        candidate(2, "The Berlin tank holds 40 litres.", angle=1),
        candidate(2, "The tank holds 40 litres.", angle=24),  # cosine 0.914
        candidate(2, "The tank holds 40 litres.", encoder="another"),
    ],
)
def test_what_only_looks_alike_is_not_folded(other: Candidate) -> None:
    assert len(packed(candidate(1, "The tank holds 40 litres."), other).items) == 2


def test_a_text_is_read_once_however_many_are_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    """A store full of long texts that are nearly the same must not cost their pairs what it costs to read them."""
    read = {"fingerprint": 0, "personal": 0}

    def counted(function: str) -> Any:
        does = getattr(agreement, function)

        def counting(text: str) -> Any:
            read[function] += 1
            return does(text)

        return counting

    for function in read:
        monkeypatch.setattr(agreement, function, counted(function))
    long = [candidate(i, f"Reading {i}. " + "The tank is full. " * 9, angle=i / 100) for i in range(1, 31)]
    assert len(packed(*long, budget=10**6, k_max=30).items) == 30
    assert 0 < max(read.values()) <= 30


def test_what_was_said_again_since_is_not_overtaken_by_what_came_between() -> None:
    said, again = candidate(1, "The visit is in room 12."), candidate(3, "The visit is in room 12.", agent="bob")
    between, since = (Otherwise(name(at), "ann", at, disputed=False) for at in (2, 4))
    for against, left in (((between,), []), ((between, since), [name(4)])):
        (item,) = packed(said.beside(Beside((name(2),), against)), again).items
        hit = item.scored.candidate.hit
        assert (hit.also_by, [one.by for one in hit.overtaken]) == (("bob",), left)
        assert hit.conflicts_with == (name(2),)
    (item,) = packed(said.beside(Beside((name(2),), (between,)))).items
    assert [one.by for one in item.scored.candidate.hit.overtaken] == [name(2)]


def test_i_said_by_two_agents_speaks_of_two() -> None:
    mine = candidate(1, "I opened the valve.")
    assert len(packed(mine, candidate(2, "I opened the valve.", agent="bob")).items) == 2
    assert len(packed(mine, candidate(2, "I opened the valve.")).items) == 1
    plain = candidate(3, "The valve is open.")
    assert len(packed(plain, candidate(4, "The valve is open.", agent="bob")).items) == 1


def test_a_long_one_is_passed_over_and_a_short_one_after_it_comes_in() -> None:
    found = packed(
        candidate(1, "a" * 40), candidate(2, "b" * 41, angle=90), candidate(3, "c" * 40, angle=180), budget=20
    )
    assert (ids(found), found.tokens) == ([name(1), name(3)], 20)
    assert found.left == {BUDGET: packing.Left(1, (name(2),))}


def test_the_twin_of_one_that_did_not_fit_may_come_in() -> None:
    found = packed(candidate(1, "The  tank   holds  40 litres."), candidate(2, "The tank holds 40 litres."), budget=7)
    assert ids(found) == [name(2)]


def test_only_the_first_few_are_named() -> None:
    found = packed(*(candidate(n, f"Sensor {n} is well.", angle=n) for n in range(1, 20)), k_max=2)
    assert ids(found) == [name(1), name(2)]
    assert found.left[MOST] == packing.Left(17, tuple(name(n) for n in range(3, 8)))


CANDIDATES = st.lists(
    st.tuples(st.text("ab 1", max_size=60), st.sampled_from((0.0, 10.0, 20.0, 90.0)), st.sampled_from("xy")),
    max_size=12,
)


@given(CANDIDATES, st.integers(0, 40), st.integers(1, 8))
def test_nothing_is_lost_and_no_bound_is_broken(made: list[tuple[str, float, str]], budget: int, k_max: int) -> None:
    candidates = [candidate(n, text, angle=angle, encoder=encoder) for n, (text, angle, encoder) in enumerate(made, 1)]
    found = packed(*candidates, budget=budget, k_max=k_max)
    assert found.tokens == sum(tokens(item.scored.candidate.hit.text) for item in found.items) <= budget
    assert len(found.items) <= k_max
    assert ids(found) == sorted(ids(found))
    folded = [one for item in found.items for one in item.folded]
    assert len(folded) == found.left.get(DUPLICATE, packing.Left()).count
    left = sum(why.count for why in found.left.values())
    assert len({*ids(found), *folded}) == len(found.items) + len(folded)
    assert left + len(found.items) == len(candidates)
    # More budget never gives fewer tokens to a ranking of texts that do not repeat each other.
    assert found.left.get(BUDGET) is None or found.tokens + max(tokens(text) for text, _, _ in made) > budget
