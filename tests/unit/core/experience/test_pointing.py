"""The sentences of a memory that support or contradict a task's result."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from memquorum.core.experience import reward
from memquorum.core.experience.pointing import LONGEST, pointed
from memquorum.core.reading import memo, named, opposing, written

PORT, TEMPERATURE = "Which port does the gateway use?", "At what temperature is greenhouse 2 kept?"


@pytest.mark.parametrize(
    ("goal", "outputs", "text", "bears_out", "contradicts"),
    [
        (PORT, "port 8443", "It rained. The gateway uses port 8443. Ben left.", "The gateway uses port 8443.", None),
        (PORT, "port 8443", "It rained.\nThe gateway uses port 9443.\nBen left.", None, "The gateway uses port 9443."),
        # The question is in one sentence, the answer in the next.
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
        # With four sentences in a row none is named.
        (PORT, "port 8443", "The gateway is in use. It rained. Ben left. It has port 8443.", None, None),
    ],
)  # fmt: skip
def test_the_sentence_is_told(
    goal: str, outputs: str, text: str, bears_out: str | None, contradicts: str | None
) -> None:
    found = pointed(goal, "", outputs, text)
    told = [None if one is None else text[slice(*one)] for one in (found.bears_out, found.contradicts)]
    assert told == [bears_out, contradicts]


def _counted(one: Any) -> Callable[[], int] | None:
    """Returns a counter of a function's cached answers; None if it has no cache."""
    if hasattr(one, "cache_info"):
        return lambda: int(one.cache_info().currsize)
    return partial(memo.cached_answers, one) if memo.keeps(one) else None


KEPT = {
    f"{module.__name__}.{name}": count
    for module in (reward, named, opposing, written)
    for name, one in vars(module).items()
    if getattr(one, "__module__", "") == module.__name__ and (count := _counted(one))
}


def test_what_was_judged_is_forgotten_where_that_is_asked() -> None:
    outputs = "Greenhouse 2 opens at 8 pm before Ben. Open valve 3 slowly."
    for said in (outputs, "port 8443"):
        pointed("Which port before noon?", "", said, "It opens at most at 9 pm before Ben. Valve 3 is not open.")
    assert [name for name, count in KEPT.items() if not count()] == []
    reward.forget()
    assert [name for name, count in KEPT.items() if count()] == []


def test_of_what_is_long_nothing_is_told() -> None:
    text = "The gateway uses port 8443."
    assert pointed(PORT, "", "port 8443", text + " " * (LONGEST - len(text))).bears_out == (0, len(text))
    assert pointed(PORT, "", "port 8443", text + " " * LONGEST).bears_out is None
