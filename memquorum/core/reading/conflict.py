"""Judges whether two texts contradict each other: the same topic, the same slot, another value (SPEC B, 8.3).

English, by rules. A wrongly replaced memory is worse than one that is not replaced, so what is doubtful is no
conflict. `between` asks of each pair of statements (`claims`):

1. *Topic*: the subjects are the same: the same names and numbers in them ("valve 3" is not "valve 5", "Alice approved"
   does not concern Bob), and the same words that mean something; a correction may leave one out. Or half or more of
   what both say, values left out, is the same, and the later one names the value that it replaces ("instead of 8080").
2. *Slot*: one value of the same sort (a time, a weekday, a number of the same things, a name behind the same
   preposition, a state and its opposite, a thing and its negation), and what else the predicates say agrees.
3. *Another value*, and only one where the later text does not say that it corrects something.

An event of the past may happen again with other numbers: a verb in the past conflicts only with a denial, or where the
later text has a cue such as "moved to", "now", "no longer", "instead of", "actually", "correction:". A text that fits
no such pattern, and says that something has changed, is compared by its matter (`correcting`). A verb in the present
("melts at 54 °C") has another time or number only where the later text has a cue; and a duty passes to another
("Actually, Carol approves releases") only where words before the text say that it corrects something. `allowing` finds
what was allowed and then forbidden; `changing` finds what somebody used, did or was before. A time of the day or week
that differs without a cue may hold beside the other one: that is found, and marked, and `Finding.both` says that
members let both stay. It does not where one agent says both of one certain thing that does not come again and again:
"the inspection is on Tuesday".
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise

from msgspec import Struct
from msgspec.structs import replace

from memquorum.core.reading import claiming, digits, wording
from memquorum.core.reading.allowing import opposed
from memquorum.core.reading.changing import PLACE, alike, changed
from memquorum.core.reading.claims import Claims, Statement, read
from memquorum.core.reading.correcting import corrects
from memquorum.core.reading.lists import table, weekdays
from memquorum.core.reading.once import once
from memquorum.core.reading.parsing import LATELY, Value, stemmed
from memquorum.core.reading.wording import FUNCTION, NEGATORS

VERSION = 19
"""The version of the rules: members of one configuration judge by the same."""

__all__ = ["VERSION", "Claims", "Finding", "between", "read"]

_SCHEDULED = frozenset({"time", "date", "weekday", "month", "day", "part", "rhythm", "ordinal"})
_RECURS = frozenset({"time", "time range", "weekday", "part"})
_SIDES = frozenset({"colour", "compass"})
_ONCE = frozenset(stemmed(word) for word in ["opens", "closes", "expires", "ends"])
_LOOSE = frozenset({"to", "is", "are", "was", ":", "at", "on", "be", "now", "as", ""})


_Slots = dict[tuple[str, str], list[Value]]


class Finding(Struct, frozen=True):
    """A contradiction of two texts: its slot, and whether the later text says that it corrects something."""

    slot: str
    cue: bool
    exact: bool = True
    """True if the subjects are said in the same words. If not, another memory may be meant: "the door code" is not that
    of the back door, if there is one of just that name."""
    both: bool = False
    """Whether both may hold all the same: what the later one says at another time of the day or week, without a cue,
    may be once more. They are served together, and members let both stay."""


Doubts = Callable[[str, str], bool]
"""A model's judgement of whether a later text contradicts an earlier one: (earlier, later)."""


def comparable(older: Claims, newer: Claims, *, same_agent: bool) -> bool:
    """Whether both texts state something of which one could deny the other: "I" of two agents are two."""
    if not older.statements or not newer.statements:
        return False
    return same_agent or not (older.personal or newer.personal)


def between(older: Claims, newer: Claims, *, same_agent: bool) -> Finding | None:
    """Finds what the later text contradicts in the earlier one; None if both may hold.

    `same_agent`: whether one agent said both, for "I" of two agents are two persons.
    """
    same_agent = same_agent and older.speaker == newer.speaker
    if ((older.alone or newer.alone) and not same_agent) or _apart(older, newer):
        return None
    if comparable(older, newer, same_agent=same_agent):
        for new in newer.statements:
            for old in older.statements:
                slot = _slot(old, new)
                if slot is not None:
                    again = not new.cue and slot in _RECURS and not _once(new)
                    again = again and not (same_agent and old.certain and new.certain)
                    # A place may lie in another: "lives in Graz", "lives in Geidorf".
                    again = again or (slot == PLACE and not new.cue)
                    return Finding(slot, new.cue, set(old.subject) == set(new.subject), again)
    if any(_on_condition(old, new) for old in older.statements for new in newer.statements):
        return None
    for denies in newer.allows if same_agent or not (older.personal or newer.personal) else ():
        if any(opposed(said, denies) for said in older.allows):
            return Finding("negation", denies.cue)
    for later in newer.outlines:
        for earlier in older.outlines:
            slot = corrects(earlier, later)
            if slot is not None:
                return Finding(slot, cue=True, exact=False)
    return None


