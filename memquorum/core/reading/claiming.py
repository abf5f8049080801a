"""The word lists that `conflict` and `claims` judge by, from `data/rules`, where each is explained."""

from __future__ import annotations

from memquorum.core.reading.lists import bag, months, named, phrases, table, weekdays

CUES = phrases("cues")
CUE_WORDS = bag("cue-words")
COPULAS = bag("copulas")
PAST = bag("past")
AUXILIARIES = bag("auxiliaries")
UNSURE = bag("unsure")
CHANGES = bag("changes")
OTHERS = ("de", "fr", "es", "it", "pt", "nl", "pl", "tr", "ru")
MOVES = CHANGES | bag("otherwise", *OTHERS)
OTHERWISE = CUE_WORDS | MOVES | bag("otherwise")
TURNS = (*CUES, *(one for code in ("en", *OTHERS) for one in phrases("turns", code)))
TURNS_UNSPACED = phrases("turns", "ja") + phrases("turns", "zh")
ENDS_STATE: dict[str, tuple[str, ...]] = {}
for _states, _, _events in (one.partition(":") for code in ("en", *OTHERS) for one in phrases("ends-state", code)):
    for _event in _events.split():  # "mudado" is a word of two languages
        ENDS_STATE[_event] = (*ENDS_STATE.get(_event, ()), *_states.split())
"""A verb of an event: the verbs of the states that it ends. Who moved lives elsewhere."""
NEW = bag("new", "en", *OTHERS)
RENEWS = bag("renews")
FUNCTIONAL = bag("functional")
ONE_BEHIND = {stem: frozenset(words) for stem, words in table("one-behind").items()}
WITHIN = bag("within")
SINGULAR = bag("singular")
REGIONS = bag("regions")
WORKS = phrases("works")
AT_TIMES = bag("at-times")
PLURAL_VERBS = bag("plural-verbs")
BEHIND_VERBS = bag("behind-verbs")
EXCLUSIVE = bag("exclusive")
NOUNS = bag("nouns")
RENEWED = bag("renewed")
DUTIES = bag("duties")
TASKS = bag("tasks")
OVER = bag("over")
INDEFINITE = bag("indefinite")
BEFORE_NOUNS = bag("before-nouns")
ADVERBS = bag("adverbs")
IMPERATIVES = bag("imperatives")
SETTLED = bag("settled")
ANSWERS = bag("answers")
USES = bag("uses")
BY_MEANS_OF = bag("by-means-of")
PRONOUNS = bag("pronouns")
FIRST = bag("first")
CLASSES = named("classes") | dict.fromkeys((day for day in weekdays("en") if len(day) > 5), "weekday")
CLASSES |= dict.fromkeys(
    (month for month in months("en") if len(month) > 3 and month not in ("march", "sept")), "month"
)
IRREGULAR = named("irregular")
WAYS = bag("ways")
STREETS = bag("streets")
RHYTHMS = named("rhythms")
CORRECTS = (
    *phrases("corrects"), r"turned (?:[a-z]+ ){0,4}(?:on|off|up|down)", r"set (?:[a-z]+ ){1,5}to", r"since [a-z]+day",
)  # fmt: skip
WRONG, MAY_CORRECT = phrases("wrong"), phrases("may-correct")
DENIES = bag("denies")
ENDS = bag("ends")
DENIES_TWO = frozenset(tuple(one.split()) for one in phrases("denies-two"))
LEAVES = bag("leaves")
PASSING = bag("passing")
REPORTING = bag("reporting")
ANYWAY = bag("anyway")
EVENTS = bag("events")
TITLES = bag("titles")
LEADS_ON = bag("leads-on")
OFFICES = {stem: frozenset(words) for stem, words in table("offices").items()}
SESSIONS = bag("sessions")
RECURRING = bag("recurring")
REPLACES = bag("replaces")
SINCE = bag("since")
BROKEN = tuple(tuple(one.split(" | ")) for one in phrases("broken"))
PLACED = bag("placed")
SWAPPED = bag("swapped")
FOR = bag("for")
STRONG = phrases("strong")
