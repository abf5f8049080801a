"""What the service reads of events: what became of each, and of which memory its id speaks."""

from __future__ import annotations

from typing import Any

from db import outcome_rows
from db.outcome_rows import Event
from db.pool import Pool
from memquorum.core import records
from memquorum.core.access import Sight
from memquorum.core.avro import Codec


class EventReads:
    """The part of `Reads` that is about events. Methods raise StoreUnavailable."""

    _pool: Pool

    async def outcomes(self, sight: Sight, events: list[Event]) -> dict[Event, dict[str, Any]]:
        """What became of events, for those that have an outcome; `erased` of an episode that an order took since."""
        return outcome_rows.found(await self._pool.ask(outcome_rows.NAME, outcome_rows.asked(events), sight))

    async def nowhere(self, sight: Sight, codec: Codec, shard: int, seq: int) -> tuple[records.Link, ...]:
        """The links that lead nowhere of what was stored by an entry of the journal."""
        rows = await self._pool.ask("stored_links", {"shard": shard, "seq": seq}, sight)
        return outcome_rows.nowhere(codec, ((entry, noted) for entry, noted in rows))

    async def echoed(self, sight: Sight, memory_id: str) -> str | None:
        """The memory that was reinforced by the episode of which a publisher was told this id; None of any other."""
        rows = await self._pool.ask("echoed", {"id": memory_id}, sight)
        return rows[0][0] if rows else None
