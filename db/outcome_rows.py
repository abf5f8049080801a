"""What became of events, as the store tells it: for a question of the service, and for an operator's command."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from db import connection
from db.queries import QUERIES
from memquorum.core import ids, linking
from memquorum.core.avro import Codec
from memquorum.core.records import Assessed, JournalEntry, Link, Stored
from memquorum.ports import StoreUnavailable
from memquorum.schema_files import shared_codec

Event = tuple[str, str]
"""Its namespace and its id."""
NAME = "became"
"""The statement, which takes what `asked` makes and gives what `found` reads."""
_MOST = 1_000


def asked(events: Sequence[Event]) -> dict[str, Any]:
    """What the statement takes."""
    return {
        "namespaces": [namespace for namespace, _ in events],
        "event_ids": [event_id for _, event_id in events],
        "ids": [ids.memory_id(*event) for event in events],
    }


def found(rows: Iterable[tuple[Any, ...]]) -> dict[Event, dict[str, Any]]:
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
    """What a write of nothing took away, and what stays in its slot; why feedback does not count."""
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
    """Finds outcomes as `found` does, of any number of events, by whoever may read all namespaces. Raises
    StoreUnavailable."""
    told: dict[Event, dict[str, Any]] = {}
    link = connection.Link(dsn, connection.READER, StoreUnavailable)
    try:
        for start in range(0, len(events), _MOST):
            with link.use() as used:
                told |= found(used.execute(QUERIES[NAME], asked(events[start : start + _MOST])))
    finally:
        link.close()
    return told
