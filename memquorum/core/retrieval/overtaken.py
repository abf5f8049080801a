"""Marks the statements of a memory that another memory says otherwise.

A note may hold several statements, and a newer one denies some of them: "Ada moved to Linz" leaves her telephone as it
is (`core.denying`). The memory is served whole, with a mark on those statements.

A mark says *overtaken* where one agent said both memories, or where the newer one takes the older one's place on
purpose. A mark of another agent's word says *disputed*: then the reader decides.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from memquorum.core.api.answers import Overtaken


class Otherwise(Struct, frozen=True):
    """A newer memory that contradicts an older one, or took its place. `by`: its id; `agent`: who said it; None where
    the reader may not see that. `at`: when, in milliseconds. `statements`: the statements of the older one that it
    denies; empty where none can be told apart from the rest."""

    by: str | None
    agent: str | None
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


def joined(beside: Iterable[Beside]) -> Beside:
    """The contradictions of hits that say the same, for the hit that stands for them: each once."""
    conflicts, against, overtakes = dict[str, None](), dict[str | None, Otherwise](), dict[str, None]()
    for one in beside:
        conflicts |= dict.fromkeys(one.conflicts_with)
        overtakes |= dict.fromkeys(one.overtakes)
        against = {by.by: by for by in one.against} | against
    marks = sorted(against.values(), key=lambda by: (by.at, by.by or ""))
    return Beside(tuple(conflicts), tuple(marks), tuple(overtakes))


def placed(text: str, against: Iterable[Otherwise], *, excerpt: bool = False) -> tuple[Overtaken, ...]:
    """The marks of a text as it is given. An excerpt has the marks of its own statements. A statement that is
    missing from a whole text was masked, and its mark has no spans."""
    found = list[Overtaken]()
    for one in against:
        places = [(at, at + len(said)) for said in one.statements if (at := text.find(said)) >= 0]
        if places or not one.statements or not excerpt:
            found.append(Overtaken(one.by, one.agent, one.at, one.disputed, tuple(sorted(places))))
    return tuple(found)
