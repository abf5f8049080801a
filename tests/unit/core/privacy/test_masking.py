"""Masked text stays masked, in whole texts and in parts of them."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memquorum.core.privacy import masking
from memquorum.core.privacy.finding import Span, spans

_SAID = (
    "4111 1111 1111 1111", "4222222222222", "card", "cc ", "phone ", "call ", "born on ", "12 March 1985", "DOB",
    " is her birthday", "451 5986", "DE89 3704 0044 0532 0130 00",
    "ada@example.org", "203.0.113.7", "123456789", "ssn ", "123-45-6789", "password: hunter2", "token ", "=",
    ":", "a1b2c3", "221B Baker Street", "sk-abcdefghijklmnopqrstuv", " office", "[card]", "[", "]", " ", ", ",
    "\n", ".", "-", "+49 30 1234567",
    "Valve 3 opens.", "://a:b2@",
)  # fmt: skip
TEXTS = st.lists(st.sampled_from(_SAID), max_size=12).map("".join) | st.text(max_size=60)


@given(TEXTS)
def test_masking_twice_is_masking_once(text: str) -> None:
    once = masking.masked(text)
    assert masking.masked(once) == once == masking.masked(text)


@given(TEXTS)
def test_spans_lie_apart_in_order_and_in_the_text(text: str) -> None:
    found = spans(text)
    assert all(0 <= one.start < one.end <= len(text) for one in found)
    assert all(a.end <= b.start for a, b in itertools.pairwise(found))


@given(TEXTS, st.data())
def test_no_part_gives_a_character_of_what_the_whole_masks(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    (part,) = masking.parts(text, [(start, end)])
    whole = masking.spans_to_mask(text)
    hidden = {at for one in whole for at in range(one.start, one.end)}
    assert {at for one in spans(text) for at in range(one.start, one.end)} <= hidden
    given_ = "".join(text[at] for at in range(start, end) if at not in hidden)
    masks = [masking.mask(one.kind) for one in whole if one.start < end and start < one.end]
    assert len(part) == len(given_) + sum(map(len, masks))


def test_what_is_cut_by_the_end_of_a_part_is_masked() -> None:
    text = "Pay 4111 1111 1111 1111 now"
    assert masking.parts(text, [(0, 10), (10, len(text)), (5, 9), (0, 3)]) == (
        "Pay [card]",
        "[card] now",
        "[card]",
        "Pay",
    )


def test_what_stands_free_once_its_neighbour_is_masked_is_masked_too() -> None:
    text = "4111 1111 1111 1111+49 30 1234567"
    assert len(spans(text)) == 1
    assert masking.masked(text) == "[card][phone]" == masking.masked("[card][phone]")


def test_a_second_pass_masks_what_the_first_left() -> None:
    def names(text: str) -> list[Span]:
        return [Span(0, 3, "name"), Span(8, 12, "name"), Span(40, 60, "name")]

    assert masking.masked("Ada, at 203.0.113.7", names) == "[name], at [ip]"


def test_a_row_of_telephone_numbers_is_masked_at_once() -> None:
    row = " ".join(["555-123-4567"] * 200)
    assert masking.masked(row) == " ".join(["[phone]"] * 200)
    assert masking.masked("+49 30 1234567" * 50) == "[phone]" * 50


def test_a_text_of_which_more_is_found_each_time_is_withheld(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "4111 1111 1111 1111+49 30 1234567"
    monkeypatch.setattr(masking, "ROUNDS", 1)
    assert masking.masked(text) == "[withheld]" == masking.masked("[withheld]")
    assert masking.parts(text, [(0, 4), (30, 33)]) == ("[withheld]", "[withheld]")


def test_each_of_many_parts_is_masked_by_what_lies_in_it() -> None:
    text = "call 555-123-4567 now, " * 50
    pieces = [(at, at + 23) for at in range(0, len(text), 23)]
    assert masking.parts(text, pieces) == ("call [phone] now, ",) * 50
