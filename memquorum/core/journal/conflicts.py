"""What a new memory says otherwise than others: noted beside it, so that both are served together and voted on.

Salience says which. That they are alive in the same namespace is asked here once more, of the shard's own rows.
"""

from __future__ import annotations

from memquorum.core.journal.rows import Conflict, Rows
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
    return tuple(Conflict(entry.shard, entry.seq, namespace, newer, memory_id) for memory_id in older[:MOST])
