"""Names in texts: which are found, how the store looks for them, and whom they join."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memquorum.core.api.answers import Step
from memquorum.core.linking import NAMES
from memquorum.core.retrieval.entities import IN_A_ROUND, OF_ONE, Entity, Holder, by_name, edges, entity, named
from memquorum.core.retrieval.recall import LINK, NAME, way_of


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("We met Grace Hopper in Graz.", ["Grace Hopper", "Graz"]),
        ("Grace Hopper wrote the first compiler.", ["Grace Hopper"]),
        ("Valve 3 feeds tank KX-88.", ["Valve 3", "tank KX-88"]),
        ("Ada's car is red. The car needs oil.", ["Ada"]),
        ("Gestern traf Grete Hermann den Leiter in Halle 4.", ["Grete Hermann", "Halle 4"]),
        ("lunch is at noon", []),
        ("Did Jon call?", []),
        ("", []),
    ],
)
def test_names_have_a_capital_or_a_number(text: str, found: list[str]) -> None:
    assert [one for one in named(text) if one in found] == found
    assert found or not named(text)


def test_a_name_that_a_publisher_linked_counts_too() -> None:
    assert named("She left early.", ["worksAt Acme Works", "isA pump"]) == ["Acme Works", "pump"]
    assert named("Acme Works is closed.", ["worksAt acme works"]) == ["acme works"]


@pytest.mark.parametrize(
    ("name", "looked"),
    [
        ("Grace Hopper", Entity("Grace Hopper", "Grace Hopper", True)),
        (" Grace\n Hopper ", Entity("Grace Hopper", "Grace Hopper", True)),
        ("Rose", Entity("Rose", "Rose", False)),
        ("rose", Entity("rose", "rose", True)),
        ("Valve 3", Entity("Valve 3", "Valve 3", True)),
        ("山田太郎", Entity("", "山田太郎", True)),
    ],
)
def test_a_single_word_with_a_capital_has_to_be_written_so(name: str, looked: Entity) -> None:
    assert entity(name) == looked


def test_memories_of_one_name_are_joined_each_once_and_none_with_itself() -> None:
    told = {"a": ("I met Jon Doe at Halle 4.", ()), "b": ("Jon Doe sings.", ())}
    by = by_name(["a", "b", "gone"], told)
    assert by[entity("Jon Doe")] == ["a", "b"] and by[entity("Halle 4")] == ["a"]
    jon, halle = (entity(one) for one in ("Jon Doe", "Halle 4"))
    found = edges(by, [Holder(one, own, "episodic") for one in (jon, halle) for own in ("a", "b", "c")])
    assert sorted((one.at, one.other) for one in found) == [("a", "b"), ("a", "c"), ("b", "a"), ("b", "c")]
    assert {one.kind for one in found} == {NAMES}


def test_so_many_names_are_followed_and_no_more() -> None:
    many = " ".join(f"We saw pump {at}." for at in range(99))
    assert len(named(many)) == OF_ONE
    told = {str(one): (f"We saw {' and '.join(f'pump {one}{at}' for at in range(6))}.", ()) for one in range(1, 30)}
    assert len(by_name([*told], told)) == IN_A_ROUND


def test_a_way_over_a_name_is_told_apart_from_one_over_what_was_stated() -> None:
    assert way_of([Step("requires", "a", "b")]) == LINK
    assert way_of([Step("requires", "a", "b"), Step("sameName", "b", "c")]) == NAME


@given(st.text(max_size=300))
def test_any_text_has_names_that_stand_in_it(text: str) -> None:
    assert all(one in text for one in named(text))
