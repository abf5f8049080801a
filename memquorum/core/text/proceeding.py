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
# A verb of no list tells to do something where it opens a sentence and what it is done to follows: "prime the valve".
_OTHERS = """
    aboard about above across after against all along amid among and around as at because before behind below
    beneath beside besides between beyond both but by concerning despite down during each either every except
    following for from given he her here his how i if in including inside into is it its like many most much my near
    neither no nor not of off on once one only onto or our out outside over past per quite rather regarding she
    since so some such than that the their them then there these they this those though through throughout till to
    toward towards under underneath unless until up upon via was we were what when where whether which while who why
    with within without yet you your
"""
_OBJECT = (
    rf"{_BEGINS}(?!(?:{'|'.join(_OTHERS.split())})\b)[a-z]+(?<!ed)(?<!ing)(?<!ly)(?<![^s]s) "
    r"(?:the|an?|all|any|each|every|both|its|their|these|those) \w"
)
_PROCEEDS = re.compile(rf"{_DUTY}|{_BEGINS}{_PAST}{_CONDITION}[^.!?]*, ?\S|{_IMPERATIVE}|{_OBJECT}", re.IGNORECASE)


def proceeds(text: str) -> bool:
    """Whether a text says how to proceed."""
    return _PROCEEDS.search(text) is not None
