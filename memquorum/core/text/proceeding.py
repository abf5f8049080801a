"""Whether a text says how to proceed, by its English words.

One of its sentences does where it tells somebody to do something ("read the log"), asks for it ("could you read the
log?"), says what has to be, what never may and what may ("fares can be changed within a day"), or says what is done
under a condition ("before a handover, the crew reads the log"). What was done once does not, nor does what somebody is
about to do alone ("let me look"), nor what only addresses a "you" ("your flight was changed").
"""

from __future__ import annotations

import re

_LISTED = """
    accept acknowledge add adjust agree alert align allow analyse analyze answer apply approve archive arrange ask
    assign attach avoid back begin block book brief bring build calculate call cancel change charge check choose
    clean clear click clone close collect combine commit compare compensate compile compute configure confirm
    connect consider construct consult contact convert cool copy correct count cover create cut decline delete
    deliver deny deploy describe determine disable discard disconnect do document download drain drop dry email
    enable ensure enter escalate evaluate examine exclude execute explain export extract feed feel fetch fill filter
    find fix flush fold follow format forward fuel generate give go grant grease greet hand handle heat help hold
    identify ignore import include increase inform insert inspect install investigate invite issue keep label lay
    leave lend let lift limit link list load locate lock log look lower lubricate make mark measure merge message
    mix modify monitor mop move name navigate never note notify obtain offer oil open order page park pass pause pay
    perform phone pick ping place plan post prefer prepare press prevent prime print prioritise prioritize proceed
    process promise provide publish pull push put quote raise read reboot rebuild recheck record reduce refer refill
    refresh refund refuse reject release reload remind remove rename renew repair repeat replace reply report
    request require reroute reset resolve respond restart restore resume retain retry return reuse review rinse
    rollback rotate route run save scan schedule seal search select send separate serve set shake share ship show
    shut sign skip sort specify split start stay stir stop store submit subtract suggest summarise summarize swap
    sweep switch take teach tell test thank tie tighten track train transfer treat try turn type uninstall unload
    unlock unplug update upgrade upload use validate verify visit wait warn wash watch water wear weigh withdraw
    wrap write
"""
VERBS = frozenset(_LISTED.split())
"""Verbs that tell to do something where they open a sentence."""
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

# What opens a sentence or stands behind a colon; a number or a bullet, and words of order, may come before.
_OPENS = (
    r"(?:^|[:;]\s)[\s*\"'(-]*+(?:\d+[.)]\s++)?"
    r"(?:(?:and|but|so|please|then|first|second|next|finally|now|also|just|always|instead|kindly)\b,?\s++)*"
)
# "Note: the valve sticks" and "SEARCH COPILOT" tell nobody anything; "let me look" tells what the speaker does alone.
_TELLS = (
    rf"(?!(?-i:[A-Z]{{2}}))(?:(?:do not|don['’]t)\b|be sure|(?!let (?:me|us all)\b(?! know)){_DO})"
    r"(?!\**[:(\"]| \w+\**:| (?:of|is|was|are|were|has|had|know|date)\b)"
)
# A verb of no list tells to do something where it opens a sentence and what it is done to follows: "caulk the seam".
_OTHERS = """
    aboard about above across after against all along also although amid among and another are around as at be
    because been before behind being below beneath beside besides between beyond both but by can concerning could
    despite did do does down during each either every except following for from given had half has have he hence her
    here his how however i if in including inside into is it its just like many may maybe might most much must my
    near neither no nor not of off on once one only onto or otherwise our out outside over past per perhaps quite
    rather regarding say shall she should since so some still such than that the their them then there therefore
    thereupon these they this those though through throughout thus till to toward towards uh um under underneath
    unless unlike until up upon via was we well were what when where whereas whereby whether which while who why
    will with within without would yes yet you your
"""
_OBJECT = (
    rf"(?!(?:{'|'.join(_OTHERS.split())})\b)[a-z]{{3,}}(?<!ed)(?<!ing)(?<!ly)(?<![^s]s) "
    r"(?:the|an?|all|any|each|every|both|its|their|these|those) (?-i:[a-z\d])"
)
_IMPERATIVE = re.compile(rf"{_OPENS}(?:{_TELLS}|{_OBJECT})|\b(?:please|[,;] then|instead,) {_TELLS}", re.IGNORECASE)
_ASKS = re.compile(rf"\b(?:can|could|would|will) you (?:please |kindly |also )*{_DO}|\bplease\b", re.IGNORECASE)
_DUTY = re.compile(
    # "Should have been" is regret or a guess, "did not have to" is none, and "I have to go" is for once.
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
_PAST = re.compile(
    # "Here is how it stands" is told, too, and not done.
    r"^\s*here\b|\b(?:was|were|had|did|would|could|might|went|came|made|took|gave|told|found|left|became|began|ran|"
    r"wrote|said|saw|got|sent|met|won|led|held|kept|lost|brought|built|bought|thought|felt|spoke|rose|fell|grew|knew|"
    r"drew|chose|broke|sold|fought|stood|spent)\b",
    re.IGNORECASE,
)
_ENDED = re.compile(r"\b(?!need|speed|feed|seed|exceed|proceed|embed|indeed)\w{2,}ed\b", re.IGNORECASE)
_DID = re.compile(r"\b(?:[Hh]e|[Ss]he|[Ii]t|[Tt]hey|[Ww]e|I|[A-Z]\w+) \w{2,}ed\b")
_PRESENT = re.compile(r"\b(?:is|are|be|has|have|can|may|must|should|shall|will|do|does|gets?)\b", re.IGNORECASE)
_SENTENCES = re.compile(r"(?<=[.!?])\s+|\n+")


def proceeds(text: str) -> bool:
    """Whether a text says how to proceed."""
    return any(_tells(one) for one in _SENTENCES.split(text))


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
