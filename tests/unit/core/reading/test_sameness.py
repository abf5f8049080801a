"""Texts that may stand for each other: pairs that differ, pairs that are one, and laws for any text."""

from __future__ import annotations

import unicodedata
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from memquorum.core.reading.sameness import canonical, fingerprint, same
from tests import examples

PAIRS: dict[str, Any] = yaml.safe_load((Path(__file__).parent / "sameness.yaml").read_text())
TWO = [(sort, *pair) for sort, pairs in PAIRS["two"].items() for pair in pairs]
ONE = [tuple(pair) for pair in PAIRS["one"]]


@pytest.mark.parametrize(("sort", "a", "b"), TWO)
def test_what_differs_is_two(sort: str, a: str, b: str) -> None:
    assert not same(a, b)
    assert fingerprint(a) != fingerprint(b)


@pytest.mark.parametrize(("a", "b"), ONE)
def test_what_is_the_same_is_one(a: str, b: str) -> None:
    assert same(a, b)
    assert fingerprint(a) == fingerprint(b)


@given(st.text(max_size=120))
@settings(max_examples=examples(300), deadline=None)
def test_the_canonical_form_says_the_same_as_its_text(text: str) -> None:
    assert same(text, text)
    assert same(text, f"\n {text} \n") or len(text.splitlines()) > 1
    assert "".join(canonical(text).split()).casefold() in _letters(text)


def _letters(text: str) -> str:
    return "".join(unicodedata.normalize("NFC", text).split()).casefold()


@given(st.text(st.characters(exclude_characters=" \t\n"), min_size=1, max_size=8), st.sampled_from("✅❌★♯−-+!?(0aA"))
@settings(max_examples=examples(300), deadline=None)
def test_a_sign_in_a_text_always_counts(word: str, sign: str) -> None:
    assert not same(f"the gate is {word} today", f"the gate is {word}{sign} today")


@pytest.mark.parametrize("text", ["\ud83d half", "", " ", "\n\n", ".", "A", "İstanbul is far", "ǅ x", "\x85", "a\x1cb"])
def test_any_text_has_a_form(text: str) -> None:
    assert same(text, text)
    assert len(fingerprint(text)) == 16
