"""Words that may come and go, or stand for one another, without a change of the statement: closed lists, English.

Data more than code; `text.statement` goes by them. A missing word costs a memory too many, a wrong one loses a memory:
a word is listed only if it may be exchanged in every sentence.
"""

from __future__ import annotations


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_COURTESIES = "please ok okay thanks thank hello hi hey sorry well oh uh um bitte danke merci gracias grazie prego"
LIGHT = _set(f"a an the be been being very really quite just also so too now currently then one and but {_COURTESIES}")
"""Words that may stand in one text alone."""

CLOSED = {
    word: name
    for name, words in (
        ("was", "was were did had"),
        ("is", "is are am"),
        ("does", "do does"),
        ("has", "has have"),
        ("i", "i me myself"),
        ("we", "we us ourselves"),
        ("you", "you yourself yourselves"),
        ("he", "he him himself"),
        ("she", "she herself"),
        ("it", "it itself"),
        ("they", "they them themselves"),
        ("this", "this these"),
        ("that", "that those"),
        ("here", "here"),
        ("there", "there"),
    )
    for word in words.split()
}
"""Words that may stand in one text alone, but not against one another: "is" and "was", "he" and "she"."""
PAST = "was"

PREPOSITIONS = _set("at on in of for to by with about")
"""Prepositions of which one text may have more, but which may not be exchanged."""
PLACED = PREPOSITIONS | _set(
    "from under over above below before after between against until till since through during without inside outside "
    "into onto up down off out near behind beside within across around along per"
)
"""Words that begin a part of a sentence that may stand first or last: "before the test"."""
CLASSES = _set(
    "monday tuesday wednesday thursday friday saturday sunday january february april june july august "
    "september october november december today tomorrow yesterday tonight morning noon afternoon evening night "
    "midnight hourly daily weekly monthly quarterly yearly annually north south east west northern southern eastern "
    "western black white red green blue yellow orange purple brown pink grey gray"
)
"""Words of classes in which one member is never another; names however they are written."""
TIMES = CLASSES | _set(
    "now currently yesterday later soon heute morgen gestern demain aujourd'hui hier mañana hoy ayer domani oggi ieri"
)

HOW_TO = frozenset(("how", can, who) for can in ("do", "can", "could") for who in ("i", "we", "one", "you"))
"""Beginnings of a question that ask the same."""

_GROUPS = (
    "begin begins start starts",
    "began begun started",
    "ending end ends finish finishes",
    "ended finished",
    "buy buys purchase purchases",
    "bought purchased",
    "fix fixes repair repairs mend mends",
    "fixed repaired mended",
    "big large",
    "bigger larger",
    "biggest largest",
    "quick fast rapid",
    "quickly rapidly",
    "photo photos photograph photographs picture pictures pic pics",
    "car cars automobile automobiles",
    "phone phones telephone telephones",
    "film films movie movies",
    "doctor doctors physician physicians",
    "child children kid kids",
    "person people",
    "bike bikes bicycle bicycles",
    "plane planes airplane airplanes aeroplane aeroplanes aircraft",
    "sofa sofas couch couches",
    "store stores shop shops",
    "road roads street streets",
    "shut closed",
    "mum mom mother",
    "dad father",
    "info information",
    "app apps application applications",
    "repo repos repository repositories",
    "config configs configuration configurations",
    "db dbs database databases",
    "docs documentation",
    "prod production",
    "dev development",
    "admin admins administrator administrators",
    "env environment",
    "auth authentication",
    "deploy deploys deployment deployments",
    "max maximum",
    "min minimum",
    "reboot reboots restart restarts",
    "rebooted restarted",
    "choose chooses select selects pick picks",
    "chose chosen selected picked",
    "show shows display displays",
    "showed shown displayed",
    "help helps assist assists",
    "need needs require requires",
    "needed required",
    "happen happens occur occurs",
    "happened occurred",
    "reply replies answer answers respond responds",
    "replied answered responded",
    "obtain obtains receive receives",
    "build builds construct constructs",
    "built constructed",
    "try tries attempt attempts",
    "tried attempted",
    "talk talks speak speaks",
    "leave leaves depart departs",
    "left departed",
    "e-mail email emails mail mails",
    "color colour",
    "colors colours",
    "favorite favourite",
    "center centre",
    "organize organise",
    "organization organisation",
    "gray grey",
    "meter metre",
    "program programme",
    "cancelled canceled",
    "whilst while",
    "approximately approx roughly circa",
    "everybody everyone",
    "anybody anyone",
    "somebody someone",
    "nobody noone",
    "although though",
    "almost nearly",
    "often frequently",
    "what which",
    "perhaps maybe",
)
GROUPS = {word: words.split()[0] for words in _GROUPS for word in words.split()}
"""A word for each of those that may stand for it: tense and number are the same within a group."""

# Negators that are exchanged: "never opens" and "does not open", "without errors" and "with no errors".
PLAIN_NEGATORS = _set("not no never without")
CONTRACTED = {
    "can't": ("can", "not"), "cannot": ("can", "not"), "cant": ("can", "not"), "won't": ("will", "not"),
    "wont": ("will", "not"), "shan't": ("shall", "not"), "ain't": ("is", "not"), "dont": ("do", "not"),
    "doesnt": ("does", "not"), "didnt": ("did", "not"), "isnt": ("is", "not"), "arent": ("are", "not"),
    "wasnt": ("was", "not"), "werent": ("were", "not"), "hasnt": ("has", "not"), "havent": ("have", "not"),
    "shouldnt": ("should", "not"), "wouldnt": ("would", "not"), "couldnt": ("could", "not"),
}  # fmt: skip
ENDINGS = {"'ll": "will", "'re": "are", "'ve": "have", "'m": "am", "'d": "would"}
