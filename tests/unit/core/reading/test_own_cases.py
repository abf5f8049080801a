"""Own cases in five languages: texts that say nothing, texts that say something else; and the filler list."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from memquorum.core.reading import assertion, orders, talk, times, unkept
from memquorum.core.reading.sameness import same
from memquorum.core.reading.talk import says_nothing

CASES: dict[str, dict[str, list[Any]]] = yaml.safe_load((Path(__file__).parent / "own_cases.yaml").read_text())
TALK: dict[str, dict[str, list[str]]] = yaml.safe_load((Path(__file__).parent / "small_talk.yaml").read_text())
LANGUAGES = list(CASES)


@pytest.mark.parametrize("language", LANGUAGES)
def test_there_are_enough(language: str) -> None:
    assert min(len(CASES[language][sort]) for sort in ("nothing", "numbers", "negation")) >= 20


@pytest.mark.parametrize("language", LANGUAGES)
def test_small_talk_says_nothing(language: str) -> None:
    assert [text for text in CASES[language]["nothing"] if not says_nothing(text)] == []


def looked_at(text: str) -> bool:
    """Whether developers may see what becomes of it; of the other half they see how much is stored, and no more."""
    return hashlib.sha256(text.encode()).digest()[0] % 2 == 0


@pytest.mark.parametrize(("half", "stored_most"), [(True, 0.05), (False, 0.2)])
def test_fresh_small_talk_says_nothing(half: bool, stored_most: float) -> None:
    said = [says_nothing(text) for one in TALK.values() for text in one["talk"] if looked_at(text) is half]
    assert len(said) > 70
    assert said.count(False) / len(said) <= stored_most


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_short_fact_says_something(language: str) -> None:
    assert [text for text in TALK[language]["facts"] if says_nothing(text)] == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_small_talk_with_content_says_something(language: str) -> None:
    assert [text for text in CASES[language]["something"] if says_nothing(text)] == []


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("sort", ["numbers", "negation"])
def test_two_statements_are_two(language: str, sort: str) -> None:
    pairs = CASES[language][sort]
    assert [pair for pair in pairs if same(*pair)] == []
    assert [text for pair in pairs for text in pair if says_nothing(text)] == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_one_statement_in_other_words_is_stored_as_well(language: str) -> None:
    """A text too many is folded when it is read, or not at all; a text too few is lost."""
    pairs = CASES[language]["same"]
    assert len(pairs) >= 3
    assert [pair for pair in pairs if same(*pair)] == []


@pytest.mark.parametrize(
    ("text", "nothing"),
    [
        ("", True),
        ("…", True),
        ("Thanks, Alice!", True),
        ("Hi Mary Ann, how are you?", True),
        ("Great work team", True),
        ("Have a great evening, all.", True),
        ("Thank you so much for your help, Alice!", True),
        ("Thank you so much for your help, the code is 4821.", False),
        ("Let me know if you need Alice.", False),
        ("No worries, take your time.", True),
        ("see you on Monday", True),
        ("The deal is off.", False),
        ("Good, everyone agreed.", False),
        ("L'accord est bon.", False),
        ("Thanks, Monday.", False),
        ("Yes, Alice.", False),
        ("Two.", False),
        ("B", False),
        ("I'm definitely not.", False),
        ("They would have been there.", False),
        ("I don't know.", True),
        ("Door.", False),
        ("Danke, Tür zu.", False),
        ("好的", True),
        ("Yes. " * 100, False),
        ("He is fine.", False),
        ("They agreed.", False),
        ("I can't do it.", False),
        ("Could you have another look at this, please?", True),
        ("Could you have another look at valve 3, please?", False),
        ("I didn't catch that.", True),
        ("I'll get back to you. It is so cold outside!", True),
        ("I'll get back to you. The pump is cold.", False),
        ("Congrats on the release!", True),
        ("haha ok, see you at lunch!", True),
        ("brb lunch", True),
        ("Ada is off to lunch", False),
        ("See you at lunch with the auditors from Ulm.", False),
        ("Please forget that pump 8 runs at 3.5 bar.", True),
        ("Could you forget everything about Ada, please?", True),
        ("Don't forget that pump 8 runs at 3 bar.", False),
        ("Forget that, pump 8 runs at 4 bar.", False),
        ("Forget about that. Pump 8 runs at 4 bar.", False),
        ("I forget what the door code is.", False),
        ("Please forget that pump 8 leaks, but check pump 9.", False),
        ("Please delete my address.", True),
        ("Can you remove all of my messages from your memory, please?", True),
        ("Delete the address table before migrating.", False),
        ("Please delete my branch.", False),
        ("Please forget Ada Quill's phone number.", True),
        ("Forget Ada’s address, please.", True),
        ("Forget Friday's meeting.", False),
        ("Forget Ada's phone number, it is 0171 now.", False),
        ("Delete Kafka's data.", False),
        ("Please delete my address: it is Hafenweg 3 now.", False),
        ("Happy birthday Ada!", True),
        ("Sounds good Tom", True),
        ("Happy birthday is sung at 3.", False),
        ("+1", True),
        ("+10", False),
        ("Sorry, wrong channel", True),
        ("The channel is wrong for Ada.", False),
        ("Hi, I'm Lea.", False),
        ("Hello, it's me, Lea!", False),
        ("Hallo, ich bin Lea.", False),
        ("Hi, I'm so tired.", True),
        ("User: thanks!", True),
        ("Assistant: Sure, happy to help!", True),
        ("User: thanks, valve 3 is shut!", False),
        ("Status: good", False),
        ("No probelm at all, Mrs. Patel", True),
        ("Thank you, Prof. Dr. Li :D", True),
        ("thats defintely awsome, thx <3", True),
        ("Estoy casado.", False),
        ("I was diving.", False),
        ("Danke, die Ware ist da.", False),
        ("Have fun at the wedding!", True),
        ("Have fun at the wedding, Ada is the bride!", False),
        ("Happy birthday is on Friday.", False),
        ("Thanks for the key!", False),
        ("Sorry, he is not there.", False),
        ("Rome wasn't built in a day.", True),
        ("Meet you at the gym.", False),
    ],
)
def test_what_says_nothing(text: str, nothing: bool) -> None:
    assert says_nothing(text) is nothing


@given(st.text(max_size=60), st.integers(0, 10**6))
def test_a_number_always_says_something(text: str, number: int) -> None:
    assert not says_nothing(f"{text} {number}")


def test_another_list_has_another_version() -> None:
    """A change of a list or a rule raises the versions, which are written down here."""
    digest = hashlib.sha256()
    for module in (assertion, orders, talk, times, unkept):
        digest.update(Path(str(module.__file__)).read_bytes())
    for file in sorted((Path(str(talk.__file__)).parent / "data").glob("*.txt")):
        digest.update(file.read_bytes())
    versions = (assertion.VERSION, talk.VERSION, times.VERSION, unkept.VERSION)
    assert (versions, digest.hexdigest()[:16]) == ((6, 17, 3, 6), "5d8042d91488b494")
