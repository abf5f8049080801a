"""The memories that a new one is linked with, as its publisher says: noted beside it, where they are there.

Only what is alive in the same namespace when the memory is stored is linked. So links lead from the later to the
earlier, none of them in a circle: nobody keeps memories by having them require each other.
"""

from __future__ import annotations

from memquorum.core import linking
from memquorum.core.journal.rows import LinkRow, Rows
from memquorum.core.records import JournalEntry, Stored


def noted(rows: Rows, entry: JournalEntry, detail: Stored) -> tuple[LinkRow, ...]:
    """The links that the entry of a stored memory brings."""
    own, namespace = entry.memory_id or "", entry.namespace or ""
    wanted = linking.targets(namespace, detail.links)
    there = {one for one in wanted if one in rows.strengths and rows.memories[one].namespace == namespace}
    told = linking.resolved_links(own, namespace, detail.links, there)
    return tuple(LinkRow(entry.shard, entry.seq, namespace, own, kind, target) for kind, target in told)
