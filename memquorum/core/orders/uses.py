"""Uses that ask: somebody used a memory after the time that the vote to forget it spoke of, and the shard hears of it
only when the memory is forgotten.

Had the access come in before the decision, that would have been voided. What comes after it is put to the vote like a
request. Its proof is no signature but the access itself, at its place in the accepted stream: the journal says `asked`
there, once for each forgetting (`journal.restores.asks`), and members look whether they have read a use as late.
"""

from __future__ import annotations

import hashlib
from typing import Any

from memquorum.core import ids
from memquorum.core.avro import Codec, DecodeError
from memquorum.core.identity.membership import Genesis
from memquorum.core.orders.envelope import BadOrder, OrderKind
from memquorum.core.orders.restore import REQUEST
from memquorum.core.records import AccessAccepted, Accessed, JournalEntry, OrderFound, RestoreOrdered

ASKED = "asked"
"""The journal's effect of such an access."""

_BEFORE = "access/"


def order_id(offset: int) -> str:
    """What the trigger of its vote names: its accepted offset. No request has such an id, for theirs are UUIDs."""
    return f"{_BEFORE}{offset}"


def is_one(order_id: str) -> bool:
    """Whether what a trigger names is a use, and no request."""
    return order_id.startswith(_BEFORE)


def of_entry(codec: Codec, entry: JournalEntry, detail: Accessed) -> OrderFound:
    """The use that an entry tells of, as it is put to the vote; it counts from when the memory was used."""
    namespace, memory_id = entry.namespace or "", entry.memory_id or ""
    use = AccessAccepted(entry.event_id, memory_id, namespace, detail.agent, detail.accessed_at)
    return OrderFound(codec.encode(use), detail.accessed_at, entry.source_offset)


def use_of(codec: Codec, found: OrderFound) -> AccessAccepted | None:
    """The use that asks; None where a signed request does. Raises BadOrder for what cannot be read."""
    try:
        record = codec.decode(found.order)
    except DecodeError as error:
        raise BadOrder("bad_avro", "order", str(error)) from None
    return record if isinstance(record, AccessAccepted) else None


def opened(codec: Codec, genesis: Genesis, kind: OrderKind[Any], found: OrderFound) -> Any:
    """What is ordered, or asked for by a use: of that, as if its agent had asked for one memory. Raises BadOrder."""
    use = use_of(codec, found) if kind is REQUEST else None
    if use is None:
        return kind.opened(codec, genesis, found.order)[1]
    if not ids.is_uuid(use.memory_id):
        raise BadOrder("bad_id", "memory_id", "no UUID")
    if found.accepted_at != use.accessed_at:
        raise BadOrder("bad_order", "accepted_at", f"the memory was used at {use.accessed_at}")
    return RestoreOrdered(
        genesis.cluster, order_id(found.offset), use.namespace, (use.memory_id,), use.agent, use.accessed_at
    )


def digest(found: OrderFound, use: AccessAccepted) -> bytes:
    """What a member keeps of a use that was voted on: SHA-256 of the memory and of the use's place."""
    return hashlib.sha256(f"access\0{use.memory_id}\0{found.offset}".encode()).digest()
