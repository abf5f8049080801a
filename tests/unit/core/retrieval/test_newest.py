"""Ten languages: which of two texts on one matter comes first, whichever of them is nearer to the question."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path

import pytest
import yaml

from memquorum.core.api.answers import Hit
from memquorum.core.reading.assertion import asserts, unreal
from memquorum.core.reading.conflict import read
from memquorum.core.reading.times import asked_time
from memquorum.core.retrieval.rereading import best_first
from memquorum.core.tiers import SHORT_TERM

CASES = yaml.safe_load(Path(__file__).with_name("newest.yaml").read_text(encoding="utf-8"))
NEAR, FAR = 0.7, 0.55


def order(question: str, told: list[tuple[str, int, float]]) -> list[str]:
    hits = [Hit(text, text, SHORT_TERM, "club", at, at, 0, 0.5, score=score) for text, at, score in told]
    return [hit.text for hit in best_first(question, sorted(hits, key=lambda hit: -hit.score))]


@pytest.mark.parametrize(("language", "question", "older", "newer"), CASES["newest"])
def test_the_newer_one_comes_first(language: str, question: str, older: str, newer: str) -> None:
    assert language
    assert order(question, [(older, 1, NEAR), (newer, 2, FAR)]) == [newer, older]
    assert order(question, [(older, 2, NEAR), (newer, 1, FAR)])[0] == older, "it was said later"


@pytest.mark.parametrize(("language", "question", "older", "newer"), CASES["stays"])
def test_what_still_answers_stays_first(language: str, question: str, older: str, newer: str) -> None:
    assert language
    assert order(question, [(older, 1, NEAR), (newer, 2, FAR)]) == [older, newer]


HARBOUR, MILL, MUSEUM = "I work at the harbour.", "I work at the mill.", "I work at the museum now."


@pytest.mark.parametrize(
    ("question", "asker", "first"),
    [
        ("Where do I work?", "paul", HARBOUR),
        ("Where do I work?", "nora", MUSEUM),
        ("Where does Paul work?", None, HARBOUR),
        ("Where does Nora work?", "paul", MUSEUM),
    ],
)
def test_i_is_who_says_it(question: str, asker: str | None, first: str) -> None:
    told = [(HARBOUR, "paul", 0.5), (MILL, "nora", 0.6), (MUSEUM, "nora", 0.65)]
    hits = [Hit(text, text, SHORT_TERM, by, at, at, 0, 0.5, score=score) for at, (text, by, score) in enumerate(told)]
    assert best_first(question, hits[::-1], asker=asker)[0].text == first


def test_what_shares_no_word_with_the_question_is_not_so_again() -> None:
    told = [
        ("Die Hebamme mit dem Hund hat die Nummer 0511 3310.", 1, 0.68),
        ("Die Hebamme hat eine neue Nummer: 0511 3378.", 2, 0.5),
        ("Der Hund ist vier Jahre alt.", 3, 0.4),
    ]
    assert order("Welche Nummer hat die Hebamme?", told)[0] == told[1][0]


def test_who_speaks_of_himself_corrects_another() -> None:
    told = [("Nora's bus to Oslo leaves at 9:10.", "host", 0.8), ("My bus to Oslo leaves at 11:40.", "nora", 0.6)]
    hits = [Hit(text, text, SHORT_TERM, by, at, at, 0, 0.5, score=score) for at, (text, by, score) in enumerate(told)]
    assert best_first("When does Nora's bus to Oslo leave?", hits)[0].agent == "nora"


@pytest.mark.parametrize(("language", "question", "fact", "other"), CASES["openers"])
def test_what_an_opener_says_is_no_fact(language: str, question: str, fact: str, other: str) -> None:
    assert language
    assert unreal(other) and asserts(fact)
    assert read(other).statements == ()
    assert order(question, [(other, 2, NEAR), (fact, 1, FAR)]) == [fact, other]


@pytest.mark.parametrize(("language", "question", "first", "second", "third"), CASES["chains"])
def test_of_three_the_last_comes_first(language: str, question: str, first: str, second: str, third: str) -> None:
    assert language
    for scores in permutations((0.7, 0.65, 0.6)):
        told = list(zip((first, second, third), (1, 2, 3), scores, strict=True))
        assert order(question, told)[0] == third


@pytest.mark.xfail(strict=True, reason="too few words in common, or in another form")
@pytest.mark.parametrize(("language", "question", "older", "newer"), CASES["missed"])
def test_what_no_rule_tells(language: str, question: str, older: str, newer: str) -> None:
    assert language
    assert order(question, [(older, 1, NEAR), (newer, 2, FAR)]) == [newer, older]


@pytest.mark.parametrize(("language", "sort", "question"), CASES["times"])
def test_a_question_about_the_past_is_one(language: str, sort: str, question: str) -> None:
    assert language
    found = asked_time(question)
    assert (found.sort if found is not None else "") == sort
