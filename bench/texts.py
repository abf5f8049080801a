"""Seeded texts, of the lengths that agents write."""

from __future__ import annotations

import random

_WHO = ("the pump", "valve", "sensor", "our planner", "the gateway", "relay board", "tank", "the night crew", "line")
_DID = ("reported", "dropped below", "was moved to", "agreed on", "failed at", "was repaired after", "rejected", "held")
_WHAT = (
    "a pressure of",
    "the limit of",
    "a schedule for",
    "an offer from",
    "step",
    "the alarm of",
    "a dose of",
    "ward",
)
_WHY = (
    "because the filter was clogged", "after the storm of last week", "although the budget said otherwise",
    "so that the seedlings survive the frost", "while the backup controller was offline",
    "since nobody had confirmed the new threshold", "before the inspection on Monday",
    "as the supplier had warned us twice",
)  # fmt: skip
_NAMES = ("Amsel", "Birke", "Cedar", "Dohle", "Eiche", "Falke", "Ginster", "Habicht", "Iltis", "Juniper", "Kranich")


def sentences(count: int, seed: int) -> list[str]:
    """Some 27 tokens each, what an agent notes; no two are the same."""
    dice = random.Random(seed)
    return [_sentence(dice, f"{seed}-{i}") for i in range(count)]


def turns(count: int, seed: int) -> list[str]:
    """Some 90 tokens each, what a person says in a conversation; no two are the same."""
    dice = random.Random(seed)
    return [" ".join(_sentence(dice, f"{seed}-{i}") for _ in range(dice.randint(2, 5))) for i in range(count)]


def _sentence(dice: random.Random, tag: str) -> str:
    pick = dice.choice
    number = dice.randint(2, 900)
    return (
        f"{pick(_NAMES)} says {pick(_WHO)} {dice.randint(1, 99)} {pick(_DID)} {pick(_WHAT)} {number} {pick(_WHY)}"
        f" ({tag})."
    )
