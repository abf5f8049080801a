"""The ends of sentences, and the section of each."""

from __future__ import annotations

import pytest

from memquorum.core.consolidation.sections import DECISIONS, FACTS, FOLLOW_UPS, OPEN, section
from memquorum.core.reading.sentences import sentences, spans


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("Pump 7 runs at 3.5 bar. It was checked.", ["Pump 7 runs at 3.5 bar.", "It was checked."]),
        ("Dr. Keller came on 12. März. Fine!", ["Dr. Keller came on 12. März.", "Fine!"]),
        ("The answer was no. We left.", ["The answer was no.", "We left."]),
        ("The U.S. team won, e.g. twice. Right?", ["The U.S. team won, e.g. twice.", "Right?"]),
        ("1. Open valve 3.\n2. Close it.", ["1. Open valve 3.", "2. Close it."]),
        ("no mark\n\nnor here", ["no mark", "nor here"]),
        ("今日は雨。明日は晴れ！", ["今日は雨。", "明日は晴れ！"]),
        ("  \n ", []),
    ],
)
def test_a_sentence_ends_where_people_end_it(text: str, sentences: list[str]) -> None:
    assert [text[start:end] for start, end in spans(text)] == sentences


@pytest.mark.parametrize(
    ("sentence", "where"),
    [
        ("Tomas measured 3.8 bar at the inlet.", FACTS),
        ("We decided to move the test to Thursday.", DECISIONS),
        ("Let's go with the blue one.", DECISIONS),
        ("It is still unclear who pays.", OPEN),
        ("Who brings the key?", OPEN),
        ("Lena will send the log to the insurer.", FOLLOW_UPS),
        ("Next step: order the seals by Friday.", FOLLOW_UPS),
    ],
)
def test_a_sentence_has_the_section_of_what_it_does(sentence: str, where: str) -> None:
    assert section(sentence) == where


def test_sentences_are_cut_at_their_ends() -> None:
    assert list(sentences("It opens at 3.5 bar. Is it shut? No!\nThen go on")) == [
        "It opens at 3.5 bar.",
        "Is it shut?",
        "No!",
        "Then go on",
    ]
    assert list(sentences("门开了。灯亮着。")) == ["门开了。", "灯亮着。"]
