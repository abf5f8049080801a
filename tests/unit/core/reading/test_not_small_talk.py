"""Facts that look like small talk are stored, and what asks not to be remembered is known."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from memquorum.core.reading.talk import says_nothing
from memquorum.core.reading.unkept import asks_not_to_be_kept

CASES: dict[str, Any] = yaml.safe_load((Path(__file__).parent / "not_small_talk.yaml").read_text())
STORED = [text for texts in CASES["stored"].values() for text in texts]


def test_there_are_enough() -> None:
    assert len(STORED) + len(CASES["unkept"]) >= 80


@pytest.mark.parametrize("text", [*STORED, *CASES["kept"]])
def test_a_fact_is_no_small_talk(text: str) -> None:
    assert not says_nothing(text)
    assert not asks_not_to_be_kept(text)


def test_short_facts_of_everyday_words_are_facts() -> None:
    """600 in ten languages, written to look like small talk without sight of the rules: "Only in the morning". Some
    say nothing without what was said before ("Laat maar zitten")."""
    lines = (Path(__file__).parent / "short_facts.tsv").read_text(encoding="utf-8").splitlines()
    texts = [text for _, text in (line.split("\t") for line in lines)]
    lost = [text for text in texts if says_nothing(text) or asks_not_to_be_kept(text)]
    assert len(texts) > 590
    assert len(lost) / len(texts) <= 0.03, lost


@pytest.mark.parametrize("text", CASES["talk"])
def test_what_is_all_in_the_list_is_small_talk(text: str) -> None:
    assert says_nothing(text)
    assert not asks_not_to_be_kept(text)


@pytest.mark.parametrize("text", CASES["unkept"])
def test_who_asks_not_to_be_remembered_is_understood(text: str) -> None:
    assert asks_not_to_be_kept(text)


@given(st.text(max_size=80))
def test_any_text_has_an_answer(text: str) -> None:
    assert says_nothing(text) in (True, False)
    assert asks_not_to_be_kept(text) in (True, False)
