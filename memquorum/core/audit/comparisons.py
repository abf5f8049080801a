"""What a model said of pairs of memories, judged by the journal's own history: is it the consolidator's, and of what
was alive?"""

from __future__ import annotations

from memquorum.core import ids
from memquorum.core.audit.findings import Impossible, Kind
from memquorum.core.journal.comparing import applicable
from memquorum.core.journal.effects import REPEATED, Rules
from memquorum.core.journal.rows import Rows
from memquorum.core.orders.compare import COMPARE
from memquorum.core.orders.envelope import BadOrder
from memquorum.core.records import Compared, JournalEntry


def judge(rules: Rules, entry: JournalEntry, detail: Compared, rows: Rows) -> None:
    """Those that apply are of pairs that are alive, and none was compared before. Raises Impossible."""
    try:
        _, order = COMPARE.opened(rules.codec, rules.genesis, detail.order)
    except BadOrder as error:
        raise Impossible(Kind.ORDER_INVALID, "comparisons of the consolidator's", error) from None
    shard = ids.shard_of(order.namespace, rules.genesis.shards)
    told = (entry.event_id, entry.namespace, entry.memory_id, entry.shard)
    if told != (order.order_id, order.namespace, None, shard):
        raise Impossible(Kind.ORDER_INVALID, f"comparisons {order.order_id} in {order.namespace!r}", told)
    expected = () if entry.effect == REPEATED else applicable(rows, order)
    if detail.applied != expected:
        raise Impossible(Kind.EFFECT_IMPOSSIBLE, f"of comparisons {order.order_id}, {expected} apply", detail.applied)
