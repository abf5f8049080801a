"""Uses, and those of them that ask to restore: a memory was used after the time of the vote to forget it, and the shard
reads the use only when the memory is forgotten.

Had the access come before the decision, that would have been voided. An access that comes after it is put to the vote
like a request. Its proof is no signature but the access itself, at its place in the accepted stream: the journal's
effect is `asked`, once for each forgetting (`journal.restores.asks`), and members check whether they have read a use as
late.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

from memquorum.core import ids
from memquorum.core.avro import Codec, DecodeError
from memquorum.core.identity.membership import Genesis
from memquorum.core.orders.envelope import BadOrder, OrderKind
from memquorum.core.orders.restore import REQUEST, most
from memquorum.core.records import (
    ASKS,
    USES_MOST,
    AccessAccepted,
    Accessed,
    JournalEntry,
    OrderFound,
    RestoreOrdered,
)

ACCESSED, ASKED = "accessed", "asked"
"""The journal's effects of a use; of one that asks for a memory back, the second."""

_BEFORE = "access/"


def order_id(offset: int) -> str:
    """Returns the name of a use in its trigger: by its accepted offset. Ids of requests are UUIDs, so no request has
    such a name."""
    return f"{_BEFORE}{offset}"


def is_one(order_id: str) -> bool:
    """True if a trigger names a use, and not a request."""
    return order_id.startswith(_BEFORE)


def fault(memory_ids: Sequence[str]) -> str | None:
    """Returns what is wrong with the memories of an accepted use: none, too many, not a UUID, one twice; or None."""
    if not 1 <= len(memory_ids) <= USES_MOST:
        return f"a use of {len(memory_ids)} memories, where it may be of 1 to {USES_MOST}"
    if (bad := next((one for one in memory_ids if not ids.is_uuid(one)), None)) is not None:
        return f"memory id {bad[:40]!r} is not a UUID"
    return "a memory is named twice" if len(set(memory_ids)) < len(memory_ids) else None


def of_entry(codec: Codec, entry: JournalEntry, detail: Accessed) -> OrderFound:
    """Returns the use in an entry, with the memories that it asks to restore, as it is put to the vote. Its time is
    that of the use."""
    use = AccessAccepted(entry.event_id, detail.those(ASKS), entry.namespace or "", detail.agent, detail.accessed_at)
    return OrderFound(codec.encode(use), detail.accessed_at, entry.source_offset)


def use_of(codec: Codec, found: OrderFound) -> AccessAccepted | None:
    """Returns the use that asks; None where a signed request does. Raises BadOrder for an unreadable record."""
    try:
        record = codec.decode(found.order)
    except DecodeError as error:
        raise BadOrder("bad_avro", "order", str(error)) from None
    return record if isinstance(record, AccessAccepted) else None


def opened(codec: Codec, genesis: Genesis, kind: OrderKind[Any], found: OrderFound) -> Any:
    """Returns the order; for a use, a request of its agent to restore its memories. Raises BadOrder."""
    use = use_of(codec, found) if kind is REQUEST else None
    if use is None:
        return kind.opened(codec, genesis, found.order)[1]
    if (wrong := fault(use.memory_ids)) is not None:
        raise BadOrder("bad_id", "memory_ids", wrong)
    if len(use.memory_ids) > most(genesis.policy):
        raise BadOrder("too_many", "memory_ids", f"{most(genesis.policy)} are the most at once")
    if found.accepted_at != use.accessed_at:
        raise BadOrder("bad_order", "accepted_at", f"the memory was used at {use.accessed_at}")
    return RestoreOrdered(
        genesis.cluster, order_id(found.offset), use.namespace, use.memory_ids, use.agent, use.accessed_at
    )


def digest(found: OrderFound, memory_id: str) -> bytes:
    """Returns the digest of a use that was voted on, for a member's records, for each of its memories: SHA-256 of the
    memory and of the use's offset."""
    return hashlib.sha256(f"access\0{memory_id}\0{found.offset}".encode()).digest()
