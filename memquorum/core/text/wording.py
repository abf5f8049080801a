"""Word lists and spellings that `text.agreement` judges by: English, with the negators of its neighbours.

Data more than code. What is missing here makes two texts look more alike than they are, or less; both directions are
measured by the table in `tests/unit/core/text/test_agreement.py`.
"""

from __future__ import annotations

from memquorum.core.reading.memo import memo


def _list(words: str) -> tuple[str, ...]:
    return tuple(words.split())


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_UNITS = (
    ("ms", "millisecond milliseconds msec msecs"),
    ("s", "sec secs second seconds"),
    ("min", "mins minute minutes"),
    ("h", "hr hrs hour hours"),
    ("d", "day days"),
    ("wk", "week weeks wks"),
    ("mo", "month months"),
    ("yr", "year years yrs"),
    ("%", "percent pct"),
    ("$", "dollar dollars usd bucks"),
    ("€", "euro euros eur"),
    ("£", "pound pounds gbp"),
    ("kb", "kilobyte kilobytes"),
    ("mb", "megabyte megabytes"),
    ("gb", "gigabyte gigabytes"),
    ("tb", "terabyte terabytes"),
    ("mm", "millimetre millimetres millimeter millimeters"),
    ("cm", "centimetre centimetres centimeter centimeters"),
    ("m", "metre metres meter meters"),
    ("km", "kilometre kilometres kilometer kilometers"),
    ("mi", "mile miles"),
    ("g", "gram grams"),
    ("kg", "kilo kilos kilogram kilograms"),
    ("l", "litre litres liter liters"),
    ("ml", "millilitre millilitres milliliter milliliters"),
    ("°", "degree degrees °c °f c f"),
    ("am", "a.m"),
    ("pm", "p.m"),
    ("x", "time times"),
    ("th", "st nd rd"),
    ("k", ""),
    ("hz", "hertz"),
    ("w", "watt watts"),
    ("v", "volt volts"),
)
UNITS = {spelling: unit for unit, spellings in _UNITS for spelling in (unit, *spellings.split())}

