"""Which sentence of a memory bears out or contradicts what a task came to."""

from __future__ import annotations

import pytest

from memquorum.core.experience import named, opposing, reward, written
from memquorum.core.experience.pointing import LONGEST, pointed

PORT, TEMPERATURE = "Which port does the gateway use?", "At what temperature is greenhouse 2 kept?"


@pytest.mark.parametrize(
    ("goal", "outputs", "text", "bears_out", "contradicts"),
    [
        (PORT, "port 8443", "It rained. The gateway uses port 8443. Ben left.", "The gateway uses port 8443.", None),
        (PORT, "port 8443", "It rained.\nThe gateway uses port 9443.\nBen left.", None, "The gateway uses port 9443."),
        # What was asked stands in one sentence, the answer in the next.
        (PORT, "port 8443", "It rained. The gateway is in use. It has port 8443. Ben left.",
         "The gateway is in use. It has port 8443.", None),
        (TEMPERATURE, "24 degrees", "Greenhouse 2 has a fan. Greenhouse 2 is kept at 28 degrees.", None,
         "Greenhouse 2 is kept at 28 degrees."),
        # The text as a whole states it, so that sentence of it denies nothing.
        (TEMPERATURE, "24 degrees",
         "In winter greenhouse 2 was kept at 20 degrees. Greenhouse 2 is kept at 24 degrees.",
         "Greenhouse 2 is kept at 24 degrees.", None),
        # One of two that the outputs state, and not the other.
        ("move the gateway", "The night crew moved the gateway in Leipzig to port 8443. Ben locked the red cabinet.",
         "Ben locked the red cabinet. The night crew moved the gateway in Leipzig to port 8444.",
         "Ben locked the red cabinet.", "The night crew moved the gateway in Leipzig to port 8444."),
        (PORT, "port 8443", "The orchard has apples.", None, None),
        (PORT, "Done.", "The gateway uses port 8443.", None, None),
        (PORT, "port 8443", "", None, None),
        # Of four sentences in a row nothing is told.
        (PORT, "port 8443", "The gateway is in use. It rained. Ben left. It has port 8443.", None, None),
    ],
)  # fmt: skip
def test_the_sentence_is_told(
    goal: str, outputs: str, text: str, bears_out: str | None, contradicts: str | None
) -> None:
    found = pointed(goal, "", outputs, text)
    told = [None if one is None else text[slice(*one)] for one in (found.bears_out, found.contradicts)]
    assert told == [bears_out, contradicts]


KEPT = [
    kept
    for module in (reward, named, opposing, written)
    for kept in vars(module).values()
    if isinstance(kept, type(written.plainly)) and kept.__module__ == module.__name__
]


def test_what_was_judged_is_forgotten_where_that_is_asked() -> None:
    outputs = "Greenhouse 2 opens at 8 pm before Ben. Open valve 3 slowly."
    for said in (outputs, "port 8443"):
        pointed("Which port before noon?", "", said, "It opens at most at 9 pm before Ben. Valve 3 is not open.")
    assert [one.__name__ for one in KEPT if not one.cache_info().currsize] == []
    reward.forget()
    assert [one.__name__ for one in KEPT if one.cache_info().currsize] == []


def test_of_what_is_long_nothing_is_told() -> None:
    text = "The gateway uses port 8443."
    assert pointed(PORT, "", "port 8443", text + " " * (LONGEST - len(text))).bears_out == (0, len(text))
    assert pointed(PORT, "", "port 8443", text + " " * LONGEST).bears_out is None
