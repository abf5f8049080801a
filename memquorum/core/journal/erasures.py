"""Applies an order to erase to the rows, and keeps late episodes that it covers out."""

from __future__ import annotations

from msgspec.structs import replace

from memquorum.core.avro import Codec
from memquorum.core.identity.membership import Genesis
from memquorum.core.journal.anew import ANEW
from memquorum.core.journal.naming import LATE
from memquorum.core.journal.rows import Change, Dropped, ErasedRow, ErasureRow, Protection, Rows, Strength
from memquorum.core.orders.erase import ERASURE
from memquorum.core.orders.protect import HOLD
from memquorum.core.records import Erased, JournalEntry
from memquorum.core.tiers import GONE


class NotTheOrder(ValueError):
    """An entry that says something else than the order that it carries out."""


def do_erased(codec: Codec, genesis: Genesis, rows: Rows, change: Change, detail: Erased) -> Change:
    """The rows after one entry of an order: its memories are gone, content, embedding and strength with them.

    The detail names these memories; whether the order covers more is for the audit to check. Raises BadOrder if the
    signer had no right to give the order, NotTheOrder if the entry is about another order or takes another namespace's
    memory.
    """
    entry = change.entry
    signed, order = ERASURE.opened(codec, genesis, detail.order)
    if (entry.event_id, entry.namespace) != (order.order_id, order.namespace):
        raise NotTheOrder(f"order {order.order_id} in {order.namespace!r}, not {entry.event_id}")
    if not 0 <= detail.part < detail.parts:
        raise NotTheOrder(f"part {detail.part} of {detail.parts}")
    found = [rows.memories[one.memory_id] for one in detail.episodes if one.memory_id in rows.memories]
    for memory in found:
        if memory.namespace != order.namespace:
            raise NotTheOrder(f"memory {memory.id} of another namespace, {memory.namespace!r}")
    gone = tuple(
        replace(
            memory, tier=GONE, changed=max(entry.as_of, memory.changed), sealed_until=None, asks_after=None,
            told_by=None, seq=entry.seq,
        )
        for memory in found
        if memory.tier != GONE
    )  # fmt: skip
    removed = tuple(memory.id for memory in gone if memory.id in rows.strengths)
    erased = tuple(
        ErasedRow(one.memory_id, entry.shard, entry.seq, order.namespace, one.was, one.summary)
        for one in detail.episodes
    )
    row = ErasureRow(
        shard=entry.shard,
        namespace=order.namespace,
        order_id=order.order_id,
        selector=order.selector,
        value=order.value,
        signer=signed.signer,
        ordered_by=order.ordered_by,
        reference=order.reference,
        ordered_at=order.ordered_at,
        ordered=detail.order,
        accepted_at=detail.accepted_at,
        accepted_offset=entry.source_offset,
        first_seq=entry.seq - detail.part,
        last_seq=entry.seq - detail.part + detail.parts - 1,
        memories=len(gone),
        episodes=len(detail.episodes),
        residue_until=detail.residue_until,
        summaries=sum(one.summary is not None for one in detail.episodes),
        anew=sum(one.summary == ANEW for one in detail.episodes),
    )
    taken = {one.memory_id for one in detail.episodes}
    return change.plus(
        *gone,
        *erased,
        row,
        state=replace(
            change.state,
            alive=change.state.alive - len(removed),
            unattested=change.state.unattested + (detail.part == detail.parts - 1),
        ),
        gone=(
            *((Strength, memory_id) for memory_id in removed),
            *((Dropped, one.memory_id) for one in detail.episodes),
            # Pins and goals end with the memory. Holds stay: a held memory is not erased.
            *((Protection, key) for key in sorted(rows.protected) if key[0] in taken and key[1] != HOLD),
        ),
    )


def kept_out(entry: JournalEntry) -> ErasedRow:
    """The row of an episode that came after the order that names it; its entry names its own memory id."""
    assert entry.namespace is not None and entry.memory_id is not None
    return ErasedRow(entry.memory_id, entry.shard, entry.seq, entry.namespace, LATE)
