"""The content and the attributes of an item; a value comes back as it was put."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memquorum.client import items
from memquorum.client.errors import Invalid
from memquorum.core import labelling
from memquorum.core.names import normal

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
VALUES = st.dictionaries(
    st.text(),
    st.recursive(SCALARS, lambda each: st.lists(each, max_size=3) | st.dictionaries(st.text(), each, max_size=3)),
    max_size=6,
)


def through_json(attributes: dict[str, Any]) -> dict[str, Any]:
    """Attributes as they come back from where they are kept."""
    found: dict[str, Any] = json.loads(json.dumps(attributes))
    return found


@given(value=VALUES, field=st.text() | st.none(), hidden=st.booleans())
def test_a_value_comes_back_as_it_was_put(value: dict[str, Any], field: str | None, hidden: bool) -> None:
    field = next(iter(value), None) if field is None else field
    texts = [value[field]] if field is not None and isinstance(value.get(field), str) else []
    content, attributes = items.written(value, texts, field if texts else None, hidden=hidden)
    assert "\0" not in content and content.strip() and content.encode()
    assert labelling.attributes_fault(attributes) is None
    found = items.read(content, through_json(attributes))
    assert found == value
    assert all(type(found[name]) is type(one) for name, one in value.items())


def test_what_is_looked_for_by_one_text_has_that_text_as_content() -> None:
    value = {"text": "Ada eats no meat.", "kind": "food", "since": [2020, {"month": 5}]}
    content, attributes = items.written(value, ["Ada eats no meat."], "text")
    assert content == "Ada eats no meat."
    assert {name: attributes[name] for name in value} == value
    long = {"text": "x" * 5_000, "kind": "food"}
    content, attributes = items.written(long, ["x" * 5_000], "text")
    assert (content, "text" in attributes) == ("x" * 5_000, False)


def test_texts_of_several_fields_stand_before_the_value() -> None:
    value = {"title": "Diet", "body": "No meat.", "n": 1}
    content, attributes = items.written(value, ["Diet", "No meat."])
    assert content == 'Diet\nNo meat.\n{"title": "Diet", "body": "No meat.", "n": 1}'
    assert items.read(content, attributes) == value


def test_what_differs_by_one_character_is_filed_otherwise() -> None:
    told = [items.written({"text": text}, [text], "text")[1][items.MARK] for text in ("No meat.", "no meat")]
    assert told[0] != told[1]


def test_what_was_written_elsewhere_is_its_text_and_its_attributes() -> None:
    assert items.read("Rosa prefers tea.", {"kind": "taste"}) == {"kind": "taste", "text": "Rosa prefers tea."}
    assert items.read("Rosa prefers tea.", None) == {"text": "Rosa prefers tea."}
    assert items.read("call [phone", {"$": {"json": 0, "is": ""}, "n": 1}) == {"n": 1, "text": "call [phone"}


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ({"at": {1, 2}}, "no JSON object"),
        ({"at": float("nan")}, "no JSON object"),
        ({"at": (1, 2)}, "JSON has nothing else"),
        ({1: 2}, "JSON has nothing else"),
        ({f"f{at}": at for at in range(31)}, "31 fields that can be filtered by; 30 are the most"),
        ({f"f{at}": "x" * 250 for at in range(20)}, "bytes of fields that can be filtered by; 3800 are the most"),
    ],
)
def test_what_has_no_room_or_is_no_json_is_refused(value: Any, told: str) -> None:
    with pytest.raises(Invalid, match=told):
        items.written(value, [])


def test_of_many_fields_those_are_filtered_by_that_are_named() -> None:
    value = {f"f{at}": at for at in range(100)}
    content, attributes = items.written(value, [], asked=["f7", "f99", "none"])
    assert attributes.keys() - {items.MARK} == {"f7", "f99"} and items.read(content, attributes) == value


@given(st.lists(st.text(min_size=1).filter(lambda one: "." not in one and "\0" not in one), max_size=4))
def test_a_namespace_is_a_path_and_back(labels: list[str]) -> None:
    path = items.path_of(labels)
    assert items.namespace_of(path) == tuple(map(normal, labels))
    fits = path is not None and all(len(one) <= 128 for one in path.split("/"))
    assert not fits or labelling.path_fault(path or "") is None


def test_no_two_namespaces_are_one_path() -> None:
    said = [("a", "b"), ("a/b",), ("a%2Fb",), ("a", "b "), ("a", "b\n"), ("a", "b%20")]
    assert len({items.path_of(one) for one in said}) == len(said)
    assert items.path_of(("users", "ada lovelace", "100%")) == "users/ada lovelace/100%25"


@given(st.text(min_size=1))
def test_a_key_comes_back(key: str) -> None:
    assert items.plain_key(items.key_of(key)) == normal(key)