def _apart(older: Claims, newer: Claims) -> bool:
    """Whether two speak, or of two things, as lines begin ("Kitchen: The light is off"); or whether what is said
    otherwise holds for something alone: "We switched to pnpm, but only in the sandbox"."""
    if older.speaker and newer.speaker and older.speaker != newer.speaker:
        return True
    return any(one.verb == "only" for one in newer.statements[1:])


def _once(one: Statement) -> bool:
    """Whether it tells when something is once a day: "opens at 9", "the deadline is 3 pm"."""
    return one.verb in _ONCE or not (claiming.NOUNS | claiming.RENEWED).isdisjoint(one.subject)


def _slot(old: Statement, new: Statement) -> str | None:
    if _on_condition(old, new):
        return None
    if _replaced(old, new):
        return "named"
    if _framed(old, new):
        return "word"
    if _undone(old, new):
        return "negation"
    if _never(old, new) or _never(new, old):
        return "negation"
    if (slot := changed(old, new)) is not None:
        return slot
    if _another_does(old, new):
        return "duty"
    if _about_one(old, new):
        for rule in (_ended, _denied, _moved, _turned, _valued, _worded):
            slot = rule(old, new)
            if slot is not None:
                return slot
    return None


def _about_one(old: Statement, new: Statement) -> bool:
    """Whether the subjects are one."""
    if old.ways - new.ways and new.ways - old.ways:
        return False
    if old.first or new.first:
        # One agent said both: "No, the lease ends in June" is about "our lease".
        ours = (old.first and new.first) or (new.led and old.certain and new.certain)
        return ours and old.subject == new.subject and old.marks == new.marks
    generic = old.generic and new.generic and new.led
    if not ((old.definite and new.definite) or generic) or (not new.subject and not new.marks):
        return False
    a, b = _named(old), _named(new)
    if a == b:
        return bool(a)
    # "Correction: the ferry leaves at 8:15" says of which ferry no more than that it was spoken of.
    if old.marks != new.marks and not (new.led and new.marks < old.marks):
        return False
    if not a or not b or not (b.intersection(old.subject[-1:]) or a.intersection(new.subject[-1:])):
        return False
    # "The code was changed" after "the door code is": a correction may say less, and never more.
    return new.cue and b < a and 2 * len(b) >= len(a)


def _on_condition(old: Statement, new: Statement) -> bool:
    """Whether each gives one of two opposite states for another time, place or case: "closed in winter", "open in
    summer"; or both tell what is so on certain weekdays again and again."""
    if new.cue:
        return False
    days, others = _DAYS.intersection(old.frame), _DAYS.intersection(new.frame)
    if days and others and days != others:
        return True
    opposed = {axis for axis, side in old.poles if (axis, not side) in new.poles}
    if len(opposed) != 1:
        return bool(opposed)
    sides = _OF_AXIS[opposed.pop()]
    mine, theirs = _told(old) | set(old.rest), _told(new) | set(new.rest)
    return bool(mine - theirs - sides) and bool(theirs - mine - sides)


_DAYS = frozenset(f"{day}s" for day in weekdays("en"))
_OF_AXIS = {axis: {stemmed(word) for word, others in wording.POLES.items() if axis in dict(others)}
            for poles in wording.POLES.values() for axis, _ in poles}  # fmt: skip


def _exchanged(old: Statement, new: Statement) -> bool:
    """Whether each subject has a word that the other text has nowhere: "the staging host", "the production host"."""
    if not (old.definite and new.definite) or old.own or new.own:
        return False
    return bool(_named(old) - new.topic - _told(new)) and bool(_named(new) - old.topic - _told(old))


@once
def _told(one: Statement) -> set[str]:
    return {stemmed(part) for value in one.values for part in value.text.split()}


