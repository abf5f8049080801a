"""Classifies sentences of a session: key fact, decision, open issue or follow-up. Rules, English and
German."""

from __future__ import annotations

import re
from types import MappingProxyType

FACTS, DECISIONS, OPEN, FOLLOW_UPS = "facts", "decisions", "open", "follow-ups"
HEADINGS = MappingProxyType(
    {FACTS: "Key facts:", DECISIONS: "Decisions:", OPEN: "Open issues:", FOLLOW_UPS: "Follow-ups:"}
)
"""The sections in their order, each with its heading."""

_OPEN = re.compile(
    r"\?\s*$|\b(unclear|undecided|unsure|not sure|not (yet )?(known|clear|decided|settled)|open (question|issue|point)|"
    r"tbd|to be (decided|determined|clarified|confirmed)|still (need|have) to (know|decide|find out|clarify)|"
    r"nobody knows|we don't know|remains open|pending|unklar|offen|noch nicht (klar|entschieden))\b",
    re.IGNORECASE,
)
_DECIDED = re.compile(
    r"\b(we|they|team|board|committee|management|i|he|she|everyone|all)('ve| have| has)? (decided|agreed|chose|chosen|"
    r"settled|concluded|approved|opted)\b|\b(is|are|was|were|been) (decided|agreed|approved|settled|rejected|chosen)\b|"
    r"\b(decision|decided|resolution|agreement)\b|\blet's (go with|use|take|keep|do|stick|drop|skip)\b|"
    r"\b(we('ll| will| are going to| shall)) (go with|use|take|keep|stick|drop|skip|make it|have)\b|"
    r"\b(entschieden|beschlossen|einigten uns|wir nehmen)\b",
    re.IGNORECASE,
)
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
