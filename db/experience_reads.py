"""What the retrieval service asks of experience: what was admitted, and what it weighs (SPEC E)."""

from __future__ import annotations

from collections.abc import Sequence

from db.pool import Pool
from memquorum.core.access import Sight


class ExperienceReads:
    """The part of `Reads` that asks experience. Methods raise StoreUnavailable."""

    _pool: Pool

    async def weights(self, sight: Sight, memory_ids: Sequence[str]) -> dict[str, int]:
        """What memories weigh in experience, in millionths, of those that were admitted."""
        rows = await self._pool.ask("weights_in_force", {"ids": list(memory_ids)}, sight) if memory_ids else []
        return dict(rows)