@once
def _named(one: Statement) -> set[str]:
    """The words of the subject, names among them: "Quayside's demo" is "the demo for Quayside"."""
    return {*one.subject, *(stemmed(mark) for mark in one.marks)}


def _overlap(a: frozenset[str] | set[str], b: frozenset[str] | set[str]) -> float:
    """The share of the smaller set that both have."""
    return len(a & b) / min(len(a), len(b)) if a and b else 0.0


def _agrees(old: Statement, new: Statement) -> bool:
    """Whether the predicates say the same beside their values."""
    a, b = set(old.rest) - {old.verb}, set(new.rest) - {new.verb}
    verbs = {s.verb for s in (old, new) if not (s.copula or s.changes)}
    if len(verbs) > 1:
        return False
    if new.changes:
        b -= LATELY  # "moved to Munich last month"
        return b <= a or (not a and len(b) <= 1)
    if not a and not b:
        return True
    if new.cue and old.lasting and old.verb == new.verb and b <= a and len(a - b) <= 2:
        return True  # "now runs at 04:30" after "runs at 02:00 every night"
    return len(a & b) * 3 >= len(a | b) * 2 and bool(a & b)


def _lasting(old: Statement, new: Statement) -> bool:
    """Whether both say how something is, or the later one what it was changed to."""
    if old.negated or new.negated:
        return False
    if old.lasting and new.lasting and old.verb == new.verb and new.cue:
        return True
    holds = not old.past and (old.copula or old.changes or _functional(old))
    return holds and (new.changes or (new.cue and not new.past) or (not new.past and (new.copula or _functional(new))))


def _functional(one: Statement) -> bool:
    return one.verb in _FUNCTIONAL


_FUNCTIONAL = frozenset(stemmed(word) for word in claiming.FUNCTIONAL)
_EXCLUSIVE = frozenset(stemmed(word) for word in claiming.EXCLUSIVE)


def _valued(old: Statement, new: Statement) -> str | None:
    if not _lasting(old, new) or not _agrees(old, new) or (new.adds and not new.changes):
        return None
    mine, theirs = _by_slot(old), _by_slot(new)
    shared = [slot for slot in mine if slot in theirs]
    if not shared and new.changes:
        # Behind another preposition: "in Berlin", "moved to Paris".
        shared = [slot for slot in mine if any(slot[0] == other[0] for other in theirs)]
        theirs = {slot: values for slot in shared for at, values in theirs.items() if at[0] == slot[0]}
    if not shared:
        theirs |= _converted(mine, theirs)
        shared = [slot for slot in mine if slot in theirs]
    if any(len(mine[slot]) > 1 or len(theirs[slot]) > 1 for slot in shared):
        return None
    differs = [slot for slot in shared if not _same(mine[slot][0], theirs[slot][0])]
    if not differs:
        return None
    whole = old.certain and new.certain and all(sort in _RECURS for sort, _ in differs)  # "on Friday at 11:00"
    if len(differs) > 1 and not new.cue and not whole:
        return None
    if new.dropped and all(mine[slot][0].text.casefold() not in new.dropped for slot in differs):
        return None
    sorts = {slot[0] for slot in differs}
    if len(sorts) > 1 and sorts & _SIDES:
        return None  # "the blue pills in the morning", "the red pills in the evening"
    if not (old.copula or old.changes or new.changes or _functional(old)) and not all(map(_measured, sorts)):
        return None  # "The app supports Linux", "The app now supports Windows".
    if sorts == {"name"} and new.changes and any(_tells_which(new, theirs[slot][0]) for slot in differs):
        return None  # "moved to the Halifax team"
    # "Is on for Canada", "is off for Mexico" speak of two; "is Alice", "is Bob" of one.
    plain = old.copula and new.copula and old.subject == new.subject and not any(before for _, before in differs)
    if sorts == {"name"} and not new.cue and not plain and not _one_behind(old, new, mine, theirs, differs):
        return None
    within = not plain and not {old.verb, *old.rest}.isdisjoint(claiming.WITHIN)
    if within and any((mine[slot][0].text in claiming.REGIONS) != (theirs[slot][0].text in claiming.REGIONS)
                      for slot in differs):  # fmt: skip
        return None  # the town may lie there
    return PLACE if sorts == {"name"} and within else sorted(sorts)[0]


