"""Fusion: the first of both rankings is first, neighbours support a hit, encoders are merged by rank."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memquorum.core.retrieval.fusion import Fusion, fused, in_context, merged, relevance


def drawn(seed: int) -> list[str]:
    """Some of the ids, in some order."""
    dice = random.Random(seed)
    return dice.sample("abcdefgh", dice.randint(0, 8))


IDS = st.integers(0, 2**32).map(drawn)
PLAIN = Fusion(context=())


def test_the_example_of_the_docs() -> None:
    found = relevance(["a", "b"], ["b", "c"], {"c": ["a"]}, Fusion(k=5, context=(0.4, 0.2)))
    plain = {"a": 1 / 2, "b": (6 / 7 + 1) / 2, "c": 6 / 7 / 2}
    assert found == pytest.approx({"a": plain["a"] + 0.4 * plain["c"], "b": plain["b"], "c": plain["c"] + 0.2})


def test_the_second_after_gives_and_gains_less() -> None:
    found = in_context({"a": 1.0, "b": 0.5, "c": 0.25}, {"a": ["x", "b", "c"], "b": ["c"]}, (0.4, 0.2))
    assert found == pytest.approx({"a": 1 + 0.2 * 0.5, "b": 0.5 + 0.2 + 0.4 * 0.25, "c": 0.25 + 0.4 * 0.5})


@given(IDS, IDS)
def test_what_is_no_worse_in_both_rankings_is_no_worse(near: list[str], said: list[str]) -> None:
    found = fused([(near, 1.0), (said, 1.0)], 5)
    assert found.keys() == {*near, *said}
    assert all(0 < value <= 1 for value in found.values())
    places = {one: [r.index(one) if one in r else len(r) for r in (near, said)] for one in found}
    for one in found:
        for other in found:
            if all(a <= b for a, b in zip(places[one], places[other], strict=True)):
                assert found[one] >= found[other]


@given(IDS)
def test_one_ranking_alone_keeps_its_order(near: list[str]) -> None:
    found = relevance(near, [], {}, PLAIN)
    assert sorted(found, key=lambda one: -found[one]) == near


@given(IDS, IDS, st.integers(0, 2**32))
def test_context_adds_and_finds_nobody(near: list[str], said: list[str], seed: int) -> None:
    session = random.Random(seed).sample("abcdefgh", 8)
    after = {one: session[at + 1 : at + 3] for at, one in enumerate(session)}
    without, found = relevance(near, said, after, PLAIN), relevance(near, said, after)
    assert found.keys() == without.keys()
    assert all(found[one] >= without[one] for one in found)
    # A memory supports both sides alike.
    mirrored = {one: session[max(0, at - 2) : at][::-1] for at, one in enumerate(session)}
    assert relevance(near, said, mirrored) == pytest.approx(found)


def test_rankings_of_two_encoders_are_merged_by_share() -> None:
    assert merged([(["l0", "l1"], 100), (["h0", "h1"], 100)]) == ["l0", "h0", "l1", "h1"]
    assert merged([(["m0", "m1", "m2"], 1_000), (["f0"], 400)]) == ["m0", "m1", "f0", "m2"]
    assert merged([(["a", "b"], 2), (["b"], 1)]) == ["a", "b"]
    assert merged([([], 0), ([], 0)]) == []
