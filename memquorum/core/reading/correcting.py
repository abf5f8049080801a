"""Judges whether a later text corrects an earlier one in words that no pattern of `conflict` fits.

Only a text that says that something is otherwise now, or was never so, is asked ("now", "turns out", "I was wrong"). It
has to be about the same matter: names and numbers of the earlier one's matter come again, its other matter too, and the
later text adds no matter beside it: "the download limit" is not the limit of uploads, "tickets for children" are not
the tickets. Then one of these:

- a value of the same sort (a time, a day, an amount, a name, an address) is another one;
- what the earlier one says is denied by its own words, "not a fox";
- what was planned is off;
- somebody else has the part that another has left: "Ms Weil left, our accountant is Mr Okoye".
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

from memquorum.core.reading import claiming
from memquorum.core.reading.lists import bag
from memquorum.core.reading.once import once
from memquorum.core.reading.outline import Outline
from memquorum.core.reading.parsing import Value, empty, light, stemmed

_LEAST, _MOST = 3, 30
"""Words: what is shorter or longer is no plain statement."""
_PAIR, _TAIL = 2, 4
_SCHEDULED = frozenset({"time", "date", "weekday", "month", "day", "part", "ordinal"})
_DAYS = frozenset({"date", "weekday", "month", "day", "ordinal"})
_DURATIONS = frozenset(f"number {unit}" for unit in ("ms", "s", "min", "h", "d", "wk", "mo", "yr"))
_SIDES = frozenset({"compass", "colour"})
_MARKS = frozenset({"name", "code", "number"})
_OF_CHANGE = claiming.CHANGES | claiming.REPORTING | claiming.ANYWAY | claiming.OVER
_EMPTY_OF_MATTER = frozenset(map(stemmed, _OF_CHANGE | claiming.RENEWS | claiming.FUNCTIONAL | claiming.EXCLUSIVE))
_CHANGING = frozenset(map(stemmed, _OF_CHANGE | claiming.PASSING)) - frozenset(map(stemmed, claiming.FUNCTIONAL))
_ADDS = frozenset({"also", "too", "both", "additionally"})
_ABOUT = frozenset({"for", "of", "with", "about", "by"})
_ATTACHING = frozenset({"for", "of", "in", "on", "at", "with", "from", "about"})


def corrects(older: Outline, newer: Outline) -> str | None:
    """Says in what the later text corrects the earlier one; None where it does not."""
    if older.past and not newer.amends:
        return None  # A past fact is not changed by a present one.
    if _carries(newer) and not older.several and (slot := _carried(older, newer)) is not None:
        return slot
    if not newer.cue and not (older.denied and "does" in newer.words):
        if older.words[0] != newer.words[0]:
            return None  # most pairs: asked first, for it costs little
        if older.several or newer.several or _adds(newer):
            return None
        return _elsewhere(older, newer) or _turned(older, newer)
    if older.several or older.words == newer.words or len(older.words) < _LEAST:
        return None
    if len(older.words) > _MOST or len(newer.words) > _MOST or not (older.verbs or len(older.words) > _LEAST):
        return None
    if older.heads and not older.first and not _head(older) and older.words[0] != "there":
        return None  # "it" may be anything
    if _adds(newer):
        return None
    rules = (_revalued, _moved, _refuted, _affirmed, _called_off, _relieved, _succeeded, _handed, _turned, _reworded)
    return next((slot for rule in rules if (slot := rule(older, newer)) is not None), None)


@once
def _adds(newer: Outline) -> bool:
    """Whether it says that something comes to what was said."""
    return not _ADDS.isdisjoint(newer.words) or ("as", "well") in pairwise(newer.words) or _another(newer)


def _another(newer: Outline) -> bool:
    """Whether it speaks of a new thing, of which there may be many: "the new office"."""
    return any(
        word == "new" and at in newer.heads and newer.words[at - 1] in ("the", "our", "my") and at > 0
        and stemmed(newer.words[at + 1]) not in claiming.NOUNS | claiming.RENEWED
        for at, word in enumerate(newer.words[:-1])
    )  # fmt: skip


def _revalued(older: Outline, newer: Outline) -> str | None:
    """Another value of the same sort, of the same matter."""
    if older.denied or ((older.past or newer.past) and not (newer.amends and older.past)):
        return None
    if "work" not in older.words and any(one == "work" and noun in older.words for one, noun in pairwise(newer.words)):
        return None  # "her work phone number" is not the one of her home
    kinds, least, most = _of_values(newer)
    for kind, value, about in _singles(older):
        # Neither is about more than the other (`_same_matter`): of most pairs, each is.
        if kind not in kinds or not (about <= most or least <= about):
            continue
        others = _others(older, newer, value)
        if kind == "name" and _in_region(older) != _in_region(newer):
            continue
        if len({other.text for other in others}) != 1:
            continue
        if _same_matter(older, newer, value, others):
            return kind
    return None


@once
def _singles(older: Outline) -> list[tuple[str, Value, set[str]]]:
    """The values of which it has one of the kind: that kind, and what it is about without them."""
    told = [value for value in older.values if value.place not in older.heads and value.place not in older.gone]
    kinds = [_kind(value) for value in told]
    # Any person: "lunch with Farid is at one".
    named = any(kind in _SCHEDULED or "number" in kind for kind in kinds)
    return [
        (kind, value, _matter(older, [value]) - older.verbs)
        for kind, value in zip(kinds, told, strict=True)
        # "The blue pills in the morning" are those that are blue.
        if kinds.count(kind) == 1 and not (kind == "name" and named) and not (kind in _SIDES and len(told) > 1)
    ]


@once
def _of_values(newer: Outline) -> tuple[set[str], set[str], set[str]]:
    """It says of what kinds its values are, and what it is about, without all of them and with all."""
    kinds = {_kind(value) for value in newer.values}
    return kinds, _matter(newer, newer.values) - newer.verbs, _matter(newer) - newer.verbs


def _others(older: Outline, newer: Outline, value: Value) -> list[Value]:
    """The values that the later text has in the place of a value."""
    kind = _kind(value)
    held = [other for other in newer.values if _kind(other) == kind and other.place not in newer.gone]
    left = [
        other
        for other in newer.values
        if _kind(other) == kind
        and other.place in newer.gone - newer.heads
        and not any(_equal(one, other) for one in (*held, *older.values) if one is not value)
    ]
    if any(_equal(value, other) for other in held) or (left and not any(_equal(value, other) for other in left)):
        return []
    # "Supports Windows" is no correction of "supports Linux".
    if kind == "name" and not left and not newer.wrong and not _in_a_place(older, newer, value):
        return []
    if kind == "name":
        return [
            other
            for other in held
            if other.text.split()[-1] not in older.words and _placed_alike(older, newer, value, other)
        ]
    return [other for other in held if not newer.verbs or other.place not in newer.heads]


def _in_a_place(older: Outline, newer: Outline, value: Value) -> bool:
    """Whether a name stands where there is one at a time: "is in Graz", "reports to Eva", "the teacher is Ms Hahn"."""
    if any(_equal(value, other) and other.place in newer.gone for other in newer.values):
        return True
    if older.first or newer.first:
        return bool(older.verbs & newer.verbs - _AUX)
    return (empty(value.before) and value.before not in _ABOUT) or light(value.before) or _naming(older, value)


def _placed_alike(older: Outline, newer: Outline, mine: Value, theirs: Value) -> bool:
    """Whether two names stand in the same place: both behind "in", or both behind what says who or what somebody is."""
    return mine.before == theirs.before or (_naming(older, mine) and _naming(newer, theirs))


def _naming(of: Outline, value: Value) -> bool:
    return value.before in _NAMING or (bool(of.verbs) and not of.verbs - _AUX and stemmed(value.before) in of.stems)


_NAMING = claiming.COPULAS | {"called", "named", "it's", "he's", "she's", "to", ""}


def _equal(a: Value, b: Value) -> bool:
    if a.sort == b.sort == "name":
        return a.text.split()[-1] == b.text.split()[-1]
    return a.sort == b.sort and (
        a.text == b.text or (a.sort == "time" and a.text.rstrip("apm") == b.text.rstrip("apm"))
    )


def _kind(value: Value) -> str:
    """The sort, of days and of durations one for all."""
    if value.sort in _DAYS:
        return "date"
    return "duration" if value.sort in _DURATIONS else value.sort


def _matter(of: Outline, without: Iterable[Value] = ()) -> set[str]:
    """Stems of what a text is about."""
    left_out = {at for value in without for at in range(value.place, value.end)}
    return {stem for at, stem in _meaning(of) if at not in left_out}


@once
def _meaning(of: Outline) -> list[tuple[int, str]]:
    return [(at, stem) for at, stem in enumerate(of.stems) if stem and stem not in _EMPTY_OF_MATTER]


def _same_matter(older: Outline, newer: Outline, value: Value, others: list[Value]) -> bool:
    """Whether both are about one thing, the value left out."""
    replaced = [other for other in newer.values if _equal(value, other)]
    named = value.before.isalpha() and stemmed(value.before) in older.stems
    if not _same_verb(older, newer) and not (named and all(value.before == other.before for other in others)):
        return False
    mine, theirs = _matter(older, [value]) - older.verbs, _matter(newer, [*others, *replaced]) - newer.verbs
    if older.first:
        mine, theirs = mine | {"i"}, theirs | ({"i"} if newer.first else set())
    # "7b has maths in room 4", "7b's maths lesson is in room 5".
    known = mine | claiming.SESSIONS if _HAS & older.verbs else mine
    both, extras = mine & theirs, theirs - known
    if not both or not _marks_agree(older, newer, [value, *others, *replaced]):
        return False
    if mine <= theirs:
        return not _attached(newer, known, [*others, *replaced])
    marked = {stemmed(part) for one in older.values if one.sort in _MARKS for part in one.text.split()}
    return not extras and (2 * len(both) >= len(mine) or bool(both & marked))


def _same_verb(older: Outline, newer: Outline) -> bool:
    """Whether the later text says what the earlier one does, or only that it changed or is otherwise."""
    mine, theirs = _acts(older), _acts(newer) - _CHANGING - _ENDING
    return not theirs or bool(mine & {*newer.verbs, *newer.stems}) or not mine


_HAS = frozenset({stemmed("has"), stemmed("have")})
_ENDING = frozenset(stemmed(word) for word in claiming.DENIES | {"gave", "given"})


@once
def _acts(of: Outline) -> frozenset[str]:
    return of.verbs - _AUX


_AUX = frozenset(stemmed(word) for word in claiming.COPULAS | claiming.AUXILIARIES) | {":"}


def _marks_agree(older: Outline, newer: Outline, without: Iterable[Value]) -> bool:
    """Whether the names, codes and labels of one are those of the other; of the earlier one the later may leave out."""
    left_out = {value.text for value in without}
    ways = _ways(older), _ways(newer)
    if ways[0] - ways[1] and ways[1] - ways[0]:
        return False
    sides = [
        {(value.sort, value.text) for value in one.values if value.place in one.heads and value.sort in _SIDES}
        for one in (older, newer)
    ]
    coloured = [
        {value.text for value in one.values if value.sort in _SIDES and value.text not in left_out}
        for one in (older, newer)
    ]
    if sides[0] != sides[1] or (coloured[0] and coloured[1] and coloured[0] != coloured[1]):
        return False
    known = _said(older)
    for value in newer.values:
        if value.text in left_out or value.sort not in _MARKS or value.place in newer.gone:
            continue
        if not all(part in known or stemmed(part) in known for part in value.text.split()):
            return False
    said = _said(newer)
    return all(
        any(part in said or stemmed(part) in said for part in value.text.split())
        for value in older.values
        if value.text not in left_out and value.sort in _MARKS
    )


@once
def _ways(of: Outline) -> frozenset[str]:
    return claiming.WAYS.intersection(of.words[at] for at in of.heads)


def _attached(newer: Outline, mine: set[str], values: Iterable[Value]) -> bool:
    """Whether something that the earlier text does not name stands beside what both are about."""
    own = {at for value in values for at in range(value.place, value.end)}

    def foreign(at: int) -> bool:
        if not 0 <= at < len(newer.words) or at in own:
            return False
        stem = newer.stems[at]
        return bool(stem) and stem not in mine and stem not in _EMPTY_OF_MATTER and stem not in newer.verbs

    for at, stem in enumerate(newer.stems):
        if not stem or stem not in mine or at in own:
            continue
        if foreign(at - 1) or foreign(at + 1):
            return True
        if newer.words[at + 1 : at + 2] and newer.words[at + 1] in _ATTACHING:
            behind = at + 3 if newer.words[at + 2 : at + 3] in (("the",), ("a",), ("our",), ("my",)) else at + 2
            if foreign(behind):
                return True
    return False


def _moved(older: Outline, newer: Outline) -> str | None:
    """It was changed from what the earlier text says."""
    left, places = _left(newer)
    if not left or older.past or older.denied or not left <= _behind_roots(older):
        return None
    about = _parts(newer, range(min(places))) - _EMPTY_OF_MATTER
    if not about:  # "we replaced Ferro with Zeta as supplier"
        names = {at for value in newer.values for at in range(value.place, value.end)}
        about = _parts(newer, set(range(max(places) + 1, len(newer.words))) - names) - _EMPTY_OF_MATTER
    return "named" if about and about <= _roots(older) else None


@once
def _left(newer: Outline) -> tuple[set[str], frozenset[int]]:
    """The stems that something was changed from, and their places."""
    places = newer.gone - newer.denied - newer.heads
    if claiming.FOR.union(["from"]).isdisjoint(newer.words):
        return set(), places
    return {stemmed(newer.words[at]) for at in places} - _LITTLE, places


_LITTLE = frozenset({"the", "a", "an", "his", "her", "their", "its", "my", "our"})


@once
def _said(of: Outline) -> set[str]:
    """Its words, and their stems."""
    return {*of.words, *_roots(of)}


@once
def _roots(of: Outline) -> set[str]:
    return set(map(stemmed, of.words))


@once
def _behind_roots(of: Outline) -> set[str]:
    return set(map(stemmed, _behind(of)))


@once
def _head(of: Outline) -> set[str]:
    """The stems before the verbs."""
    return _parts(of, of.heads)


@once
def _tail(of: Outline) -> set[str]:
    """The stems that do not stand before the verbs."""
    return _parts(of, set(range(len(of.words))) - of.heads)


@once
def _whole(of: Outline) -> set[str]:
    return _parts(of, range(len(of.words)))


def _parts(of: Outline, places: Iterable[int]) -> set[str]:
    """Stems of what words at these places mean, values among them."""
    at = set(places)
    return {of.stems[one] for one in at if of.stems[one]} | {
        stemmed(part) for value in of.values if value.place in at for part in value.text.split()
    }


def _refuted(older: Outline, newer: Outline) -> str | None:
    """Returns the slot if the later text denies the earlier one in its own words."""
    if older.denied or older.past or not newer.denied or not _same_verb(older, newer) or _any_of(older):
        return None
    subject, told = _head(older) - _EMPTY_OF_MATTER, _told(older)
    if not told or not subject <= _roots(newer):
        return None
    own = older.first and newer.first and bool(newer.verbs & _ENDING)  # "I've stopped taking sugar"
    if not subject and not own and newer.words[min(newer.denied)] != older.words[0]:
        return None  # "Don't visit Bern", after "Visit Bern"
    denied = _parts(newer, newer.denied)
    strange = denied - _roots(older) - _EMPTY_OF_MATTER - newer.verbs
    said = sum(one in _roots(newer) for one in told)
    holds = told[-1] in denied and 2 * said >= len(told) and not strange
    return "negation" if holds and not _attached(newer, subject, ()) else None


@once
def _told(older: Outline) -> list[str]:
    """The stems behind its subject, in order; those that are no matter of their own only if there are no others."""
    told: list[str] = []
    for at in (at for at in range(len(older.words)) if at not in older.heads):
        parts = (part for value in older.values if value.place == at for part in value.text.split())
        told += dict.fromkeys([*filter(None, older.stems[at : at + 1]), *map(stemmed, parts)])
    told = [one for one in told if one not in older.verbs]
    return [one for one in told if one not in _EMPTY_OF_MATTER] or told


def _affirmed(older: Outline, newer: Outline) -> str | None:
    """Returns the slot if the later text affirms in the same words what the earlier one denies."""
    if not older.denied or older.past or newer.denied or newer.past or not older.heads or _any_of(older):
        return None
    mine, theirs = _whole(older), _whole(newer)
    if len(mine - _EMPTY_OF_MATTER) < _PAIR or not mine - _EMPTY_OF_MATTER <= theirs:
        return None
    strange = theirs - mine - _EMPTY_OF_MATTER
    return "negation" if not strange and not _attached(newer, mine, ()) else None


def _any_of(older: Outline) -> bool:
    """Whether it is about any such thing: "a man", "some"."""
    return older.words[0] in claiming.INDEFINITE


def _turned(older: Outline, newer: Outline) -> str | None:
    """It is in the opposite state: "out of order", "working again"."""
    if older.past or older.denied or newer.denied or older.verbs - _AUX or _any_of(older) or not older.words:
        return None
    about = _head(older), _head(newer)
    if not about[0] or about[0] != about[1] or not _marks_agree(older, newer, ()):
        return None
    for sides in claiming.BROKEN:
        states = {stemmed(word) for side in sides for word in _SIDED[side]}
        if any(_tail(of) - states - _EMPTY_OF_MATTER for of in (older, newer)):
            continue
        one, other = ({side for side in (0, 1) if _SIDED[sides[side]] & _behind(of)} for of in (older, newer))
        if len(one) == len(other) == 1 and one != other and (not newer.past or newer.words[-1].endswith("ed")):
            return "state"
    return None


@once
def _behind(of: Outline) -> set[str]:
    return {word for at, word in enumerate(of.words) if at not in of.heads}


_SIDED = {side: frozenset(side.split()) for sides in claiming.BROKEN for side in sides}


def _reworded(older: Outline, newer: Outline) -> str | None:
    """The same of the same, but for a few words behind its verb."""
    if older.past or older.denied or newer.past:
        return None
    subject, theirs = _who(older) - _EMPTY_OF_MATTER, _whole(newer)
    if not subject or not subject <= theirs:
        return None
    tail = [at for at in range(len(older.words)) if at not in older.heads]
    told = _tail(older) - older.verbs - _AUX
    measured = any(value.sort not in ("name", "colour", "compass") and value.place in tail for value in older.values)
    left = _parts(newer, newer.gone - newer.denied - newer.heads)
    if left and not left & told:
        return None  # "from the garage to the cellar" after "in the kitchen"
    known = _head(older) | told | older.verbs
    own = theirs - known - _EMPTY_OF_MATTER - newer.verbs
    lost = told - theirs - _EMPTY_OF_MATTER
    if measured or not own or not lost or max(len(told), len(own)) > _TAIL:
        return None
    if newer.denied and (not told & _parts(newer, newer.denied) or not own - _parts(newer, newer.denied)):
        return None  # "isn't in charge of the budget any more" after "is in charge of hiring"
    if not {("a", "new"), ("the", "new")}.isdisjoint(pairwise(newer.words)):
        return None  # "The kitchen has a new stove"; "Chen is the new office lead", and may lead the project as well
    if _beside(older, newer, own):
        return None
    foreign = _head(newer) - _head(older) - _EMPTY_OF_MATTER - {"correction"}
    if foreign or _any_of(older) or _attached(newer, subject, ()):
        return None
    return "word" if _exclusive(older, newer) else None


def _beside(older: Outline, newer: Outline, there: set[str]) -> bool:
    """True if both may hold: "moved to second place" is no town, and a town may lie in a country."""
    return bool(there & _NOWHERE) or _in_region(older) != _in_region(newer)


@once
def _in_region(of: Outline) -> bool:
    return any(one.text in claiming.REGIONS and one.place not in of.heads for one in of.values if one.sort == "name")


_NOWHERE = frozenset(stemmed(word) for word in ["place", "team", "position", "role", "rank", "level", "department"])


@once
def _who(older: Outline) -> set[str]:
    """The words of the subject that a later text has to name: for "customer Arden" the name, which ends it."""
    end = max(older.heads, default=-1)
    named = any(value.sort == "name" and value.place == 0 and value.end == end + 1 for value in older.values)
    if named and older.words[0] not in ("the", "a", "an") and len(older.words[end]) >= _LEAST:
        return _parts(older, [end]) or {older.stems[end]}
    return _head(older)


def _exclusive(older: Outline, newer: Outline) -> bool:
    """Whether there is one at a time of what stands behind the verbs: a place, who or what it is, or it says so."""
    flat = f" {' '.join(newer.words)} "
    strong = any(f" {phrase} " in flat for phrase in claiming.STRONG)
    before = _lead(older)
    alike = before == _lead(newer) and before in claiming.PLACED | {"a", "an", "the", "by", "with", "to", "from", "for"}
    mine, theirs = older.verbs - _AUX, newer.verbs - _AUX
    if mine & theirs:
        return alike or strong
    if mine and not mine <= _STANDING:
        return False
    changed = theirs & _CHANGED or any(
        after in claiming.CHANGES and word in ("was", "were", "been", "got") for word, after in pairwise(newer.words)
    )
    return not theirs - _CHANGING and ((alike and before not in ("with", "for")) or bool(changed))


_STANDING = frozenset(map(stemmed, bag("standing")))
_CHANGED = frozenset(stemmed(word) for word in claiming.CHANGES)


@once
def _lead(of: Outline) -> str:
    """The word that what stands behind the verb begins with."""
    verb = max(of.heads, default=-1) + 1
    behind = (word for word in of.words[verb + 1 :] if not light(word) and word not in claiming.ADVERBS)
    return next(behind, "")


def _elsewhere(older: Outline, newer: Outline) -> str | None:
    """One thing is said to be in two places, the later one without a cue."""
    if older.past or newer.past or older.denied or newer.denied or older.verbs - _AUX or newer.verbs - _AUX:
        return None
    heads = [tuple(of.words[at] for at in sorted(of.heads)) for of in (older, newer)]
    if heads[0] != heads[1] or not heads[0] or _any_of(older) or not _head(older):
        return None
    tails = [_tail(of) for of in (older, newer)]
    if any(value.sort in _SCHEDULED and value.place not in of.heads for of in (older, newer) for value in of.values):
        return None  # another time is no other place: it may be once more
    short = all(0 < len(tail) <= _PAIR for tail in tails)
    same = _lead(older) == _lead(newer) and _lead(older) in claiming.PLACED
    return "word" if short and same and not tails[0] & tails[1] else None


def _called_off(older: Outline, newer: Outline) -> str | None:
    """Returns the slot if the later text calls off what was planned."""
    planned = any(value.sort in _SCHEDULED for value in older.values) or "will" in older.words
    if older.past or older.denied or not planned or not _off(newer):
        return None
    matter = _matter(newer)
    known = _said(older)
    named = any(at not in newer.gone or at in newer.heads for at, stem in enumerate(newer.stems) if stem in matter)
    if not matter or not named:
        return None
    left = matter - known
    return "off" if not left or (left <= claiming.EVENTS and len(matter - left) > 0) else None


@once
def _off(newer: Outline) -> bool:
    text = f" {' '.join(newer.words)} "
    told = any(phrase in text for phrase in (" is off ", " are off ", " called off "))
    off = told or not claiming.OVER.isdisjoint(newer.words)
    return off and not newer.denied and all(value.sort not in _SCHEDULED for value in newer.values)


@once
def _gone(newer: Outline) -> set[str]:
    return {newer.words[at] for at in newer.gone}


def _relieved(older: Outline, newer: Outline) -> str | None:
    """Somebody else does, or is, what one did who has left: the subject is the value."""
    if older.past or older.denied or not 0 < len(older.heads) <= 2:
        return None
    if any(older.words[at] not in _gone(newer) for at in older.heads) or not _head(older):
        return None
    told = {stem for at, stem in enumerate(older.stems) if stem and at not in older.heads}
    if not told:
        return None
    standing = {stem for at, stem in enumerate(newer.stems) if stem and at not in newer.gone}
    others = [v for v in newer.values if v.sort == "name" and v.place not in newer.gone]
    return "duty" if told <= standing and bool(others) and not _attached(newer, told, others) else None


def _succeeded(older: Outline, newer: Outline) -> str | None:
    """Somebody took over from, or replaces, the one whom the earlier text names: "Falk took over from Adeyemi"."""
    if older.past or older.denied or newer.denied:
        return None
    at = _taking_over(newer)
    if at is None:
        return None
    passive = newer.words[at - 1] in ("was", "is", "been") and "by" in newer.words[at:]
    came = newer.words.index("by", at) + 1 if passive else _before(newer, at)
    comes = next((value.end - 1 for value in newer.values if value.place <= came < value.end), came)
    names = [one for one in _people(older) if one in newer.words]
    if not names or came < 0 or newer.words[comes] in older.words:
        return None
    gone = {place for place, word in enumerate(newer.words) if word in names} | {came, comes}
    behind = set(range(at + 1, len(newer.words))) - gone
    taken = _parts(newer, behind) - _EMPTY_OF_MATTER - _TITLED - {stemmed("took"), stemmed("over")}
    told = set(map(stemmed, older.words)) - _TITLED
    role = not older.verbs - _AUX and {names[0]} in (_behind(older) - _SMALL, {older.words[a] for a in older.heads})
    return "duty" if (taken <= told if taken else role) else None


def _handed(older: Outline, newer: Outline) -> str | None:
    """Returns the slot if a duty has passed to another person, by name: "Ownership of billing went to Priya"."""
    kin = next((claiming.OFFICES[newer.words[at]] for at in newer.heads if newer.words[at] in claiming.OFFICES), None)
    if kin is None or older.past or older.denied or newer.denied or not older.heads or _any_of(older):
        return None
    others = [
        value.text
        for value in newer.values
        if value.sort == "name" and value.before in ("to", "with", "by") and value.place not in newer.gone
    ]
    about = {stem for at, stem in enumerate(newer.stems) if stem and at in newer.heads} - _EMPTY_OF_MATTER
    told = {stem for at, stem in enumerate(older.stems) if stem and at not in older.heads} - _EMPTY_OF_MATTER
    of = told - kin
    if not kin & (told | older.verbs) or not of - older.verbs or not of - older.verbs <= about:
        return None
    return "duty" if others and not set(others) & set(older.words) else None


@once
def _taking_over(newer: Outline) -> int | None:
    return next((at for at, pair in enumerate(pairwise(newer.words)) if _takes_over(*pair)), None)


def _takes_over(word: str, after: str) -> bool:
    return word in claiming.REPLACES or (word in ("took", "taken", "takes") and after == "over")


def _before(newer: Outline, at: int) -> int:
    """The place of the last content word before a verb; -1 if there is none."""
    return next((place for place in range(at - 1, -1, -1) if newer.stems[place] or _name_at(newer, place)), -1)


def _name_at(of: Outline, place: int) -> bool:
    return any(value.sort == "name" and value.place <= place < value.end for value in of.values)


def _people(of: Outline) -> list[str]:
    """The last words of names, and of the subject where it is one word."""
    names = [value.text.split()[-1] for value in of.values if value.sort == "name"]
    return names + [of.words[0]] * (of.heads == {0})


_TITLED = frozenset(stemmed(word) for word in claiming.TITLES | {"captain", "nurse"})
_SMALL = frozenset({"the", "a", "an", "our", "my", "is", "are", "now"}) | claiming.TITLES


def _carried(older: Outline, newer: Outline) -> str | None:
    """Somebody brought a thing elsewhere: "Jo drove the tractor to the upper barn"."""
    if older.past or older.denied or newer.denied or _lead(older) not in claiming.PLACED | {"with"}:
        return None
    if older.verbs - _AUX - _STANDING:
        return None
    carried_by = _HANDED if _lead(older) == "with" else _CARRIED  # "the key is with Olaf"
    subject, said = [older.stems[at] for at in sorted(older.heads) if older.stems[at]], newer.words
    verb = next((at for at, word in enumerate(said) if stemmed(word) in carried_by), None)
    if verb is None or not subject or _any_of(older):
        return None
    to = next((at for at in range(verb + 1, len(said)) if said[at] in claiming.PLACED | {"to", "into", "onto"}), None)
    # "We moved the piano to", "we had the piano moved to".
    begin = 0 if to == verb + 1 else verb + 1
    carried = [newer.stems[at] for at in range(begin, verb if to == verb + 1 else to or 0) if newer.stems[at]]
    if to is None or carried != subject or not claiming.INDEFINITE.isdisjoint(said[verb + 1 : to]):
        return None
    there = _parts(newer, range(to + 1, len(said)))
    before = _tail(older) - older.verbs
    return "word" if there and there - before and not _beside(older, newer, there) else None


_HANDED = frozenset(stemmed(word) for word in ["gave", "handed", "passed", "lent", "returned"])


@once
def _carries(newer: Outline) -> bool:
    """Whether it says that something was carried elsewhere, or had to be, or handed on."""
    if newer.verbs & (_CARRIED | _HANDED):
        return True
    return ("had", "to") in pairwise(newer.words) and not _CARRIED.isdisjoint(newer.stems)


_CARRIED = frozenset(map(stemmed, bag("carried")))