def _tells_which(one: Statement, value: Value) -> bool:
    """Whether a name says of what stands behind it which it is: "the Halifax team"."""
    last = value.text.split()[-1]
    behind = next((after for word, after in pairwise(one.frame) if word == last), "")
    return stemmed(behind) in one.rest and stemmed(behind) not in LATELY and not behind.endswith("ly")


def _one_behind(old: Statement, new: Statement, mine: _Slots, theirs: _Slots, differs: list[tuple[str, str]]) -> bool:
    """Whether one person or thing has one such name at a time: "lives in Graz", "is called Rex". A town is no other
    place than its country."""
    if any(one.subject and claiming.SINGULAR.isdisjoint(one.frame) for one in (old, new)):
        return False
    of = next((stem for stem in (old.verb, *old.rest) if stem in claiming.ONE_BEHIND), None)
    if of is None or of not in (new.verb, *new.rest):
        return False
    a, b = ([some[slot][0] for slot in differs] for some in (mine, theirs))
    if any(one.before not in claiming.ONE_BEHIND[of] for one in a) or [x.before for x in a] != [x.before for x in b]:
        return False
    return len(old.values) == len(new.values) and all(one.text not in claiming.REGIONS for one in (*a, *b))


def _measured(sort: str) -> bool:
    return sort == "time" or sort.startswith("number")


def _by_slot(one: Statement) -> dict[tuple[str, str], list[Value]]:
    found: dict[tuple[str, str], list[Value]] = {}
    for value in one.values:
        before = value.before if value.sort in ("name", "code") else ""
        found.setdefault((value.sort, "" if before in _LOOSE else before), []).append(value)
    return found


_SCALES = {
    f"number {unit}": (what, int(scale))
    for what, units in table("scales").items()
    for unit, _, scale in (one.partition("=") for one in units)
}


def _converted(mine: _Slots, theirs: _Slots) -> _Slots:
    """Theirs in the unit of mine, where each side has one quantity of a kind: "2 hours", "90 minutes". Equal quantities
    are written in the same words."""
    of: dict[str, list[tuple[Value, Value]]] = {}
    for a, b in ((a, b) for some in mine.values() for a in some for more in theirs.values() for b in more):
        if a.sort in _SCALES and b.sort in _SCALES and _SCALES[a.sort][0] == _SCALES[b.sort][0]:
            of.setdefault(_SCALES[a.sort][0], []).append((a, b))
    found = {}
    for pairs in of.values():
        if len(pairs) == 1:
            ((a, b),) = pairs
            as_much = _as_much(a, b)
            found[a.sort, ""] = [replace(b, sort=a.sort, text=a.text if as_much else f"{b.text} {b.sort}")]
    return found


def _as_much(a: Value, b: Value) -> bool:
    """Whether two quantities of a kind are as much. Numbers too long to calculate with are, where both are written the
    same."""
    if max(len(a.text), len(b.text)) > digits.MOST:
        return (a.sort, a.text) == (b.sort, b.text)
    return Fraction(a.text) * _SCALES[a.sort][1] == Fraction(b.text) * _SCALES[b.sort][1]


def _same(a: Value, b: Value) -> bool:
    """Whether two values of a sort are one: "3 pm" and "3:00" may be."""
    if a.sort == "time":
        return a.text == b.text or (a.text[-2:] not in ("am", "pm") and b.text.startswith(a.text)) or (
            b.text[-2:] not in ("am", "pm") and a.text.startswith(b.text)
        )  # fmt: skip
    return a.text == b.text


def _ended(old: Statement, new: Statement) -> str | None:
    """Something planned is off, or on again."""
    if old.over == new.over:
        return None
    planned = old if new.over else new
    if planned.past or planned.negated:
        return None
    return "off" if any(value.sort in _SCHEDULED for value in planned.values) or planned.changes else None


def _denied(old: Statement, new: Statement) -> str | None:
    """One denies what the other says."""
    if old.negated == new.negated or old.changes or new.changes:
        return None
    a, b = {*old.rest, old.verb}, {*new.rest, new.verb}
    if old.copula != new.copula and not (old.verb in b and new.verb in a):
        a, b = a - _AUX, b - _AUX
    a, b = a - _AUX, b - _AUX
    if not a and not b and old.copula and new.copula and new.cue and old.values:
        return "negation" if {v.text for v in old.values} == {v.text for v in new.values} else None
    if not a or not b:
        return None
    if {v.text for v in old.values} != {v.text for v in new.values}:
        return None
    same = len(a & b) / len(a | b)
    return "negation" if same >= 0.75 and (old.past == new.past or new.cue) else None


