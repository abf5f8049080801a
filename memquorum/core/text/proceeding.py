"""Whether a text says how to proceed, by its English words.

It does where it tells somebody to do something ("read the log"), says what has to be or never may, addresses a "you",
or says what is done under a condition ("before a handover, the crew reads the log") and not what was done once.
"""

from __future__ import annotations

import re

_VERBS = """
    accept acknowledge add adjust agree alert align allow answer apply approve archive arrange ask assign attach
    avoid back begin block book bring build call cancel charge check clean clear clone close collect combine commit
    compare confirm connect contact convert copy correct count create cut decline delete deliver deny deploy
    describe disable disconnect discard do document download drain drop enable ensure enter escalate explain export
    fetch fill find fix flush follow format forward give go grant handle hold identify ignore import include inform
    insert inspect install invite issue keep label leave let limit link list load lock log look lower make mark
    measure merge monitor move name never note notify offer open order park pass pause pay perform pick place plan
    post prefer prepare press prevent prime print prioritise prioritize process promise provide publish pull push put
    quote raise read reboot rebuild recheck record reduce refer refill refund refuse refresh reject release reload
    remind remove rename renew repair repeat replace reply report request require reroute reset resolve respond
    restart restore resume retain retry return reuse review rollback rotate route run save scan schedule search seal
    select send separate serve set share ship show shut sign skip sort split start state stay stop store submit
    suggest swap switch take tell test tighten track transfer treat try turn uninstall unlock update upgrade upload
    use validate verify wait warn wash watch wear weigh withdraw wrap write
"""
_BEGINS = r"(?:^|[.!?:;\n]\s*)"
_DUTY = (
    r"\b(?:must|should|shall|ought to|ha(?:ve|s) to|needs? to|never|always|make sure|be sure|do not|don['’]t|your?)\b"
)
_CONDITION = r"(?:when|whenever|before|after|if|unless|once|until|while|as soon as|in order to|to)\b"
_PAST = r"(?![^.!?]*\b(?:was|were|had|did)\b)"
_IMPERATIVE = (
    rf"(?:{_BEGINS}|\b(?:please|then|first|and|instead) |, )(?:{'|'.join(_VERBS.split())})\b"
    r"(?! (?:of|is|was|are|were|has|had)\b)"
)
_PROCEEDS = re.compile(rf"{_DUTY}|{_BEGINS}{_PAST}{_CONDITION}[^.!?]*, ?\S|{_IMPERATIVE}", re.IGNORECASE)


def proceeds(text: str) -> bool:
    """Whether a text says how to proceed."""
    return _PROCEEDS.search(text) is not None
