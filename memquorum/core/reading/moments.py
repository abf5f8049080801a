"""Reads whether a text speaks of an earlier time or of the present: "last year", "the old gate", "this week".

A text without such words speaks of the time at which it was said. Five languages; data more than code.
"""

from __future__ import annotations

import re

from msgspec import Struct

_UNITS = (
    "year month week weekend quarter season term semester decade century night evening summer winter spring autumn "
    "fall monday tuesday wednesday thursday friday saturday sunday january february march april may june july august "
    "september october november december time"
).replace(" ", "|")
_EARLIER = re.compile(
    rf"\b(?:last|previous|past)\s(?:{_UNITS})\b|\byesterday\b|\bago\b|\bused to\b|\buntil (?:recently|then|now)\b"
    r"|\b(?:formerly|previously|originally|back then|in the past|at first)\b"
    r"|\b(?:letzte|vorige|vergangene)[nrsm]?\s(?:jahr|monat|woche|winter|sommer|herbst|frühling|quartal|mal)"
    r"|\b(?:gestern|früher|damals|ehemals|bisher|bislang|vorher)\b"
    r"|\b(?:an|année|mois|semaine|hiver|été|automne|printemps|trimestre|saison|fois) (?:dernier|dernière|passée?)\b"
    r"|\bl['’]an (?:dernier|passé)\b|\b(?:autrefois|jadis|auparavant|avant-hier)\b"
    r"|\b(?:año|mes|semana|invierno|verano|otoño|trimestre|vez) (?:pasad[oa]|anterior)\b|\b(?:ayer|antes|antaño)\b"
    r"|\b(?:anno|mese|settimana|inverno|estate|autunno|trimestre|volta) (?:scors[oa]|passat[oa])\b|\bieri\b"
    r"|\b(?:scors[oa]) (?:anno|mese|settimana|inverno|estate)\b"
)
_ONCE = re.compile(
    r"\b(?:old|former|previous|earlier|alte[nrsm]?|ehemalige[nrsm]?|ancien(?:ne)?s?|antigu[oa]s?|viej[oa]s?|vecchi[oaei]?)\s(\w+)"
)
_NOW = re.compile(
    rf"\bthis (?:{_UNITS})\b|\b(?:now|today|currently|nowadays|presently|these days|at present|at the moment)\b"
    r"|\b(?:diese[nrsm]? (?:jahr|monat|woche|winter|sommer|quartal)|heute|jetzt|zurzeit|derzeit|momentan|inzwischen)\b"
    r"|\b(?:cette (?:année|semaine)|ce (?:mois|trimestre)|cet (?:hiver|été|automne))\b"
    r"|\b(?:aujourd['’]hui|maintenant|désormais)\b"
    r"|\b(?:este (?:año|mes|invierno|verano)|esta semana|hoy|ahora|actualmente)\b"
    r"|\b(?:quest['’](?:anno|inverno|estate)|questo mese|questa settimana|oggi|adesso|attualmente)\b"
)
_PASSING = re.compile(
    r"\b(?:this (?:week|weekend|evening|time|once)|today|tonight|tomorrow|diese[sr]? (?:woche|wochenende|mal)|heute"
    r"|ausnahmsweise|cette (?:semaine|fois)|ce (?:soir|week-end)|demain|aujourd['’]hui|esta (?:semana|noche|vez)|hoy"
    r"|questa (?:settimana|sera|volta)|oggi|domani|deze (?:week|keer)|vandaag|vanavond|n?esta (?:semana|noite)|amanhã"
    r"|w tym tygodniu|dzisiaj|jutro|bu (?:hafta|akşam)|bugün|на этой неделе|сегодня|завтра)\b"
)
_WAS = re.compile(
    r"\b(?:was|were|did|had|wasn['’]t|weren['’]t|didn['’]t|war|waren|hatte|hatten|wurde|wurden|était|étaient|avait|"
    r"fue|fueron|era|eran|había|erano|aveva)\b"
)
_OF_A_YEAR = re.compile(r"\b(?:in|im jahr|en|nel|during|back in) ((?:19|20)\d\d)\b")


class Moment(Struct, frozen=True):
    """The time that a text speaks of.

    `passing`: it speaks of a day or a week alone. `was`: a verb is in the past. `once`: the things that it calls old or
    former. `years`: those in which something was.
    """

    earlier: bool
    now: bool
    passing: bool
    was: bool
    once: tuple[str, ...]
    years: tuple[int, ...]


def moment(text: str) -> Moment:
    """Reads the time that a text speaks of."""
    flat = text.casefold()
    return Moment(
        _EARLIER.search(flat) is not None,
        _NOW.search(flat) is not None,
        _PASSING.search(flat) is not None,
        _WAS.search(flat) is not None,
        tuple(_ONCE.findall(flat)),
        tuple(map(int, _OF_A_YEAR.findall(flat))),
    )
