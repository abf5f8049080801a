"""What a finished task came to is within reach, or it is not: no label, no model."""

from __future__ import annotations

import pytest

from memquorum.core.experience.reward import Reach
from memquorum.core.policy import PPM
from tests.builders.experience import context, held

REACH = Reach()


def reward(outputs: str, *texts: str) -> int:
    return REACH.reward_ppm(context(outputs=outputs), [held(f"m{at}", text) for at, text in enumerate(texts)])


@pytest.mark.parametrize(
    ("outputs", "text", "expected"),
    [
        ("port 8443", "The gateway uses port 8443.", PPM),
        ("The port 8443", "The gateway uses port 8443.", PPM),
        ("port 8443", "The gateway uses port 84430.", -PPM),
        ("port 8443", "Port is 8443.", 0),
        ("the red cabinets", "The gateway's port is in a red cabinet.", PPM),
        ("the red cabinets", "The gateway's port is in a cabinet that is red.", 0),
        ("New York", "York is new.", 0),
        (
            "The gateway in Leipzig was moved to port 8443 by the night crew.",
            "The night crew moved the gateway in Leipzig to port 8443 yesterday.", PPM,
        ),
        (
            "The gateway in Leipzig was moved to port 8443 by the night crew.",
            "The night crew moved the gateway in Leipzig to port 8444 yesterday.", -PPM,
        ),
        (
            "The gateway in Leipzig was moved to port 8443 by the night crew.",
            "The night crew moved the gateway in Dresden to port 8444 yesterday.", 0,
        ),
        (
            "The gateway in Leipzig was moved to port 8443 by the night crew.",
            "The night crew moved the gateway in Dresden to port 8443 yesterday.", 0,
        ),
        (
            "The gateway in Leipzig was moved to port 8443 by the night crew.",
            "The night crew did not move the gateway in Leipzig to port 8443.", -PPM,
        ),
        (
            "The gateway in Leipzig was moved to port 8443 by the night crew.",
            "The night crew in Leipzig has a port. The gateway 8443 was moved.", 0,
        ),
    ],
)  # fmt: skip
def test_what_a_text_states_is_within_reach(outputs: str, text: str, expected: int) -> None:
    assert reward(outputs, text) == expected


@pytest.mark.parametrize(
    ("outputs", "text", "expected"),
    [
        ("The admin page is at port 8443.", "The gateway uses port 8443.", PPM),
        ("Restarted; it listens on port 8443 again.", "The gateway uses port 8443.", PPM),
        ("Connected to port 8443, and the certificate is valid for a year.", "The gateway uses port 8443.", PPM),
        ("The admin page is at port 8443.", "The gateway uses port 8444.", 0),
        ("The admin page is at port 8443.", "The gateway does not use port 8443.", 0),
        ("The admin page is at port 8443.", "The orchard has 8443 trees.", 0),
        ("The admin page is at port 8443.", "The gateway is in use. Port 8443 is Ben's.", 0),
        ("The gateway uses a port.", "The gateway uses port 8443.", 0),
        ("Open.", "The gateway uses port 8443.", 0),
    ],
)  # fmt: skip
def test_numbers_and_names_that_were_not_asked_with_are_within_reach_of_a_sentence_about_it(
    outputs: str, text: str, expected: int
) -> None:
    task = context(goal="open the gateway's admin page", inputs="which port does the gateway use?", outputs=outputs)
    assert Reach().reward_ppm(task, [held("m", text)]) == expected
    assert Reach(facts=False).reward_ppm(task, [held("m", text)]) == 0


def test_what_was_asked_with_is_no_ground() -> None:
    task = context(goal="open port 8443 of the gateway", inputs="", outputs="Port 8443 is open now, said the gateway.")
    assert Reach().reward_ppm(task, [held("m", "The gateway uses port 8443.")]) == 0


