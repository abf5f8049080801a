"""Names and things that are never kept are found as words, in any case and spelling."""

from __future__ import annotations

import unicodedata

import pytest

from memquorum.core.privacy import masking
from memquorum.core.privacy.listed import matcher, readable

LIST = matcher(["Dr. Meyer", "the red house", "Müller", "李明", "straße 7"])


@pytest.mark.parametrize(
    "text",
    [
        "She saw Dr. Meyer.", "she saw DR MEYER'S car", "dr,meyer", "in the  red\nhouse now", "Frau MÜLLER",
        unicodedata.normalize("NFD", "bei Müller im Garten"), "Mü\u200bller", "今日は李明さん", "STRASSE 7",
    ],
)  # fmt: skip
def test_it_is_found_whatever_its_case_spelling_and_punctuation(text: str) -> None:
    assert LIST.says(text)


@pytest.mark.parametrize("text", ["Meyer", "the red houses", "the house is red", "Müllerin", "李", "straße 71", ""])
def test_parts_of_words_and_other_orders_are_not_it(text: str) -> None:
    assert not LIST.says(text)


def test_the_longest_entry_is_masked_and_what_is_masked_stays(text: str = "Ann Lee and Ann met Ann Lee Park.") -> None:
    found = matcher(["Ann", "Ann Lee", "Ann Lee Park"])
    told = masking.masked(text, found.spans, formats=False)
    assert told == "[withheld] and [withheld] met [withheld]."
    assert masking.masked(told, found.spans, formats=False) == told


def test_data_with_a_format_is_masked_beside_it_only_for_who_asks() -> None:
    text, found = "Ann: ann@example.org", matcher(["Ann"])
    assert masking.masked(text, found.spans, formats=False) == "[withheld]: [withheld]@example.org"
    assert "[email]" in masking.masked(text, found.spans)


def test_an_entry_has_one_to_eight_words() -> None:
    assert all(map(readable, ["Ann", "a b c d e f g h", "李明"]))
    assert not any(map(readable, ["", "  ", "...", "a b c d e f g h i", "x" * 129, 7, None]))
