"""Decides whether a memory's text may be sent to an outside model that summarizes (SPEC C and D).

A memory is kept back where it is more sensitive than the recipient may see, is not for the purpose of summing up, or is
under a law that the recipient is not under. A memory without gates may be sent (`core.facets`).
"""

from __future__ import annotations

from msgspec import Struct

from memquorum.core.facets import Kept, bound_to, names

SENSITIVITY, PURPOSE, JURISDICTION = "sensitivity", "purpose", "jurisdiction"


class Gate(Struct, frozen=True):
    """The bounds of a recipient: the highest sensitivity it may see, in millionths, the purpose it asks for, and the
    laws it is under."""

    sensitivity_ppm: int
    purpose: str
    jurisdictions: frozenset[str] = frozenset()

    def keeps(self, memory: Kept) -> str | None:
        """Returns why a memory is kept back; None if its text may be sent."""
        if memory.sensitivity_ppm > self.sensitivity_ppm:
            return SENSITIVITY
        purposes = bound_to(memory.purposes)
        if purposes is not None and self.purpose not in purposes:
            return PURPOSE
        return None if set(names(memory.jurisdictions)) <= self.jurisdictions else JURISDICTION
