"""Carries out an order to reclassify a memory: it and what was made of it are looked up, changed and journalled.

As an order to erase, it has a transaction of its own, after everything that stands before it in the accepted stream. So
all that was made of the memory by then is found; what is made of it later inherits when it is stored.
"""

from __future__ import annotations

import logging

from db.store import PostgresStore
from memquorum import topics
from memquorum.core.commit import applying, ordering
from memquorum.core.journal.inheriting import MOST
from memquorum.core.journal.rows import RowKeys
from memquorum.core.journal.workset import Net, Workset
from memquorum.core.orders.envelope import order_digest
from memquorum.core.orders.reclassify import RECLASSIFICATION
from memquorum.core.records import OrderAccepted
from workers.commit.commit_shard import Batch, CommitShard

log = logging.getLogger("memquorum.commit")


def carry_out(store: PostgresStore, line: CommitShard, batch: Batch, offset: int, record: OrderAccepted) -> Net:
    """Fills the batch with the order's entry, writes it, and answers what it leaves. Raises what the store raises."""
    codec = line.rules.codec
    _, order = RECLASSIFICATION.opened(codec, line.rules.genesis, record.order)
    family = store.family(codec, order.namespace, order.memory_id)
    wanted = RowKeys(family.memory_ids | {order.memory_id}, orders=frozenset({order_digest(codec, record.order)}))
    with store.transaction({line.state: wanted}) as transaction:
        work = Workset(transaction.rows[line.state.shard])
        place = applying.RecordPosition(topics.ACCEPTED, line.state.shard, offset)
        change = ordering.apply_reclassification(line.rules, work.rows, place, record, family)
        work.absorb(change)
        batch.changes.append((change, batch.items[0]))
        net = work.net()
        transaction.write([net], {}, line.cursors(batch))
    if not family.stated:
        told = "order %s: not carried out: no memory %s in %s, or more than %d were made of it"
        log.error(told, record.event_id, order.memory_id, order.namespace, MOST)
    return net
