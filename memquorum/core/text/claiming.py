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
    "advanced upgraded downgraded migrated converted brought updated corrected amended"
)
"""Participles that say to what something was changed."""
RENEWS = _set(
    "new updated increased extended shortened reduced revised raised lowered improved changed now recently moved"
)
"""Words beside a value that say that it is another one than before."""
FUNCTIONAL = _set(
    "prefers prefer lives live costs cost opens open closes close starts start begins begin ends end runs run works "
    "work expires expire meets meet owns own leads lead reports report weighs weigh listens listen allows allow "
    "requires require takes take lasts last contains contain holds hold ships ship arrives arrive departs depart "
    "leaves leave happens happen retains retain has have serves serve needs need equals equal points point uses use"
)
"""Verbs of how something is: their subject has one value of a sort at a time."""
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
TASKS = _set("reviews owns leads organises organizes chairs hosts orders waters feeds pays books runs")
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
IMPERATIVES = _set("use call send deploy connect book take set run write meet ask")
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
    "preferred": "prefer", "prefers": "prefer", "cancelled": "cancel", "canceled": "cancel",
}  # fmt: skip
