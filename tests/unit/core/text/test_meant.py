"""What was meant, and in the place of what it may stand."""

from __future__ import annotations

import pytest

from memquorum.core.text.meant import meant, replaces

PART = "The replacement part for pump 7 is KX-88."


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        (PART, "No, I meant KX-89"),
        (PART, "Oh, sorry, I mean KX-98, not KX-88."),
        (PART, "Non, je voulais dire KX-89."),
        (PART, "No, quise decir KX-89."),
        (PART, "No, volevo dire KX-89."),
        ("Room F3 is cold.", "I meant room B12."),
        ("Das Ersatzteil liegt in Halle 2.", "Ach nein, ich meinte Halle 3."),
        ("The budget is 18,000 euros.", "I meant 16,000 euros."),
        ("The code is 4821.", "I meant 4812."),
        ("The meeting is at 14:00 on Thursday.", "Sorry, I meant 15:00."),
        ("The meeting is at 14:00 on Thursday.", "Sorry, I meant Friday."),
        ("Das Treffen ist am Montag um 14 Uhr.", "Ich meinte Dienstag."),
    ],
)
def test_what_was_meant_stands_in_the_place_of_a_value_of_its_sort(earlier: str, later: str) -> None:
    assert replaces(meant(later), earlier)


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        (PART, "No, I meant KX-88."),
        ("Is the part KX-88?", "I meant KX-89."),
        ("The order PO-7711 is late.", "I meant KX-89."),
        ("Pump 7 runs.", "I meant KX-89."),
        ("Hall 2 has two gates, hall 3 has one, says 4711.", "I meant 4812."),
        ("The budget is 18,000 euros.", "I meant 3 days."),
        ("The meeting is at 14:00, the call at 15:00.", "I meant 16:00."),
    ],
)
def test_what_is_of_another_sort_stays_beside_it(earlier: str, later: str) -> None:
    assert meant(later) and not replaces(meant(later), earlier)


@pytest.mark.parametrize(
    "text",
    [
        "I mean it.",
        "I meant what I said.",
        "KX-89 it is.",
        "I meant that pump 7 has to be tested on Thursday at 14:00 in hall 3.",
        "Did I say I meant KX-89?",
        "He said that I meant KX-89.",
        "I meant KX-89?",
        "x" * 200,
    ],
)
def test_what_says_more_or_names_no_value_corrects_nothing(text: str) -> None:
    assert meant(text) == ()
