"""Audits the journal's entries on texts that the consolidator sent to recipients outside."""

from __future__ import annotations

from collections.abc import Container, Mapping

from memquorum.core import ids
from memquorum.core.audit.findings import Impossible, Kind
from memquorum.core.journal import disclosures
from memquorum.core.journal.effects import Rules
from memquorum.core.journal.rows import Memory
from memquorum.core.orders.disclose import DISCLOSURE
from memquorum.core.orders.envelope import BadOrder
from memquorum.core.records import Disclosed, JournalEntry


def judge(
    rules: Rules, entry: JournalEntry, detail: Disclosed, memories: Mapping[str, Memory], strengths: Container[str]
) -> None:
    """Checks that the consolidator signed the record, and that the entry names its living memories. Raises
    Impossible."""
    try:
        _, order = DISCLOSURE.opened(rules.codec, rules.genesis, detail.order)
    except BadOrder as error:
        raise Impossible(Kind.EFFECT_IMPOSSIBLE, "a word of the consolidator's", error) from None
    shard = ids.shard_of(order.namespace, rules.genesis.shards)
    alive = disclosures.alive(order, memories, strengths)
    expected = (order.order_id, order.namespace, None, shard, order.recipient, alive)
    told = (entry.event_id, entry.namespace, entry.memory_id, entry.shard, detail.recipient, detail.memory_ids)
    if told != expected:
        raise Impossible(Kind.EFFECT_IMPOSSIBLE, str(expected), str(told))
