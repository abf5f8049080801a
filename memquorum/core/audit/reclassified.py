"""Audits orders to reclassify by the journal's own history: whether they were given by somebody who may, and changed
the memory and all that was made of it as they had to."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from memquorum.core import ids
from memquorum.core.audit.findings import Impossible, Kind
from memquorum.core.facets import EPISODIC, Stated, stated
from memquorum.core.journal import inheriting
from memquorum.core.journal.effects import DELIVERED_AGAIN, Rules
from memquorum.core.journal.inheriting import MOST, Family, states_now
from memquorum.core.journal.rows import Change, Memory, Provenance, Rows
from memquorum.core.orders.envelope import BadOrder
from memquorum.core.orders.reclassify import RECLASSIFICATION
from memquorum.core.records import JournalEntry, Reclassified, Stored

_PLAIN = Stated(EPISODIC)


class Families:
    """The memories made of each memory of one shard, and what each states. Memories that state nothing take no room."""

    def __init__(self) -> None:
        self._stated: dict[str, Stated] = {}
        self._sources: dict[str, tuple[str, ...]] = {}
        self._made: dict[str, tuple[str, ...]] = {}

    def absorb(self, change: Change, detail: Any) -> None:
        """Takes what an entry says of a memory's origin and use."""
        if isinstance(detail, Reclassified) and detail.applied and change.entry.effect != DELIVERED_AGAIN:
            own = change.entry.memory_id or ""
            self._stated[own] = states_now(self._stated.get(own, _PLAIN), detail)
        if isinstance(detail, Stored) and change.one(Memory) is not None and change.entry.effect != "reinforced":
            said = stated(detail)
            if said != _PLAIN:
                self._stated[change.entry.memory_id or ""] = said
        for row in change.of(Provenance):
            if row.follows:
                self._sources[row.child] = (*self._sources.get(row.child, ()), row.parent)
                self._made[row.parent] = (*self._made.get(row.parent, ()), row.child)

    def of(self, memory_id: str, namespace: str, rows: Rows) -> Family:
        """Returns a memory with all that was made of it; nothing where it is unknown or they are too many."""

        def here(one: str) -> bool:
            return (known := rows.memories.get(one)) is not None and known.namespace == namespace

        found, left = dict[str, None](), [memory_id] if here(memory_id) else []
        while left and len(found) <= MOST:
            own = left.pop()
            if own not in found:
                found[own] = None
                left += [one for one in self._made.get(own, ()) if here(one)]
        if not 0 < len(found) <= MOST:
            return Family()
        sources = {own: tuple(one for one in self._sources.get(own, ()) if here(one)) for own in found}
        return Family({own: self._stated.get(own, _PLAIN) for own in found}, sources)

    def judge(self, rules: Rules, entry: JournalEntry, detail: Reclassified, rows: Rows) -> None:
        """Checks that the order was signed by who may give it, is about this memory, and changed what follows from it.
        Raises Impossible."""
        try:
            _, order = RECLASSIFICATION.opened(rules.codec, rules.genesis, detail.order)
        except BadOrder as error:
            raise Impossible(Kind.ORDER_INVALID, "an order by who may give it", error) from None
        shard = ids.shard_of(order.namespace, rules.genesis.shards)
        told = (entry.event_id, entry.namespace, entry.memory_id, entry.shard)
        if told != (order.order_id, order.namespace, order.memory_id, shard):
            raise Impossible(Kind.ORDER_INVALID, f"order {order.order_id} about {order.memory_id}", told)
        expected = Reclassified(b"", 0, False)
        if entry.effect != DELIVERED_AGAIN:
            expected = inheriting.judged(rows, order, self.of(order.memory_id, order.namespace, rows))
        if (found := replace(detail, order=b"", accepted_at=0)) != expected:
            raise Impossible(Kind.EFFECT_IMPOSSIBLE, f"order {order.order_id} with {expected}", found)
