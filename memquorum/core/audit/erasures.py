"""Audits orders to erase by the journal's own history: whether the order was given by somebody who may, and whether no
memory was left out.

Kept besides the history: the id of every episode under its namespace, the names of episodes that became no memory, as
an order may select them, and which memories were made from which.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from msgspec import Struct
from msgspec.structs import replace

from memquorum.core import ids
from memquorum.core.audit.findings import Impossible, Kind
from memquorum.core.journal.anew import fates
from memquorum.core.journal.effects import DELIVERED_AGAIN, ERASED, Rules
from memquorum.core.journal.naming import DROPPED, REINFORCED, Kin, Names, matching
from memquorum.core.journal.rows import (
    Change,
    DecisionRow,
    Disclosure,
    Dropped,
    ErasedRow,
    ErasureRow,
    Event,
    EventKey,
    Memory,
    Protection,
    Provenance,
)
from memquorum.core.journal.tables import TABLES
from memquorum.core.journal.tombstones import Newcomer, Tombstone, Tombstones
from memquorum.core.orders import aged
from memquorum.core.orders.envelope import BadOrder
from memquorum.core.orders.erase import ERASURE, MEMORY
from memquorum.core.orders.protect import HOLD
from memquorum.core.records import Erased, ErasureOrdered, JournalEntry, Stored, Withheld
from memquorum.core.tiers import GONE

_Was = tuple[str, bytes | None, str | None, tuple[str, ...]]
"""An episode that an order takes: its state, its commitment, the fate of a summary, and the recipients of its text."""


@dataclass(slots=True)
class _UnderWay:
    """An order with further entries to come: `left`: the episodes that it takes and no entry has named yet."""

    detail: Erased
    event_id: str
    next: int
    left: dict[str, _Was]


class Known(Struct, frozen=True):
    """The history's state at an entry. `echoes`: episode → the memory that it repeated; `protected`: by (memory, kind),
    the orders to protect in force; `as_of`: the shard's time."""

    memories: Mapping[str, Memory]
    dropped: Mapping[str, Dropped]
    echoes: Mapping[str, str]
    protected: Mapping[tuple[str, str], Protection]
    as_of: int = 0


