"""A lesson without what it names: typed placeholders, the same everywhere."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memquorum.core.experience.abstract import abstracted
from memquorum.core.privacy.finding import Span


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "Never let Marta Keller measure 3.8 bar at pump 7 in Leipzig on 12 March 2024.",
            "Never let [name] measure [number] bar at pump [number 2] in [place] on [date].",
        ),
        (
            "O'Brien has to approve it: ask D’Angelo before you deploy.",
            "[name] has to approve it: ask [name 2] before you deploy.",
        ),
        (
            "Restart the gateway before you change port 8443 in gateway.yaml.",
            "Restart the gateway before you change port [number] in [identifier].",
        ),
        (
            "When the shift ends, Alice hands over to Bob and Alice writes to bob@example.com.",
            "When the shift ends, [name] hands over to [name 2] and [name] writes to [email].",
        ),
        (
            "When a booking fails with ERR_42, ask for the ID first and retry at 14:00.",
            "When a booking fails with [identifier], ask for the ID first and retry at [date].",
        ),
        ("Restart the gateway and tell the crew.", None),
        ("Bob met Alice.", None),
        ("Marta Keller measured 3.8 bar at pump 7 in Leipzig on 12 March 2024.", None),
        ("The owner of the nightly export is Lena Ott.", None),
        ("The state of pump 7 is open, and use of the Northgate crane was forbidden.", None),
        ("Prime the valve of bed 4 before it is opened", "Prime the valve of bed [number] before it is opened"),
        ("Prime the valve of bed 4.", "Prime the valve of bed [number]."),
        ("Ask Paula for the badge of the cold store.", "Ask [name] for the badge of the cold store."),
        (
            "Tell Marta about the leak before you open tank 5.",
            "Tell [name] about the leak before you open tank [number].",
        ),
        ("Before you leave, call Dr. Meier at 9:15.", "Before you leave, call [name] at [date]."),
        ("Ask Prof. Weber before the probe is opened.", "Ask [name] before the probe is opened."),
        ("Hand Mr. O'Neil the keys of shed 4.", "Hand [name] the keys of shed [number]."),
        ("Never lend ladder 2 to Kurt.", "Never lend ladder [number] to [name]."),
        ("Email Jonas when the barge Mirna is late.", "Email [name] when the barge [name 2] is late."),
        ("During the shift at Northgate the crew of crane 7 was away.", None),
        ("Primed the valve of bed 4 in Leipzig on Monday.", None),
        ("It primes the valve, and pumps the water of bed 4 to Leipzig.", None),
        ("Please drain the line of crane 7.", "Please drain the line of crane [number]."),
        (
            "Before a handover at Northgate, the crew reads the log.",
            "Before a handover at [place], the crew reads the log.",
        ),
        ("The crew has to read the crane log at Northgate.", "The crew has to read the crane log at [place]."),
        ("", None),
    ],
)
def test_what_is_named_has_a_placeholder(text: str, expected: str | None) -> None:
    assert abstracted(text) == expected


def test_what_is_abstract_is_not_changed() -> None:
    told = abstracted("Before every shift in Leipzig, Alice tells the night crew which valves leak, at 14:00.")
    assert told is not None
    assert abstracted(told) is None


def test_a_new_name_is_told_apart_from_a_placeholder_that_is_there() -> None:
    told = abstracted("[name] has to hand over to Carol at the end of every shift.")
    assert told == "[name] has to hand over to [name 2] at the end of every shift."


def test_a_second_pass_finds_more() -> None:
    told = abstracted("Ask alice whether the gateway was restarted.", lambda _: [Span(4, 9, "name")])
    assert told == "Ask [name] whether the gateway was restarted."


@given(st.text(max_size=200))
def test_whatever_is_said_it_ends(text: str) -> None:
    told = abstracted(text)
    assert told is None or "[" in told
