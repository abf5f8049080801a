"""The service's reads about events: the outcome of each, and the memory that its id names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from db import connection
from db.pool import Pool
from db.queries import QUERIES
from memquorum.core import ids, linking, records
from memquorum.core.access import Sight
from memquorum.core.avro import Codec
from memquorum.core.records import Assessed, JournalEntry, Link, Stored
from memquorum.ports import StoreUnavailable
from memquorum.schema_files import shared_codec


class EventReads:
    """The part of `Reads` that is about events. Methods raise StoreUnavailable."""

    _pool: Pool

    async def outcomes(self, sight: Sight, events: list[Event]) -> dict[Event, dict[str, Any]]:
        """Returns the outcomes of those events that have one; `erased` for an episode that an order has taken since."""
        return outcomes_by_event(await self._pool.ask(NAME, outcome_parameters(events), sight))

    async def nowhere(self, sight: Sight, codec: Codec, shard: int, seq: int) -> tuple[records.Link, ...]:
        """The links that lead nowhere of what was stored by an entry of the journal."""
        rows = await self._pool.ask("stored_links", {"shard": shard, "seq": seq}, sight)
        return nowhere(codec, ((entry, noted) for entry, noted in rows))

    async def first_text(self, sight: Sight, memory_id: str) -> str | None:
        """The text of a memory, in service or replaced, to be compared and not shown; None if it has none any more."""
        rows = await self._pool.ask("first_text", {"id": memory_id}, sight)
        return rows[0][0] if rows else None

    async def echoed(self, sight: Sight, memory_id: str) -> str | None:
        """The memory that was reinforced by the episode of which a publisher was told this id; None of any other."""
        rows = await self._pool.ask("echoed", {"id": memory_id}, sight)
        return rows[0][0] if rows else None


Event = tuple[str, str]
"""Its namespace and its id."""
NAME = "became"
"""The statement, which takes what `asked` makes and gives what `found` reads."""
_MOST = 1_000


def outcome_parameters(events: Sequence[Event]) -> dict[str, Any]:
    """Returns the parameters of the statement."""
    return {
        "namespaces": [namespace for namespace, _ in events],
        "event_ids": [event_id for _, event_id in events],
        "ids": [ids.memory_id(*event) for event in events],
    }


def outcomes_by_event(rows: Iterable[tuple[Any, ...]]) -> dict[Event, dict[str, Any]]:
    """The events that have an outcome, and whose episodes they were; `erased` of one that an order took since."""
    return {
        (namespace, event_id): {
            "outcome": outcome, "memory_id": memory_id, "shard": shard, "journal_seq": seq, "agent": agent,
            **_cleared(entry),
        }
        for namespace, event_id, shard, outcome, memory_id, seq, entry, agent in rows
    }  # fmt: skip


def taken(became: Mapping[str, Any], agent: str | None) -> bool:
    """Whether what became of an event is said of another agent's episode than this one's."""
    return agent is not None and became["agent"] not in (None, agent)


def _cleared(entry: bytes | None) -> dict[str, Any]:
    """Returns the memories that a write of nothing hid, those that stay in its slot, and why feedback does not
    count."""
    if entry is None:
        return {"hidden": [], "stays": [], "why": None}
    codec = shared_codec()
    told = codec.decode(codec.decode_as(JournalEntry, entry).detail)
    if isinstance(told, Assessed):
        return {"hidden": [], "stays": [], "why": told.why}
    return {"hidden": list(told.superseded), "stays": list(told.contradicts), "why": None}


def nowhere(codec: Codec, rows: Iterable[tuple[bytes, Sequence[str]]]) -> tuple[Link, ...]:
    """The links of a stored episode that lead nowhere, out of what the statement `stored_links` gives."""
    for data, noted in rows:
        entry = codec.decode_as(JournalEntry, data)
        told = {(kind, other) for kind, _, other in (one.partition(" ") for one in noted)}
        return linking.nowhere(entry.namespace or "", codec.decode_as(Stored, entry.detail).links, told)
    return ()


def load(dsn: str, events: Sequence[Event]) -> dict[Event, dict[str, Any]]:
    """Loads the outcomes of any number of events as `found` does, with the right to read all namespaces. Raises
    StoreUnavailable."""
    told: dict[Event, dict[str, Any]] = {}
    link = connection.Link(dsn, connection.READER, StoreUnavailable)
    try:
        for start in range(0, len(events), _MOST):
            with link.use() as used:
                told |= outcomes_by_event(
                    used.execute(QUERIES[NAME], outcome_parameters(events[start : start + _MOST]))
                )
    finally:
        link.close()
    return told
