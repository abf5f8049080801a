"""The rules that read a text only up to a length, and what holds for a longer one."""

from __future__ import annotations

from collections.abc import Mapping

LIMITS: Mapping[str, tuple[int, str]] = {
    "core.consolidation.paraphrase.CHARACTERS_MAX": (1_000, "a model's sentence is refused"),
    "core.consolidation.paraphrase.SOURCE_MAX": (8_000, "a model's sentence of this source is refused"),
    "core.experience.pointing.LONGEST": (2_000, "nothing is pointed at"),
    "core.reading.agreement.LONGEST": (
        4_800,
        "no number or negation of it stands against another text, and in a vote it bears nothing out",
    ),
    "core.reading.claims.LONG": (
        4_000,
        "it claims nothing, so it contradicts nothing, and in a vote it bears nothing out",
    ),
    "core.reading.outline.LONGEST": (300, "a sentence has no outline"),
    "core.reading.topics.LONG": (1_000, "a sentence names nothing that a roll-up is made of"),
    "core.reading.meant._LONGEST": (120, "it corrects nothing that was said before"),
    "core.reading.talk._LONG": (200, "it says something, and is stored"),
    "core.reading.unkept.LOOKED_AT": (
        2_000,
        "no request not to be remembered is looked for, but in so many characters at its end",
    ),
    "core.reading.assertion.READ": (4_000, "nothing behind them says that it jokes or supposes"),
    "core.reading.digits.MOST": (100, "a number is compared as it is written (digits)"),
    "core.retrieval.entities.READ": (4_000, "names behind them are not followed"),
    "core.retrieval.hops._HEAD": (240, "what a memory is of is looked for in its beginning"),
}
"""Constant → its value in characters, and what holds beyond it; docs/use/texts.md has the same."""

COUNTS: Mapping[str, tuple[int, str]] = {
    "core.consolidation.covering.COMPARED": (64, "it repeats none of the other sentences"),
    "core.consolidation.rollups.COMPARED": (32, "it stands beside the earlier sentences of a roll-up"),
    "core.reading.opposing.ORDERS_MOST": (16, "a sentence says no other order"),
    "core.experience.reward.SENTENCES_MOST": (256, "a text states and contradicts nothing by the rest"),
    "core.experience.reward.STATED_MOST": (64, "what outputs state beyond them is not asked for"),
    "core.reading.passages.MOST": (128, "the passages of a text are larger"),
    "core.summed.SENTENCES_MOST": (100, "the rest of a text denies no sentence of a summary"),
    "core.reading.claims.STATEMENTS": (24, "a text claims nothing else"),
}
"""The same for counts."""

BOUNDED: Mapping[str, str] = {
    **{f"core.reading.claims.{one}": "core.reading.outline.LONGEST" for one in ("_WRONG", "_MAKE_THAT", "_NO_LONGER")},
    **{f"core.reading.claims.{one}": "core.reading.outline.LONGEST" for one in ("_CALLED", "_STOPPED", "_MISTAKE")},
    "core.reading.claims": "core.reading.claims.LONG",
    "core.reading.agreement._QUOTED": "core.reading.agreement.LONGEST",
    "core.reading.allowing": "core.reading.claims.LONG",
    "core.reading.outline": "core.reading.outline.LONGEST",
    "core.reading.meant": "core.reading.meant._LONGEST",
    "core.reading.talk": "core.reading.talk._LONG",
    "core.reading.orders": "core.reading.talk._LONG",
    "core.retrieval.hops._LABEL": "core.retrieval.hops._HEAD",
    "core.retrieval.hops._BEGINS": "core.retrieval.hops._HEAD",
}
"""Module or pattern → the limit of the texts that it is given. All others are given 64 KiB."""

WINDOWS: Mapping[str, int] = {
    "core.experience.abstract._STARTS": 40,
    "core.experience.abstract._PLACED": 40,
    "core.privacy.numbers._BEFORE": 40,
    "core.privacy.numbers._OF_A_THING": 40,
    "core.privacy.numbers._CALLING": 40,
    "core.privacy.numbers._SSN_WORD": 40,
    "core.privacy.formats._CARD_WORD": 160,
    "core.privacy.formats._VERSION": 10,
}
"""Patterns that are matched only against so many characters beside something that was found."""
