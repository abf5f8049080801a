"""The facets of an episode, which say how its content may be used: type, sensitivity, purposes, jurisdiction (SPEC D).

- `type`: one of `TYPES`; episodic where nothing is said.
- `sensitivity`: how sensitive the content is, in [0, 1]; 0 where nothing is said. Kept in millionths.
- `purposes`: what the content may be used for; for anything where none is named.
- `jurisdiction`: whose law it is under, as ISO 3166 writes it (DE, US-CA; EU).

A memory made of others is no freer than they are: at least as sensitive as the most sensitive of them, for the purposes
that all of them are for, and under the law of each. So a memory can be under several, and can be for no purpose at all.

One purpose binds nothing: `diffusion` says that the general form of it may be given in other namespaces, too (SPEC E;
SEDM 3.4). A memory that names it alone is otherwise for any purpose. A memory that an agent makes of others has it if
the agent names it and all of them have it; one that the service makes, if all of them have it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, Protocol

from msgspec import Struct

from memquorum.core import policy
from memquorum.core.policy import PPM, BudgetPolicy
from memquorum.core.records import Summary

TYPES = policy.TYPES
EPISODIC = TYPES[0]
PURPOSES_MAX = 16
SENSITIVE_PPM = 300_000
"""Memories of at least this sensitivity need a summary that is less sensitive than they are."""
DIFFUSION: Final = "diffusion"
"""The purpose that lets general forms be given in other namespaces."""

# No comma: the store joins names by it.
_PURPOSE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,63}\Z")
_JURISDICTION = re.compile(r"[A-Z]{2}(-[A-Z0-9]{1,3})?\Z")


class BadFacet(ValueError):
    """A value that its field may not have: the field, a reason code of intake, and what to do."""

    def __init__(self, field: str, code: str, detail: str) -> None:
        super().__init__(f"{field}: {detail}")
        self.field, self.code, self.detail = field, code, detail


class Said(Protocol):
    """The facets that a record states: of an episode behind the wall, or of the journal of one."""

    @property
    def type(self) -> str:
        """The type, one of `TYPES`."""

    @property
    def sensitivity_ppm(self) -> int | None:
        """The sensitivity in millionths; None where nothing is said."""

    @property
    def purposes(self) -> tuple[str, ...]:
        """None of them: for anything."""

    @property
    def jurisdiction(self) -> str | None:
        """The jurisdiction under whose law it is."""

    @property
    def summary(self) -> Summary | None:
        """The summary that the service made of memories, if it is one."""


class Kept(Protocol):
    """The facets that the store keeps of a memory: names joined by commas."""

    @property
    def sensitivity_ppm(self) -> int:
        """The sensitivity in millionths."""

    @property
    def purposes(self) -> str | None:
        """None: for anything; empty: for nothing."""

    @property
    def jurisdictions(self) -> str:
        """All those whose law it is under."""


class Stated(Struct, frozen=True):
    """The facets that a memory states of itself, whatever it was made of. `made`: it is a summary of the service's,
    which states no purposes."""

    type: str = EPISODIC
    sensitivity_ppm: int | None = None
    purposes: tuple[str, ...] = ()
    jurisdiction: str | None = None
    made: bool = False


class Facets(Struct, frozen=True):
    """The facets that hold for a memory, as the store keeps them: see `Kept`."""

    type: str = EPISODIC
    sensitivity_ppm: int = 0
    purposes: str | None = None
    jurisdictions: str = ""


_PLAIN = Facets()


def facets(said: Said, sources: Iterable[Kept] = ()) -> Facets:
    """Returns the facets of a memory that states `said` and was made of `sources`."""
    return held(stated(said), sources)


def stated(said: Said) -> Stated:
    """Returns what a record states of its memory."""
    return Stated(said.type, said.sensitivity_ppm, said.purposes, said.jurisdiction, said.summary is not None)


def held(said: Stated, sources: Iterable[Kept] = ()) -> Facets:
    """Returns the facets of a memory that states `said` and was made of `sources`."""
    sources = tuple(sources)
    if not sources and said.sensitivity_ppm is None and not said.purposes and said.jurisdiction is None:
        return _PLAIN if said.type == EPISODIC else Facets(said.type)
    # The service's own summaries state no purposes; for any other memory without purposes nothing crosses.
    told = [",".join(said.purposes) or None] if said.purposes or not sources or not said.made else []
    laws = set() if said.jurisdiction is None else {said.jurisdiction}
    for source in sources:
        laws.update(names(source.jurisdictions))
    return Facets(
        said.type,
        max([said.sensitivity_ppm or 0, *(source.sensitivity_ppm for source in sources)]),
        _common([*told, *(source.purposes for source in sources)]),
        ",".join(sorted(laws)),
    )


def _common(every: Iterable[str | None]) -> str | None:
    """The purposes that all of some memories are for, as the store has them."""
    allowed, diffuse = None, True
    for one in every:
        theirs = bound_to(one)
        if theirs is not None:
            allowed = set(theirs) if allowed is None else allowed & set(theirs)
        diffuse = diffuse and diffuses(one)
    if allowed is None:
        return DIFFUSION if diffuse else None
    # A memory without an allowed purpose is not for diffusion either.
    return ",".join(sorted(allowed | {DIFFUSION} if diffuse and allowed else allowed))


def bound_to(purposes: str | None) -> tuple[str, ...] | None:
    """The purposes that a memory is for where it is read, as the store has them; None: it is for anything."""
    if purposes is None or purposes == DIFFUSION:
        return None
    return tuple(one for one in names(purposes) if one != DIFFUSION)


def diffuses(purposes: str | None) -> bool:
    """Whether the general form of a memory may be given in other namespaces."""
    return purposes is not None and DIFFUSION in names(purposes)


def names(joined: str) -> tuple[str, ...]:
    """The names that the store has joined."""
    return tuple(joined.split(",")) if joined else ()


def check(said: Said) -> None:
    """Raises BadFacet for what may not be said."""
    check_type("type", said.type)
    if not 0 <= (said.sensitivity_ppm or 0) <= PPM:
        raise BadFacet("sensitivity", "out_of_range", "must lie in [0, 1]")
    check_purposes("purposes", said.purposes)
    if said.jurisdiction is not None:
        check_jurisdiction("jurisdiction", said.jurisdiction)


def check_type(field: str, value: str) -> None:
    """Raises BadFacet unless it is a type."""
    if value not in TYPES:
        raise BadFacet(field, "out_of_range", f"must be one of {', '.join(TYPES)}")


def check_purposes(field: str, values: tuple[str, ...]) -> None:
    """Raises BadFacet unless they are names of purposes."""
    if len(values) > PURPOSES_MAX:
        raise BadFacet(field, "too_many", f"{len(values)} names; {PURPOSES_MAX} are the most")
    for value in values:
        check_purpose(field, value)


def check_purpose(field: str, value: str) -> None:
    """Raises BadFacet unless it is the name of a purpose."""
    if not _PURPOSE.match(value):
        told = "only A-Z a-z 0-9 . _ : - are allowed, 1 to 64 of them, a letter or digit at the start"
        raise BadFacet(field, "bad_name", told)


def check_jurisdiction(field: str, value: str) -> None:
    """Raises BadFacet unless it looks as ISO 3166 writes a country or a part of one."""
    if not _JURISDICTION.match(value):
        raise BadFacet(field, "bad_name", "must be as ISO 3166 writes it: DE, US-CA, EU")


def summary_fits(policy: BudgetPolicy, distortion_ppm: int, sensitivity_ppm: int, most_ppm: int) -> bool:
    """Whether a summary may take the place of its sources: it is near enough to them (τ_util), and less sensitive by
    enough (τ_priv) than the most sensitive of them, whose sensitivity is `most_ppm`."""
    allowed = most_ppm - policy.relief_ppm if most_ppm >= SENSITIVE_PPM else most_ppm
    return distortion_ppm <= policy.distortion_ppm and sensitivity_ppm <= allowed
