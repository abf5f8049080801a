"""Unicode's normal forms of a text, in time proportional to it.

Combining marks that stand in a row are put in order one by one, which takes the square of their number. People write
four at most, and Unicode's stream-safe format allows 30.
"""

from __future__ import annotations

import unicodedata
from typing import Literal

MARKS_MOST = 30
"""So many combining marks in a row at most."""


def normalised(form: Literal["NFC", "NFD", "NFKC", "NFKD"], text: str) -> str:
    """The text in a normal form; unchanged where more marks stand in a row than `MARKS_MOST`."""
    if text.isascii():
        return text
    run = 0
    for character in text:
        run = run + 1 if unicodedata.combining(character) else 0
        if run > MARKS_MOST:
            return text
    return unicodedata.normalize(form, text)
