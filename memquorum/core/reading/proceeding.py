"""Judges whether a text says how to proceed, by its English words.

A sentence does if it tells somebody to do something ("read the log"), asks for it ("could you read the log?"), says
what has to be, what never may and what may ("fares can be changed within a day"), or says what is done under a
condition ("before a handover, the crew reads the log"). A single past act does not count, nor does a plan of the
speaker alone ("let me look"), nor a sentence that only addresses a "you" ("your flight was changed").
"""

from __future__ import annotations

import re

from memquorum.core.reading.lists import bag, either, ordered
from memquorum.core.reading.sentences import sentences

VERBS = bag("verbs")
_ANY = sorted(VERBS)
_DO = rf"(?:{'|'.join(_ANY)})\b"
_LAST = sorted({one[-1] for one in _ANY})
# The endings stand once for all verbs: with them at each verb the pattern took a third of a second to compile.
_DOUBLED = "|".join(f"(?:{'|'.join(one for one in _ANY if one[-1] == end)}){end}ed" for end in _LAST)
_DONE = (
    rf"(?:(?:{'|'.join(_ANY)})(?:e?[ds])?|{_DOUBLED}|(?:{'|'.join(sorted({one[:-1] for one in _ANY}))})ie[ds]"
    r"|given|held|kept|left|lost|made|paid|sent|taken|written)\b"
)
_SOMEBODY = r"(?:users?|agents?|customers?|members?|crews?|staff|operators?|clients?|anybody|everybody|nobody|you|we)"

# The start of a sentence, or behind a colon; a number or a bullet, and words of order, may come before.
_OPENS = (
    r"(?:^|[:;]\s)[\s*\"'(-]*+(?:\d+[.)]\s++[*\"'(-]*+)?"
    r"(?:(?:and|but|so|please|then|first|second|next|finally|now|also|just|always|instead|kindly)\b,?\s++)*"
)
# "Note: the valve sticks" and "SEARCH COPILOT" tell nobody anything; "let me look" tells what the speaker does alone.
_TELLS = (
    rf"(?!(?-i:[A-Z]{{2}}))(?:(?:do not|don['’]t)\b|be sure|(?!let (?:me|us all)\b(?! know)){_DO})"
    r"(?!\**[:(\"]| \w+\**:| (?:of|is|was|are|were|has|had|know|date)\b)"
)
# A verb of no list tells to do something where it opens a sentence and what it is done to follows: "caulk the seam".
_OBJECT = (
    rf"(?!(?:{'|'.join(ordered('others'))})\b)[a-z]{{3,}}(?<!ed)(?<!ing)(?<!ly)(?<![^s]s) "
    r"(?:the|an?|all|any|each|every|both|its|their|these|those) (?-i:[a-z\d])"
)
_IMPERATIVE = re.compile(rf"{_OPENS}(?:{_TELLS}|{_OBJECT})|\b(?:please|[,;] then|instead,) {_TELLS}", re.IGNORECASE)
_ASKS = re.compile(rf"\b(?:can|could|would|will) you (?:please |kindly |also )*{_DO}|\bplease\b", re.IGNORECASE)
_DUTY = re.compile(
    # "Should have been" is regret or a guess, "did not have to" is no duty, and "I have to go" is for once.
    r"\b(?:must|should|shall|ought to)\b(?! have\b)"
    r"|(?<!\bI )(?<!not )(?<!n't )\b(?:ha(?:ve|s)|needs?) to\b"
    rf"|\b(?:never|always) (?:{'|'.join(_ANY)})(?:e?s)?\b"
    r"|\b(?:is|are) (?:not |never |only |always )?"
    r"(?:to be|required|forbidden|prohibited|allowed|permitted|advised|recommended)\b"
    r"|(?:(?<!\bI )(?<!\bwe )\b(?:cannot|can['’]t|can not|can only|may only|may not) (?:be )?|\b(?:can|may) be )"
    rf"(?:{_DONE})|\b(?:can|may)\b[^.;]{{0,30}}\b(?:at most|no more than)\b"
    rf"|\b{_SOMEBODY} (?:can|may|could) (?:\w+ly )?{_DO}"
    r"|\bI (?:recommend|suggest|advise)\b|\b(?:is|would be) (?:the )?(?:best|better)\b(?=.{0,200}? (?:to|course)\b)",
    re.IGNORECASE,
)
_CONDITION = re.compile(
    rf"{_OPENS}(?:(if|unless|for each|for every|otherwise)"
    r"|when|whenever|before|after|once(?! a)|until|while|as soon as|in order to|to(?! date))\b([^,]{0,400}),(.*)",
    re.IGNORECASE | re.DOTALL,
)
# "Here is how it stands" is told, too, and not done.
_PAST = re.compile(rf"^\s*here\b|\b(?:{either('happened')})\b", re.IGNORECASE)
_ENDED = re.compile(r"\b(?!need|speed|feed|seed|exceed|proceed|embed|indeed)\w{2,}ed\b", re.IGNORECASE)
_DID = re.compile(r"\b(?:[Hh]e|[Ss]he|[Ii]t|[Tt]hey|[Ww]e|I|[A-Z]\w+) \w{2,}ed\b")
_PRESENT = re.compile(r"\b(?:is|are|be|has|have|can|may|must|should|shall|will|do|does|gets?)\b", re.IGNORECASE)


def proceeds(text: str) -> bool:
    """Whether a text says how to proceed."""
    return any(map(_tells, sentences(text)))


def _tells(sentence: str) -> bool:
    if sentence.rstrip("\"'*) ").endswith("?"):
        return _ASKS.search(sentence) is not None
    if _IMPERATIVE.search(sentence) or _DUTY.search(sentence):
        return True
    under = _CONDITION.search(sentence)
    return under is not None and _holds(*under.groups())


def _holds(always: str | None, condition: str, done: str) -> bool:
    """Whether what is done under a condition is done whenever it holds, and not told of once."""
    if _IMPERATIVE.match(done.strip()):
        return True
    once = always is None and (_PAST.search(condition) or _DID.search(condition))
    if once or not done.strip() or _PAST.search(done):
        return False
    return always is not None or not _ENDED.search(done) or _PRESENT.search(done) is not None
