"""Recognizes that somebody changed what they used, did or were, or that an instruction changed (`conflict`).

"We switched from npm to pnpm" after "We use npm for the frontend"; "Ada left Siemens" after "Ada works at Siemens"; "I
stopped drinking coffee" after "I drink coffee"; "Chen is no longer the project lead" after "The project lead is Chen";
"Answer in English" after "Answer in German". Each is told by words of closed lists, and by the same words beside them.
"""

from __future__ import annotations

from collections.abc import Sequence

from memquorum.core.reading import claiming
from memquorum.core.reading.claims import Statement
from memquorum.core.reading.parsing import LATELY, Value, stemmed
from memquorum.core.reading.wording import CARDINALS, FUNCTION

PLACE = "place"
"""The slot of what may hold beside another one, as a district and its town do."""


def changed(old: Statement, new: Statement) -> str | None:
    """The slot in which the later statement tells of such a change; None where it tells of none."""
    if old.negated or old.past:
        return None
    if _switched(old, new) or _replaced(old, new) or _left(old, new):
        return "named"
    if _deposed(old, new) or _resigned(old, new) or _gave_up(old, new):
        return "negation"
    return _elsewhere(old, new) or _told_otherwise(old, new)


def _switched(old: Statement, new: Statement) -> bool:
    """Whether those who have or use something changed it for another, by its name: "We switched from Ferro to Zeta"."""
    if not new.first or not new.changes or new.subject or new.verb not in _SWITCHES or not new.left:
        return False
    beside = [stem for stem in new.rest if stem not in new.left]  # to what, where that is no name, and in what
    to = any(value.before == "to" for value in new.values)
    if not set(beside if to else beside[1:]) <= set(old.rest):
        return False
    named = [value for value in old.values if value.sort == "name"]
    if old.first and old.copula:
        plain = len(named) == len(old.values) == 1 and not old.rest and named[0].before in claiming.COPULAS
        return plain and new.left == {stemmed(named[0].text)}
    used = _used(old)
    if {stemmed(word) for word in used[: len(new.left)]} == new.left:
        return True
    by_means = any({stemmed(value.text)} == new.left and value.before in claiming.BY_MEANS_OF for value in named)
    return bool(used) and by_means


def _used(old: Statement) -> list[str]:
    """The words behind the verb by which somebody uses or has something; empty if there is no such verb."""
    used = next((at for at, word in enumerate(old.frame) if stemmed(word) in _USES), None)
    if used is None or not (old.first or old.copula):
        return []
    return [word for word in old.frame[used + 1 :] if word not in FUNCTION]


def _replaced(old: Statement, new: Statement) -> bool:
    """Whether those who use something have another one in its place: "We replaced Jenkins with Zeta"."""
    if not new.first or new.negated or "replaced" not in new.frame or not {"with", "by"} & set(new.frame):
        return False
    at, to = new.frame.index("replaced"), next(i for i, word in enumerate(new.frame) if word in ("with", "by"))
    gone = [word for word in new.frame[at + 1 : to] if word not in FUNCTION]
    return bool(gone) and _used(old)[: len(gone)] == gone and len(new.frame) - to <= _SAID_WHOLE + 1


def _left(old: Statement, new: Statement) -> bool:
    """Whether somebody left where they work: "Ada left Siemens", "Ada left Siemens for Bosch"."""
    if not _of_their_work(old, new) or not set(new.rest) <= {new.verb, *LATELY}:
        return False
    if new.verb == _RETIRES:
        return bool(_posts(old)) and not any(value.sort == "name" for value in new.values)
    if new.verb not in _LEAVES:
        return False
    there, away = _posts(old), [value for value in new.values if value.sort == "name" and value.before in _LEFT]
    return bool(there) and bool(away) and there[0].text == away[0].text


def _elsewhere(old: Statement, new: Statement) -> str | None:
    """Returns the kind of change if somebody began at another workplace: "I started a new job at Bosch", which replaces
    the old one; and "Ada joined Bosch", which may be a club."""
    if not _of_their_work(old, new) or new.adds or not set(new.rest) <= {new.verb, *_POST, *LATELY}:
        return None
    there, here = _posts(old), [value for value in new.values if value.sort == "name"]
    if not there or not here or here[0].text == there[0].text:
        return None
    if new.verb in _WORKS and new.cue and not new.past:
        # "Now works for Bosch", and nowhere else, and no day of the week.
        return "named" if len(new.values) == 1 and here[0].before in _AT_WORK else None
    if new.verb in _BEGINS and _POST & set(new.rest) and here[0].before in _AT_WORK:
        return "named"
    return PLACE if new.verb == stemmed("joined") and here[0].before == "joined" else None


def _of_their_work(old: Statement, new: Statement) -> bool:
    """Whether the earlier one says where somebody works, and the later one of the same what they did."""
    return _of_one(old, new) and old.verb in _WORKS and not new.negated


def _of_one(old: Statement, new: Statement) -> bool:
    """Whether both are of the same person or thing, said in the same words."""
    same = (old.subject, old.marks, old.first) == (new.subject, new.marks, new.first)
    return same and bool(old.subject or old.marks or old.first)


