"""Carries out an order to erase: what it names is selected, the keys go first, and then it is journalled (DESIGN 15).

An order waits for nobody. It has a transaction of its own, after everything that stands before it in the accepted
stream, so what it finds is all that there is; what comes later its tombstone keeps out. A crash between vault and
journal repeats the whole: the same episodes are found again, and their keys are gone already.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence

from msgspec.structs import replace

from db.store import PostgresStore
from memquorum import topics
from memquorum.core.commit import applying, ordering
from memquorum.core.identity.membership import Genesis
from memquorum.core.journal.effects import Rules
from memquorum.core.journal.naming import PART_MOST
from memquorum.core.journal.rows import ErasureRow, RowKeys, ShardState
from memquorum.core.journal.workset import Net, Workset
from memquorum.core.orders.envelope import order_digest
from memquorum.core.orders.erase import ERASURE
from memquorum.core.records import ErasedEpisode, ErasureOrdered, OrderAccepted
from workers.commit.commit_shard import Batch, CommitShard

log = logging.getLogger("memquorum.commit")

RESIDUE_MS = 8 * 24 * 3600 * 1000
"""The outside topics keep records for seven days; a day more for their segments and the sweep of the database."""


class Erasing:
    """Carries out erasures for one session of the commit worker."""

    def __init__(
        self,
        rules: Rules,
        store: PostgresStore,
        destroy: Callable[[list[str], Mapping[int, int]], object],
        forget_asked: Callable[[ErasureOrdered], int],
        *,
        head: Callable[[ShardState, Genesis], bytes],
        residue_ms: int,
    ) -> None:
        """`destroy`, `forget_asked`: see Destroyer. `head`: the signed head of a journal in a configuration.
        `residue_ms`: the time after an order for which files may still hold remains of the erased data."""
        self._rules, self._store, self._destroy, self._forget_asked = rules, store, destroy, forget_asked
        self._head, self._residue_ms = head, residue_ms

    def carry_out(self, line: CommitShard, batch: Batch, offset: int, record: OrderAccepted) -> Net:
        """Fills the batch with the order's entries, writes them, and answers what they leave.

        Raises what the store raises, and what `destroy` does."""
        digest = order_digest(self._rules.codec, record.order)
        _, order = ERASURE.opened(self._rules.codec, self._rules.genesis, record.order)
        found = self._named(line, order, digest)
        ids = [one.memory_id for one in found or ()]
        held = self._store.held(ids) if ids else []
        if held:
            return self._withhold(
                line, batch, offset, record, RowKeys(protected=frozenset(held), orders=frozenset({digest}))
            )
        parts = [ordering.Part(0, 1, repeated=True)] if found is None else ordering.in_parts(found)
        queries = 0 if found is None else self._forget_asked(order)
        state = line.state
        for nth, first in enumerate(range(0, len(ids), PART_MOST), start=1):
            self._destroy(ids[first : first + PART_MOST], {state.shard: state.seq + nth})
        place = applying.RecordPosition(topics.ACCEPTED, line.state.shard, offset)
        until = record.accepted_at + self._residue_ms
        wanted = RowKeys(
            frozenset(ids), protected=frozenset(ids), orders=frozenset({digest}), admissions=frozenset(ids)
        )
        with self._store.transaction({line.state: wanted}) as transaction:
            work = Workset(transaction.rows[line.state.shard])
            for part in parts:
                change = ordering.apply_erasure(line.rules, work.rows, place, record, part=part, residue_until=until)
                work.absorb(change)
                batch.changes.append((change, batch.items[0]))
            net = self._with_heads(work.net(), line.rules.genesis)
            transaction.write([net], {}, line.cursors(batch))
        log.info("order %s: %d episodes erased, and the keys of %d days of queries", record.event_id, len(ids), queries)
        return net

    def _withhold(self, line: CommitShard, batch: Batch, offset: int, record: OrderAccepted, held: RowKeys) -> Net:
        """Journals an order on memories that a law requires to be kept, and erases nothing. It is answered by that:
        after the release it takes a new order. `held`: the memories, and the order."""
        place = applying.RecordPosition(topics.ACCEPTED, line.state.shard, offset)
        with self._store.transaction({line.state: held}) as transaction:
            work = Workset(transaction.rows[line.state.shard])
            change = ordering.apply_withheld(line.rules, work.rows, place, record, sorted(held.protected))
            work.absorb(change)
            batch.changes.append((change, batch.items[0]))
            net = work.net()
            transaction.write([net], {}, line.cursors(batch))
        told = "order %s: not carried out: %d memories that it names are held; order it again after the release"
        log.error(told, record.event_id, len(held.protected))
        return net

    def _named(self, line: CommitShard, order: ErasureOrdered, digest: bytes) -> Sequence[ErasedEpisode] | None:
        """Returns the episodes to erase; None if the order was answered before: carried out, or withheld."""
        if self._store.answered(line.state.shard, [digest]):
            return None
        return self._store.taken(order.namespace, order.selector, order.value)

    def _with_heads(self, net: Net, genesis: Genesis) -> Net:
        """Puts with each order the signed head where its entries end: what proves, with them, that they are
        journalled."""
        told = tuple(replace(one, head=self._head(net.after, genesis)) for one in net.of(ErasureRow))
        return replace(net, new={**net.new, ErasureRow: told})