_AUX = claiming.AUXILIARIES | claiming.COPULAS | frozenset({"i", "is", "ar", "wa", "do", "hav", "ha", "di"})


def _moved(old: Statement, new: Statement) -> str | None:
    """The later one says that it was moved away from where the earlier one has it."""
    if not new.left or old.past or old.negated or not old.copula:
        return None
    told = ({*old.rest} | {stemmed(part) for value in old.values for part in value.text.split()}) - _AUX
    return "named" if told == new.left else None


def _another_does(old: Statement, new: Statement) -> bool:
    """Whether words before the later one say that it corrects, and it gives a duty to another: the subject is the
    value."""
    if not (old.duty and new.duty and old.lasting and new.lasting) or not (new.led or new.cue):
        return False
    if old.negated or new.negated or new.adds:
        return False
    values = [{(value.sort, value.text) for value in one.values} for one in (old, new)]
    return (
        old.verb == new.verb
        and (old.subject, old.marks) != (new.subject, new.marks)
        and not (set(old.subject) | old.marks) & (set(new.subject) | new.marks)
        and len(set(old.rest)) > 1
        and set(old.rest) == set(new.rest)
        and values[0] == values[1]
    )


def _turned(old: Statement, new: Statement) -> str | None:
    """The opposite state: open and closed."""
    if old.negated or new.negated or not old.copula or not (new.copula or new.cue) or (old.past and not new.cue):
        return None
    # "Open on Sunday", "closed on Sunday": of the same days, or of none.
    if {(v.sort, v.text) for v in old.values} != {(v.sort, v.text) for v in new.values} or (new.past and not new.cue):
        return None
    axes = {axis for axis, _ in old.poles} & {axis for axis, _ in new.poles}
    opposed = [x for x in axes if len({side for axis, side in old.poles | new.poles if axis == x}) == 2]
    return "state" if opposed and max(len(old.rest), len(new.rest)) <= 2 else None


def _worded(old: Statement, new: Statement) -> str | None:
    """Another word, where there is one at a time: "prefers tea", "the venue is the old library"."""
    if new.adds or old.past or new.past or old.negated or new.negated or old.values or new.values:
        return None
    a, b = set(old.rest) - {old.verb}, set(new.rest) - {new.verb}
    if not a - b or not b - a or max(len(a), len(b)) > 3:
        return None
    if old.copula and (new.copula or new.changes):
        single = (old.subject[-1:] and old.subject[-1] in claiming.NOUNS) or claiming.NOUNS & set(old.subject)
        return "word" if single and (new.cue or old.subject == new.subject) else None
    if old.verb != new.verb:
        return None
    return "word" if old.verb in _EXCLUSIVE or _posted(old, new) or (new.cue and _functional(old)) else None


def _posted(old: Statement, new: Statement) -> bool:
    """Whether somebody works at one place, and at another one: "at the depot", "at the harbour office"."""
    if not claiming.AT_TIMES.isdisjoint((*old.frame, *new.frame)):
        return False
    told = (" ".join(old.frame), " ".join(new.frame))
    return any(all(where in one for one in told) for where in claiming.WORKS)


def _replaced(old: Statement, new: Statement) -> bool:
    """Whether the later one names the earlier one's value as one that holds no more."""
    same = old.marks & new.marks  # "the ferry to Kirkwall" both times: a name that both have is no other thing
    if not new.dropped or old.negated or (_exchanged(old, new) and not (same and old.subject == new.subject)):
        return False
    if new.past and not old.past and new.verb == old.verb:
        return False  # "we used pnpm instead of npm" says what was once
    if new.first_word in claiming.PLACED and not set(new.subject) <= old.topic:
        return False  # "in the example they use pnpm instead of npm"
    if len(old.topic & new.topic) > 1 and new.dropped.intersection(f"~{stem}" for stem in old.rest):
        return _overlap(old.topic, new.topic) >= 0.5
    told = {value.text.casefold() for value in old.values}
    return bool(told & new.dropped) and _overlap(old.topic, new.topic) >= 0.5