class Erasures:
    """Audits the erasures of one shard."""

    def __init__(self) -> None:
        self.tombstones = Tombstones()
        self.erased: set[EventKey] = set()
        self.orders: dict[int, ErasureRow] = {}
        self._ids: dict[str, list[str]] = {}
        self._said: dict[str, Names] = {}
        self.kin: dict[str, Kin] = {}
        # The sources of each summary.
        self._made_of: dict[str, list[str]] = {}
        self._sent: dict[str, set[str]] = {}
        self._under_way: _UnderWay | None = None

    def judge_late(self, entry: JournalEntry, detail: Stored, memories: Mapping[str, Memory]) -> None:
        """Checks that an episode was kept out if and only if an earlier order names it. Raises Impossible."""
        namespace = entry.namespace or ""
        asked = Newcomer(
            namespace, ids.memory_id(namespace, entry.event_id), detail.agent, detail.subject, detail.source,
            detail.type, detail.occurred_at, detail.derives_from, detail.reinforces,
        )  # fmt: skip
        expected = self.tombstones.keep_out(asked, memories, self.erased)
        if expected != (detail.outcome == ERASED):
            told = "kept out, by an order before it" if expected else "not kept out: no order names it"
            raise Impossible(Kind.EFFECT_IMPOSSIBLE, told, detail.outcome)

    def judge(self, rules: Rules, entry: JournalEntry, detail: Erased | Withheld, known: Known) -> None:
        """Judges an entry of an order, carried out or withheld. `rules`: with the configuration in force. Raises
        Impossible."""
        order = _order(rules, entry, detail)
        if isinstance(detail, Withheld):
            self._judge_withheld(entry, detail, order, known)
            return
        if entry.effect == DELIVERED_AGAIN:
            return  # the history has judged whether it was answered before
        if detail.part == 0:
            named = self._named(order, known)
            if held := _held(named, known):
                raise Impossible(Kind.EFFECT_IMPOSSIBLE, f"withheld: {len(held)} that it names are held", "erased")
            self._under_way = _UnderWay(detail, entry.event_id, 0, named)
        way = self._under_way
        if way is None or not self._continues(entry, detail):
            raise Impossible(Kind.ERASURE_INCOMPLETE, "an order's first entry", f"part {detail.part} of {detail.parts}")
        way.next += 1
        for one in detail.episodes:
            if way.left.pop(one.memory_id, None) != (one.was, one.commitment, one.summary, one.recipients):
                expected = f"only what order {order.order_id} names, as it was"
                raise Impossible(
                    Kind.EFFECT_UNDECIDED, expected, f"{one.memory_id}, {one.was}, {one.summary}, {one.recipients}"
                )
        if way.next == detail.parts:
            self._under_way = None
            if way.left:
                left = ", ".join(sorted(way.left)[:3])
                raise Impossible(
                    Kind.ERASURE_INCOMPLETE, "all that the order names", f"{len(way.left)} left out: {left}"
                )

    def _judge_withheld(self, entry: JournalEntry, detail: Withheld, order: ErasureOrdered, known: Known) -> None:
        """Judges an order that was withheld because some of its memories are held. Raises Impossible."""
        if entry.effect == DELIVERED_AGAIN:
            raise Impossible(
                Kind.EFFECT_IMPOSSIBLE, f"{DELIVERED_AGAIN} of an order as it came in", type(detail).__name__
            )
        held = _held(self._named(order, known), known)
        if not held or held != detail.held:
            raise Impossible(Kind.EFFECT_IMPOSSIBLE, f"held of what order {order.order_id} names: {held}", detail.held)

    def judge_next(self, entry: JournalEntry, detail: object) -> None:
        """Checks that an order's entries follow each other without a gap. Raises Impossible."""
        way = self._under_way
        if way is not None and not self._continues(entry, detail):
            self._under_way = None
            raise Impossible(Kind.ERASURE_INCOMPLETE, f"part {way.next} of {way.detail.parts}", entry.effect)

    def absorb(self, change: Change, detail: object) -> None:
        """Follows the change of an entry."""
        entry, event, erased = change.entry, change.one(Event), change.of(ErasedRow)
        self.erased.update((one.namespace, one.memory_id) for one in erased)
        if isinstance(detail, Stored) and event is not None:
            own = ids.memory_id(event.namespace, entry.event_id)
            if not erased:
                self._ids.setdefault(event.namespace, []).append(own)
            if entry.effect != "stored" and not erased:
                self._said[own] = Names(
                    own, detail.agent, detail.subject, detail.source, detail.type, detail.occurred_at
                )  # fmt: skip
        for made in change.of(Provenance):
            self.kin.setdefault(made.namespace, Kin()).add(made)
            if entry.effect == "drafted":
                self._made_of.setdefault(made.child, []).append(made.parent)
        for sent in change.of(Disclosure):
            self._sent.setdefault(sent.memory_id, set()).add(sent.recipient)
        for one in change.of(ErasureRow):
            known, table = self.orders.get(one.first_seq), TABLES[ErasureRow]
            self.orders[one.first_seq] = one if known is None else table.plus(known, one)
            self.tombstones.add(Tombstone(one.namespace, one.order_id, one.selector, one.value, one.accepted_at))

        for decision in change.of(DecisionRow):
            named = [seq for seq, one in self.orders.items() if one.order_id == change.attested]
            self.orders |= {seq: replace(self.orders[seq], epoch=decision.epoch) for seq in named}

    def _continues(self, entry: JournalEntry, detail: object) -> bool:
        way = self._under_way
        if way is None or not isinstance(detail, Erased) or entry.effect != "erased":
            return False
        first = way.detail
        said = (entry.event_id, detail.part, detail.parts, detail.order, detail.accepted_at, detail.residue_until)
        return said == (way.event_id, way.next, first.parts, first.order, first.accepted_at, first.residue_until)

    def _named(self, order: ErasureOrdered, known: Known) -> dict[str, _Was]:
        """Returns the episodes that the order takes, with their state: those whose keys still exist."""
        if order.selector == MEMORY:
            roots = [order.value]
        else:
            mine = self._ids.get(order.namespace, ())
            named = matching(order.selector, order.value)
            marks = (self._marks(own, known) for own in mine)
            roots = [one.id for one in marks if one is not None and named(one)]
        kin = self.kin.get(order.namespace, Kin())
        gone = {own for namespace, own in self.erased if namespace == order.namespace}
        held = [own for own, kind in known.protected if kind == HOLD]
        taken = kin.taken(order.selector, roots, known.memories, gone, held)
        summaries = fates(taken, set(roots), known.memories, self._made_of, gone, as_of=known.as_of)
        found = {own: self._was(order.namespace, own, known) for own in taken}
        sent = {own: tuple(sorted(self._sent.get(own, ()))) for own in taken}
        return {own: (*was, summaries.get(own), sent[own]) for own, was in found.items() if was is not None}

    def _marks(self, own: str, known: Known) -> Names | None:
        """Returns the names by which an order may select an episode."""
        one = known.memories.get(own)
        if one is None:
            return self._said.get(own)
        return Names(own, one.agent, one.subject, one.source, one.type, one.created)

    def _was(self, namespace: str, own: str, known: Known) -> tuple[str, bytes | None] | None:
        memory = known.memories.get(own)
        if memory is not None:
            here = memory.tier != GONE and memory.namespace == namespace
            return (memory.tier, memory.commitment) if here else None
        if own in known.dropped:
            return (DROPPED, None) if known.dropped[own].namespace == namespace else None
        repeated = known.memories.get(known.echoes.get(own, ""))
        if repeated is None or repeated.tier == GONE or (namespace, own) in self.erased:
            return None
        return (REINFORCED, None) if repeated.namespace == namespace else None


def _held(named: Iterable[str], known: Known) -> tuple[str, ...]:
    return tuple(sorted(own for own in named if (own, HOLD) in known.protected))


def _order(rules: Rules, entry: JournalEntry, detail: Erased | Withheld) -> ErasureOrdered:
    try:
        _, order = ERASURE.opened(rules.codec, rules.genesis, detail.order)
    except BadOrder as error:
        raise Impossible(Kind.ORDER_INVALID, "an order by who may give it", error) from None
    shard = ids.shard_of(order.namespace, rules.genesis.shards)
    if (entry.event_id, entry.namespace, entry.shard) != (order.order_id, order.namespace, shard):
        expected = f"order {order.order_id} in {order.namespace!r} of shard {shard}"
        raise Impossible(Kind.ORDER_INVALID, expected, f"{entry.event_id} in {entry.namespace!r}")
    if order.rule is not None:
        _judge_rule(rules, order, detail.accepted_at)
    return order


def _judge_rule(rules: Rules, order: ErasureOrdered, at: int) -> None:
    """Checks that an order which names a rule has the rule's values, in a configuration that the shard has had. Raises
    Impossible."""
    named = rules.genesis.of(order.rule or 0)
    if named is None or not aged.borne_out(named.policy, order.namespace, aged.read(order.value), at):
        expected = f"what a rule of configuration {order.rule} says of {order.namespace!r}"
        raise Impossible(Kind.ORDER_INVALID, expected, order.value)
