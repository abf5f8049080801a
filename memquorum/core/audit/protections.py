"""Audits orders to protect by the journal's own history: whether they were given by somebody who may, and had their
stated effect."""

from __future__ import annotations

from collections.abc import Iterable

from memquorum.core import ids
from memquorum.core.audit.findings import Impossible, Kind
from memquorum.core.journal import protections
from memquorum.core.journal.effects import DELIVERED_AGAIN, Rules
from memquorum.core.journal.rows import Change, Guarded, Protection, Rows
from memquorum.core.orders.envelope import BadOrder
from memquorum.core.orders.protect import GOAL, HOLD, PROTECTION
from memquorum.core.policy import ProtectionPolicy
from memquorum.core.records import Destroyed, JournalEntry, Lapsed, Protected


class Protections:
    """The protections of one shard. `standing`: those in force, by (memory id, kind)."""

    def __init__(self, rules: Rules) -> None:
        self.standing: dict[tuple[str, str], Protection] = {}
        self._kinds: dict[str, set[str]] = {}
        self._guarded: dict[str, Guarded] = {}
        self._rules = rules

    def of(self, memory_ids: Iterable[str]) -> dict[tuple[str, str], Protection]:
        """Returns the protections of some memories."""
        return {(i, kind): self.standing[i, kind] for i in memory_ids for kind in self._kinds.get(i, ())}

    def judge(self, entry: JournalEntry, detail: Protected, rows: Rows, limits: ProtectionPolicy) -> None:
        """Judges an order to protect. `limits`: those in force. Raises Impossible."""
        try:
            signed, order = PROTECTION.opened(self._rules.codec, self._rules.genesis, detail.order)
        except BadOrder as error:
            raise Impossible(Kind.ORDER_INVALID, "an order by who may give it", error) from None
        shard = ids.shard_of(order.namespace, self._rules.genesis.shards)
        told = (entry.event_id, entry.namespace, entry.memory_id, entry.shard)
        if told != (order.order_id, order.namespace, order.memory_id, shard):
            raise Impossible(Kind.ORDER_INVALID, f"order {order.order_id} about {order.memory_id}", told)
        guarded = self._guarded.get(order.namespace, Guarded())
        takes = protections.takes(rows, guarded, limits, signed.signer, order)
        applied = entry.effect != DELIVERED_AGAIN and takes
        if detail.applied != applied:
            told_of = f"order {order.order_id} to {order.action} {order.memory_id}"
            raise Impossible(Kind.EFFECT_IMPOSSIBLE, f"{told_of}, applied {not detail.applied}", detail.applied)

    def judge_lapsed(self, entry: JournalEntry, detail: Lapsed, limits: ProtectionPolicy) -> None:
        """Checks that a lapsed goal has needs in force, and that none was declared for long enough. Raises
        Impossible."""
        mine = {
            memory_id: one.accepted_at
            for (memory_id, kind), one in self.standing.items()
            if (kind, one.namespace) == (detail.kind, entry.namespace)
        }
        used_at, lapse_ms = max(mine.values(), default=-1), limits.lapse_ms
        told = f"{detail.kind} in {entry.namespace!r}"
        if not detail.memory_ids or not mine.keys() >= set(detail.memory_ids) or not detail.kind.startswith(GOAL):
            raise Impossible(Kind.EFFECT_IMPOSSIBLE, f"of what {told} needs", ", ".join(detail.memory_ids[:3]))
        if detail.used_at != used_at or entry.as_of < used_at + lapse_ms:
            expected = f"{told} kept until {used_at + lapse_ms}: it was spoken of at {used_at}"
            raise Impossible(Kind.EFFECT_UNDECIDED, expected, f"lapsed at {entry.as_of}, as of {detail.used_at}")

    def judge_destroyed(self, detail: Destroyed, of: dict[str, str]) -> None:
        """Checks that no key of a held memory is destroyed. `of`: episode → the memory that it repeated. Raises
        Impossible."""
        for memory_id in detail.memory_ids:
            if (of.get(memory_id, memory_id), HOLD) in self.standing:
                raise Impossible(Kind.EFFECT_UNDECIDED, f"the key of {memory_id} kept: it is held", "destroyed")

    def absorb(self, change: Change) -> None:
        """Follows the change of an entry."""
        for key in change.ended(Protection):
            ended = self.standing.pop(key, None)
            if ended is not None:
                self._count(ended, -1)
            self._kinds.get(key[0], set()).discard(key[1])
        for one in change.of(Protection):
            if (one.memory_id, one.kind) not in self.standing:
                self._count(one, +1)
            self.standing[one.memory_id, one.kind] = one
            self._kinds.setdefault(one.memory_id, set()).add(one.kind)

    def _count(self, one: Protection, more: int) -> None:
        known = self._guarded.get(one.namespace, Guarded())
        self._guarded[one.namespace] = protections.counted(known, one.kind, more)
