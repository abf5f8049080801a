"""The passages of a long text: whole sentences, nothing left out, bounded in number and size, and the same for ever."""

from __future__ import annotations

import hashlib
import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memquorum.core.consolidation.rendering import embedded_texts
from memquorum.core.intake import CONTENT_BYTES_MAX
from memquorum.core.reading.passages import LONG_BYTES, MOST, WINDOW_BYTES, near, passages

ENGLISH = "The harbour office moved its weekly meeting to the second floor. Nobody had told the night shift about it. "
SCRIPTS = {
    "English": ENGLISH,
    "German": "Die Hafenverwaltung verlegte ihre Besprechung, z.B. am 12. März, in den zweiten Stock. Alle kamen. ",
    "Russian": "Администрация порта перенесла совещание на второй этаж. Никто не сказал об этом ночной смене. ",
    "Chinese": "港口办公室把每周会议搬到了二楼，因为旧房间正在粉刷。没有人告诉夜班。",
    "Hindi": "बंदरगाह कार्यालय ने अपनी बैठक दूसरी मंज़िल पर कर दी। किसी ने रात की पाली को नहीं बताया। ",
    "Thai without blanks": "สำนักงานท่าเรือย้ายการประชุมประจำสัปดาห์ไปที่ชั้นสอง",
    "no punctuation": "the harbour office moved its weekly meeting to the second floor and nobody said so ",
    "one word": "a",
    "dots": ".",
    "lines": "a\n",
    "letters with dots": "a. ",
    "numbers": "1. ",
    "emoji": "😀",
    "half a character": "\ud800",
    "blanks": "x" + " " * 700,
}


def full(text: str) -> str:
    """The text again and again, as much as an episode may hold."""
    size = len(text.encode("utf-8", "replace"))
    return text * (CONTENT_BYTES_MAX // size)


def size(text: str) -> int:
    return len(text.encode("utf-8", "replace"))


def bare(text: str) -> str:
    return "".join(text.split())


@pytest.mark.parametrize("script", SCRIPTS)
def test_all_of_a_text_lies_in_a_bounded_number_of_small_passages(script: str) -> None:
    text = full(SCRIPTS[script])
    found = passages(text)
    assert 1 < len(found) <= MOST
    assert all(start < end for start, end in found)
    assert all(before[1] <= behind[0] for before, behind in itertools.pairwise(found))
    assert bare("".join(text[start:end] for start, end in found)) == bare(text)
    assert max(size(text[start:end]) for start, end in found) <= 640
    short = passages(text[:6_000])
    assert all(size(text[start:end]) <= WINDOW_BYTES for start, end in short)


@given(st.text(max_size=3_000), st.integers(1, 40))
def test_any_text_is_split_and_nothing_but_blanks_is_left_out(text: str, times: int) -> None:
    text *= times
    found = passages(text)
    assert (size(text) > LONG_BYTES and bool(bare(text))) is bool(found)
    assert len(found) <= MOST
    if found:
        assert bare("".join(text[start:end] for start, end in found)) == bare(text)
        assert [(start, end) for start, end in found] == sorted(found)


def test_a_passage_ends_with_a_sentence() -> None:
    text = (ENGLISH * 20).strip()
    assert all(text[end - 1] == "." and text[start] in "TN" for start, end in passages(text))


def test_a_sentence_that_is_longer_than_a_window_is_cut_between_words() -> None:
    text = "harbour " * 400
    assert {word for start, end in passages(text) for word in text[start:end].split()} == {"harbour"}


def test_a_short_text_has_none() -> None:
    assert passages("") == passages("x" * LONG_BYTES) == passages(" " * 2_000) == ()
    assert len(passages("x" * (LONG_BYTES + 1))) == 4
    assert embedded_texts("Valve 3 sticks.", summary=False) == ("Valve 3 sticks.",)


def test_what_of_a_long_text_has_a_vector_is_all_of_it_and_each_passage() -> None:
    text = ENGLISH * 20
    whole, *parts = embedded_texts(text, summary=False)
    assert whole == text and parts == [text[start:end] for start, end in passages(text)]
    assert embedded_texts(text, summary=True) == (text, text), "a summary has its lines"


def test_places_that_a_text_does_not_have_are_passed_over() -> None:
    text = ENGLISH * 20
    every = passages(text)
    assert near(text, [2, 0, 99, -1]) == (every[2], every[0])
    assert near(text, []) == near("Valve 3 sticks.", [0]) == ()


def test_the_passages_are_those_of_which_the_vectors_are_kept() -> None:
    """The store has vectors by their place: another split of the same text needs `reencode` of all that is long."""
    spans = [passages(full(text)) for text in SCRIPTS.values()]
    assert hashlib.sha256(repr(spans).encode()).hexdigest()[:16] == "ae852e6a5f363865"
