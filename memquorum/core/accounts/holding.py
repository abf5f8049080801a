"""This module says which limits hold for the use of a memory: its own, and those of the memories it was made of."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from memquorum.core.facets import DIFFUSION, EPISODIC, Facets, facets, names
from memquorum.core.journal.rows import Memory
from memquorum.core.policy import PPM
from memquorum.core.records import Stored
from memquorum.core.tiers import RESTING, SUPERSEDED


class Suggested(Struct, frozen=True):
    """A sensitivity that intake suggested, in millionths, by which rules. `kinds`: what the content holds by the rules
    of today, never the content itself; None where that is sealed, or not there any more."""

    sensitivity_ppm: int
    rules: str
    kinds: tuple[str, ...] | None


class Holds(Struct, frozen=True):
    """The conditions on the use of a memory and of everything made of it. `purposes`: None for anything, () for
    nothing. `stricter`: its sources made it stricter than its publisher said. `reordered`: it was made of none, and an
    order set other limits than its publisher did.

    `suggested`: where its publisher said no sensitivity, which one was suggested at the door, by which rules; with the
    kinds of what its content holds, while that is there.
    """

    type: str
    sensitivity_ppm: int
    purposes: tuple[str, ...] | None
    jurisdictions: tuple[str, ...]
    stricter: bool
    suggested: Suggested | None = None
    reordered: bool = False


def holds(memory: Memory, said: object, kinds: tuple[str, ...] | None = None) -> Holds:
    """Returns the conditions on the use of a memory. `said`: the journal's detail of its birth; `kinds`: the kinds of
    sensitive data in its content."""
    kept = Facets(memory.type, memory.sensitivity_ppm, memory.purposes, memory.jurisdictions)
    differs = isinstance(said, Stored) and facets(said) != kept
    made = isinstance(said, Stored) and bool(said.derives_from)
    return Holds(
        type=kept.type,
        sensitivity_ppm=kept.sensitivity_ppm,
        purposes=None if kept.purposes is None else names(kept.purposes),
        jurisdictions=names(kept.jurisdictions),
        stricter=differs and made,
        suggested=_suggested(said, kinds),
        reordered=differs and not made,
    )


def _purposes(named: tuple[str, ...]) -> Iterator[str]:
    only = [one for one in named if one != DIFFUSION]
    if only or not named:
        yield f"for {', '.join(only)} only" if only else "for no purpose at all"
    if DIFFUSION in named:
        yield "its general form may be given in other namespaces"


def _suggested(said: object, kinds: tuple[str, ...] | None) -> Suggested | None:
    if not isinstance(said, Stored) or said.suggested is None:
        return None
    return Suggested(said.sensitivity_ppm or 0, said.suggested, kinds)


def lines(held: Holds, tier: str) -> Iterator[str]:
    """Tells in words those limits that most memories do not have. `tier`: where the memory is now."""
    told = [] if held.type == EPISODIC else [held.type]
    if held.sensitivity_ppm:
        told.append(f"sensitivity {held.sensitivity_ppm / PPM:g}")
    if held.purposes is not None:
        told += _purposes(held.purposes)
    if held.jurisdictions:
        told.append(f"under the law of {', '.join(held.jurisdictions)}")
    if told:
        yield f"  Its use: {'; '.join(told)}{', as strict as what it was made of' if held.stricter else ''}."
    if held.reordered:
        yield "  An order changed what it may be used for."
    if held.suggested is not None:
        by = held.suggested
        away = "rests sealed" if tier in (*RESTING, SUPERSEDED) else "is not there any more"
        what = f"for it holds {', '.join(by.kinds)}" if by.kinds else f"by content that {away}"
        if by.kinds == ():
            what = "and by the rules of today it would not be"
        yield f"  Its publisher said no sensitivity; {by.sensitivity_ppm / PPM:g} was suggested by {by.rules}, {what}."
