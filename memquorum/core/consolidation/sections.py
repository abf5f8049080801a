"""Classifies sentences of a session: key fact, decision, open issue or follow-up. Rules, English and
German."""

from __future__ import annotations

import re
from types import MappingProxyType

from memquorum.core.reading.lists import either

FACTS, DECISIONS, OPEN, FOLLOW_UPS = "facts", "decisions", "open", "follow-ups"
HEADINGS = MappingProxyType(
    {FACTS: "Key facts:", DECISIONS: "Decisions:", OPEN: "Open issues:", FOLLOW_UPS: "Follow-ups:"}
)
"""The sections in their order, each with its heading."""

_OPEN = re.compile(rf"\?\s*$|\b(?:{either('open-issues')})\b", re.IGNORECASE)
_DECIDED = re.compile(rf"\b(?:{either('decisions')})\b", re.IGNORECASE)
_FOLLOWS = re.compile(
    # So many characters of a name at most: it is looked for at each of its hyphens.
    r"\b(i|we|he|she|they|you|[A-Z][\w-]{1,60}+)"
    r"('ll| will| am going to| is going to| are going to| (has|have|need|needs) to|"
    r" must| should| shall) [a-z]+|\b(next steps?|action items?|to-?do|follow[- ]?up|reminder|deadline|due (by|on))\b|"
    r"\bplease [a-z]+|\bby (monday|tuesday|wednesday|thursday|friday|saturday|sunday|tomorrow|next|end of|the end)\b",
    re.IGNORECASE,
)
_MUST = re.compile(r"\b(muss|müssen|soll|sollen|wird|werden) ", re.IGNORECASE)
_UNTIL = re.compile(r"\b(bis|nächste)", re.IGNORECASE)


def section(sentence: str) -> str:
    """The section in which a summary has a sentence: the first of open issue, decision, follow-up that it is."""
    if _OPEN.search(sentence):
        return OPEN
    if _DECIDED.search(sentence):
        return DECISIONS
    return FOLLOW_UPS if _FOLLOWS.search(sentence) or _has_to_by(sentence) else FACTS


def _has_to_by(sentence: str) -> bool:
    """Whether one of its lines says, in German, that something is to be done, and behind that by when."""
    for line in sentence.split("\n"):
        must = _MUST.search(line)
        if must is not None and _UNTIL.search(line, must.end()):
            return True
    return False
