"""What was said later of the same matter comes first, where its words say that something became otherwise."""

from __future__ import annotations

import pytest

from memquorum.core.api.answers import Hit
from memquorum.core.retrieval.renewing import HEAD, renewed_first
from memquorum.core.tiers import LONG_TERM, SHORT_TERM


def hit(text: str, at: int, *, score: float = 0.6, tier: str = SHORT_TERM, agent: str = "club") -> Hit:
    return Hit(text, text, tier, agent, at, at, 0, 0.5, score=score)


def first(question: str, *hits: Hit) -> str:
    return renewed_first(question, hits)[0].text


BERND = "Coach Bernd trains the juniors on Mondays."
SVENJA = "Bernd has handed the juniors over to Svenja."


@pytest.mark.parametrize(
    ("question", "older", "newer"),
    [
        ("Who trains the juniors?", BERND, SVENJA),
        ("Can boat 7 be used?", "Boat 7 has a cracked rudder.", "The rudder of boat 7 was repaired, it may be used."),
        ("How many paddles are there?", "We have eleven paddles left.", "Two paddles broke, so only nine are left."),
        (
            "Where do we stay in Kyoto?",
            "Our hotel in Kyoto is the Sakura Inn, check-in from 15:00.",
            "The Sakura Inn cancelled on us, we stay at Hotel Mume instead.",
        ),
        ("Wo steht der Drucker?", "Der Drucker steht im Flur.", "Der Drucker steht jetzt im Keller."),
        ("¿Dónde está la llave?", "La llave está en el cajón.", "Ahora la llave está en la cocina."),
    ],
)
def test_what_became_otherwise_comes_first(question: str, older: str, newer: str) -> None:
    assert first(question, hit(older, 1, score=0.7), hit(newer, 2)) == newer
    assert first(question, hit(older, 2, score=0.7), hit(newer, 1)) == older, "it was said before"


@pytest.mark.parametrize(
    ("question", "older", "other"),
    [
        ("When does valve 3 open?", "Valve 3 opens at 4 bar.", "Valve 7 now opens at 6 bar."),
        ("Where does Hassan live?", "Hassan lives in Cairo.", "Hassan is actually vegan, not vegetarian."),
        ("What does Mia eat?", "Mia eats no peanuts.", "Tom no longer eats fish."),
        ("Who trains the juniors?", BERND, "The juniors of the club train in the new hall with two boats and a van."),
        ("Who trains the juniors?", BERND, "Svenja trains the juniors."),
    ],
)
def test_what_is_about_something_else_or_says_of_no_change_does_not(question: str, older: str, other: str) -> None:
    assert first(question, hit(older, 1, score=0.7), hit(other, 2)) == older


def test_what_another_agent_renews_of_what_was_promoted_stays_behind_it() -> None:
    promoted = hit(BERND, 1, score=0.7, tier=LONG_TERM)
    assert first("Who trains the juniors?", promoted, hit(SVENJA, 2, agent="guest")) == BERND
    assert first("Who trains the juniors?", promoted, hit(SVENJA, 2)) == SVENJA


def test_what_is_far_from_the_question_or_far_down_stays_where_it_is() -> None:
    assert first("Who trains the juniors?", hit(BERND, 1, score=0.9), hit(SVENJA, 2, score=0.5)) == BERND
    between = [hit(f"Boat {n} is in the shed.", 1, score=0.6) for n in range(HEAD - 1)]
    order = renewed_first("Who trains the juniors?", [hit(BERND, 1), *between, hit(SVENJA, 2)])
    assert [one.text for one in order] == [BERND, *(one.text for one in between), SVENJA]
    order = renewed_first("Who trains the juniors?", [hit(BERND, 1), *between[1:], hit(SVENJA, 2)])
    assert [one.text for one in order[:2]] == [SVENJA, BERND]
