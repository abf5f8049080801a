"""Applies a model's comparisons of memories: a row of `conflict` beside the rows of the rules, with the numbers of the
older memory's statements that the newer one overtakes.

Such a row marks hits of reads. It opens no vote, and is no ground for or against anything (`journal.grounds`). If the
model found nothing overtaken, a row without a number is written only where the rules found something of the same pair.
Then the model's answer stands, and nothing is marked.
"""

from __future__ import annotations

from memquorum.core.avro import Codec
from memquorum.core.identity.membership import Genesis
from memquorum.core.journal.erasures import NotTheOrder
from memquorum.core.journal.grounds import NOTHING
from memquorum.core.journal.rows import Answered, Change, Conflict, Rows
from memquorum.core.orders.compare import COMPARE, pair_digest
from memquorum.core.records import Compared, StatementsCompared


def applicable(rows: Rows, order: StatementsCompared) -> tuple[int, ...]:
    """The places of the comparisons that apply: both memories are alive in the namespace, and the pair was not labelled
    before."""
    if not _alive(rows, order.namespace, order.newer):
        return ()
    return tuple(
        place
        for place, one in enumerate(order.comparisons)
        if _alive(rows, order.namespace, one.older)
        and pair_digest(order.namespace, order.newer, one.older) not in rows.answered
    )


def _alive(rows: Rows, namespace: str, memory_id: str) -> bool:
    memory = rows.memories.get(memory_id)
    return memory is not None and memory.namespace == namespace and memory_id in rows.strengths


def do_compared(codec: Codec, genesis: Genesis, rows: Rows, change: Change, detail: Compared) -> Change:
    """The rows after comparisons. Raises BadOrder if the signer had no right to give them, NotTheOrder if the entry is
    about other comparisons or applies others."""
    entry = change.entry
    _, order = COMPARE.opened(codec, genesis, detail.order)
    if (entry.event_id, entry.namespace, entry.memory_id) != (order.order_id, order.namespace, None):
        raise NotTheOrder(
            f"the entry is about {entry.event_id}, its comparisons are {order.order_id} in {order.namespace!r}"
        )
    if detail.applied != applicable(rows, order):
        raise NotTheOrder(f"comparisons {order.order_id}: the places that apply are not {detail.applied}")
    inferred = rows.grounds.get(order.newer, NOTHING).older
    found: list[Conflict | Answered] = []
    for place in detail.applied:
        one = order.comparisons[place]
        digest = pair_digest(order.namespace, order.newer, one.older)
        found.append(Answered(entry.shard, digest, entry.seq, order.namespace, entry.effect))
        if one.statements or one.older in inferred:
            found.append(
                Conflict(
                    entry.shard,
                    entry.seq,
                    order.namespace,
                    order.newer,
                    one.older,
                    statements=one.statements,
                    compared=True,
                )
            )
    return change.plus(*found)
