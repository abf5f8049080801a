"""Requests to restore and to forget as the store tells of them: where memories stand, and what became of a request."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from memquorum.core.api.answers import Restore, Restoring
from memquorum.core.avro import Codec
from memquorum.core.records import JournalEntry, RestoreOrdered, RestoreRequested, Signed
from memquorum.core.retrieval.forgetting import Used
from memquorum.core.retrieval.restoring import ANSWERS, Resting, told


def resting(rows: Sequence[tuple[Any, ...]]) -> list[Resting]:
    """The rows of `restore_asked`."""
    return [Resting(*row) for row in rows]


def used(rows: Sequence[tuple[Any, ...]]) -> list[Used]:
    """The rows of `forget_asked`."""
    return [Used(*row) for row in rows]


def shown(codec: Codec, order_id: str, rows: Sequence[tuple[Any, ...]]) -> Restore | None:
    """The rows of `restore_shown`: of one request, once for each time that it came in; the first decision counts."""
    if not rows:
        return None
    namespace, shard, seq, effect, epoch, journal_seq, *_, entry = rows[0]
    order = _order(codec, entry)
    base = Restore(namespace, "asked", (), order_id, shard, None, None, 0, order.action)
    if effect == "declined":
        return told(base, order, (), journal_seq=seq)
    if epoch is None:
        return replace(
            base, memories=tuple(Restoring(i, "asked", "nobody has voted on it yet") for i in order.memory_ids)
        )
    # An epoch of a request to forget is about other memories, too.
    mine = [row[6:9] for row in rows if row[2] == seq and row[4] == epoch and row[9] in ANSWERS[order.action]]
    found = {memory_id: (outcome, reason) for memory_id, outcome, reason in mine}
    outcomes = [(i, *found[i]) if i in found else (i, "", "") for i in order.memory_ids]
    return told(base, order, outcomes, epoch=epoch, journal_seq=journal_seq)


def _order(codec: Codec, entry: bytes) -> RestoreOrdered:
    detail = codec.decode_as(RestoreRequested, codec.decode_as(JournalEntry, entry).detail)
    return codec.decode_as(RestoreOrdered, codec.decode_as(Signed, detail.order).body)
