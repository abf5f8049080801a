"""Details of uses, as the journal has them."""

from __future__ import annotations

from memquorum.core.records import APPLIED, Accessed, MemoryUsed


def used(*memory_ids: str, outcome: str = APPLIED, agent: str = "bob", at: int = 0) -> Accessed:
    """Builds the detail of a use that is the same for all these memories."""
    return Accessed(agent, at, tuple(MemoryUsed(one, outcome) for one in memory_ids))
