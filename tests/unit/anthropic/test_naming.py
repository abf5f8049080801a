"""A file's slot, the part of its text that is content, and a model's listing of a directory."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memquorum.anthropic import naming
from memquorum.anthropic.naming import Refused
from memquorum.core import labelling
from memquorum.core.api.answers import Shown


@pytest.mark.parametrize(
    ("path", "parts"),
    [
        ("/memories", ()), ("/memories/", ()), ("/memories/a/../", ()), ("/memories/a//b/./c", ("a", "b", "c")),
        ("/memories/..a/b..", ("..a", "b..")), ("/memories/%2e%2e/x", ("%2e%2e", "x")),
    ],
)  # fmt: skip
def test_a_path_is_made_of_names_below_the_root(path: str, parts: tuple[str, ...]) -> None:
    assert naming.parts_of(path) == parts


@pytest.mark.parametrize(
    "path", ["", "/", "memories/a", "/memoriesX", "/etc/passwd", "/memories/..", "/memories/a/../../b"]
)
def test_what_is_not_below_it_is_refused(path: str) -> None:
    with pytest.raises(Refused, match=r"must start|escape"):
        naming.parts_of(path)


@given(text=st.text())
def test_a_text_comes_back_as_it_was_written(text: str) -> None:
    told: dict[str, Any] = naming.content_of(text)
    assert told["content"].strip() and labelling.attributes_fault(told["attributes"]) is None
    shown = dict.fromkeys(Shown.__struct_fields__) | {"text": told["content"], "attributes": told["attributes"]}
    assert naming.text_of(Shown(**shown)) == text


def test_what_differs_by_a_blank_is_another_version() -> None:
    told = [naming.content_of(text)["attributes"] for text in ("No meat.", "No meat. ", "", " ")]
    assert all(one != other for at, one in enumerate(told) for other in told[:at])


def test_a_directory_is_shown_two_levels_deep_without_what_is_hidden() -> None:
    sizes = {
        ("b",): 1536,
        ("a", "x"): 10,
        ("a", "y", "z"): 1,
        ("a", "y", "deep", "er"): 5,
        (".git", "x"): 7,
        (".h",): 2,
    }
    assert naming.listed("/memories", sizes).splitlines()[1:] == [
        "1.5K\t/memories",
        "16B\t/memories/a/",
        "10B\t/memories/a/x",
        "6B\t/memories/a/y/",
        "1.5K\t/memories/b",
    ]
