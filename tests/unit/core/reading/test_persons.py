"""Pronouns at the beginning of sentences that can stand for one person alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memquorum.core.reading.conflict import between, read
from memquorum.core.reading.persons import LONGEST, resolved


@pytest.mark.parametrize(
    ("sentences", "found"),
    [
        (["Ada lives in Graz.", "She works for Bosch."], "Ada works for Bosch."),
        (["Ada lives at Elm Road 5.", "Her phone is 555-0100."], "Ada's phone is 555-0100."),
        (["Ada lives in Graz.", "Her phone is 555.", "She is allergic to nuts."], "Ada is allergic to nuts."),
        (["Tom Quill leads the team.", "He's in Oslo until May."], "Tom Quill's in Oslo until May."),
        (["Ada's office is in Graz.", "Her desk is number 4."], "Ada's desk is number 4."),
    ],
)
def test_a_pronoun_stands_for_the_only_person(sentences: list[str], found: str) -> None:
    assert resolved(sentences)[-1] == found


@pytest.mark.parametrize(
    "sentences",
    [
        ["Ada met Eva in Graz.", "She works for Bosch."],
        ["The pump is old.", "He repaired it."],
        ["Ada lives in Graz.", "Tom lives in Linz.", "Everybody likes it.", "His phone is 555."],
        ["Ada is here.", "The clerk asked Marta.", "She left."],
        ["We meet at noon.", "Her train is late."],
        ["Ada " + "walks on " * 60 + "home.", "She is tired."],
    ],
)
def test_a_pronoun_in_doubt_stays(sentences: list[str]) -> None:
    assert resolved(sentences) == sentences


@given(st.lists(st.text(max_size=LONGEST + 20), max_size=6))
def test_any_sentences_stay_as_many(sentences: list[str]) -> None:
    assert len(resolved(sentences)) == len(sentences)


@pytest.mark.parametrize(
    ("note", "later"),
    [
        ("Ada lives at Elm Road 5. Her phone is 555-0100.", "Ada's phone is 555-0199 now."),
        ("Ada lives in Graz. She works for Bosch.", "Ada works for Siemens now."),
        ("Ada lives in Graz. She is allergic to nuts.", "Ada is not allergic to nuts."),
    ],
)
def test_a_later_word_by_name_contradicts_one_by_pronoun(note: str, later: str) -> None:
    assert between(read(note), read(later), same_agent=True) is not None


def test_of_two_persons_nothing_is_contradicted() -> None:
    note = read("Ada met Eva in Graz. She works for Bosch.")
    assert between(note, read("Ada works for Siemens now."), same_agent=True) is None


def test_a_draft_contradicts_nothing() -> None:
    fact = read("The release is on 14 March.")
    assert between(fact, read("The release is on 20 March now."), same_agent=True) is not None
    assert between(fact, read("Draft, not decided: the release is on 20 March now."), same_agent=True) is None
