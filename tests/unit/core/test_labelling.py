"""A memory's path, key and attributes: permitted values, their stand-ins elsewhere, and their return from a seal."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from memquorum.core import jsontext, labelling
from memquorum.core.labelling import Labels
from tests.builders.shard import accepted, memory_id

KEY, NONCE, SPACE = b"k" * 32, b"n" * 12, b"s" * 32
FILED = Labels("dietary", "users/ada", '{"colour":"red"}')


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("users/ada/notes", None),
        ("\u00fcber uns/4", None),
        ("", "bad_name"),
        ("/users", "bad_name"),
        ("users/", "bad_name"),
        ("users//ada", "bad_name"),
        ("users/ ada", "bad_name"),
        ("users/a\0da", "bad_name"),
        ("users/\ud800", "bad_name"),
        ("a" * 129, "too_long"),
        ("/".join("a" * 17), "too_many"),
        ("/".join(["a" * 102] * 5), "too_long"),
    ],
)
def test_a_path_is_segments_and_nothing_else(path: str, code: str | None) -> None:
    fault = labelling.path_fault(path)
    assert (None if fault is None else fault.code) == code


@pytest.mark.parametrize(
    ("attributes", "code"),
    [
        ({"colour": "red", "size": 3, "new": True, "gone": None, "tags": ["a", {"b": 1.5}]}, None),
        ({}, None),
        ({f"a{n}": n for n in range(33)}, "too_many"),
        ({"text": "x" * 4_096}, "too_long"),
        ({" ": 1}, "bad_name"),
        ({"text": "a\0"}, "forbidden_character"),
        ({"text": ["a\ud800"]}, "forbidden_character"),
        ({"text": {"a\0": 1}}, "forbidden_character"),
        ({"size": [float("inf")]}, "out_of_range"),
    ],
)
def test_attributes_are_a_small_object_that_a_store_can_hold(attributes: dict[str, Any], code: str | None) -> None:
    fault = labelling.attributes_fault(attributes)
    assert (None if fault is None else fault.code) == code


def test_attributes_that_say_the_same_are_the_same() -> None:
    assert labelling.parsed('{"b": 1, "a": "é"}') == labelling.parsed('{"a":"\\u00e9","b":1}') == '{"a":"é","b":1}'
    assert labelling.parsed("{}") is None
    for wrong in ("[]", "7", "{", '{"a": 1, "a": 2}'):
        with pytest.raises(jsontext.JsonRefused):
            labelling.parsed(wrong)


def test_what_stands_for_a_slot_tells_path_and_key_apart_and_needs_the_namespaces_key() -> None:
    told = [Labels("b", "a"), Labels("a/b"), Labels("b"), Labels("b", "b"), Labels("a", "b")]
    assert len({labelling.slot(SPACE, one) for one in told}) == len(told)
    assert labelling.slot(SPACE, FILED) == labelling.slot(SPACE, replace(FILED, attributes=None))
    assert labelling.slot(SPACE, FILED) != labelling.slot(b"t" * 32, FILED)
    assert labelling.slot(SPACE, Labels(path="users/ada")) is None
    assert labelling.full(FILED) == "users/ada/dietary" and labelling.full(Labels("a")) == "a"


def test_what_stands_for_the_label_is_of_path_and_attributes_alone() -> None:
    assert labelling.label(SPACE, FILED) == labelling.label(SPACE, replace(FILED, key=None))
    assert labelling.label(SPACE, FILED) != labelling.label(SPACE, replace(FILED, path=None))
    assert labelling.label(SPACE, FILED) != labelling.label(SPACE, replace(FILED, attributes=None))
    assert labelling.label(SPACE, Labels("dietary")) is None


def test_what_is_sealed_comes_back_whole_and_is_nowhere_in_the_clear() -> None:
    sealed = labelling.seal(KEY, NONCE, FILED, ("marta",), memory_id("a"))
    assert sealed is not None and b"ada" not in sealed and b"red" not in sealed
    found = labelling.opened(replace(accepted("a", 1), sealed_labels=sealed), KEY)
    assert (labelling.of(found), found.names) == (FILED, ("marta",))
    assert labelling.seal(KEY, NONCE, Labels(), (), memory_id("a")) is None
    assert not labelling.of(labelling.opened(accepted("a", 1), KEY)).filed
    with pytest.raises(ValueError, match="cannot be opened"):
        labelling.opened(replace(accepted("b", 1), sealed_labels=sealed), KEY)
