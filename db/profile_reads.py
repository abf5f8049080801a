"""Reads the profiles of subjects for the retrieval service."""

from __future__ import annotations

from typing import Any

from db.pool import Pool
from memquorum.core.access import Sight


class ProfileReads:
    """The part of `Reads` that is about profiles. Methods raise StoreUnavailable."""

    _pool: Pool

    async def profile(self, sight: Sight, namespace: str, subject: str) -> dict[str, Any] | None:
        """Returns the profile of a subject that is in force; None without one."""
        rows = await self._pool.ask("profile_shown", {"namespace": namespace, "subject": subject}, sight)
        names = "order_id", "stores", "private_until", "retention", "consents", "never", "accepted_at", "shard", "seq"
        return dict(zip(names, rows[0], strict=True)) if rows else None

    async def outlived(self, sight: Sight, shard: int, at: int, most: int) -> list[tuple[str, str]]:
        """Returns memories that are older than the profile of their subject lets them be, at a time of their shard: the
        namespace and the id of each, the oldest first, `most` at most."""
        rows = await self._pool.ask("profile_due", {"shard": shard, "at": at, "most": most}, sight)
        return [(namespace, memory_id) for namespace, memory_id in rows]

    async def profile_lists(self, sight: Sight, namespace: str) -> list[tuple[str, list[str]]]:
        """Returns what the subjects of a namespace want never kept."""
        rows = await self._pool.ask("profile_lists", {"namespace": namespace}, sight)
        return [(subject, entries) for subject, entries in rows]
