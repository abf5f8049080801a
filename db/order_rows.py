"""The outcome of an order of any kind as the store holds it: its journal entry, and the decision on it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from memquorum.core.accounts import restoring, rolling_back
from memquorum.core.api.answers import Ordered, Restoring, Took
from memquorum.core.avro import Codec
from memquorum.core.orders.envelope import Body
from memquorum.core.orders.erase import ERASURE
from memquorum.core.orders.restore import ACTIONS, REQUEST, ROLLBACK
from memquorum.core.orders.table import ORDERS, answered_by
from memquorum.core.records import JournalEntry, RestoreOrdered, Signed, Stored

ASKED = "asked"
_STATUS = {"protected": "in force"}
"""The status words of effects whose own name would mislead: the end of a protection is one, too."""
_EFFECTS = [effect for kind in ORDERS.values() for effect in kind.effects]
_TRIGGERS = [*ORDERS, *ACTIONS]
_COMMON = [name for name in vars(Body) if not name.startswith("_")]
WITHHELD = (
    "nothing of it was erased: a hold stands in its way. It is not carried out by the release either: after it, order "
    "the erasure anew. The operator sees what is held (`memquorum admin memories hold --help`)"
)


def order_parameters(order_id: str) -> dict[str, Any]:
    """Returns the parameters of `order_shown`, for one order."""
    return {"id": order_id, "effects": _EFFECTS, "triggers": [f"{name}/{order_id}" for name in _TRIGGERS]}


def some(effects: Sequence[str]) -> dict[str, Any]:
    """Returns the parameters of `orders_listed`, for orders whose journal entries have these effects."""
    return {"effects": list(effects), "triggers": _TRIGGERS}


def shown(codec: Codec, rows: Sequence[tuple[Any, ...]]) -> Ordered | None:
    """The rows of `order_shown`; None where the journal has not answered the order yet."""
    if not rows:
        return None
    entry = codec.decode_as(JournalEntry, rows[0][0])
    detail = codec.decode(entry.detail)
    kind = answered_by(detail)
    assert kind is not None  # the rows are of the kinds' effects alone
    order = codec.decode_as(kind.body, codec.decode_as(Signed, detail.order).body)
    says = msgspec.to_builtins(order)
    told = Ordered(
        order_id=order.order_id, kind=kind.name, namespace=order.namespace,
        status=_STATUS.get(entry.effect, entry.effect) if getattr(detail, "applied", True) else "changed nothing",
        says={name: value for name, value in says.items() if name not in _COMMON},
        ordered_by=order.ordered_by, reference=order.reference, ordered_at=order.ordered_at,
        accepted_at=detail.accepted_at, shard=entry.shard, journal_seq=entry.seq,
    )  # fmt: skip
    if kind is REQUEST:
        return _request(told, order, [row[9:] for row in rows], detail.why)
    return _erasure(told, rows[0]) if kind is ERASURE else told


def rank_ppm(codec: Codec, entry: bytes | None) -> int | None:
    """Returns the rank of a memory's worth when it was stored, from its journal entry."""
    if entry is None:
        return None
    return codec.decode_as(Stored, codec.decode_as(JournalEntry, entry).detail).rank_ppm


def _erasure(told: Ordered, row: tuple[Any, ...]) -> Ordered:
    memories, episodes, last_seq, residue_until, epoch, summaries, anew, recipients = row[1:9]
    if last_seq is None:
        return replace(told, why=WITHHELD)
    took = Took(memories, episodes, told.journal_seq, residue_until, summaries, anew, tuple(recipients))
    return replace(told, journal_seq=last_seq, epoch=epoch, took=took)


def _request(told: Ordered, order: RestoreOrdered, rows: Sequence[tuple[Any, ...]], declined: str) -> Ordered:
    """A request, and what became of each memory that it names and the reader sees. `declined`: why it was, by its
    code."""
    epoch, journal_seq, *_ = rows[0]
    if told.status == "declined":
        nothing = rolling_back.NOTHING if order.action == ROLLBACK else f"nothing to {order.action}"
        return replace(told, status=nothing, why=restoring.why(order.action, declined) if declined else None)
    if epoch is None:
        waiting = tuple(Restoring(one, ASKED, "nobody has voted on it yet") for one in order.memory_ids)
        return replace(told, status=ASKED, memories=waiting)
    # An epoch of a request to forget is about other memories, too.
    found = {own: (outcome, why) for *_, own, outcome, why, kind in rows if kind in restoring.ANSWERS[order.action]}
    memories = tuple(restoring.decided(one, *found.get(one, ("", "")), action=order.action) for one in order.memory_ids)
    return replace(told, status="decided", epoch=epoch, journal_seq=journal_seq, memories=memories)
