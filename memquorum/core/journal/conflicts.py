"""What a new memory says otherwise than others: noted beside it, so that both are served together. What it says on
purpose, by a key or by an id, is marked as stated: that alone opens a vote, unless the policy says otherwise.

Salience says which. That they are alive in the same namespace is asked here once more, of the shard's own rows.
"""

from __future__ import annotations

from memquorum.core.journal.rows import Conflict, Memory, Rows
from memquorum.core.journal.slots import slot
from memquorum.core.records import JournalEntry, Stored

MOST = 8
"""So many contradictions of one memory are noted, the first that are named."""


def noted(rows: Rows, entry: JournalEntry, detail: Stored) -> tuple[Conflict, ...]:
    """The contradictions that the entry of a stored memory brings."""
    newer, namespace = entry.memory_id or "", entry.namespace or ""
    older = [
        memory_id
        for memory_id in dict.fromkeys(detail.contradicts)
        if memory_id != newer and memory_id in rows.strengths and rows.memories[memory_id].namespace == namespace
    ]
    return tuple(
        Conflict(entry.shard, entry.seq, namespace, newer, i, _stated(rows.memories[i], namespace, detail))
        for i in older[:MOST]
    )


def _stated(older: Memory, namespace: str, detail: Stored) -> bool:
    """Whether what is stored says on purpose that it takes this memory's place: by its id, or by its slot's key."""
    filled = slot(namespace, detail)
    refills = filled is not None and older.explicit and (older.namespace, older.slot) == filled
    return refills or (detail.explicit and older.id in detail.supersedes)
