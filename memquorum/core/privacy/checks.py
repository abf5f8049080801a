"""Checksums by which a number is a card's or an account's, and not any number of that length (ISO/IEC 7812, 13616)."""

from __future__ import annotations

from collections.abc import Mapping

# Digits of the first six → lengths (ISO/IEC 7812; the ranges that the networks have published).
_BRANDS: tuple[tuple[int, int, frozenset[int]], ...] = (
    (400_000, 499_999, frozenset({13, 16, 19})),
    (510_000, 559_999, frozenset({16})),
    (222_100, 272_099, frozenset({16})),
    (340_000, 349_999, frozenset({15})),
    (370_000, 379_999, frozenset({15})),
    (300_000, 305_999, frozenset({14, 16})),
    (360_000, 369_999, frozenset({14, 16})),
    (380_000, 399_999, frozenset({14, 16})),
    (350_000, 359_999, frozenset({16})),
    (213_100, 213_199, frozenset({15})),
    (180_000, 180_099, frozenset({15})),
    (500_000, 509_999, frozenset(range(12, 20))),
    (560_000, 589_999, frozenset(range(12, 20))),
    (600_000, 699_999, frozenset(range(12, 20))),
)
PLAIN_LEAST = 14
"""From this number of digits on a card's number needs no word beside it: articles and orders have shorter ones."""

# The lengths of the registry of ISO 13616, by country.
IBAN_LENGTHS: Mapping[str, int] = {
    "AD": 24, "AE": 23, "AL": 28, "AT": 20, "AZ": 28, "BA": 20, "BE": 16, "BG": 22, "BH": 22, "BI": 27, "BR": 29,
    "BY": 28, "CH": 21, "CR": 22, "CY": 28, "CZ": 24, "DE": 22, "DJ": 27, "DK": 18, "DO": 28, "EE": 20, "EG": 29,
    "ES": 24, "FI": 18, "FK": 18, "FO": 18, "FR": 27, "GB": 22, "GE": 22, "GI": 23, "GL": 18, "GR": 27, "GT": 28,
    "HN": 28, "HR": 21, "HU": 28, "IE": 22, "IL": 23, "IQ": 23, "IS": 26, "IT": 27, "JO": 30, "KW": 30, "KZ": 20,
    "LB": 28, "LC": 32, "LI": 21, "LT": 20, "LU": 20, "LV": 21, "LY": 25, "MC": 27, "MD": 24, "ME": 22, "MK": 19,
    "MN": 20, "MR": 27, "MT": 31, "MU": 30, "NI": 28, "NL": 18, "NO": 15, "OM": 23, "PK": 24, "PL": 28, "PS": 29,
    "PT": 25, "QA": 29, "RO": 24, "RS": 22, "RU": 33, "SA": 24, "SC": 31, "SD": 18, "SE": 24, "SI": 19, "SK": 24,
    "SM": 27, "SO": 23, "ST": 25, "SV": 28, "TL": 23, "TN": 24, "TR": 26, "UA": 29, "VA": 22, "VG": 24, "XK": 20,
    "YE": 30,
}  # fmt: skip


def luhn(digits: str) -> bool:
    """True if the check digit of ISO/IEC 7812 is right. `digits`: only ASCII digits."""
    total = 0
    for place, digit in enumerate(reversed(digits)):
        doubled = int(digit) << (place & 1)
        total += doubled - 9 if doubled > 9 else doubled
    return total % 10 == 0


def card(digits: str) -> bool:
    """True if a network issues numbers of this beginning and length, and the check digit is right."""
    if not 12 <= len(digits) <= 19 or not luhn(digits):
        return False
    first = int(digits[:6])
    return any(least <= first <= most and len(digits) in lengths for least, most, lengths in _BRANDS)


def iban(written: str) -> bool:
    """True if this is an account's number: its country's length, and the remainder of ISO 13616. `written`: only ASCII
    letters and digits, in either case."""
    if IBAN_LENGTHS.get(written[:2].upper()) != len(written) or not (written.isascii() and written.isalnum()):
        return False
    moved = written[4:] + written[:4]
    return int("".join(str(int(letter, 36)) for letter in moved)) % 97 == 1
