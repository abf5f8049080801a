"""An item as memories, and that it comes back as it was."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from memquorum.client.errors import Invalid
from memquorum.core import labelling
from memquorum.core.api.answers import Listed
from memquorum.core.intake import CONTENT_BYTES_MAX
from memquorum.openai_agents import messages

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
NESTED = st.recursive(SCALARS, lambda each: st.lists(each, max_size=3) | st.dictionaries(st.text(), each, max_size=3))
PARTS = st.lists(
    st.dictionaries(st.sampled_from(["type", "text", "refusal"]) | st.text(), NESTED, max_size=4), max_size=3
)
ITEMS = st.dictionaries(st.sampled_from(["role", "type", "content", "output"]) | st.text(), NESTED, max_size=6)


def listed_parts(item: dict[str, Any]) -> list[Listed]:
    """The memories that an item lies in, as a list of the namespace has them."""
    found = []
    for part, one in messages.written(item).items():
        assert one["content"].strip() and len(one["content"].encode()) <= CONTENT_BYTES_MAX
        assert labelling.attributes_fault(one["attributes"]) is None
        said = {"key": f"k{part}", "text": one["content"], "attributes": one["attributes"], "role": one.get("role")}
        found.append(Listed(**(dict.fromkeys(Listed.__struct_fields__) | said)))  # type: ignore[arg-type]
    return found


@given(item=ITEMS, parts=st.none() | PARTS)
def test_an_item_comes_back_as_it_was_added(item: dict[str, Any], parts: list[dict[str, Any]] | None) -> None:
    item |= {} if parts is None else {"content": parts}
    assert messages.read(listed_parts(item)) == item


def test_a_field_with_the_name_that_parts_are_kept_under_is_a_field() -> None:
    for said in ("x", [{"text": "x"}]):
        item = {"content": said, "content_parts": {"at": 0, "of": [{}]}}
        assert messages.read(listed_parts(item)) == item


@pytest.mark.parametrize("text", ["x" * 65_536, "x" * 65_537, "\U0001f600" * 40_000, (" " * 70_000) + "\0é" * 60_000])
def test_what_has_no_room_in_one_lies_in_several(text: str) -> None:
    item = {"type": "function_call_output", "call_id": "c", "output": text, "n": {"deep": [1]}}
    parts = listed_parts(item)
    assert (len(parts) == 1) == (text == "x" * 65_536)
    assert [one.key for one in parts] == sorted(str(one.key) for one in parts)
    assert messages.read(parts) == item
    for at in range(len(parts) if len(parts) > 1 else 0):
        assert messages.read(parts[:at] + parts[at + 1 :]) is None


def test_what_a_search_reads_is_what_was_said() -> None:
    (user,) = listed_parts({"role": "user", "content": "Ada eats no meat."})
    assert user.text == "Ada eats no meat." and user.role == "user"
    parts = [{"type": "output_text", "text": "At table 2."}, {"type": "refusal", "refusal": "No more."}, {"type": "x"}]
    (said,) = listed_parts({"role": "assistant", "content": parts[::2]})
    assert said.text == "At table 2."
    (said,) = listed_parts({"role": "assistant", "content": parts})
    assert str(said.text).startswith("At table 2.\nNo more.\n{")


def test_what_was_written_elsewhere_is_a_message() -> None:
    said = {"text": "Rosa prefers tea.", "role": "assistant", "attributes": {"kind": "taste"}}
    one = Listed(**(dict.fromkeys(Listed.__struct_fields__) | said))  # type: ignore[arg-type]
    assert messages.read([one]) == {"role": "assistant", "content": "Rosa prefers tea."}


def test_what_a_reader_is_given_masked_is_left_out_where_it_is_no_item_any_more() -> None:
    (one,) = listed_parts({"type": "function_call", "arguments": "call 030 1234567"})
    assert messages.read([structs.replace(one, text=str(one.text).replace('1234567"}', "[phone]"))]) is None


def test_what_is_no_item_is_refused() -> None:
    for bad in (["x"], {"a": {1, 2}}, {"a": float("nan")}, {1: "a"}):
        with pytest.raises(Invalid):
            messages.written(bad)  # type: ignore[arg-type]
