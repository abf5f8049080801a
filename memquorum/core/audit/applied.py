"""Judges records of the consolidator by the journal's own history: patches of roll-ups, and a model's comparisons of
pairs.

It checks that the record is the consolidator's, and that its memories were there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from memquorum.core import ids
from memquorum.core.audit.findings import Impossible, Kind
from memquorum.core.journal.effects import DELIVERED_AGAIN, Rules
from memquorum.core.journal.rows import Rows
from memquorum.core.orders.envelope import BadOrder, Body, OrderKind
from memquorum.core.records import Compared, JournalEntry, Patched

Order = TypeVar("Order", bound=Body)


def judge(
    rules: Rules,
    entry: JournalEntry,
    detail: Patched | Compared,
    rows: Rows,
    *,
    kind: OrderKind[Order],
    applicable: Callable[[Rows, Order], tuple[int, ...]],
    what: str,
) -> None:
    """Raises Impossible unless exactly the `applicable` ones are applied, and the record was not applied before.
    `what`: its name in a finding."""
    try:
        _, order = kind.opened(rules.codec, rules.genesis, detail.order)
    except BadOrder as error:
        raise Impossible(Kind.ORDER_INVALID, f"{what} of the consolidator's", error) from None
    shard = ids.shard_of(order.namespace, rules.genesis.shards)
    told = (entry.event_id, entry.namespace, entry.memory_id, entry.shard)
    if told != (order.order_id, order.namespace, None, shard):
        raise Impossible(Kind.ORDER_INVALID, f"{what} {order.order_id} in {order.namespace!r}", told)
    expected = () if entry.effect == DELIVERED_AGAIN else applicable(rows, order)
    if detail.applied != expected:
        raise Impossible(Kind.EFFECT_IMPOSSIBLE, f"of {what} {order.order_id}, {expected} apply", detail.applied)
