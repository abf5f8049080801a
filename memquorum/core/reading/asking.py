"""Recognizes a bare question, which states nothing and so answers nothing: "Who has the spare projector?"

A question may carry a statement: "Since the raise I put $260 a month into the fund, can you project it?" is not bare,
for it does not begin as a question does, and a long one seldom only asks.
"""

from __future__ import annotations

import re

from memquorum.core.reading.lists import either
from memquorum.core.reading.sentences import sentences

_LONGEST = 16
"""Words."""

_BEGINS = re.compile(
    r"[\W_]*+(?:(?:and|but|so|also|ok|okay|hey|hi|hello|und|aber|et|mais|y|pero|e|ma)[\s,]++)*"
    rf"(?:{either('asks')})\b",
    re.IGNORECASE,
)
# Questions that state something.
_TELLS = re.compile(rf"\bdid you know\b|\b(?:{either('tags')})\s?\?$")


def bare_question(text: str) -> bool:
    """Whether each of its sentences asks, and does nothing else."""
    flat = text.strip().casefold()
    if not flat.endswith(("?", "？", "؟")) or len(flat.split()) > _LONGEST or _TELLS.search(flat):
        return False
    return all(one.rstrip().endswith(("?", "？", "؟")) and _BEGINS.match(one) for one in sentences(flat))
