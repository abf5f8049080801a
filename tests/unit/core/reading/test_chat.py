"""People's messages to assistants, colleagues and bots in ten languages: small talk, requests not to be remembered, and
facts that look like either (`chat.tsv`: language, sort, text).
"""

from __future__ import annotations

from pathlib import Path

import pytest

from memquorum.core.reading.talk import says_nothing
from memquorum.core.reading.unkept import asks_not_to_be_kept

ROWS = [
    tuple(line.split("\t")) for line in (Path(__file__).parent / "chat.tsv").read_text(encoding="utf-8").splitlines()
]
LANGUAGES = sorted({language for language, _, _ in ROWS})


def texts(language: str, sort: str) -> list[str]:
    return [text for one, other, text in ROWS if (one, other) == (language, sort)]


def is_stored(text: str) -> bool:
    return not says_nothing(text) and not asks_not_to_be_kept(text)


@pytest.mark.parametrize("language", LANGUAGES)
def test_small_talk_is_not_stored(language: str) -> None:
    said = texts(language, "talk")
    stored = [text for text in said if is_stored(text)]
    assert len(said) >= 60
    assert len(stored) / len(said) <= 0.1, stored


@pytest.mark.parametrize("language", LANGUAGES)
def test_requests_not_to_be_remembered_are_not_stored(language: str) -> None:
    said = texts(language, "unkept")
    stored = [text for text in said if is_stored(text)]
    assert len(said) >= 30
    assert len(stored) <= 1, stored


@pytest.mark.parametrize("language", LANGUAGES)
def test_facts_that_look_like_either_are_stored(language: str) -> None:
    said = texts(language, "fact")
    assert len(said) >= 60
    assert [text for text in said if not is_stored(text)] == []
