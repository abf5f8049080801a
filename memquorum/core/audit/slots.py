"""Audits explicit writes: the memories that a key supersedes without a vote, exactly those that it may, and the
memories that a write names to replace, which all go to a vote."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from memquorum.core.audit.findings import Impossible, Kind
from memquorum.core.audit.protections import Protections
from memquorum.core.identity.membership import Genesis
from memquorum.core.journal import slots
from memquorum.core.journal.rows import Change, Memory, Rows, Strength
from memquorum.core.records import JournalEntry, Stored


class Slots:
    """The slots of one shard."""

    def __init__(self) -> None:
        self._filling: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
        self._slots: dict[str, tuple[str, str]] = {}
        self.replaced: dict[str, str] = {}
        """By memory that reads of the past find, the one that took its place."""

    def judge(
        self, entry: JournalEntry, detail: Stored, rows: Rows, protections: Protections, genesis: Genesis
    ) -> None:
        """Judges the memories that a stored episode supersedes. Raises Impossible."""
        namespace = entry.namespace or ""
        slot = slots.slot(namespace, detail)
        there = set(self._filling[slot]) if slot is not None else set[str]()
        there.update(i for i in detail.supersedes if i in rows.strengths)
        known = Rows(
            rows.state,
            {i: rows.memories[i] for i in there},
            {i: rows.strengths[i] for i in there},
            protected=protections.of(there),
        )
        if entry.effect == "cleared":
            self._judge_cleared(known, namespace, detail, genesis)
            return
        expected = slots.superseding(known, namespace, detail, proven=True)
        # The agent's signature is sealed in the accepted record: if it is required and missing, no memory is
        # superseded.
        unproven = not detail.superseded and namespace in genesis.signed
        if detail.superseded != expected.superseded and not unproven:
            told = f"supersedes {expected.superseded or 'nothing'}"
            raise Impossible(Kind.EFFECT_IMPOSSIBLE, told, detail.superseded)
        left_out = set(slots.named(known, namespace, detail)).difference(detail.contradicts, detail.superseded)
        if left_out and namespace not in genesis.signed:
            raise Impossible(Kind.EFFECT_IMPOSSIBLE, f"contradicts {sorted(left_out)}", detail.contradicts)

    def _judge_cleared(self, known: Rows, namespace: str, detail: Stored, genesis: Genesis) -> None:
        told, names = (detail.superseded, detail.contradicts, detail.outcome), genesis.signed
        ways = [True] if detail.superseded or namespace not in names else [True, False]
        expected = [slots.clearing(known, namespace, detail, proven=proven) for proven in ways]
        if told not in [(one.superseded, one.contradicts, one.outcome) for one in expected]:
            wanted = f"clears {expected[0].superseded or 'nothing'}, {expected[0].outcome}"
            raise Impossible(Kind.EFFECT_IMPOSSIBLE, wanted, f"{detail.superseded}, {detail.outcome}")

    def absorb(self, change: Change, memories: Mapping[str, Memory]) -> None:
        """Follows the change of an entry. `memories`: as it left them."""
        slots.note_replaced(self.replaced, change, memories)
        for memory in change.of(Memory):
            slot = slots.slot(memory.namespace, memory)
            if slot is not None:
                self._slots[memory.id] = slot
        for strength in change.of(Strength):
            if strength.memory_id in self._slots:
                self._filling[self._slots[strength.memory_id]].add(strength.memory_id)
        for memory_id in change.ended(Strength):
            if memory_id in self._slots:
                self._filling[self._slots[memory_id]].discard(memory_id)
