"""Records disclosures: a row for each memory whose text may be sent to a recipient."""

from __future__ import annotations

from collections.abc import Container, Mapping

from memquorum.core.journal.rows import Change, Disclosure, Memory
from memquorum.core.records import Disclosed, SourcesDisclosed


def alive(order: SourcesDisclosed, memories: Mapping[str, Memory], strengths: Container[str]) -> tuple[str, ...]:
    """Those of its memories that are alive: of the others nothing is sent."""
    return tuple(
        one
        for one in order.memory_ids
        if one in memories and memories[one].namespace == order.namespace and one in strengths
    )


def noted(change: Change, detail: Disclosed) -> Change:
    """The change with a row for each memory."""
    entry = change.entry
    return change.plus(
        *(
            Disclosure(entry.shard, entry.seq, entry.namespace or "", one, detail.recipient, detail.accepted_at)
            for one in detail.memory_ids
        )
    )
