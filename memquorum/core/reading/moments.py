"""Reads whether a text speaks of an earlier time or of the present: "last year", "the old gate", "this week".

A text without such words speaks of the time at which it was said. Five languages.
"""

from __future__ import annotations

import re

from msgspec import Struct

from memquorum.core.reading.lists import any_of, either, spelled_out

_ONCE = re.compile(rf"\b(?:{either('former')})\s(\w+)")
_EARLIER, _NOW, _PASSING, _WAS = (
    re.compile(rf"\b{any_of(spelled_out(name))}\b") for name in ("earlier", "now", "in-passing", "was")
)
_OF_A_YEAR = re.compile(r"\b(?:in|im jahr|en|nel|during|back in) ((?:19|20)\d\d)\b")


class Moment(Struct, frozen=True):
    """The time that a text speaks of.

    `passing`: it speaks of a day or a week alone. `was`: a verb is in the past. `once`: the things that it calls old or
    former. `years`: those in which something was.
    """

    earlier: bool
    now: bool
    passing: bool
    was: bool
    once: tuple[str, ...]
    years: tuple[int, ...]


def moment(text: str) -> Moment:
    """Reads the time that a text speaks of."""
    flat = text.casefold()
    return Moment(
        _EARLIER.search(flat) is not None,
        _NOW.search(flat) is not None,
        _PASSING.search(flat) is not None,
        _WAS.search(flat) is not None,
        tuple(_ONCE.findall(flat)),
        tuple(map(int, _OF_A_YEAR.findall(flat))),
    )
