"""Notes the older memories that a new memory contradicts, so that both are served together. A contradiction that is
stated on purpose, by a key or by an id, is marked as `stated`: only such a contradiction opens a vote, unless the
policy says otherwise.

The salience stage names the contradicted memories and their statements. This module checks again, against the shard's
own rows, that they are alive in the same namespace.
"""

from __future__ import annotations

from memquorum.core import ids
from memquorum.core.journal.rows import Conflict, Memory, Rows
from memquorum.core.journal.slots import slot
from memquorum.core.orders.compare import sound
from memquorum.core.records import JournalEntry, Stored

MOST = 8
"""The most contradictions that are noted of one memory (the first ones named), and the most memories in `again`."""


def noted(rows: Rows, entry: JournalEntry, detail: Stored) -> tuple[Conflict, ...]:
    """The contradictions that the entry of a stored memory brings. Invalid statement numbers and ids are left out."""
    newer, namespace = entry.memory_id or "", entry.namespace or ""
    older = [
        memory_id
        for memory_id in dict.fromkeys(detail.contradicts)
        if memory_id != newer and memory_id in rows.strengths and rows.memories[memory_id].namespace == namespace
    ]
    numbers = {one.older: one.statements for one in detail.denies if one.statements and sound(one.statements)}
    again = tuple(filter(ids.is_uuid, dict.fromkeys(detail.again)))[:MOST]
    return tuple(
        Conflict(
            entry.shard,
            entry.seq,
            namespace,
            newer,
            i,
            _stated(rows.memories[i], namespace, detail),
            numbers.get(i),
            again=again,
        )
        for i in older[:MOST]
    )


def _stated(older: Memory, namespace: str, detail: Stored) -> bool:
    """True if the stored memory claims on purpose to replace this one: by its id, or by the key of its slot."""
    filled = slot(namespace, detail)
    refills = filled is not None and older.explicit and (older.namespace, older.slot) == filled
    return refills or (detail.explicit and older.id in detail.supersedes)
