"""Requests to restore as the store tells of them: where memories rest, and what became of a request."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from memquorum.core.retrieval.restoring import RESTORED, Resting, Restore, decided


def resting(rows: Sequence[tuple[Any, ...]]) -> list[Resting]:
    """The rows of `restore_asked`."""
    return [Resting(*row) for row in rows]


def shown(order_id: str, rows: Sequence[tuple[Any, ...]]) -> Restore | None:
    """The rows of `restore_shown`: of one request, once for each time that it came in; the first decision counts."""
    if not rows:
        return None
    namespace, shard, seq, effect, epoch, journal_seq, *_ = rows[0]
    if effect == "declined":
        return Restore(namespace, "nothing to restore", (), order_id, shard, None, seq)
    if epoch is None:
        return Restore(namespace, "asked", (), order_id, shard)
    told = [row[6:] for row in rows if row[2] == seq and row[4] == epoch and row[6] is not None]
    memories = tuple(decided(*one) for one in told)
    back = sum(one.status == RESTORED for one in memories)
    return Restore(namespace, "decided", memories, order_id, shard, epoch, journal_seq, back)
