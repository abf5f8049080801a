"""Applies patches of roll-ups to the rows: each applicable patch adds a row to the log, and nothing else changes.

A roll-up holds no content and no name, but places in memories, so what is forgotten or erased drops out of it by itself
(`core.consolidation.rollups`).
"""

from __future__ import annotations

from memquorum.core.avro import Codec
from memquorum.core.identity.membership import Genesis
from memquorum.core.journal.erasures import NotTheOrder
from memquorum.core.journal.rows import Answered, Change, PatchRow, Rows
from memquorum.core.orders.patch import PATCH, patch_digest
from memquorum.core.records import Patched, RollupPatched
from memquorum.core.tiers import ALIVE, SEALED


def applicable(rows: Rows, order: RollupPatched) -> tuple[int, ...]:
    """The places of the patches that apply: what comes in is a sentence of an episode of the namespace that is there,
    what goes is one of an episode of the namespace, and the patch was not applied before."""
    return tuple(
        place
        for place, one in enumerate(order.patches)
        if _episode(rows, order.namespace, one.memory_id, there=True)
        and (one.replaces is None or _episode(rows, order.namespace, one.replaces, there=False))
        and patch_digest(order.namespace, one) not in rows.answered
    )


def _episode(rows: Rows, namespace: str, memory_id: str, *, there: bool) -> bool:
    """Whether a memory of the namespace is an episode: a roll-up is never made of summaries.

    `there`: what rests sealed counts too, since a summary may quote it; what was superseded, or is gone, does not.
    """
    memory = rows.memories.get(memory_id)
    if memory is None or memory.namespace != namespace or memory.made_by is not None:
        return False
    return not there or memory.tier in (*ALIVE, SEALED)


def do_patched(codec: Codec, genesis: Genesis, rows: Rows, change: Change, detail: Patched) -> Change:
    """The rows after patches. Raises BadOrder if the signer had no right to give them, NotTheOrder if the entry is
    about other patches or applies others."""
    entry = change.entry
    _, order = PATCH.opened(codec, genesis, detail.order)
    if (entry.event_id, entry.namespace, entry.memory_id) != (order.order_id, order.namespace, None):
        raise NotTheOrder(f"patches {order.order_id} in {order.namespace!r}, not {entry.event_id}")
    if detail.applied != applicable(rows, order):
        raise NotTheOrder(f"patches {order.order_id}: the places that apply are not {detail.applied}")
    found: list[PatchRow | Answered] = []
    for place in detail.applied:
        one = order.patches[place]
        found += [
            PatchRow(
                entry.shard, entry.seq, place, order.namespace, one.topic, one.op, one.memory_id, one.start, one.end,
                one.name_start, one.name_end, one.section, one.at, one.replaces, one.replaces_start, one.replaces_end,
                entry.as_of,
            ),
            Answered(entry.shard, patch_digest(order.namespace, one), entry.seq, order.namespace, entry.effect),
        ]  # fmt: skip
    return change.plus(*found)
