"""Finds the orders to erase that must be given again: those that were withheld because of a hold.

A withheld order counts as answered (infra/decisions/0041): neither the release of the hold nor publishing the order
again carries it out. So the person who releases a hold is told which orders to give again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from msgspec import Struct

from memquorum.core.avro import Codec
from memquorum.core.journal.tombstones import Tombstone
from memquorum.core.records import ErasureOrdered, JournalEntry, Signed, Withheld
from memquorum.core.showing.plurals import many


class Again(Struct, frozen=True):
    """A withheld order. `held`: of what it named, what is held still."""

    shard: int
    seq: int
    order_id: str
    namespace: str
    selector: str
    value: str
    ordered_by: str
    reference: str | None
    held: tuple[str, ...]

    def __str__(self) -> str:
        """The order in a line, with what stands in its way."""
        what = f"{self.selector} {self.value!r}" if self.value else "everything"
        told = f"order {self.order_id} of {self.ordered_by} ({self.reference or 'no reference'}), shard {self.shard}"
        left = f"{many(len(self.held), 'memory')} held still" if self.held else "nothing holds it any more"
        return f"{what} in {self.namespace!r}: {left}; {told}, journal entry {self.seq}"


def again(codec: Codec, entries: Iterable[bytes], done: Iterable[Tombstone], held: Collection[str]) -> list[Again]:
    """Returns the withheld orders that were not carried out since.

    `entries`: those of the journal that say `withheld`; `done`: the orders that were carried out; `held`: the memories
    that are held now. Raises DecodeError for what is no such entry.
    """
    latest: dict[tuple[str, str, str], int] = {}
    for one in done:
        key = one.namespace, one.selector, one.value
        latest[key] = max(one.accepted_at, latest.get(key, -1))
    found: dict[tuple[str, str, str], Again] = {}
    for data in entries:
        entry = codec.decode_as(JournalEntry, data)
        detail = codec.decode_as(Withheld, entry.detail)
        order = codec.decode_as(ErasureOrdered, codec.decode_as(Signed, detail.order).body)
        key = order.namespace, order.selector, order.value
        if latest.get(key, -1) < detail.accepted_at:
            left = tuple(memory_id for memory_id in detail.held if memory_id in held)
            found[key] = Again(entry.shard, entry.seq, entry.event_id, *key, order.ordered_by, order.reference, left)
    return list(found.values())
