"""Reads, for the commit worker, a memory with all that was made of it, and what each states of its use."""

from __future__ import annotations

import psycopg

from db.queries import QUERIES
from memquorum.core.avro import Codec
from memquorum.core.facets import Stated, stated
from memquorum.core.journal.reclassifying import MOST, Family, states_now
from memquorum.core.records import JournalEntry, Reclassified, Stored


def family(connection: psycopg.Connection, codec: Codec, namespace: str, memory_id: str) -> Family:
    """Returns the family of a memory; an empty one where its namespace has no such memory, or where more than
    `reclassifying.MOST` were made of it."""
    asked = {"namespace": namespace, "id": memory_id, "most": MOST + 1}
    ids = [own for (own,) in connection.execute(QUERIES["family_made"], asked)]
    if not 0 < len(ids) <= MOST:
        return Family()
    among = {"namespace": namespace, "ids": ids}
    sources: dict[str, list[str]] = {}
    for child, parent in connection.execute(QUERIES["family_sources"], among):
        sources.setdefault(child, []).append(parent)
    said: dict[str, Stated] = {}
    for own, data in connection.execute(QUERIES["family_stated"], {"ids": ids}):
        detail = codec.decode(codec.decode_as(JournalEntry, data).detail)
        if isinstance(detail, Stored):
            said[own] = stated(detail)
        elif isinstance(detail, Reclassified) and detail.applied:
            said[own] = states_now(said[own], detail)
    return Family(said, {child: tuple(parents) for child, parents in sources.items()})
