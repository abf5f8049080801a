"""Reads the proof of a receipt, from one snapshot of the store (core/audit/receipts)."""

from __future__ import annotations

from typing import Any

import psycopg

from db.queries import QUERIES
from memquorum.core.audit.receipts import Decision, Proof
from memquorum.core.records import JournalAppended


def load(connection: psycopg.Connection[Any], order_id: str) -> tuple[str, Proof] | None:
    """The namespace of an erasure and what proves it; None where no such order was carried out."""
    found = connection.execute(QUERIES["receipt_erasure"], {"id": order_id}).fetchone()
    if found is None:
        return None
    namespace, shard, first, last, head, epoch = found
    entries = connection.execute(QUERIES["receipt_entries"], {"shard": shard, "first": first, "last": last})
    links = tuple(JournalAppended(*row) for row in entries)
    if epoch is None:
        return namespace, Proof(links, head, None, _configurations(connection, shard, None))
    row = connection.execute(QUERIES["receipt_decision"], {"shard": shard, "epoch": epoch}).fetchone()
    assert row is not None, f"shard {shard}: epoch {epoch} attested an erasure and is not there"
    seq, pre_prepare, commits = row
    return namespace, Proof(links, head, (pre_prepare, tuple(commits)), _configurations(connection, shard, seq))


def _configurations(connection: psycopg.Connection[Any], shard: int, before: int | None) -> tuple[Decision, ...]:
    """Those before a sequence; None: all."""
    rows = connection.execute(QUERIES["receipt_configurations"], {"shard": shard, "before": before})
    return tuple((data, tuple(said)) for data, said in rows)
