"""Numbers as normalised texts: no number of a text is too long to be compared.

Python refuses to turn more than 4,300 digits into a number, and the time that takes is the square of their count. So a
number is only calculated with where it is short; a longer one is the same as another only where both are written the
same.
"""

from __future__ import annotations

import unicodedata

MOST = 100
"""So many digits at most are calculated with."""
LARGEST = 10**MOST
"""Where a number in words grows beyond this, it ends."""


def plain(digits: str) -> str:
    """A whole number as ASCII digits without leading noughts. `digits`: decimal digits of any script, at least one."""
    ascii_digits = digits if digits.isascii() else "".join(str(unicodedata.decimal(one)) for one in digits)
    return ascii_digits.lstrip("0") or "0"


def times(digits: str, by: int) -> str:
    """A whole number, as decimal digits of any script, multiplied; of a longer one than `MOST` digits the factor
    and its digits."""
    number = plain(digits)
    return str(int(number) * by) if len(number) <= MOST else f"{by}*{number}"
