"""Instructions are told from reports of a single act, and from requests to a person."""

from __future__ import annotations

import time

import pytest

from memquorum.core.reading.proceeding import proceeds


@pytest.mark.parametrize(
    "text",
    [
        "Drain the line of crane 7.",
        "2. **Prime the valve** of bed 4.",
        "Please read the log first.",
        "Caulk the seam of bed 4.",
        "Before you go: close the gate.",
        "The gate was open. Close it.",
        "Do not offer a refund.",
        "Could you please read the log of crane 7?",
        "The crew must read the log.",
        "The crew has to read the log.",
        "Nobody ever always reads; the crew never opens the valve.",
        "The user cannot add insurance.",
        "Reservations can be modified within 24 hours.",
        "Each reservation can have at most five passengers.",
        "You can add a bag until noon.",
        "The agent can only cancel the whole trip.",
        "A flight that was flown is not to be cancelled.",
        "I recommend a restart of the gateway.",
        "When a booking fails, the failed job is retried.",
        "If the alarm was silenced, the crew calls the shift lead.",
        "If the customer is a gold member, 2 checked bags for each passenger.",
        "After the repair, restart the pump that failed.",
        "To proceed with a cancellation, the agent asks for the reason.",
        "For each bed, the crew reads the log.",
    ],
)
def test_it_says_how_to_proceed(text: str) -> None:
    assert proceeds(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "The owner of the nightly export is Lena Ott.",
        "After the repair, Alice moved to Northgate.",
        "After the repair at Northgate, the crew went home.",
        "After the tour in Leipzig, he rejoined the crew.",
        "When he arrived in Leipzig, Bob restarts the pump.",
        "To support the album, the band toured Europe.",
        "Once a year, thousands of visitors come to the valley.",
        "To date, she is the only one.",
        "Throughout the shift the crew was away.",
        "Here it is: to proceed, here are the details.",
        "Your reservation has been changed, and your card is charged.",
        "Let me check the reservation.",
        "I have to go again.",
        "They did not have to be there.",
        "You should have been there.",
        "I don't know what it is.",
        "Don't know what it is.",
        "The crew never became complete.",
        "What must I do with you?",
        "Would you like me to proceed?",
        "SEARCH MAPS IMAGES VIDEOS NEWS",
        "Change flights: none today.",
        "Use of the crane was forbidden.",
        "The state of pump 7 is open.",
        "He shot one officer in the leg, back, or abdomen.",
        "Yes, list, format and order are known.",
    ],
)
def test_it_does_not(text: str) -> None:
    assert not proceeds(text)


@pytest.mark.parametrize("part", ["when: to: ", "if a ", ": - - ", "is the best ", "can can ", ", then ", "always "])
def test_a_long_text_takes_no_long_time(part: str) -> None:
    began = time.process_time()
    proceeds(part * (16_384 // len(part)))
    assert time.process_time() - began < 1
