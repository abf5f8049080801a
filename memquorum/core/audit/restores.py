"""Audits requests to restore and restored memories by the journal's own history.

Kept: for each sealed memory its salience and uses when it was sealed, and for each memory with a key the offsets of its
content and its embedding.
"""

from __future__ import annotations

from collections.abc import Mapping

from memquorum.core.audit.findings import Impossible, Kind
from memquorum.core.ids import shard_of
from memquorum.core.journal import rollbacks
from memquorum.core.journal.effects import DELIVERED_AGAIN, Rules
from memquorum.core.journal.rows import Change, Memory, Rows, Strength
from memquorum.core.orders.envelope import BadOrder
from memquorum.core.orders.restore import REQUEST
from memquorum.core.records import Decided, JournalEntry, RestoreRequested, Stored
from memquorum.core.tiers import DRAFT, GONE, SEALED, SUPERSEDED


class Restores:
    """The restores of one shard."""

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self._resting: dict[str, tuple[int, int, int, int]] = {}
        # By living memory, the accesses and repetitions that it took over from others.
        self._inherited: dict[str, tuple[int, int]] = {}
        # Offsets: accepted, scored, and of the record that re-encoded the embedding, or -1.
        self._lies: dict[str, tuple[int, int, int]] = {}

    def judge(self, entry: JournalEntry, detail: RestoreRequested, rows: Rows) -> None:
        """Checks a request, and that it is voted on if it names memories to vote on. `rows`: as they are now. Raises
        Impossible."""
        try:
            _, order = REQUEST.opened(self._rules.codec, self._rules.genesis, detail.order)
        except BadOrder as error:
            raise Impossible(Kind.EFFECT_IMPOSSIBLE, "a request of who may ask", error) from None
        told = (entry.event_id, entry.namespace, entry.memory_id)
        if told != (order.order_id, order.namespace, None):
            raise Impossible(Kind.EFFECT_IMPOSSIBLE, f"request {order.order_id} in {order.namespace!r}", told)
        if shard_of(order.namespace, self._rules.genesis.shards) != entry.shard:
            raise Impossible(Kind.EFFECT_IMPOSSIBLE, f"a namespace of shard {entry.shard}", order.namespace)
        expected, why = rollbacks.answered(rows, order)
        if entry.effect not in (expected, DELIVERED_AGAIN):
            raise Impossible(Kind.EFFECT_IMPOSSIBLE, expected, entry.effect)
        if detail.why != ("" if entry.effect == DELIVERED_AGAIN else why):
            raise Impossible(Kind.EFFECT_IMPOSSIBLE, f"{expected}: {why!r}", detail.why)

    def judge_restored(self, detail: Decided) -> None:
        """Checks that restored memories have their old values. Raises Impossible."""
        for told in detail.restored:
            where = f"memory {told.memory_id} with (salience, accesses, reinforced, replays)"
            _same(
                where,
                self._resting.get(told.memory_id),
                (told.salience_ppm, told.accesses, told.reinforced, told.replays),
            )
            lies = (told.accepted_offset, told.scored_offset, told.reencoded_offset)
            where = f"memory {told.memory_id} at offsets (accepted, scored, re-encoded)"
            _same(where, self._lies.get(told.memory_id), lies)

    def absorb(self, change: Change, detail: object, strengths: Mapping[str, Strength]) -> None:
        """Follows the change of an entry; `strengths` as they were before it."""
        if change.revealed is not None and isinstance(detail, Stored):
            self._lies[change.revealed] = detail.accepted_offset, detail.scored_offset, -1
        if change.entry.effect == "drafted" and isinstance(detail, Stored):
            for memory in change.of(Memory):
                self._lies[memory.id] = detail.accepted_offset, detail.scored_offset, -1
                self._resting[memory.id] = detail.salience_ppm, 0, 0, 0
        if change.reencoded is not None and change.reencoded in self._lies:
            self._lies[change.reencoded] = (*self._lies[change.reencoded][:2], change.entry.source_offset)
        if isinstance(detail, Decided):
            self._inherit(change, detail, strengths)
        for memory in change.of(Memory):
            lost = strengths.get(memory.id)
            if memory.tier in (SEALED, SUPERSEDED) and lost is not None:
                # Uses that it had taken over stay with their memory, or with the one that took this over in turn.
                accesses, reinforced = self._inherited.pop(memory.id, (0, 0))
                self._resting[memory.id] = (
                    lost.salience_ppm, lost.accesses - accesses, lost.reinforced - reinforced, lost.replays
                )  # fmt: skip
            elif memory.tier not in (SEALED, SUPERSEDED, DRAFT):
                self._resting.pop(memory.id, None)
            if memory.tier == GONE:
                self._lies.pop(memory.id, None)

    def _inherit(self, change: Change, detail: Decided, strengths: Mapping[str, Strength]) -> None:
        """Notes the uses that memories took over: a decision itself adds no use, so any increase was taken over."""
        told = {one.memory_id: (one.accesses, one.reinforced) for one in detail.restored}
        for after in change.of(Strength):
            before = strengths.get(after.memory_id)
            had = told.get(after.memory_id, (0, 0)) if before is None else (before.accesses, before.reinforced)
            more = after.accesses - had[0], after.reinforced - had[1]
            if any(more):
                known = self._inherited.get(after.memory_id, (0, 0))
                self._inherited[after.memory_id] = known[0] + more[0], known[1] + more[1]


def _same(where: str, expected: tuple[int, ...] | None, found: tuple[int, ...]) -> None:
    if expected != found:
        raise Impossible(Kind.RESULTS_WRONG, f"{where} {expected}", found)
