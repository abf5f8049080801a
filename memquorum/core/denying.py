"""Finds the statements of an older text that a newer one denies, by their numbers.

A statement is a sentence or a line. Its number is its place in the text, from 1; white space changes no number, so a
text and its gist have the same. `denied` goes by the rules by which a contradiction is found, and `nearest` by the
words that both have. `again` tells whether a third text says once more what the second one had denied of the first.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from memquorum.core.reading.agreement import DIGEST, gist
from memquorum.core.reading.conflict import between, read
from memquorum.core.reading.content import content
from memquorum.core.reading.meant import meant, replaces
from memquorum.core.reading.persons import resolved
from memquorum.core.reading.sentences import spans
from memquorum.core.showing.comparing import STATEMENTS_MOST

Numbers = tuple[int, ...]


def statements(text: str) -> tuple[str, ...]:
    """The statements of a text, in order: its sentences and lines, at most `STATEMENTS_MOST`."""
    return tuple(text[start:end] for start, end in spans(text)[:STATEMENTS_MOST])


def numbered(said: Sequence[str], numbers: Iterable[int]) -> tuple[str, ...]:
    """The statements of these numbers; a number that no statement has names none."""
    return tuple(said[number - 1] for number in numbers if 0 < number <= len(said))


def numbers(older: str, newer: str, *, own: bool) -> Numbers:
    """The numbers of the statements of an older text that a newer one denies: by the rules, and where none tells, by
    the words that both have. Empty where that tells none, or the older one is the digest of a text. `own`: whether one
    agent said both."""
    if older.startswith(DIGEST):
        return ()
    said = statements(older)
    return denied(said, newer, own=own) or nearest(said, newer)


def denied(older: Sequence[str], newer: str, *, own: bool) -> Numbers:
    """The statements of an older text that a newer one contradicts; empty where no rule tells. `own`: whether one agent
    said both."""
    if len(older) == 1:
        return (1,)
    later, values = read(gist(newer)), meant(newer)

    def those(fits: Iterable[bool]) -> Numbers:
        return tuple(number for number, fit in enumerate(fits, 1) if fit)

    findings = [between(read(gist(one)), later, same_agent=own) for one in resolved(older)]
    return (
        those(one is not None and one.exact for one in findings)
        or those(one is not None for one in findings)
        or those(bool(values) and replaces(values, gist(one)) for one in older)
    )


def nearest(older: Sequence[str], newer: str) -> Numbers:
    """The statement of an older text that has the most words in common with a newer one; empty where two have as
    many, or none has any."""
    asked = {*content(newer).stems}
    ranked = sorted(
        ((len(asked.intersection(content(one).stems)), number) for number, one in enumerate(older, 1)), reverse=True
    )
    if not ranked or not ranked[0][0] or (len(ranked) > 1 and ranked[0][0] == ranked[1][0]):
        return ()
    return (ranked[0][1],)


def again(first: str, second: str, third: str, *, own: bool) -> bool:
    """True if a third text repeats what the second one denies of the first: the third denies the second, and is not
    known to deny the first.

    The test uses the words of the denied statements of the first text that the second lacks: the third must have at
    least half of them, and all of their numbers. It has no word that is in neither of the others, except words for a
    return to an earlier state ("back", "reverted"). `own`: whether one agent said the first and the second.
    """
    other, said = (frozenset(content(one).stems) for one in (second, third))
    # Most texts fail here, and no rule has to read them.
    left = said - other - _AS_IT_WAS
    if not left or not left <= frozenset(content(first).stems):
        return False
    parts = statements(first)
    told = numbered(parts, denied(parts, second, own=own))
    apart = frozenset(content("\n".join(told)).stems) - other
    counts = frozenset(one for one in apart if any(map(str.isdecimal, one)))
    return bool(apart) and 2 * len(apart & said) >= len(apart) and counts <= said


_AS_IT_WAS = frozenset(content("back correction corrected returned reverted first time old before").stems)
