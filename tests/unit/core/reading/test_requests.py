"""A request not to be remembered takes nothing with it that it is not of; a text that is all of it is not stored."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from memquorum.core.reading.lists import LANGUAGES
from memquorum.core.reading.talk import says_nothing
from memquorum.core.reading.unkept import LOOKED_AT, asks_not_to_be_kept

CASES: dict[str, dict[str, list[str]]] = yaml.safe_load((Path(__file__).parent / "requests.yaml").read_text())
FACT = "The server room is in building 7."


def is_stored(text: str) -> bool:
    return not says_nothing(text) and not asks_not_to_be_kept(text)


def test_all_languages_are_there() -> None:
    assert all({*CASES[sort]} == {*LANGUAGES, "more"} for sort in CASES)
    assert min(len(texts) for of in CASES.values() for texts in of.values()) >= 9


@pytest.mark.parametrize("language", CASES["stored"])
def test_what_states_something_else_is_stored(language: str) -> None:
    assert [text for text in CASES["stored"][language] if not is_stored(text)] == []


@pytest.mark.parametrize("language", CASES["unkept"])
def test_what_is_all_of_a_request_is_not_stored(language: str) -> None:
    assert [text for text in CASES["unkept"][language] if is_stored(text)] == []


@pytest.mark.parametrize(
    ("text", "stored"),
    [
        ("Don't note that.", False),
        ("Don't delete that.", True),
        ("Lösch das nicht.", True),
        ("Forget that, pump 8 runs at 4 bar.", True),
        ("Pump 8 runs at 4 bar. Forget that.", False),
        (f"{FACT} Forget that. {FACT.replace('7', '8')}", True),
        ("Don't save my PIN. My PIN is 4821.", False),
        ("Ben is ill. Lena is ill. Eve is ill. Don't note any of this.", False),
        (f"Don't remember this: my PIN is 4821.\n{FACT}", False),
        (f"Don't remember this: my PIN is 4821.\nBy the way, {FACT}", True),
    ],
)
def test_of_what_a_request_is(text: str, stored: bool) -> None:
    assert is_stored(text) is stored


def test_this_is_of_what_stands_near_it() -> None:
    """A request at the end of minutes does not take all of them."""
    assert is_stored(" ".join(f"Pump {n} runs at {n} bar." for n in range(1, 9)) + " Please don't note that.")
    assert is_stored(f"{FACT} " * (LOOKED_AT // 8) + "Please don't note that.")
