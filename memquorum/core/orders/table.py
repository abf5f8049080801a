"""The kinds of orders that come in by a topic, and the steps that are the same for each.

A further kind needs a file beside these and a line in `ORDERS`; for its effect a judgement in `commit.ordering`, a rule
for each effect in `journal.effects` and one of the audit's in `audit.history`.

An order for another membership is not among them: it is for one shard and no namespace, and only the members read it.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from memquorum.core.avro import Codec, DecodeError
from memquorum.core.identity.membership import Genesis
from memquorum.core.orders.compare import COMPARE
from memquorum.core.orders.disclose import DISCLOSURE
from memquorum.core.orders.envelope import BadOrder, OrderKind, order_digest
from memquorum.core.orders.erase import ERASURE
from memquorum.core.orders.patch import PATCH
from memquorum.core.orders.profile import PROFILE
from memquorum.core.orders.protect import PROTECTION
from memquorum.core.orders.reclassify import RECLASSIFICATION
from memquorum.core.orders.restore import REQUEST
from memquorum.core.records import OrderAccepted, Signed

ORDERS: Mapping[str, OrderKind[Any]] = MappingProxyType(
    {kind.name: kind for kind in (ERASURE, PROTECTION, PROFILE, RECLASSIFICATION, REQUEST, PATCH, DISCLOSURE, COMPARE)}
)
"""Every kind by its name."""
GIVEN: tuple[OrderKind[Any], ...] = (ERASURE, PROTECTION, PROFILE, RECLASSIFICATION, REQUEST)
"""The orders that people and agents give; the others are the consolidator's."""
BY_TOPIC: Mapping[str, OrderKind[Any]] = MappingProxyType({kind.topic: kind for kind in ORDERS.values()})
DETAILS: tuple[Any, ...] = tuple(dict.fromkeys(detail for kind in ORDERS.values() for detail in kind.effects.values()))
"""The details of the journal's entries that answer an order."""


def let_in(codec: Codec, genesis: Genesis, data: bytes, at: int, origin: tuple[str, int, int]) -> OrderAccepted:
    """Makes the record of the accepted stream, with the time `at`. `origin`: topic, partition, offset. Raises
    BadOrder."""
    kind = BY_TOPIC[origin[0]]
    _, order = kind.opened(codec, genesis, data)
    return OrderAccepted(order.order_id, kind.name, order.namespace, kind.named(order), data, at, *origin)


def unfit(codec: Codec, genesis: Genesis, record: OrderAccepted) -> str | None:
    """Returns why an order in the accepted stream cannot be followed: it is not valid, or another one; else None."""
    kind = ORDERS.get(record.kind)
    if kind is None:
        return f"an order of an unknown kind, {record.kind[:40]!r}"
    try:
        _, order = kind.opened(codec, genesis, record.order)
    except BadOrder as error:
        return f"{kind.told} that is not valid: {error}"
    if (record.event_id, record.namespace, record.memory_ids) != (order.order_id, order.namespace, kind.named(order)):
        return f"{kind.told} that is not {record.event_id[:40]!r} in {record.namespace!r}"
    return None


def digests(codec: Codec, kind: OrderKind[Any], data: bytes) -> frozenset[bytes]:
    """Returns the digests by which an order, and its parts that apply once each, count as answered. `data`: the
    Signed."""
    own = order_digest(codec, data)
    try:
        said = codec.decode_as(kind.body, codec.decode_as(Signed, data).body)
    except DecodeError:
        return frozenset({own})
    return frozenset({own, *kind.within(said)})


def answered_by(detail: object) -> OrderKind[Any] | None:
    """Returns the kind of order that an entry with this detail answers; None for any other entry."""
    return next((kind for kind in ORDERS.values() if type(detail) in kind.effects.values()), None)
