"""Decides whether a sentence that a model wrote may stand for its sources: its numbers, times, names and negations have
to be theirs (SPEC C, decisions; research: peers).

`refused` decides, for the consolidator before it publishes and for each member before it votes. A sentence is compared
with all that its sources say, so that nothing is made up. It is compared with those of their sentences that it renders,
so that nothing is reversed or left out: denials, and whether something was or will be. A doubtful sentence is refused:
the source's own sentence can be quoted instead.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from msgspec import Struct

from memquorum.core.reading.content import content
from memquorum.core.reading.sentences import spans
from memquorum.core.reading.stated import Date, Stated, opening, readings, stated

NUMBER, DATE, NAME, NEGATION, UNLIKE, LEFT_OUT = REASONS = (
    "number", "date", "name", "negation", "unlike", "time left out",
)  # fmt: skip
"""The reasons to refuse a sentence: it has a number, time, name or negation that no source has; it has few words of
theirs; it leaves out whether its matter was or will be."""
CHARACTERS_MAX = 1_000
SOURCE_MAX = 8_000
"""Characters: nothing that a model wrote stands for a longer source, of which each sentence is held against it."""

_LIKE = 1 / 3
"""So much of a sentence's content has to be in its sources."""
RENDERED = 1 / 2
"""From so much of its content on, what a source says is rendered by a sentence."""
_WHOLLY = 0.8
"""From so much of its content on, nothing of what a source says is left out."""
_CLAUSE = re.compile(
    r"[,;:—–()]\s+|\s[-–—]\s|\s(?=(?:but|because|although|though|whereas|while|since|so that|aber|weil|obwohl|"
    r"sondern|während|denn|and then)\b)",
    re.IGNORECASE,
)


class _Part(Struct, frozen=True):
    """A sentence or a clause of a source."""

    text: str
    stems: frozenset[str]


def refused(sentence: str, sources: Sequence[str]) -> str | None:
    """Returns why a sentence may not stand for these texts, one of `REASONS`; None if it may."""
    if len(sentence) > CHARACTERS_MAX or any(len(text) > SOURCE_MAX for text in sources):
        return UNLIKE
    said, known = stated(sentence), [stated(text) for text in sources]
    if said.foreign or not _like(sentence, said, known):
        return UNLIKE
    rendered = _rendered(said, [part for text in sources for part in _sentences(text)])
    if not _numbers_known(said, [one.text for one in rendered]):
        return NUMBER
    if not _times_known(said, known):
        return DATE
    if not _names_known(said, known):
        return NAME
    clauses = [part for text in sources for part in _clauses(text)]
    if not _as_denied(said, clauses) or not _as_often(sentence, clauses) or not _all_denied(sentence, rendered):
        return NEGATION
    return LEFT_OUT if _left_out(said, rendered) else None


def nearest(sentence: str, sources: Sequence[str]) -> tuple[int, int, int] | None:
    """The source's own sentence that one renders most of: the place of its source, and where it lies there. None where
    they have nothing in common."""
    stems = frozenset(content(sentence).stems)
    found = [
        (len(stems & said) / (len(said) or 1) + len(stems & said), -at, -start, end)
        for at, text in enumerate(sources)
        for start, end in spans(text)
        for said in (frozenset(content(text[start:end]).stems),)
        if stems & said
    ]
    if not found:
        return None
    _, at, start, end = max(found)
    return -at, -start, end


def _like(sentence: str, said: Stated, known: Sequence[Stated]) -> bool:
    # A sentence without a content word cannot be compared with the sources.
    if not _content(sentence):
        return False
    stems = said.stems - said.negated
    theirs = frozenset[str]().union(*(one.stems | one.negated for one in known))
    return bool(known) and bool(stems | said.negated) and len(stems & theirs) >= _LIKE * len(stems)


def _numbers_known(said: Stated, sources: Sequence[str]) -> bool:
    theirs = frozenset[tuple[str, str]]().union(*map(readings, sources))
    # A unit may be left out, not changed or made up: of "12" nobody knows that it is 12 %.
    return all(any(value in values and unit in ("", of) for value, of in theirs) for values, unit in said.numbers)


def _times_known(said: Stated, known: Sequence[Stated]) -> bool:
    clocks = [minutes for one in known for minutes in one.clocks]
    dates = [date for one in known for date in one.dates]
    moments = frozenset[str]().union(*(one.moments for one in known))
    return (
        all(any(minutes & other for other in clocks) for minutes in said.clocks)
        and all(any(_of(date, other) for other in dates) for date in said.dates)
        and said.moments <= moments
    )


def _of(date: Date, other: Date) -> bool:
    """True if a date has no part that the other does not have."""
    return all(mine is None or mine == theirs for mine, theirs in zip(date, other, strict=True))


