"""What may leave the house: whether a memory's text may be sent to somebody who sums up (SPEC C and D).

A memory is kept back where it is more sensitive than the recipient may see, is not for the purpose of summing up, or is
under a law that the recipient is not under. Where nothing is said, nothing forbids it (`core.facets`).
"""

from __future__ import annotations

from msgspec import Struct

from memquorum.core.facets import Kept, bound_to, names

SENSITIVITY, PURPOSE, JURISDICTION = "sensitivity", "purpose", "jurisdiction"


class Gate(Struct, frozen=True):
    """What a recipient may see: up to which sensitivity, in millionths, for which purpose it asks, and under which laws
    it is."""

    sensitivity_ppm: int
    purpose: str
    jurisdictions: frozenset[str] = frozenset()

    def keeps(self, memory: Kept) -> str | None:
        """Why a memory is kept back; None where its text may leave."""
        if memory.sensitivity_ppm > self.sensitivity_ppm:
            return SENSITIVITY
        purposes = bound_to(memory.purposes)
        if purposes is not None and self.purpose not in purposes:
            return PURPOSE
        return None if set(names(memory.jurisdictions)) <= self.jurisdictions else JURISDICTION
