"""Word lists that `text.conflict` and `text.claims` judge by: English alone. Data more than code."""

from __future__ import annotations


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


CUES = (
    "no longer", "not anymore", "any more", "anymore", "instead of", "rather than", "actually", "correction",
    "from now on", "as of", "has changed", "have changed", "was changed", "were changed", "changed to", "moved to",
    "switched to", "new value", "turns out", "no more", "used to",
)  # fmt: skip
"""Phrases that say: what was said before holds no more."""
CUE_WORDS = _set("now correction actually instead updated update anymore corrected")

COPULAS = _set(
    "is are was were be been being isn't aren't wasn't weren't 's 're am remains remain stays stay becomes became"
)
PAST = _set("was were wasn't weren't had did didn't")
AUXILIARIES = _set(
    "has have had will would shall should can could may might must do does did won't can't cannot doesn't don't "
    "didn't hasn't haven't hadn't shouldn't couldn't wouldn't got gets get"
)
UNSURE = _set("if whether would could might may maybe perhaps should unless suppose assuming hypothetically probably")
"""Words of a sentence that does not say how things are."""
CHANGES = _set(
    "moved changed switched rescheduled postponed shifted pushed raised lowered increased decreased reduced extended "
    "shortened renamed replaced reassigned transferred relocated set reset bumped cut adjusted revised delayed "
    "advanced upgraded downgraded migrated converted brought updated corrected amended doubled halved tripled "
    "rewritten recalibrated readjusted rebuilt rerouted renegotiated repainted"
)
"""Participles that say to what something was changed."""
OTHERWISE = CUE_WORDS.union(CHANGES, _set(
    "adjourned rebooked rearranged reopened restored resumed resolved dropped discontinued retired deprecated "
    "abandoned withdrawn withdrew revoked expired lifted waived extension prolonged deferred suspended halted paused "
    "exchanged substituted succeeded resigned quit recused appointed elected relieved grew grown shrank shrunk rose "
    "risen fell fallen doubled halved tripled climbed henceforth onwards effective formerly previously former until "
    "overruled overturned reversed lost found stolen returned recovered healed not again since only handed took taken "
    "over back forward swapped fixed repaired sold broke closed cancelled canceled gone stopped ended longer more "
    "wrong mistake left became today currently lately recently finally already jetzt mehr statt geändert verschoben "
    "verlegt wieder seit ab sondern maintenant désormais changé déplacé reporté depuis ahora ya cambiado desde "
    "aplazado adesso ora più cambiato spostato invece"
))  # fmt: skip
"""Words of a text that may tell how something became otherwise; by them alone nothing contradicts anything."""
RENEWS = _set(
    "new updated increased extended shortened reduced revised raised lowered improved changed now recently moved"
)
"""Words beside a value that say that it is another one than before."""
FUNCTIONAL = _set(
    "prefers prefer lives live costs cost opens open closes close starts start begins begin ends end runs run works "
    "work expires expire meets meet owns own leads lead reports report weighs weigh listens listen allows allow "
    "requires require rotates rotate renews renew recurs recur takes take lasts last contains "
    "contain holds hold ships ship arrives arrive departs depart leaves leave happens happen retains retain has have "
    "serves serve needs need equals equal points point uses use carries carry fits fit seats seat accommodates "
    "accommodate sleeps sleep"
)
"""Verbs of how something is: their subject has one value of a sort at a time."""
ONE_BEHIND = {
    "liv": _set("in at"), "work": _set("for at"), "report": _set("to"), "bas": _set("in at"),
    "locat": _set("in at on"), "call": _set("called"), "nam": _set("named"), "marry": _set("to"),
}  # fmt: skip
"""By stems of verbs and participles, what stands before a name of which one thing or person has one at a time."""
WITHIN = _set("liv bas locat")
"""Those of them that tell of a place, in which another one may lie."""
SINGULAR = _set("lives works reports is was 's")
"""How these are said of one alone."""
REGIONS = _set(
    "africa albania alabama alaska algeria america andalusia argentina arizona asia australia austria bavaria belgium "
    "berlin-brandenburg bosnia brazil britain brittany bulgaria burgenland california canada carinthia catalonia "
    "chile china colombia colorado connecticut croatia cuba cyprus czechia denmark ecuador egypt england estonia "
    "ethiopia europe finland flanders florida france georgia germany ghana greece hawaii hesse hungary iceland idaho "
    "illinois india indiana indonesia iowa iran iraq ireland israel italy jamaica japan kansas kentucky kenya korea "
    "latvia lebanon lithuania louisiana lombardy luxembourg maine malaysia malta maryland massachusetts mexico "
    "michigan minnesota mississippi missouri montana morocco nebraska nepal netherlands nevada nigeria normandy "
    "norway ohio oklahoma ontario oregon pakistan pennsylvania peru philippines poland portugal provence prussia "
    "quebec queensland romania russia saxony scandinavia scotland serbia sicily singapore slovakia slovenia spain "
    "styria sweden switzerland syria taiwan tasmania tennessee texas thailand thuringia tunisia turkey tuscany tyrol "
    "uganda uk ukraine us usa utah vermont vietnam virginia wales washington wisconsin wyoming yorkshire"
)
"""Countries and parts of the world: who lives in one of these lives in one of its towns, too."""
WORKS = "works at", "works for"
AT_TIMES = _set(
    "home weekend weekends moment morning evening night time times end start beginning day week month weeks"
)
"""Where somebody works, in words, and what stands there that is no place or may be beside it."""
PLURAL_VERBS = _set(
    "start end begin open close run work cost take last need use go come get make stay bake sell buy pay belong sit "
    "stand sleep live play meet arrive depart leave hold accept require return support land ship move point"
)
"""Verbs as they stand behind a noun in the plural."""
BEHIND_VERBS = _set(
    "the a an our my your his her their its this that at on in to for from by with under behind until till after "
    "before about around every only no not"
)
"""What may follow a verb, and hardly a noun."""
EXCLUSIVE = _set("prefer prefers")
"""Verbs with one object at a time."""
NOUNS = _set(
    "favourit favorit nam statu owner lead leader capital password passcod address location venu title languag "
    "databas default provider framework host region contact approver assignee maintainer vendor tool format theme "
    "mode backend timezon"
)
"""Stems of nouns of which there is one at a time: "the venue is the old library"."""
RENEWED = _set("port cod address number deadlin limit budget pric rent hostnam url usernam pin key threshold timeout")
"""Stems of nouns of which "the new one" takes the place of the one before."""
DUTIES = _set(
    "approves signs manages maintains handles coordinates moderates supervises schedules audits oversees administers"
)
"""Verbs of duties, which are somebody's: "Actually, Carol approves releases"."""
TASKS = _set(
    "reviews owns leads organises organizes chairs hosts orders waters feeds pays books runs keeps holds minds guards "
    "covers carries drives coaches teaches"
)
"""Verbs that are a duty where what they are done to is something certain: "waters the plants"."""
OVER = _set("cancelled canceled scrapped abandoned withdrawn aborted revoked retired decommissioned called-off")
"""What ends whatever was planned."""
INDEFINITE = _set(
    "a an some any one two three four five six seven eight nine ten several many few most another every each no all "
    "both there here who what which other others someone somebody people men women kids children"
)
"""Words that begin a subject of which there may be many."""
BEFORE_NOUNS = _set("the a an this that these those my our your his her its their of for in on at with by to and or")
"""What stands before a noun: the word behind it is no verb."""
ADVERBS = _set("no longer now still also only always never not usually currently")
"""What may stand before a verb."""
IMPERATIVES = _set(
    "use call send deploy connect book take set run write meet ask answer reply respond retry keep speak"
)
SETTLED = _set("use set run deploy keep retry store allow limit wait")
"""Verbs that, at its beginning, say how something is to be done each time; "book 2 seats" is done once."""
ANSWERS = _set("answer reply respond speak")
"""Those of them behind which one language, or name, excludes another."""
USES = _set(
    "use run deploy build host store write test publish ship log pay bill chat track plan develop code package train "
    "lint format monitor keep manage"
)
"""What somebody does with a tool, whose name stands behind: "we deploy with Jenkins"."""
BY_MEANS_OF = _set("in with on through via by to using")
"""What stands before the name of a tool: "we store logs in Loki"."""
PRONOUNS = _set("it he she they this that these those him her them")
"""Subjects that say nothing by themselves."""
FIRST = _set("i i'm i've i'd i'll we we're we've we'd we'll my our me us mine ours")

