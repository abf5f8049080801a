"""Finds the statements of a memory that another memory says otherwise, and marks them.

A note may hold several statements, and a newer one denies some of them: "Ada moved to Linz" leaves her telephone as it
is. `denied` finds them by the rules by which the contradiction was found, and where none tells, by the words that both
have. The memory is served whole, with a mark on those statements.

A mark says *overtaken* where one agent said both memories, or where the newer one takes the older one's place on
purpose. A mark of another agent's word says *disputed*: then the reader decides.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from memquorum.core.api.answers import Overtaken
from memquorum.core.reading.sentences import spans
from memquorum.core.text.agreement import gist
from memquorum.core.text.conflict import between, read
from memquorum.core.text.content import content
from memquorum.core.text.meant import meant, replaces

STATEMENTS_MOST = 64
"""So many statements of a text are compared, the first; the rest is marked by none."""


class Otherwise(Struct, frozen=True):
    """A newer memory that contradicts an older one. `by`: its id; `agent`: who said it, `at`: when, in milliseconds.
    `statements`: the statements of the older one that it denies; empty where none can be told apart from the rest."""

    by: str
    agent: str
    at: int
    disputed: bool
    statements: tuple[str, ...] = ()


class Beside(Struct, frozen=True):
    """The contradictions of a memory. `conflicts_with`: all that says otherwise, older or newer; `against`: the newer
    ones; `overtakes`: the older ones that it overtook."""

    conflicts_with: tuple[str, ...] = ()
    against: tuple[Otherwise, ...] = ()
    overtakes: tuple[str, ...] = ()


NOTHING = Beside()


def statements(text: str) -> tuple[str, ...]:
    """The statements of a text, in order: its sentences and lines, at most `STATEMENTS_MOST`."""
    return tuple(text[start:end] for start, end in spans(text)[:STATEMENTS_MOST])


def denied(older: Sequence[str], newer: str, *, own: bool) -> tuple[str, ...]:
    """The statements of an older text that a newer one contradicts; empty where no rule tells. `own`: whether one agent
    said both."""
    if len(older) == 1:
        return tuple(older)
    later, values = read(gist(newer)), meant(newer)
    found = {one: between(read(gist(one)), later, same_agent=own) for one in older}
    return (
        tuple(one for one, finding in found.items() if finding is not None and finding.exact)
        or tuple(one for one, finding in found.items() if finding is not None)
        or tuple(one for one in older if values and replaces(values, gist(one)))
    )


def nearest(older: Sequence[str], newer: str) -> tuple[str, ...]:
    """The statement of an older text that has the most words in common with a newer one; empty where two have as
    many, or none has any."""
    asked = {*content(newer).stems}
    ranked = sorted(((len(asked.intersection(content(one).stems)), one) for one in older), reverse=True)
    if not ranked or not ranked[0][0] or (len(ranked) > 1 and ranked[0][0] == ranked[1][0]):
        return ()
    return (ranked[0][1],)


def placed(text: str, against: Iterable[Otherwise], *, excerpt: bool = False) -> tuple[Overtaken, ...]:
    """The marks of a text as it is given. An excerpt has the marks of its own statements. A statement that is
    missing from a whole text was masked, and its mark has no spans."""
    found = list[Overtaken]()
    for one in against:
        places = [(at, at + len(said)) for said in one.statements if (at := text.find(said)) >= 0]
        if places or not one.statements or not excerpt:
            found.append(Overtaken(one.by, one.agent, one.at, one.disputed, tuple(sorted(places))))
    return tuple(found)
