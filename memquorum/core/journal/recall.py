"""What the journal tells of one memory: where its content lies, and what its use had made of it.

A sealed memory has no strength in the store, and its content nowhere in the clear. Both follow from the entries about
it, which never go: so what is forgotten leaves nothing behind but what everything leaves, and can come back whole.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from memquorum.core.avro import Codec
from memquorum.core.journal import rehearsals
from memquorum.core.records import Accessed, JournalEntry, Reencoded, Rehearsed, Restored, Stored


class Recalled(Struct, frozen=True):
    """A memory's past. `born`: the entry that stored it, with its detail; `encoded`: the last that replaced its
    embedding, if one did."""

    restored: Restored
    born: tuple[JournalEntry, Stored]
    encoded: tuple[JournalEntry, Reencoded] | None = None


def recall(codec: Codec, entries: Iterable[JournalEntry]) -> Recalled | None:
    """The past of a memory, of the entries that name it, in their order; None where none of them stored it.

    Raises DecodeError for a detail that cannot be read.
    """
    born: tuple[JournalEntry, Stored] | None = None
    encoded: tuple[JournalEntry, Reencoded] | None = None
    salience = accesses = reinforced = replays = 0
    for entry in entries:
        detail = codec.decode(entry.detail)
        if entry.effect in ("stored", "drafted") and isinstance(detail, Stored):
            born, salience = (entry, detail), detail.salience_ppm
        elif entry.effect == "reinforced" and isinstance(detail, Stored):
            salience, reinforced = max(salience, detail.salience_ppm), reinforced + 1
        elif entry.effect == "accessed" and isinstance(detail, Accessed):
            accesses += detail.applied
        elif entry.effect == "reencoded" and isinstance(detail, Reencoded):
            encoded = entry, detail
        elif entry.effect == "rehearsed" and isinstance(detail, Rehearsed):
            salience, replays = detail.after_ppm, replays + rehearsals.held(codec, detail.made)
    if born is None:
        return None
    entry, detail = born
    offset = encoded[0].source_offset if encoded else -1
    told = Restored(
        entry.memory_id or "",
        salience,
        accesses,
        reinforced,
        detail.accepted_offset,
        detail.scored_offset,
        offset,
        replays,
    )
    return Recalled(told, born, encoded)