@pytest.mark.parametrize(
    ("goal", "outputs", "text", "expected"),
    [
        ("At what temperature is greenhouse 2 kept?", "24 degrees", "Greenhouse 2 is kept at 28 degrees.", -PPM),
        ("At what temperature is greenhouse 2 kept?", "24 degrees", "Greenhouse 2 was kept at 28 degree.", -PPM),
        ("At what temperature is greenhouse 2 kept?", "24 degrees", "Greenhouse 3 is kept at 28 degrees.", 0),
        ("At what temperature is greenhouse 2 kept?", "24 degrees", "Greenhouse 2 is not kept at 28 degrees.", 0),
        ("At what temperature is greenhouse 2 kept?", "24 degrees", "Greenhouse 2 is kept at 28 percent.", 0),
        ("At what temperature is greenhouse 2 kept?", "24 degrees",
         "Greenhouse 2 is kept at 28 degrees by day and at 20 degrees by night.", 0),
        ("At what temperature is greenhouse 2 kept?", "24 degrees",
         "Greenhouse 2 is kept at 24 degrees. In winter greenhouse 2 was kept at 20 degrees.", PPM),
        ("At what temperature is greenhouse 2 kept?", "24 degrees",
         "Greenhouse 2 has a fan. The archive is at 28 degrees.", 0),
        ("At what temperature is greenhouse 2 kept?", "24 degrees",
         "Greenhouse 2 is kept at 28 degrees unless it rains.", 0),
        ("Which port replaced port 8080 of the gateway?", "port 8443", "The gateway had port 8080.", 0),
        ("Which port does the gateway use?", "8443", "The gateway uses port 9443.", 0),
        ("When does the gateway restart?", "7 pm", "The gateway restarts at 8 pm.", -PPM),
        ("When does the gateway restart?", "7 pm", "The gateway restarts at 19:00, an hour before 8 pm.", PPM),
    ],
)  # fmt: skip
def test_another_number_beside_the_same_words_contradicts_a_short_answer(
    goal: str, outputs: str, text: str, expected: int
) -> None:
    task = context(goal=goal, inputs="", outputs=outputs)
    assert Reach().reward_ppm(task, [held("m", text)]) == expected
    assert Reach(shorts=False).reward_ppm(task, [held("m", text)]) == max(0, expected)


@pytest.mark.parametrize(
    ("outputs", "text"),
    [
        ("7 pm", "The gateway's two lamps are lit at 19:00."),
        ("at 19:00", "The gateway's lamps are lit at 7 p.m., both of them."),
        ("two lamps", "The gateway has 2 lamps to be lit."),
        ("3 May 2021", "The gateway's lamps were first lit on May 3, 2021."),
        ("The lamps of the gateway are lit at 7 pm by Ben every day.",
         "Every day the lamps of the gateway are lit by Ben at 19:00."),
    ],
)  # fmt: skip
def test_what_is_written_otherwise_is_the_same(outputs: str, text: str) -> None:
    task = context(goal="When are the gateway's lamps lit?", inputs="", outputs=outputs)
    assert Reach().reward_ppm(task, [held("m", text)]) == PPM
    assert Reach(written=False).reward_ppm(task, [held("m", text)]) < PPM


@pytest.mark.parametrize(
    ("outputs", "text", "expected"),
    [
        ("Set max_retries to what the plan says, and it worked at once.", "Retries are limited by max_retries.", PPM),
        ("It was all in /etc/gateway/limits and could be changed there.", "Retries: see /etc/gateway/limits.", PPM),
        ("It was all in /etc/gateway/limits and could be changed there.", "Retries: see /etc/gateway/limit.", 0),
        ("It was all in /etc/gateway/limits and could be changed there.", "Retries are in limits of the gateway.", 0),
        ("Found at https://wiki.plant/limits, and changed.", "The limits of retries: https://wiki.plant/limits.", PPM),
        ("Set fade_ms to what the plan says, and it worked at once.", "Lamps are dimmed by fade_ms.", 0),
    ],
)  # fmt: skip
def test_addresses_paths_and_identifiers_are_names(outputs: str, text: str, expected: int) -> None:
    task = context(goal="limit retries of it", inputs="", outputs=outputs)
    assert Reach().reward_ppm(task, [held("m", text)]) == expected


