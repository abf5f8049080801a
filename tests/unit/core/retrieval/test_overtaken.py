"""The marks of a text as it is given."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memquorum.core.api.answers import Overtaken, mark
from memquorum.core.retrieval.overtaken import Otherwise, placed
from memquorum.core.showing import quoting

NOTE = "Ada lives at Elm Road 5. Her phone is 555-0100. She is allergic to nuts."


def test_marks_follow_the_text_that_is_given() -> None:
    by = Otherwise("new", "ada", 7, False, ("Her phone is 555-0100.",))
    (found,) = placed(NOTE, [by])
    assert [NOTE[start:end] for start, end in found.spans] == ["Her phone is 555-0100."]
    assert placed("She is allergic to nuts.", [by], excerpt=True) == (), "an excerpt without the statement has no mark"
    assert placed("Her phone is [number].", [by]) == (Overtaken("new", "ada", 7, False),), "masked, and still marked"
    assert placed("withheld", [Otherwise("new", "ada", 7, True)]) == (Overtaken("new", "ada", 7, True),)


def test_a_line_of_a_prompt_says_what_was_overtaken_and_still_reads_back() -> None:
    day = 1_777_766_400_000  # 2026-05-03
    marks = (Overtaken("new", "ada", day, False, ((25, 47),)), Overtaken("other", "bob", day + 1, True))
    said = mark(NOTE, marks)
    assert said == ', in part overtaken on 2026-05-03: "Her phone is 555-0100."'
    assert mark(NOTE, marks[1:]) == ", disputed by another agent"
    assert mark(NOTE, ()) == ""
    assert quoting.unquoted(quoting.line(NOTE, "ada", day, mark=said)) == NOTE


def test_a_line_of_a_prompt_names_every_statement_that_was_overtaken() -> None:
    phone, home = Overtaken("a", "ada", 1, False, ((25, 47),)), Overtaken("b", "ada", 2, False, ((0, 24),))
    said = mark(NOTE, (phone, home))
    assert said == ', in part overtaken on 1970-01-01: "Ada lives at Elm Road 5.", "Her phone is 555-0100."'
    assert mark(NOTE, (phone, Overtaken("c", "ada", 3, False))) == ", overtaken on 1970-01-01"


@given(st.text(max_size=300), st.data())
def test_a_mark_never_ends_the_head_of_a_line(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    said = mark(text, (Overtaken("new", "ada", 1, False, ((start, end),)),))
    assert quoting.unquoted(quoting.line(text, "ada", 1, mark=said)) == text