CLASSES = {
    word: name
    for name, words in {
        "weekday": "monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays "
        "fridays saturdays sundays",
        "month": "january february april june july august september october november december",
        "day": "today tomorrow yesterday tonight",
        "part": "morning noon afternoon evening midnight mornings afternoons evenings",
        "rhythm": "hourly daily weekly biweekly fortnightly monthly quarterly yearly annually",
        "compass": "north south east west",
        "colour": "black white red green blue yellow orange purple brown pink grey gray",
    }.items()
    for word in words.split()
}
"""Words of which one excludes the others of its sort."""
IRREGULAR = {
    "met": "meet", "began": "begin", "chose": "choose", "wrote": "write", "written": "write", "went": "go",
    "made": "make", "took": "take", "taken": "take", "spent": "spend", "bought": "buy", "gave": "give",
    "given": "give", "found": "find", "used": "use", "using": "use", "ran": "run", "held": "hold", "built": "build",
    "done": "do", "saw": "see", "seen": "see", "spoke": "speak", "spoken": "speak", "led": "lead", "taught": "teach",
    "paid": "pay", "sold": "sell", "said": "say", "told": "tell", "fell": "fall", "rose": "rise", "won": "win",
    "lost": "lose", "left": "leave", "came": "come", "had": "have", "knew": "know", "thought": "think", "kept": "keep",
    "put": "put", "killed": "kill", "sent": "send", "tried": "try", "set": "set", "got": "get", "lived": "live",
    "quit": "quit", "preferred": "prefer", "prefers": "prefer", "cancelled": "cancel", "canceled": "cancel",
    "fed": "feed", "stood": "stand", "slept": "sleep", "drove": "drive", "driven": "drive", "grew": "grow",
    "grown": "grow", "hung": "hang", "sat": "sit", "drawn": "draw", "drew": "draw", "sung": "sing", "sang": "sing",
    "ate": "eat", "eaten": "eat", "drank": "drink", "broke": "break", "worn": "wear", "wore": "wear",
    "brought": "bring", "stolen": "steal", "caught": "catch", "became": "become", "hidden": "hide", "hid": "hide",
    "lent": "lend", "threw": "throw", "thrown": "throw", "flew": "fly", "flown": "fly", "rode": "ride",
}  # fmt: skip

