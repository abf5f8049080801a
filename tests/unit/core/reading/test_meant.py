"""The meaning of a correction, and the statement that it may replace."""

from __future__ import annotations

import pytest

from memquorum.core.reading.meant import meant, replaces

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


LEASE = "The lease of the hall ends in May."


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        (LEASE, "No, it ends in June."),
        (LEASE, "Sorry, it ends in June, not in May."),
        ("The inspection starts on Tuesday.", "No, it starts on Friday."),
        ("The inspection is on Tuesday.", "No, it's on Friday."),
        ("The gateway uses port 8443.", "Wrong, it uses port 9443."),
        ("The gates close at 18:00.", "No, they close at 19:00."),
        ("The replacement part is KX-88.", "No, that is KX-89."),
        ("My sister lives in Graz.", "No, she lives in Linz."),
        ("Ada works at the depot.", "Sorry, she works at the harbour office."),
        ("The parcel comes from Ulm", "No, it comes from Neu-Ulm, not from Ulm."),
    ],
)
def test_what_it_does_instead_stands_in_the_place_of_what_was_said_to_do_so(earlier: str, later: str) -> None:
    assert replaces(meant(later), earlier)


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        (LEASE, "No, it begins in June."),
        (LEASE, "It ends in June."),
        (LEASE, "No, it ends in May."),
        (LEASE, "No, it ends on Friday."),
        (LEASE, "No, it doesn't end in June."),
        (LEASE, "No, it may end in June."),
        ("The inspection is on Tuesday.", "No, it is not on Friday."),
        ("The inspection is on Tuesday.", "No, it's never on Friday."),
        ("Does the lease end in May?", "No, it ends in June."),
        ("The lease ends in May, the option ends in July.", "No, it ends in June."),
        ("You may enter hall 3.", "No, it is in June."),
        ("My sister lives in Graz.", "No, she lives with Linz."),
        ("My sister lives in Graz.", "No, she works in Linz."),
        ("My sister lives in Graz.", "No, she lives in the old town of Graz."),
        ("My sister lives in Graz.", "She lives in Linz."),
        ("My sister lives in Graz and works in Ulm.", "No, she lives in Linz."),
        ("Does she live in Graz?", "No, she lives in Linz."),
        (LEASE, "No, it ends when the new hall that we have rented in June is ready."),
    ],
)
def test_what_it_does_otherwise_or_without_a_word_that_corrects_stays_beside_it(earlier: str, later: str) -> None:
    assert not replaces(meant(later), earlier)


TRAINS = {
    "en": ("The train arrives at 17:50.", "No wait, it arrives at 18:20.", "Wait, no, 18:20.", "Sorry, 18:20."),
    "de": ("Der Zug kommt um 17:50 an.", "Nein, warte, er kommt um 18:20 an.", "Entschuldigung, 18:20 Uhr."),
    "fr": ("Le train arrive à 17:50.", "Non, attends, il arrive à 18:20.", "Pardon, à 18:20."),
    "es": ("El tren llega a las 17:50.", "No, espera, llega a las 18:20.", "Perdón, a las 18:20."),
    "it": ("Il treno arriva alle 17:50.", "No, aspetta, arriva alle 18:20.", "Scusa, alle 18:20."),
    "pt": ("O comboio chega às 17:50.", "Não, espera, chega às 18:20.", "Desculpa, às 18:20."),
    "nl": ("De trein komt om 17:50 aan.", "Nee, wacht, hij komt om 18:20 aan.", "Sorry, 18:20."),
    "pl": ("Pociąg przyjeżdża o 17:50.", "Nie, czekaj, przyjeżdża o 18:20.", "Przepraszam, o 18:20."),
}


@pytest.mark.parametrize("language", TRAINS)
def test_who_says_at_once_that_it_is_otherwise_corrects_the_value(language: str) -> None:
    earlier, *later = TRAINS[language]
    assert [text for text in later if not replaces(meant(text), earlier)] == []


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        (TRAINS["en"][0], "Sorry, I am late."),
        (TRAINS["en"][0], "No, Tom arrives at 18:20."),
        (TRAINS["en"][0], "No, not 18:20."),
        (TRAINS["en"][0], "18:20."),
        (TRAINS["en"][0], "No problem, see you at 18:20."),
        (TRAINS["en"][0], "No, dinner is at 18:20."),
        (TRAINS["en"][0], "Actually, it never arrives at 18:20."),
        ("The train arrives at 17:50 and leaves at 18:00.", "Sorry, 18:20."),
        ("Does it arrive at 17:50?", "No, 18:20."),
        ("We need 7 chairs.", "Sorry, 9 tables."),
        (TRAINS["de"][0], "Nein, das Essen ist um 18:20."),
    ],
)
def test_a_value_of_something_else_corrects_nothing(earlier: str, later: str) -> None:
    assert not replaces(meant(later), earlier)
