"""The order of the best hits: those that assert, fit, speak of the requested time, or are later come first."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from memquorum.core.api.answers import Hit
from memquorum.core.retrieval.rereading import HEAD, best_first, of_one_moment
from memquorum.core.tiers import LONG_TERM, SHORT_TERM


def hit(text: str, at: int, *, score: float = 0.6, tier: str = SHORT_TERM, agent: str = "club") -> Hit:
    return Hit(text, text, tier, agent, at, at, 0, 0.5, score=score)


def first(question: str, *hits: Hit) -> str:
    return best_first(question, hits)[0].text


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
        ("What is the pressure of pump 7?", "The pressure of pump 7 is 4 bar.", "Pump 7 now runs at 3 bar."),
        ("Does Paul train Svenja?", "Paul trains Svenja.", "Paul no longer trains Svenja."),
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
        (
            "Who replaced the seal of pump 7?",
            "The seal of pump 7 was replaced by Ines.",
            "Pump 7 now runs at 3 bar.",
        ),
        ("What is patient 31 allergic to?", "Patient 31 is allergic to latex.", "Patient 31 no longer takes the bus."),
        (
            "Who approved the budget of project Kiwi?",
            "Ada approved the budget of project Kiwi.",
            "Project Kiwi now has four engineers.",
        ),
        ("Who keeps the key of room 12?", "Tom keeps the key of room 12.", "Room 12 was moved to the second floor."),
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
    order = best_first("Who trains the juniors?", [hit(BERND, 1), *between, hit(SVENJA, 2)])
    assert [one.text for one in order] == [BERND, *(one.text for one in between), SVENJA]
    order = best_first("Who trains the juniors?", [hit(BERND, 1), *between[1:], hit(SVENJA, 2)])
    assert [one.text for one in order[:2]] == [SVENJA, BERND]


AISLES = (
    "Aisle 12 bay 3 holds 40 pallets of gypsum on the upper level.",
    "Aisle 12 bay 3 holds 40 pallets of cement.",
    "Aisle 13 bay 3 holds 20 pallets of bricks.",
)


def test_what_has_the_numbers_of_the_question_beside_the_same_words_comes_first() -> None:
    hits = [hit(text, 3 - at, score=0.6 - at / 100) for at, text in enumerate(AISLES)]
    assert best_first("What is in aisle 13 bay 3?", hits)[0].text == AISLES[2]
    far = hit(AISLES[2], 1, score=0.3)
    assert first("What is in aisle 13 bay 3?", *hits[:2], far) != AISLES[2], "what is far from the question does not"


@pytest.mark.parametrize(
    ("question", "right", "other"),
    [
        (
            "When is the hearing in Brandt v. Lumen?",
            "The hearing in Brandt v. Lumen Ltd is on 14 May.",
            "The hearing in Brandt v. Orion GmbH is on 2 June.",
        ),
        (
            "When did Costa appeal against Helvetia Bank?",
            "The appeal of Costa against Helvetia Bank was filed on 3 May.",
            "The appeal of Dietz against Helvetia Bank was withdrawn.",
        ),
        ("What does Marta study?", "Marta studies law in Coimbra.", "Marta's brother studies medicine in Porto."),
        ("What do we pay for fuel?", "We pay 40 euros for fuel.", "We pay 55 euros for parking."),
        ("Who cleans the hall?", "Anna cleans the hall on Mondays.", "On Tuesdays the kitchen is cleaned by Bert."),
        ("Which gate can lorries use?", "Lorries may use the east gate.", "Lorries must not use the west gate."),
        ("When were the filters cleaned?", "On Tuesday we cleaned the filters.", "On Friday we replaced the filters."),
        ("When does the library close?", "The library closes at 20:00.", "On Sundays the library closes at 14:00."),
    ],
)  # fmt: skip
def test_what_speaks_of_another_thing_is_no_later_word_on_it(question: str, right: str, other: str) -> None:
    assert first(question, hit(right, 1, score=0.66), hit(other, 2, score=0.62)) == right
    assert first(question, hit(right, 2, score=0.66), hit(other, 1, score=0.62)) == right


def test_what_belongs_to_somebody_else_is_no_later_word_on_what_the_question_names() -> None:
    right, other = hit("Marta's address is 12 Elm Street.", 1), hit("The server's address is 203.0.113.7.", 2)
    assert first("What is the address of Marta?", right, other) == right.text
    assert first("What is Marta's address?", right, other) == right.text
    said = hit("Marta lives in Leeds.", 1), hit("She lives in York.", 2)
    assert first("Where does Marta live?", *said) == said[1].text


def test_what_belongs_to_whom_the_question_names_comes_behind_what_is_about_them() -> None:
    brother, marta = "Marta's brother studies medicine in Porto.", "Marta studies law in Coimbra."
    assert first("What does Marta study?", hit(brother, 2, score=0.68), hit(marta, 1, score=0.65)) == marta
    assert first("What does Marta's brother study?", hit(brother, 2, score=0.68), hit(marta, 1, score=0.65)) == brother


LAST, THIS = "Last year the rent was 900 euros.", "This year the rent is 980 euros."


@pytest.mark.parametrize(
    ("question", "right", "other"),
    [
        ("How much is the rent?", THIS, LAST),
        ("How much was the rent last year?", LAST, THIS),
        ("How many people work here?", "We have 58 people at work.", "In 1998 we had 41 people at work."),
        ("Where is the entrance?", "The entrance is on Harbour Road.", "The old entrance is on Mill Street."),
        ("Where was the old entrance?", "The old entrance is on Mill Street.", "The entrance is on Harbour Road."),
        ("Wie hoch ist die Miete?", "Dieses Jahr ist die Miete 910 Euro.", "Letztes Jahr war die Miete 840 Euro."),
        ("¿Cuánto es el alquiler?", "El alquiler es 720 euros.", "El año pasado el alquiler era 650 euros."),
    ],
)
def test_what_speaks_of_the_time_that_is_asked_for_comes_first(question: str, right: str, other: str) -> None:
    year_2025 = 1_750_000_000_000
    for earlier, later in ((right, other), (other, right)):
        hits = [hit(earlier, year_2025, score=0.6), hit(later, year_2025 + 1, score=0.6)]
        assert first(question, *hits) == right
        assert first(question, *reversed(hits)) == right


@pytest.mark.parametrize(
    ("question", "older", "newer"),
    [
        ("How many books do I read this winter?", "I aim at 10 books this winter.", "My winter goal is 12 books."),
        ("What is our test coverage?", "Test coverage is at 61 percent.", "Test coverage reached 74 percent."),
        ("How much is my monthly food budget?", "My food budget is $400.", "I keep to the $450 food budget."),
        ("Who supplies our gaskets?", "Our gaskets are Kolbe's.", "We get the gaskets from Tressel these days."),
        ("Who gets the weekly report?", "The weekly report goes to Mr. Okoye.", "Send the weekly report to Ms. Varga."),
    ],
)  # fmt: skip
def test_another_value_of_the_same_matter_that_was_said_later_comes_first(
    question: str, older: str, newer: str
) -> None:
    assert first(question, hit(older, 1, score=0.7), hit(newer, 2)) == newer
    assert first(question, hit(older, 2, score=0.7), hit(newer, 1)) == older


def test_a_bare_question_comes_behind_all_that_states_something() -> None:
    asks, says = "Is the budget of project Heron 70000 euros?", "Project Heron may spend 65000 euros."
    rest = hit("The herons are back at the pond.", 1, score=0.2)
    order = best_first("What is the budget of project Heron?", [hit(asks, 3, score=0.9), hit(says, 2), rest])
    assert [one.text for one in order] == [says, rest.text, asks]


def test_of_two_of_one_moment_the_one_that_came_in_later_is_later() -> None:
    older, newer, other = hit(BERND, 1, score=0.7), hit(SVENJA, 1), hit("Boat 4 leaks.", 2)
    assert of_one_moment([older, other, newer]) == [BERND, SVENJA]
    for entries, right in (({BERND: 4, SVENJA: 5}, SVENJA), ({BERND: 5, SVENJA: 4}, BERND), ({}, BERND)):
        assert best_first("Who trains the juniors?", [older, other, newer], entries)[0].text == right


JOKES = [
    ("What does staging run on?", "Staging runs on twelve nodes in Dublin.",
     "Just kidding, staging runs on one hamster in Dublin."),
    ("Wo steht der Drucker?", "Der Drucker steht im Flur.", "Vielleicht steht der Drucker jetzt im Keller."),
    ("¿Dónde está la llave?", "La llave está en el cajón.", "Dicen que ahora la llave está en la cocina."),
]  # fmt: skip


@pytest.mark.parametrize(("question", "fact", "unsure"), JOKES)
def test_what_jokes_or_supposes_renews_nothing(question: str, fact: str, unsure: str) -> None:
    assert first(question, hit(fact, 1, score=0.45), hit(unsure, 2, score=0.7)) == fact, "it stood first"


@pytest.mark.parametrize(("question", "fact", "unsure"), JOKES)
def test_what_asserts_comes_before_a_joke_that_is_nearer(question: str, fact: str, unsure: str) -> None:
    assert first(question, hit(unsure, 2, score=0.7), hit(fact, 1, score=0.55)) == fact
    assert first(question, hit(unsure, 2, score=0.9), hit(fact, 1, score=0.55)) == unsure, "it is too much nearer"
    assert first(question, hit(unsure, 2, score=0.7), hit("Nothing of it.", 1, score=0.69)) == unsure


def test_of_two_that_suppose_the_newer_one_renews() -> None:
    old = "I aim for 10 books by March in my reading challenge, if I find the time."
    new = "If I find the time, my reading challenge goal is 12 books by March."
    question = "How many books are the goal of my reading challenge?"
    assert first(question, hit(old, 1, score=0.7), hit(new, 2, score=0.6)) == new


def test_of_a_long_text_the_passage_is_read() -> None:
    lunch = "Pump 7 was serviced in 2019, and pump 7 is not the one that is meant. " * 20
    long = replace(hit(lunch + "Lunch is at noon.", 86_400_000, score=0.5), passage=(len(lunch), len(lunch) + 17))
    short = hit("Pump 7 runs at 3 bar.", 172_800_000, score=0.5)
    assert best_first("How does pump 7 run?", [long, short])[0] == short


@pytest.mark.parametrize(
    ("question", "was", "then", "again"),
    [
        (
            "What is the gate code?",
            "Gate code is 4411.",
            "The gate code was switched to 7702.",
            "Code is back at 4411.",
        ),
        (
            "On which day does group B swim?",
            "Group B has swimming on Mondays.",
            "The pool is being painted, so group B swims on Fridays.",
            "Painting done. Group B swims on Mondays.",
        ),
        (
            "Which vendor do we buy coffee from?",
            "We buy our coffee from Tallow.",
            "Since the strike we buy coffee from Brisk.",
            "Brisk was too bitter, ordering from Tallow again.",
        ),
    ],
)
def test_what_is_so_again_comes_before_what_replaced_it(question: str, was: str, then: str, again: str) -> None:
    hits = [hit(was, 1, score=0.8), hit(then, 2, score=0.75), hit(again, 3, score=0.7)]
    assert first(question, *hits) == again
    later = [hit(was, 1, score=0.8), hit(then, 3, score=0.75), hit(again, 2, score=0.7)]
    assert first(question, *later) == then, "it was said last"


def test_what_is_so_again_may_be_further_from_the_question() -> None:
    was = hit("Mr Lind sits in room 204.", 1, score=0.85)
    then = hit("Mr Lind sits in room 117 for a while.", 2, score=0.84)
    again = hit("The painters are done, find him in 204 again.", 3, score=0.55)
    assert first("In which room does Mr Lind sit?", was, then, again) == again.text


def test_what_was_said_before_and_after_another_comes_before_it() -> None:
    again, then = (
        hit("The gate stays open at night.", 3, score=0.6),
        hit("The gate is shut at night now.", 2, score=0.7),
    )
    question = "Is the gate open at night?"
    assert first(question, then, again) == then.text, "no rule tells that it is a later word"
    assert first(question, then, replace(again, first_at=1)) == again.text
    assert first(question, then, replace(again, first_at=2)) == then.text


def test_what_is_said_of_other_doors_does_not_say_again_what_door_3_replaced() -> None:
    doors = [hit(f"Key {n} of the {place} hangs behind door {n}.", n, score=0.8) for n, place in enumerate("abc", 1)]
    asked = hit("Key 3 of the boat hangs behind door 3.", 4, score=1.0)
    later = hit("Key 9 of the attic hangs behind door 2.", 9, score=0.8)
    assert first("Key 3 of the boat hangs behind door 3", asked, *doors[:2], later) == asked.text


def test_what_is_said_of_the_rest_of_a_note_does_not_say_again_what_a_move_replaced() -> None:
    note = hit("Our office is in Graz, Annenstrasse 12. The alarm code is 4471.", 1, score=0.43)
    moved = hit("We moved the office to Linz.", 2, score=0.49)
    code = hit("The alarm code is 9999 now.", 3, score=0.19)
    assert first("Where is the office?", moved, note, code) == moved.text


def test_a_new_telephone_is_no_answer_to_where_somebody_lives() -> None:
    note = hit("Ada lives at Elm Road 5. Her phone is 555-0100.", 1, score=0.6)
    phone = hit("Ada's phone is 555-0199 now.", 2, score=0.4)
    assert first("Where does Ada live?", phone, note) == note.text
    assert first("What is Ada's phone number?", note, phone) == phone.text


def test_what_is_said_of_one_clause_renews_no_other() -> None:
    shop = hit("The shop opens at 9 and sells bread.", 1, score=0.7)
    later = hit("The shop opens at 10 now.", 2, score=0.6)
    assert first("What does the shop sell?", shop, later) == shop.text
    assert first("When does the shop open?", shop, later) == later.text


def test_a_subject_that_is_asked_for_counts_as_said() -> None:
    ada = replace(hit("I am allergic to peanuts.", 1, score=0.6), subject="ada")
    bob = replace(hit("I am allergic to shellfish.", 2, score=0.55), subject="bob")
    coffee = replace(hit("Bob prefers black coffee.", 3, score=0.65), subject="bob")
    assert first("What is Bob allergic to?", coffee, ada, bob) == bob.text
    assert first("What is Ada allergic to?", coffee, bob, ada) == ada.text


@pytest.mark.parametrize(("question", "right", "wrong"), [
    ("Which loop has a set point of -4 K?", "Loop B has a set point of -4 K.", "Loop A has a set point of +4 K."),
    ("Which scanner has the code aB3x?", "Scanner 1 has the code aB3x.", "Scanner 2 has the code Ab3x."),
    ("Which link has 10 Mb/s?", "Link 1 has 10 Mb/s.", "Link 2 has 10 MB/s."),
    ("When does the train to Basel leave?", "The train to Basel leaves at 10:12 from platform 4.",
     "The train to Basel leaves from platform 9 today because of works."),
    ("How many of the 20 sensors have been calibrated?", "15 of the 20 sensors have been calibrated.",
     "5 of the 20 sensors have not been calibrated yet."),
    ("What is Ada allergic to?", "Ada's phone number is 555-0100. She is allergic to cats. She lives in Graz.",
     "Ada's phone number is 555-0199 now."),
])  # fmt: skip
def test_what_was_said_later_of_something_else_stays_behind(question: str, right: str, wrong: str) -> None:
    assert first(question, hit(right, 1, score=0.6), hit(wrong, 2, score=0.6)) == right