_SMALL = _list(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty"
)
_TENS = _list("twenty thirty forty fifty sixty seventy eighty ninety")
_ORDINALS = _list("first second third fourth fifth sixth seventh eighth ninth tenth")
CARDINALS = {word: n for n, word in enumerate(_SMALL)} | {word: 10 * n for n, word in enumerate(_TENS, 2)}
ORDINALS = {word: n for n, word in enumerate(_ORDINALS, 1)}
MAGNITUDES = {"hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9, "dozen": 12}
# Before "of": "a couple of days".
PAIRS = frozenset({"couple", "pair"})
ADVERBS = {"once": 1, "twice": 2, "thrice": 3}
NEGATORS = _set(
    "not no non never none nothing nobody nowhere neither nor without cannot cant wont dont doesnt didnt isnt arent "
    "wasnt werent hasnt havent shouldnt wouldnt couldnt hardly barely scarcely rarely seldom unable lack lacks lacked "
    "lacking fail fails failed refuse refuses refused except unless instead "
    # German, French, Spanish, Italian
    "nicht kein keine keinen keiner keinem nie niemals ohne pas jamais sans aucun aucune nunca jamás sin senza mai"
)
# Negators only before "to": "fails to open". Else they are ordinary words, and "failed" has its opposite.
NEGATORS_BEFORE_TO = _set("fail fails failed refuse refuses refused")
_NOT_NEGATED_BY_UN = _list(
    "unanim under undo unic unif unil uniq unis unit univ unix unl unless until unto unzip unravel unveil unload "
    "unlock unpack unfold uncover untar unwrap"
)
_NEGATED = {
    "invalid": "valid", "incorrect": "correct", "incorrectly": "correct", "incomplete": "complete",
    "inactive": "active", "inconsistent": "consistent", "inaccessible": "accessible", "insecure": "secure",
    "insufficient": "sufficient", "inaccurate": "accurate", "ineffective": "effective", "inefficient": "efficient",
    "incompatible": "compatible", "ineligible": "eligible", "inoperative": "operative", "inappropriate": "appropriate",
    "impossible": "possible", "improper": "proper", "imperfect": "perfect", "impatient": "patient",
    "irregular": "regular", "irrelevant": "relevant", "irreversible": "reversible", "irresponsible": "responsible",
    "illegal": "legal", "illegible": "legible", "nonexistent": "existent", "disagree": "agree", "disagrees": "agree",
    "disagreed": "agree", "disallow": "allow", "disallowed": "allow", "disapprove": "approve",
    "disapproved": "approve", "dislike": "like", "dislikes": "like", "disobey": "obey", "dissatisfied": "satisfied",
    "dishonest": "honest", "misunderstood": "understood", "invalidated": "validated", "invisible": "visible",
}  # fmt: skip

_OPPOSITES = (
    "open opens opened opening reopen reopened | close closes closed closing shut",
    "start starts started starting begin begins began begun launch launched | stop stops stopped stopping end ends "
    "ended finish finishes finished halt halted",
    "pass passes passed passing succeed succeeds succeeded success successful successfully work works worked working | "
    "fail fails failed failing failure broke broken breaks crash crashed crashes",
    "enable enables enabled enabling activate activated | disable disables disabled disabling deactivate deactivated",
    "on | off",
    "up online healthy reachable | down offline unhealthy unreachable crashed",
    "before earlier prior | after later afterwards",
    "increase increases increased increasing rise rises rose grow grows grew raise raised raises | decrease decreases "
    "decreased decreasing fall falls fell drop drops dropped reduce reduces reduced lower lowered shrink shrank",
    "add adds added adding include includes included insert inserted | remove removes removed removing delete deletes "
    "deleted exclude excludes excluded drop dropped",
    "allow allows allowed permit permits permitted | deny denies denied forbid forbids forbidden block blocks blocked "
    "prohibit prohibited",
    "accept accepts accepted approve approves approved confirm confirmed | reject rejects rejected decline declines "
    "declined refuse refuses refused cancel cancels canceled cancelled",
    "more greater higher larger bigger above over maximum most max upper | less fewer lower smaller below under "
    "minimum least min",
    "faster quicker fast quick | slower slow",
    "first earliest oldest | last latest newest",
    "early | late",
    "old older | new newer",
    "left | right",
    "inside indoors within | outside outdoors beyond",
    "true yes correct right | false no wrong incorrect",
    "full | empty",
    "top | bottom",
    "front | behind back",
    "large larger largest big bigger huge | small smaller smallest tiny little",
    "many | few",
    "young | old",
    "urban | rural",
    "remember remembers remembered | forget forgets forgot forgotten",
    "known | unknown",
    "morning | evening",
    "day | night",
    "hot warm | cold cool",
    "high | low",
    "long longer | short shorter",
    "buy buys bought | sell sells sold",
    "send sends sent | receive receives received",
    "win wins won | lose loses lost",
    "gain gains gained | lose loses lost",
    "push pushed | pull pulled",
    "upload uploads uploaded | download downloads downloaded",
    "import imports imported | export exports exported",
    "upgrade upgraded | downgrade downgraded",
    "lock locks locked | unlock unlocks unlocked",
    "connect connects connected | disconnect disconnects disconnected",
    "install installs installed | uninstall uninstalls uninstalled",
    "always | never sometimes rarely",
    "all every everyone everything | none nobody some",
    "must required mandatory | may might could optional should",
    "public | private",
    "internal | external",
    "input | output",
    "source | target destination",
    "read reads reading | write writes wrote writing written",
    "cheap cheaper | expensive dearer",
    "safe | dangerous unsafe",
    "good better best | bad worse worst",
    "love loves loved like likes liked prefer prefers | hate hates hated dislike dislikes",
    "male man men boy boys he him his | female woman women girl girls she her hers",
    "child children kid kids baby | adult adults",
    "alive | dead",
    "sit sits sitting | stand stands standing",
    "wet | dry",
    "near | far",
    "credit credits | debit debits",
    "manual manually | automatic automatically",
    "temporary temporarily | permanent permanently",
    "success | error errors",
)
POLES: dict[str, frozenset[tuple[int, bool]]] = {}
for _axis, _pair in enumerate(_OPPOSITES):
    for _side, _words in enumerate(_pair.split("|")):
        for _word in _words.split():
            POLES[_word] = POLES.get(_word, frozenset()) | {(_axis, bool(_side))}

# Words of classes in which one member is never another; names however they are written.
CLASSES = _set(
    "monday tuesday wednesday thursday friday saturday sunday january february april june july august "
    "september october november december today tomorrow yesterday tonight morning noon afternoon evening night "
    "midnight hourly daily weekly monthly quarterly yearly annually north south east west northern southern eastern "
    "western black white red green blue yellow orange purple brown pink grey gray"
)

FIRST_PERSON = _set("i me my mine myself we us our ours ourselves")
SECOND_PERSON = _set("you your yours yourself yourselves")

# Say nothing by themselves: no names at the start of a sentence, no scope of a negation.
FUNCTION = _set(
    "a an the this that these those it its he she they them their his her i me my we us our you your who whom whose "
    "which what when where why how if then than so as at by for from in into of off on onto out over to up with about "
    "and or but nor yet because since while although though is are was were be been being am do does did done doing "
    "has have had having will would shall should can could may might must there here just also too very really quite "
    "still already yet again any some each every all both either such same only even ever longer more most much many "
    "other another own per via please ok okay yes no not never well now let e.g i.e etc it's that's after before "
    "during under above below between through until against within without upon once hello hi thanks thank sorry sure "
    "great someone somebody anyone anybody everyone everybody "
    "something anything everything however therefore thus hence moreover also additionally finally meanwhile currently"
)

_VOWELS = frozenset("aeiouy")
_ENDINGS = ("ations", "ation", "ingly", "edly", "ing", "ies", "ied", "ers", "est", "ed", "es", "er", "ly", "s", "e")
_BY_LAST = {last: tuple(one for one in _ENDINGS if one[-1] == last) for last in {one[-1] for one in _ENDINGS}}
"""The endings by their last letter, in the same order: most of them end otherwise than a word does."""


@memo(8_192)  # texts repeat their words: reading one takes a third less time
def stem(word: str) -> str:
    """A word without its English ending, roughly: opens, opened and opening are open. At least three letters stay."""
    for ending in _BY_LAST.get(word[-1:], ()):
        rest = word[: -len(ending)]
        if word.endswith(ending) and len(rest) >= 3 and _VOWELS & set(rest) and not word.endswith("ss"):
            if ending in ("ies", "ied"):
                return rest + "y"
            doubled = len(rest) > 3 and rest[-1] == rest[-2] and rest[-1] not in "lsz"
            return rest[:-1] if doubled and ending in ("ing", "ed", "er", "ers", "est") else rest.removesuffix("e")
    return word


def denied(word: str) -> str | None:
    """What a word with a negative prefix denies: available for unavailable. None for other words."""
    if word in _NEGATED:
        return _NEGATED[word]
    if word.startswith("un") and len(word) >= 6 and not word.startswith(_NOT_NEGATED_BY_UN):
        return word[2:]
    return None
