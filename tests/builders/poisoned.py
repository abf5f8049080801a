"""Extreme texts: no rule may fail on them, and a rule that fails has no effect."""

from __future__ import annotations

LONG_NUMBER = "9" * 4_400
"""More digits than Python reads as a decimal number."""

TEXTS = (
    f"The hall has {LONG_NUMBER} million seats.",
    f"The rent of hall 3 is {LONG_NUMBER} hundred.",
    f"The pump A{'1' * 40}bb was replaced on Monday.",
    "Call the desk on " + "00 11 " * 3_000,
    "The gate broke" + "." * 20_000 + "x",
    "Dr. " * 5_000,
    "a-" * 10_000,
    "two hundred " * 1_500,
    "a" * 65_000,
    "@" * 20_000,
    "\u0661" * 5_000 + " million",
)