def _framed(old: Statement, new: Statement) -> bool:
    """Whether both are one sentence but for a few words in one place behind its subject, and the later one corrects."""
    if not (new.led or new.dropped) or new.adds or old.past or old.negated or new.negated or old.own or new.own:
        return False
    if _many(old) or _many(new):
        return False
    a, b = old.frame, new.frame
    same, tail = alike(a, b)
    left, right = a[same : len(a) - tail], b[same : len(b) - tail]
    common = [word for word in (*a[:same], *a[len(a) - tail :]) if word not in FUNCTION]
    mine = [word for word in left if word not in FUNCTION]
    theirs = [word for word in right if word not in FUNCTION]
    if old.marks != new.marks and set(mine) & set(theirs):
        return False  # "crane 4 lifts 14 tons" is no word on "crane 7 lifts 20 tons": another thing, and another value
    if new.dropped and new.dropped.isdisjoint([*left, *(f"~{stemmed(word)}" for word in left)]):
        return False
    head = any(word not in FUNCTION for word in a[:same])
    counted = [[word for word in some if not word[0].isdigit()] for some in (mine, theirs)]
    fewer = all(len(some) < len(whole) for some, whole in zip(counted, (mine, theirs), strict=True))
    if fewer and counted[0] != counted[1]:
        return False  # "3 books a month", "2 papers a week"
    return head and len(common) >= 2 and bool(mine) and bool(theirs) and len(left) <= 3 and len(right) <= 3


def _many(one: Statement) -> bool:
    """True if it begins with a word for one of many, or with a pronoun."""
    return one.first_word in claiming.INDEFINITE or one.first_word in claiming.PRONOUNS


def _undone(old: Statement, new: Statement) -> bool:
    """Whether the later one denies the sentence of the earlier one, by its own words."""
    if not new.negated or old.negated or (old.past and not new.cue) or old.own != new.own or _many(old) or _many(new):
        return False
    a = [stemmed(word) for word in old.frame if word not in FUNCTION and word not in NEGATORS]
    b = [stemmed(w) for w in new.frame if w not in FUNCTION and w not in NEGATORS and "'" not in w and w not in _AWAY]
    both = set(a) & set(b)
    # It begins as the other, says all that the other said, and more only behind that.
    if len(both) < (2 if old.understood else 3) or a[:1] != b[:1]:
        return False
    if len(set(a) - both) > (len(both) > 2) and not (new.cue and _more_behind(old, b)):
        return False
    last = max(at for at, word in enumerate(b) if word in both)
    if last + 1 < len(b) and not new.cue:
        return False  # "The insurance does not cover glass damage abroad"
    if _of_another(old, new):
        return False  # "is no longer the lead of Atlas" after "is the lead of Borealis"
    return set(b[: last + 1]) <= both and _denies_before(new, b[last])


def _of_another(old: Statement, new: Statement) -> bool:
    """Whether both name something in one place, and not the same: of another thing, at another time."""
    mine, theirs = _by_slot(old), _by_slot(new)
    return any(
        {value.text for value in mine[slot]}.isdisjoint(value.text for value in theirs[slot])
        for slot in mine.keys() & theirs.keys()
    )


def _more_behind(old: Statement, said: list[str]) -> bool:
    """Whether the earlier one begins with what is denied, and then says how often, when or where: "twice a day"."""
    left = list(said)
    for at, word in enumerate(old.frame):
        if not left:
            return word in claiming.BEHIND_VERBS or word in wording.ADVERBS or word[0].isdigit()
        if word not in FUNCTION and word not in NEGATORS:
            if stemmed(word) != left.pop(0):
                return False
        elif at and word not in FUNCTION:
            return False
    return False


def _denies_before(new: Statement, last: str) -> bool:
    """Whether it denies before the last of what it shares with the other: not so "is on holiday, not ill"."""
    no = next((at for at, word in enumerate(new.frame) if word in NEGATORS or word.endswith("n't")), None)
    return no is None or last in (stemmed(word) for word in new.frame[no:])


_AWAY = frozenset({"longer", "anymore", "any", "more", "used", "all", "after"})


def _never(one: Statement, other: Statement) -> bool:
    """Whether the first says that what the second tells of never was."""
    if len(one.never) < 2 or other.negated or one.own != other.own:
        return False
    told = other.topic | other.marks | {part for value in other.values for part in (value.text, stemmed(value.text))}
    verb, *rest = one.never
    both = told.intersection(rest)
    return verb in told and 2 * len(both) >= len(set(rest)) and bool(both)
