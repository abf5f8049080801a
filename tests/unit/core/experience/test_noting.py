"""The memories of a task that its record names."""

from __future__ import annotations

import pytest

from memquorum.core.experience.noting import far, speaks_of

BADGE = "Ada Weil's badge opens hall 3 and hall 4."
GOAL = "Which port does the gateway of hall 3 use?"


def test_what_is_less_than_half_as_near_as_the_best_is_far() -> None:
    assert far((0.9, 0.45, 0.44, -0.2)) == (False, False, True, True)
    assert far((0.9, 0.45, -0.1), share=0.0) == (False, False, False)
    assert far(()) == ()
    assert far((-0.1, -0.3)) == (True, True), "where nothing is near the best of it is not"


@pytest.mark.parametrize("record", [
    "Port 8443. I asked Ada for the door.", "It stands beside hall 4.", "The badge that opens it lies at the door.",
    "ADA has it.", "weil, 8443",
])  # fmt: skip
def test_a_record_that_has_a_name_a_number_or_two_words_of_a_memory_speaks_of_it(record: str) -> None:
    assert speaks_of([record], BADGE, [GOAL])


@pytest.mark.parametrize("record", ["Port 8443.", "The gateway of hall 3 uses port 8443.", "The port opens now.", ""])
def test_what_was_asked_with_and_a_single_word_speak_of_nothing(record: str) -> None:
    assert not speaks_of([record], BADGE, [GOAL])