WAYS = _set("to from before after with without above below against inside outside")
"""Words between which a subject is another: "the flight to Oslo", "the flight from Oslo"."""
STREETS = _set(
    "street st road rd lane ln avenue ave drive square court row terrace way place boulevard quay close hill"
)
"""What ends the name of a street."""
RHYTHMS = {
    "hour": "hourly", "day": "daily", "week": "weekly", "fortnight": "fortnightly", "month": "monthly",
    "quarter": "quarterly", "year": "yearly",
}  # fmt: skip
CORRECTS = (
    "now", "these days", "after all", "from now on", "as of", "no longer", "any ?more", "instead", "actually",
    "turns out", "correction", "in fact", "used to", "has moved", "have moved", "moved(?: out)?", "relocated",
    "slipped", "pushed", "bumped", "went (?:up|down)", "(?:is|are|was) (?:up|down) to", "(?:got|has|have) (?:a|an) new",
    "new", "swapped?", "took over", "takes over", "handed", "change of", "chang(?:ed|es)", "switched", "renamed",
    "replaced", "rais(?:ed|es)", "lowered", "reduced", "increased", "extended", "shortened", "upgraded", "put up",
    "turned (?:[a-z]+ ){0,4}(?:on|off|up|down)", "cut", "decided", "negotiated", "since (?:the|last|january|february|"
    "march|april|may|june|july|august|september|october|november|december|[a-z]+day)",
    "that's wrong", "stopped", "rather", "make (?:that|it)",
    "scratch that", "strike that", "(?:is|are) off", "called off", "again", "replaces", "swap(?:ped|s)",
    "shrank", "grew", "rose", "fell", "dropped", "climbed", "set (?:[a-z]+ ){1,5}to", "ditched", "gave up", "given up",
    "(?:hours?|minutes?|days?|weeks?|months?) (?:later|earlier)", "re(?:negotiated|calibrated|adjusted|written|built)",
    "doubled", "halved", "tripled", "migrated", "replaced", "shifted", "rescheduled", "postponed", "reassigned",
    "transferred", "delayed", "advanced", "downgraded", "amended",
)  # fmt: skip
"""Patterns of what says: it is otherwise than was said."""
WRONG = (
    "mistaken", "mistake", "wrong", "typo", "misread", "misheard", "mistyped", "mixed up", "oops", "meant", "i said",
    "i wrote", "i told you", "misspoke", "mis(?:counted|calculated|remembered|understood|quoted|label+ed|took|noted)",
)  # fmt: skip
"""Patterns of what says: what I said was never so. Values beside them hold no more."""
DENIES = _set("no not never cannot nobody nothing without stopped quit")
ENDS = _set("dropped ditched abandoned")
"""What ends the thing that is named behind it: "dropped support for"; but not "dropped to 5"."""
DENIES_TWO = frozenset(
    {
        ("no", "longer"),
        ("no", "more"),
        ("instead", "of"),
        ("rather", "than"),
        ("used", "to"),
        ("gave", "up"),
        ("given", "up"),
    }
)
LEAVES = _set("stepped left leaves quit resigned retired out gone swapped replaced departed closed died dropped")
"""What makes room for another."""
PASSING = _set(
    "shrank grew rose fell dropped climbed set went got slipped put became left handed decided said meant swapped "
    "negotiated had moves turned"
)
"""Verbs in the past that tell how it is now."""
REPORTING = _set("says said told tells writes wrote asked thinks mentioned reports heard according")
ANYWAY = _set(
    "go goes went going gone come comes came get gets got take takes took make makes made put puts slip slipped push "
    "pushed need wrong mistake mistaken error typo meant mean actual new change done turn turns turned up down left "
    "out leave leaves moved gets sit sits stand stands stay call called find found see set today currently exact least "
    "already due ready one time thing rather decided swap swapped hand handed over negotiated closed "
    "deadline size number count amount total price cost fee date address duration length location venue name"
)
"""Words of corrections that name no matter of their own."""
EVENTS = frozenset({"trip", "meet", "appointment", "visit", "call", "event", "plan", "flight", "book", "journey"})
"""Stems of names for whatever was planned."""
TITLES = _set("mr ms mrs miss dr prof professor")
LEADS_ON = (
    _set(
        "when while before after until because as although though once whenever where given during for in on at from "
        "by with without to according like unlike besides despite and or but not no both either neither which who that"
    )
    | UNSURE
)
"""Words that begin what belongs to the clause behind it: "when it rains, the gate is closed"."""
OFFICES = {
    "ownership": frozenset({"own"}),
    "responsibility": frozenset({"responsibl"}),
    "leadership": frozenset({"lead"}),
    "maintenance": frozenset({"maintain"}),
    "management": frozenset({"manag"}),
}
"""What a duty is called, and stems of the words for having it."""
SESSIONS = frozenset({"lesson", "class", "session", "appointment", "shift", "slot"})
"""Stems of names for an hour of what somebody has: "7b has maths", "7b's maths lesson"."""
RECURRING = _set(
    "shift class lesson session slot practice training rehearsal tide water bus train ferry boat tram shuttle flight "
    "tour show film movie screening performance feeding dose pill medication tablet market service mass prayer "
    "delivery collection pickup round patrol backup job run break meal lunch dinner breakfast walk visit"
)
"""What comes again and again: "the shift is on Tuesday", and on Friday."""
REPLACES = _set("replaces replaced succeeds succeeded")
SINCE = _set("since during after starting")
"""What begins a phrase that says from when on."""
BROKEN = (
    ("broken faulty jammed order down offline unavailable stuck leaking stopped", "working works fixed repaired "
     "running up online available operational"),
    ("pending review waiting draft unresolved unpaid undecided unsigned", "merged approved done finished resolved paid "
     "decided signed delivered shipped completed rejected"),
    ("free vacant empty clear cleared", "busy occupied taken full booked blocked"),
    ("enabled active on", "disabled inactive paused suspended off"),
    ("locked closed", "unlocked open"),
    ("sold unavailable", "stock available"),
    ("away ill sick absent vacation holiday", "back recovered healthy present"),
    ("reserved booked taken", "released unreserved free available"),
    ("missing lost", "found"),
    ("expired invalid", "valid renewed"),
    ("dirty", "clean cleaned"),
)  # fmt: skip
"""States of which one excludes the other."""
PLACED = _set("in on under behind beside above below inside near at")
SWAPPED = _set("swapped swaps replaced replaces exchanged traded exchange swap")
FOR = _set("for with by")
STRONG = (
    "actually", "correction", "wrong", "mistaken", "typo", "meant", "in fact", "misread", "misheard", "instead",
    "no longer", "anymore", "any more", "these days", "after all", "turns out", "from now on", "rather", "switched",
    "changed", "replaced", "as of",
)  # fmt: skip
"""Phrases after which even another word, where there may be two, takes the place of the one before."""
