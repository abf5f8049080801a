"""The statements of a text that a newer one denies, by number; and a third that repeats the first one's value."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memquorum.core.denying import (
    STATEMENTS_MOST,
    again,
    denied,
    nearest,
    numbered,
    numbers,
    statements,
)
from memquorum.core.reading.agreement import LONGEST, gist

NOTE = "Ada lives at Elm Road 5. Her phone is 555-0100. She is allergic to nuts."
# Characters that end sentences and lines, and others; white space of every kind.
_PIECES = [
    "One is open.", "Dr. Ada", "12. März", "A.", "b!", "說了。", '"so?"', "e.g.", "3.5", " ", "\n", "\t", "\r", "\x0b",
    "\u2028", "\xa0", "  \n ",
]  # fmt: skip


def test_statements_are_sentences_and_lines_and_bounded() -> None:
    assert statements(NOTE) == ("Ada lives at Elm Road 5.", "Her phone is 555-0100.", "She is allergic to nuts.")
    assert len(statements("One. " * 1_000)) == STATEMENTS_MOST
    assert statements("") == ()


@given(st.lists(st.sampled_from(_PIECES) | st.text(max_size=4), max_size=40).map("".join))
def test_white_space_changes_no_number(text: str) -> None:
    """The stage that finds a contradiction has the gist of a memory, and who reads it the text."""
    assert len(gist(text)) <= LONGEST
    assert [gist(one) for one in statements(text)] == list(statements(gist(text)))


def test_a_number_that_no_statement_has_names_none() -> None:
    assert numbered(statements(NOTE), (0, 2, 9, -1)) == ("Her phone is 555-0100.",)


def test_a_note_of_one_statement_is_denied_as_a_whole() -> None:
    assert denied(("The pump is off.",), "Whatever.", own=True) == (1,)


def test_the_nearest_statement_is_that_with_the_most_words_in_common_and_no_guess() -> None:
    assert nearest(statements(NOTE), "Ada moved: no longer Elm Road 5") == (1,)
    assert nearest(statements(NOTE), "Something else entirely") == ()
    assert nearest(("Ada sings.", "Ada swims."), "Ada stopped.") == ()


def test_numbers_are_of_what_the_rules_find_and_else_of_the_nearest() -> None:
    assert numbers(NOTE, "Her phone is 555-0199 now.", own=True) == (2,)
    assert numbers(NOTE, "Ada has left Elm Road 5.", own=True) == (1,)
    assert numbers(NOTE, "Something else entirely", own=True) == ()
    assert numbers(gist("Her phone is 555-0100. " * 400), "Her phone is 555-0199 now.", own=True) == (), "a digest"


PHONE, CHANGED = "Ada's phone is 555-0100.", "Ada's phone is 555-0199 now."


@pytest.mark.parametrize(
    ("first", "second", "third", "found"),
    [
        (PHONE, CHANGED, "Correction: Ada's phone is 555-0100 again.", True),
        (NOTE, "Her phone is 555-0199 now.", "Her phone is 555-0100 again.", True),
        (PHONE, CHANGED, "Ada's phone is 555-0177 now.", False),
        (PHONE, CHANGED, "Ada's phone is 555-0177, not 555-0100 as before.", False),
        (PHONE, CHANGED, "Ada's phone is out of order.", False),
        ("We use npm here.", "We switched from npm to pnpm here.", "We use npm again.", True),
        ("We use npm here.", "We switched from npm to pnpm here.", "We use yarn now.", False),
        ("Ada lives in Graz.", "Ada moved to Linz.", "Ada moved back to Graz.", True),
        ("Ada lives in Graz.", "Ada moved to Linz.", "Ada moved to Wien.", False),
        (PHONE, PHONE, PHONE, False),
        ("", CHANGED, PHONE, False),
    ],
)  # fmt: skip
def test_a_third_text_says_again_what_the_second_denied_of_the_first(
    first: str, second: str, third: str, found: bool
) -> None:
    assert again(first, second, third, own=True) == found
