"""Checks whether erasures took their subjects' queries: no key of an earlier query may exist.

Queries are sealed in a topic of their own, and no journal entry names them. So the audit takes the erasures from the
journal, and asks the vault which keys of queries are left.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence

from memquorum.core.audit.findings import Findings, Kind
from memquorum.core.avro import Codec, DecodeError
from memquorum.core.journal.effects import erased_by
from memquorum.core.orders.erase import AGENT, NAMESPACE, SUBJECT
from memquorum.core.records import Erased, ErasureOrdered, JournalAppended, JournalEntry, QueryAsked
from memquorum.ports import Vault
from workers.audit.sealed_batches import batches

Read = Callable[[], Iterable[bytes]]
"""Yields the values of a shard's topic."""


def check(codec: Codec, shard: int, queries: Read, journal: Read, vault: Vault | None) -> Findings:
    """Checks every query against the erasures of the shard. Its count is `queries`. The journal is read only if any key
    is left."""
    found = Findings(shard)
    if vault is None:
        return found
    # The first that was asked under each key.
    kept: dict[str, QueryAsked] = {}
    wanted = (one for data in queries() if isinstance(one := _decoded(codec, data), QueryAsked))
    for batch, keys in batches(vault, wanted, lambda one: one.key_id, "queries"):
        found.counts.queries += len(batch)
        for one in batch:
            first = kept.get(one.key_id, one)
            if one.key_id in keys:
                kept[one.key_id] = one if one.asked_at <= first.asked_at else first
    orders = list(itertools.chain.from_iterable(_erasures(codec, data) for data in journal())) if kept else []
    for one in kept.values():
        for seq, accepted_at, order in orders:
            if one.asked_at < accepted_at and _names(order, one):
                where = f"query {one.event_id} in {one.namespace!r}"
                found.add(Kind.QUERY_KEPT, seq, where, f"no key after order {order.order_id}", "a key")
    return found


def _erasures(codec: Codec, data: bytes) -> Sequence[tuple[int, int, ErasureOrdered]]:
    """The order that an entry of the journal begins to carry out: its sequence, the time from which it counts, and the
    order."""
    appended = _decoded(codec, data)
    entry = _decoded(codec, appended.entry) if isinstance(appended, JournalAppended) else None
    if not isinstance(entry, JournalEntry) or entry.effect != "erased":
        return ()
    detail, order = _decoded(codec, entry.detail), erased_by(codec, entry)
    return ((entry.seq, detail.accepted_at, order),) if isinstance(detail, Erased) and order is not None else ()


def _names(order: ErasureOrdered, one: QueryAsked) -> bool:
    if order.namespace != one.namespace:
        return False
    return order.selector == NAMESPACE or (order.selector in (AGENT, SUBJECT) and order.value == one.agent)


def _decoded(codec: Codec, data: bytes) -> object:
    try:
        return codec.decode(data)
    except DecodeError:
        return None  # the shard's own audit reports it