def _names_known(said: Stated, known: Sequence[Stated]) -> bool:
    words = frozenset[str]().union(*(one.words for one in known))
    stems = frozenset[str]().union(*(one.stems | one.negated for one in known))
    pairs = frozenset[tuple[str, str]]().union(*(one.pairs for one in known))
    names = {name for one in known for name, _ in one.names}
    for name, opens in said.names:
        if name not in words and not (opens and (opening(name) or frozenset(content(name).stems) & stems)):
            return False
    # Each is known; of both together, as of one person, somebody has to have spoken.
    return all(pair in pairs or not set(pair) <= names for pair in said.pairs)


def _as_denied(said: Stated, clauses: Sequence[_Part]) -> bool:
    """Whether it denies what its sources deny, and nothing else, as far as it speaks of it."""
    rendered = [stated(one.text) for one in _rendered(said, clauses)]
    if not rendered:
        return not said.negated
    # A denied word must occur in the sources: "it is not true that" denies something of its own.
    spoken = frozenset[str]().union(*(one.stems | stated(one.text).stems for one in clauses))
    if said.negated - spoken - {""}:
        return False
    negated = frozenset[str]().union(*(one.negated for one in rendered))
    stems = frozenset[str]().union(*(one.stems for one in rendered))
    if (said.negated & stems) - negated or (negated & said.stems) - said.negated:
        return False
    if bool(said.negated) != bool(negated):
        return False
    return _same_sides(said.poles, frozenset[tuple[int, bool]]().union(*(one.poles for one in rendered)))


def _as_often(sentence: str, clauses: Sequence[_Part]) -> bool:
    """Whether each of its clauses negates as often as the one of the sources that it has most of. "It is not true that
    he never came" negates twice what is denied once."""
    for mine in _clauses(sentence):
        shared = [(len(mine.stems & one.stems), -len(one.stems), -at) for at, one in enumerate(clauses)]
        most, _, at = max(shared, default=(0, 0, 0))
        said = stated(mine.text)
        its = stated(clauses[-at].text) if most else None
        # "Not only" denies nothing; "only" is the contrary of it, and so is what leaves it out.
        if (said.denials, said.only) != ((0, said.only) if its is None else (its.denials, its.only)):
            return False
    return True


def _all_denied(sentence: str, rendered: Sequence[_Part]) -> bool:
    """Whether what says all that some sentences say, and nothing else, denies as often as they: also where a clause has
    no word by which it is known, as in "but not all of us"."""
    said, stems = stated(sentence), _content(sentence)
    of = [(one, _content(one.text)) for one in rendered]
    whole = [one for one, its in of if len(stems & its) >= _WHOLLY * len(its)]
    if not whole or stems - frozenset[str]().union(*(_content(one.text) for one in whole)):
        return True
    theirs = [stated(one.text) for one in whole]
    only = frozenset[bool]().union(*(one.only for one in theirs))
    return said.denials == sum(one.denials for one in theirs) and said.only == only


def _same_sides(mine: frozenset[tuple[int, bool]], theirs: frozenset[tuple[int, bool]]) -> bool:
    """Whether of no axis of opposites it takes the side that the sources do not, where they take the other."""
    axes = {axis for axis, _ in theirs}
    return all((axis, side) in theirs for axis, side in mine if axis in axes)


def _left_out(said: Stated, rendered: Sequence[_Part]) -> bool:
    """Whether a sentence of a source that it renders says when, and it does not."""
    return any(not _times_known(stated(one.text), [said]) for one in rendered)


def _rendered(said: Stated, parts: Sequence[_Part]) -> list[_Part]:
    """Those that it renders: the one that it has most of, and each of which it has half, and that is in no other."""
    shared = [(len(said.stems & one.stems), len(one.stems)) for one in parts]
    most = max((some for some, _ in shared), default=0)
    if not most:
        return []
    best = max(range(len(parts)), key=lambda at: (shared[at][0], -shared[at][1], -at))
    mine = said.stems - parts[best].stems
    return [
        one
        for at, (one, (some, whole)) in enumerate(zip(parts, shared, strict=True))
        if at == best or (some >= RENDERED * whole and mine & one.stems)
    ]


def _sentences(text: str) -> Iterable[_Part]:
    return (_part(text[start:end]) for start, end in spans(text))


def _clauses(text: str) -> Iterable[_Part]:
    return (
        _part(clause)
        for start, end in spans(text)
        for clause in _CLAUSE.split(text[start:end])
        if clause and clause.strip()
    )


def _content(text: str) -> frozenset[str]:
    return frozenset(content(text).stems)


def _part(text: str) -> _Part:
    found = stated(text)
    return _Part(text, frozenset(content(text).stems) | found.negated - {""})