def test_the_share_of_what_was_stated_counts() -> None:
    outputs = "The gateway in Leipzig uses port 8443. The backup of the archive runs on Sunday night at 3."
    assert reward(outputs) == 0
    assert reward(outputs, "The gateway in Leipzig uses port 8443.") == PPM // 2
    assert reward(outputs, "The gateway in Leipzig uses port 8443.", outputs) == PPM


def test_what_contradicts_it_counts_against_it() -> None:
    outputs = "The gateway uses port 8443. The archive in the north wing is open on Sunday."
    assert reward(outputs, "The gateway does not use port 8443.") == -PPM // 2
    assert reward(outputs, "The gateway uses port 8443.", "The gateway does not use port 8443.") == 0


def test_what_is_wrong_in_one_sentence_counts_beside_what_is_right_in_the_next() -> None:
    right = "The archive in the north wing is open on Sunday."
    outputs = f"The dam of Tarbela was finished by its builders in 1976. {right}"
    assert reward(outputs, right) == PPM // 2
    assert reward(outputs, f"The dam of Tarbela was finished by its builders in 1989. {right}") == 0
    said_both = "The dam of Tarbela was finished by its builders in 1976, and opened by them in 1989."
    assert reward(outputs, f"{said_both} {right}") == PPM


def test_a_right_answer_to_another_question_is_none_to_this() -> None:
    task = context(goal="Who is the spouse of the painter Ada Moss?", outputs="Karl Lund")
    other = held("m2", "Who founded the bank of Oslo? Karl Lund")
    assert REACH.reward_ppm(task, [other]) == 0
    assert REACH.reward_ppm(task, [held("m1", "Ada Moss: a painter, and the spouse of Karl Lund")]) == PPM
    assert REACH.reward_ppm(context(goal="And that?", outputs="Karl Lund"), [other]) == PPM, "asked for nothing"


def test_where_nothing_was_stated_the_evidence_counts() -> None:
    task = context(outputs="Yes.", retrieved=("m1", "m2"))
    assert REACH.reward_ppm(task, [held("m1", "x")]) == PPM // 2
    assert REACH.reward_ppm(task, [held("m3", "x")]) == 0


def test_only_what_succeeded_is_a_judge() -> None:
    assert REACH.asks(context())
    assert not REACH.asks(context(outcome="failed"))
    assert not REACH.asks(context(outcome="unknown", said_by=""))
    assert not REACH.asks(context(outputs="Yes.", retrieved=()))


@pytest.mark.parametrize(
    ("outputs", "text"),
    [
        ("Cleared the cache of runner 5 first, and the build does not fail any more.",
         "The build fails unless the cache of runner 5 is cleared first."),
        ("Exported after syncing the clock of the logger; the timestamps are right.",
         "Sync the clock of the logger before an export, or the timestamps are wrong."),
        ("Closed tray 2 with a click, and now copier 9 jams no more.", "Copier 9 jams unless tray 2 is closed."),
        ("Closed the drain flap, and so the freezer alarm is silent.",
         "If the freezer alarm sounds, close the drain flap, since an open flap lets warm air in."),
    ],
)  # fmt: skip
def test_who_heeds_a_warning_does_not_deny_it(outputs: str, text: str) -> None:
    assert reward(outputs, text) >= 0


def test_what_is_denied_beside_a_condition_is_denied() -> None:
    outputs = "The archive in the north wing of the mill is open on Sunday."
    text = "The archive in the north wing of the mill is not open on Sunday. Ask Ben if it is locked."
    assert reward(outputs, text) == -PPM
