"""The verdicts of today's rules on a text, and on successive texts.

Usual verdicts are left out: a text without any is stored, states something, and has nothing masked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from itertools import combinations

from memquorum.core.api.answers import Hit
from memquorum.core.denying import denied, nearest, statements
from memquorum.core.privacy.masking import masked
from memquorum.core.reading.asking import bare_question
from memquorum.core.reading.conflict import Claims, Finding, between
from memquorum.core.reading.conflict import read as claims
from memquorum.core.reading.moments import moment
from memquorum.core.reading.orders import asks_to_forget
from memquorum.core.reading.sameness import same
from memquorum.core.reading.talk import says_nothing
from memquorum.core.reading.unkept import asks_not_to_be_kept
from memquorum.core.retrieval.rereading import best_first
from memquorum.core.tiers import SHORT_TERM

_DAY_MS = 86_400_000
_YES = {
    "small_talk": says_nothing,
    "unkept": asks_not_to_be_kept,
    "forget": asks_to_forget,
    "asks": bare_question,
}


def of_text(text: str) -> dict[str, object]:
    """The verdicts over one text, by kind."""
    found: dict[str, object] = {kind: True for kind, judge in _YES.items() if judge(text)}
    if told := _moment(text):
        found["time"] = told
    if (hidden := masked(text)) != text:
        found["masked"] = hidden
    return found


def of_said(said: Sequence[str], questions: Sequence[str]) -> dict[str, Mapping[str, object]]:
    """The verdicts over texts that were said in this order, by kind: over each two of them, and for each question."""
    pairs = list(combinations(range(len(said)), 2))
    found: dict[str, dict[str, object]] = {"contradicts": {}, "denied": {}, "same": {}}
    for older, newer in pairs:
        two = f"{newer + 1} to {older + 1}"
        told = _contradiction(_claims(said[older]), _claims(said[newer]))
        if told != "no":
            found["contradicts"][two] = told
            if len(statements(said[older])) > 1:
                found["denied"][two] = _denied(said[older], said[newer])
        if same(said[older], said[newer]):
            found["same"][two] = True
    found["order"] = {question: order(question, said) for question in questions}
    return {kind: verdicts for kind, verdicts in found.items() if verdicts}


def order(question: str, said: Sequence[str]) -> str:
    """The numbers of the texts as they answer the question, where all are as near to it: each said a day later."""
    hits = [_hit(number, text) for number, text in enumerate(said, 1)]
    return " ".join(hit.memory_id for hit in best_first(question, hits))


def _denied(older: str, newer: str) -> str:
    """The numbers of the statements of the older text that the newer one denies, where one agent says both."""
    parts = statements(older)
    found = denied(parts, newer, own=True) or nearest(parts, newer)
    return " ".join(map(str, found)) or "all"


def _hit(number: int, text: str) -> Hit:
    at = number * _DAY_MS
    return Hit(str(number), text, SHORT_TERM, "ann", at, at, 0, 0.5, score=0.5)


_claims = cache(claims)


def _contradiction(older: Claims, newer: Claims) -> str:
    """Returns the contradiction of the newer text where one agent says both, and after "/" where two do, if that
    differs.
    """
    one = _finding(between(older, newer, same_agent=True))
    two = _finding(between(older, newer, same_agent=False))
    return one if one == two else f"{one} / {two}"


def _finding(found: Finding | None) -> str:
    if found is None:
        return "no"
    marks = {"cue": found.cue, "exact": found.exact, "both": found.both}
    return ", ".join([found.slot, *(name for name, holds in marks.items() if holds)])


def _moment(text: str) -> str:
    found = moment(text)
    marks = {"earlier": found.earlier, "now": found.now, "was": found.was}
    words = [name for name, holds in marks.items() if holds]
    return ", ".join([*words, *(f"once {word}" for word in found.once), *(f"in {year}" for year in found.years)])
