"""Texts that only ask to forget or erase something: an order's matter, and no memory."""

from __future__ import annotations

import re

from memquorum.core.reading.lists import either

_POLITE = "please|pls|kindly|ok|okay|hey|now|just|can|could|would|will|you|i want you to|i'd like you to"
# "Please forget that pump 8 runs at 3 bar": an order forgets, and to keep what it says would be the opposite. An order
# that says more ("forget it, pump 9 does", "forget that, but …") is a statement.
_FORGET = re.compile(
    rf"\W*(?:(?:{_POLITE}|let's|let us)[\s,]+)*(?:forget|don't remember|do not remember|vergiss(?: bitte)?|bitte "
    r"vergiss),?\s+"
    r"(?:(?:all\s+)?about\s+)?(?:that|what|everything|anything|it|this|all|the|my|our|dass|was|alles|das|es)\b"
    r"(?:(?!\b(?:but|instead|because|since|now|unless|until|before|after|when|if|to|and|or|then|aber|sondern|nicht|und|"
    r"oder|dann)\b|\s-)(?:[^,;:.!?–—&/+()\n]|\.(?=\d)))*(?:,\s*(?:please|thanks|thank you|bitte))?[.!?\s]*\Z",
    re.IGNORECASE,
)
# A request to erase is an order as well, and no memory: "Please delete my address." A named person's data is only
# forgotten, "forget Ada Quill's phone number": "delete Kafka's data" is something to do.
_ERASE = re.compile(
    rf"\W*(?:(?:{_POLITE})[\s,]+)*"
    r"(?:(?:delete|erase|remove|wipe|clear)\s+(?:all\s+(?:of\s+)?)?(?:my|our)|"
    r"forget\s+(?-i:[^\W\d_a-z][\w-]+\s+){0,2}(?-i:[^\W\d_a-z][\w-]+)['’]s)\s+"
    rf"(?:{either('ones-own')})(?:\s+(?:from|in)\s+(?:your|the)\s+(?:{either('where-kept')}))?"
    r"(?:,?\s*(?:please|thanks|thank you))?[.!?\s]*\Z",
    re.IGNORECASE,
)


def asks_to_forget(text: str) -> bool:
    """True if a text is only a request to forget or erase something."""
    return bool(_FORGET.match(text) or _ERASE.match(text))
