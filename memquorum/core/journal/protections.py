"""Applies orders to protect to the rows, and tells which protection blocks which decision."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from memquorum.core.avro import Codec
from memquorum.core.identity.membership import OPERATOR, Genesis
from memquorum.core.journal.erasures import NotTheOrder
from memquorum.core.journal.rows import Change, Guarded, Protection, Rows
from memquorum.core.orders.erase import ERASURE
from memquorum.core.orders.protect import ENDS, GOAL, HOLD, NEED, PIN, PROTECTION, kind_of, may_end
from memquorum.core.policy import ProtectionPolicy
from memquorum.core.records import Lapsed, Protected, ProtectionOrdered, Withheld
from memquorum.core.tiers import GONE, SEALED, SUPERSEDED

Standing = Mapping[tuple[str, str], Protection]
"""(memory id, pin, hold or a goal's) → the order that stands."""


def protects(standing: Standing, memory_id: str) -> bool:
    """Whether a memory may not be forgotten."""
    # One key is asked for by itself: of a memory whose orders were not loaded, a workset raises.
    return (memory_id, PIN) in standing or any(protected == memory_id for protected, _ in standing)


def pins(standing: Standing, memory_id: str) -> bool:
    """Whether a memory has to stay as it is served: a hold keeps its key alone."""
    return any(protected == memory_id and kind != HOLD for protected, kind in standing)


def applies(rows: Rows, signer: str, order: ProtectionOrdered) -> bool:
    """True if an order changes anything: pins and goals apply to living memories, holds to memories whose key exists;
    an order that ends one must name the order in force. Only the operator may end the operator's order, and such an
    order replaces another signer's."""
    kind = kind_of(order)
    if order.action in ENDS:
        found = rows.protected.get((order.memory_id, kind))
        named = found is not None and (found.namespace, found.order_id) == (order.namespace, order.ends)
        return named and found is not None and may_end(signer, found.signer)
    memory = rows.memories.get(order.memory_id)
    if memory is None or memory.namespace != order.namespace:
        return False
    stands = rows.protected.get((order.memory_id, kind))
    # Naming a need again renews it: a goal that is not renewed lapses.
    over = order.action == NEED or (stands is not None and stands.signer != OPERATOR and signer == OPERATOR)
    if stands is not None and not (over and may_end(signer, stands.signer)):
        return False
    if memory.tier == SUPERSEDED:
        return order.action == HOLD
    if memory.tier == SEALED:
        # Once its grace time is over, the key may go at any moment, or went before a crash.
        return order.action == HOLD and memory.sealed_until is not None and memory.sealed_until > rows.state.as_of
    return memory.tier != GONE


def within(guarded: Guarded, limits: ProtectionPolicy, signer: str, order: ProtectionOrdered) -> bool:
    """Whether a namespace that has so much protected takes another pin, or another memory that a goal needs. The
    operator's own are not counted against it."""
    if signer == OPERATOR or order.action not in (PIN, NEED):
        return True
    return guarded.pins < limits.pins_max if order.action == PIN else guarded.needs < limits.needs_max


def takes(rows: Rows, guarded: Guarded, limits: ProtectionPolicy, signer: str, order: ProtectionOrdered) -> bool:
    """Whether an order changes anything, within the namespace's limits."""
    stands = (order.memory_id, kind_of(order)) in rows.protected
    return (stands or within(guarded, limits, signer, order)) and applies(rows, signer, order)


def counted(guarded: Guarded, kind: str, more: int) -> Guarded:
    """The same with so many more of a kind, or fewer. Holds are not counted."""
    if kind == PIN:
        return replace(guarded, pins=guarded.pins + more)
    return replace(guarded, needs=guarded.needs + more) if kind.startswith(GOAL) else guarded


def do_protected(codec: Codec, genesis: Genesis, rows: Rows, change: Change, detail: Protected) -> Change:
    """The rows after an order to protect. Raises BadOrder if the signer had no right to give it, NotTheOrder if the
    entry is about another order or states an effect that the order cannot have."""
    entry = change.entry
    signed, order = PROTECTION.opened(codec, genesis, detail.order)
    if (entry.event_id, entry.namespace, entry.memory_id) != (order.order_id, order.namespace, order.memory_id):
        raise NotTheOrder(f"order {order.order_id} about {order.memory_id}, not {entry.event_id}")
    if not detail.applied:
        return change
    if not applies(rows, signed.signer, order):
        raise NotTheOrder(f"order {order.order_id} to {order.action} {order.memory_id} changes nothing there")
    if order.action in ENDS:
        return replace(change, gone=((Protection, (order.memory_id, kind_of(order))),))
    row = Protection(
        order.memory_id, kind_of(order), entry.shard, entry.seq, order.namespace, order.order_id, signed.signer,
        order.ordered_by, order.reference, detail.accepted_at,
    )  # fmt: skip
    strength = rows.strengths.get(order.memory_id)
    # As a use does, it voids a decision to forget that was nominated before it, here and in the members' views.
    touched = () if strength is None else (replace(strength, touched=entry.source_offset),)
    return change.plus(row, *touched)


def do_lapsed(genesis: Genesis, rows: Rows, change: Change, detail: Lapsed) -> Change:
    """The rows after a goal lapsed. Raises NotTheOrder where it needs none of that, or was spoken of lately."""
    keys = tuple((memory_id, detail.kind) for memory_id in detail.memory_ids)
    found = [rows.protected.get(key) for key in keys]
    before = change.entry.as_of - genesis.policy.protection.lapse_ms
    mine = [one for one in found if one is not None and one.namespace == change.entry.namespace]
    if not keys or len(mine) < len(keys) or not detail.kind.startswith(GOAL):
        raise NotTheOrder(f"{detail.kind} in {change.entry.namespace!r} does not need all memories of which it lapses")
    if any(one.accepted_at > min(before, detail.used_at) for one in mine):
        raise NotTheOrder(f"{detail.kind} in {change.entry.namespace!r} was renewed after {before}")
    return replace(change, gone=tuple((Protection, key) for key in keys))


def do_withheld(codec: Codec, genesis: Genesis, rows: Rows, change: Change, detail: Withheld) -> Change:
    """An order to erase that is not carried out. Raises BadOrder, and NotTheOrder where nothing of it is held."""
    _, order = ERASURE.opened(codec, genesis, detail.order)
    if (change.entry.event_id, change.entry.namespace) != (order.order_id, order.namespace):
        raise NotTheOrder(f"order {order.order_id} in {order.namespace!r}, not {change.entry.event_id}")
    if not detail.held or any((memory_id, HOLD) not in rows.protected for memory_id in detail.held):
        raise NotTheOrder(f"order {order.order_id} was withheld because of memories that are not held")
    return change