def _posts(one: Statement) -> list[Value]:
    return [value for value in one.values if value.sort == "name" and value.before in _AT_WORK]


def _deposed(old: Statement, new: Statement) -> bool:
    """Whether who has a part has it no more: "Chen is no longer the project lead" after "The project lead is Chen"."""
    if not (old.copula and new.copula and new.negated and new.cue) or new.past:
        return False
    who = _valued(old)
    part, holder = ({*one.subject, *map(stemmed, one.marks)} for one in (old, new))
    return bool(who) and who == holder and part == {*new.rest, *_valued(new)}


def _resigned(old: Statement, new: Statement) -> bool:
    """Whether who has a part left it: "Chen stepped down as project lead" after "The project lead is Chen"."""
    if not old.copula or new.negated or new.verb not in _RESIGNS or "as" not in new.frame:
        return False
    given_up = {stemmed(word) for word in new.frame[new.frame.index("as") + 1 :] if word not in FUNCTION} - LATELY
    part, holder = {*old.subject, *map(stemmed, old.marks)}, {*new.subject, *map(stemmed, new.marks)}
    return bool(part) and _valued(old) == holder and part == given_up


def _valued(one: Statement) -> set[str]:
    """Stems of the words of its values."""
    return {stemmed(part) for value in one.values for part in value.text.split()}


def _gave_up(old: Statement, new: Statement) -> bool:
    """Whether somebody stopped what they do: "I stopped drinking coffee" after "I drink coffee every morning"."""
    if not _of_one(old, new) or new.negated or new.verb not in _STOPS:
        return False
    behind = [stem for stem in new.rest if stem not in (new.verb, *LATELY)]
    if not behind or behind[0] not in (old.verb, f"{old.verb}ing"):
        return False
    told, said = {*old.rest, *_valued(old)}, {*behind[1:], *_valued(new)}
    if not said:  # "I stopped smoking": whenever it was
        return set(old.rest) <= {old.verb} and all(value.sort in _WHEN for value in old.values)
    return said <= told


def _told_otherwise(old: Statement, new: Statement) -> str | None:
    """Returns the kind of change if both say how a thing is to be done each time, with another number or name in one
    place: "Use Python 3.10 for the pipeline", "Answer in German", "Call me Bill"."""
    a, b = _bare(old), _bare(new)
    if not a or not b or new.negated or new.adds:
        return None
    if b[0] == "stop" and b[1:2] == (f"{a[0]}ing",) and b[2:] == a[1:] and len(a) > 1:
        return "negation"
    if a[0] != b[0]:
        return None
    before, behind = alike(a, b)
    left, right = a[before : len(a) - behind], b[before : len(b) - behind]
    if not left or not right:
        return None
    if a[0] in claiming.SETTLED and len(a) > _SAID_WHOLE and len(left) == len(right) == 1:
        return "number" if left[0] in _numbers(old) and right[0] in _numbers(new) else None
    addressed = a[0] in claiming.ANSWERS or a[:2] == ("call", "me")
    names = [{part for v in one.values if v.sort == "name" for part in v.text.split()} for one in (old, new)]
    return "word" if addressed and set(left) <= names[0] and set(right) <= names[1] else None


def alike(a: Sequence[str], b: Sequence[str]) -> tuple[int, int]:
    """Returns how many words are the same at the beginning of both, and at the end of the rest."""
    least = min(len(a), len(b))
    before = next((at for at in range(least) if a[at] != b[at]), least)
    behind = next((at for at in range(least - before) if a[-1 - at] != b[-1 - at]), least - before)
    return before, behind


def _bare(one: Statement) -> tuple[str, ...]:
    """Its words without those around it that say nothing: "please", "always", "from now on"."""
    begin, end = 0, len(one.frame)
    while end and (one.frame[end - 1] in FUNCTION or one.frame[end - 1] in _POLITELY):
        end -= 1
    while begin < end and one.frame[begin] in _POLITELY:
        begin += 1
    return one.frame[begin:end]


def _numbers(one: Statement) -> set[str]:
    return {word for word in one.frame if word[0].isdigit() or word in CARDINALS}


_SAID_WHOLE = 3
"""More words than that say what is to be done, how much, and of what."""
_USES = frozenset(stemmed(word) for word in claiming.USES)
_SWITCHES = frozenset(stemmed(word) for word in ["switched", "migrated", "changed", "moved"])
_POLITELY = frozenset({"please", "always", "kindly"})
_WHEN = frozenset({"time", "weekday", "month", "part", "rhythm"})
_RETIRES = stemmed("retired")
_RESIGNS = frozenset(stemmed(word) for word in ["resigned", "stepped", "retired"])
_LEFT = frozenset({"left", "leaves", "quit", "quits"})
_LEAVES = frozenset(map(stemmed, _LEFT))
_STOPS = frozenset(stemmed(word) for word in ["stopped", "quit"])
_BEGINS = frozenset(stemmed(word) for word in ["started", "began"])
_WORKS = frozenset(stemmed(word) for word in ["works", "work"])
_AT_WORK = claiming.ONE_BEHIND["work"]
_POST = frozenset(stemmed(word) for word in ["new", "job", "position", "working", "work", "role"])
