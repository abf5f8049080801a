"""Patches of roll-ups, judged by the journal's own history: are they the consolidator's, and of what was there?"""

from __future__ import annotations

from memquorum.core import ids
from memquorum.core.audit.findings import Impossible, Kind
from memquorum.core.journal.effects import REPEATED, Rules
from memquorum.core.journal.patching import applicable
from memquorum.core.journal.rows import Rows
from memquorum.core.orders.envelope import BadOrder
from memquorum.core.orders.patch import PATCH
from memquorum.core.records import JournalEntry, Patched


def judge(rules: Rules, entry: JournalEntry, detail: Patched, rows: Rows) -> None:
    """Those that apply are of episodes that were there, and none was applied before. Raises Impossible."""
    try:
        _, order = PATCH.opened(rules.codec, rules.genesis, detail.order)
    except BadOrder as error:
        raise Impossible(Kind.ORDER_INVALID, "patches of the consolidator's", error) from None
    shard = ids.shard_of(order.namespace, rules.genesis.shards)
    told = (entry.event_id, entry.namespace, entry.memory_id, entry.shard)
    if told != (order.order_id, order.namespace, None, shard):
        raise Impossible(Kind.ORDER_INVALID, f"patches {order.order_id} in {order.namespace!r}", told)
    expected = () if entry.effect == REPEATED else applicable(rows, order)
    if detail.applied != expected:
        raise Impossible(Kind.EFFECT_IMPOSSIBLE, f"of patches {order.order_id}, {expected} apply", detail.applied)
