"""Reads from the journal where the content of a sealed memory lies, and the strength that its use had given it.

A sealed memory has no strength in the store, and no plain content anywhere. Both follow from its journal entries, which
are never removed: a forgotten memory leaves no additional data behind and can still be restored completely.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from memquorum.core.avro import Codec
from memquorum.core.journal import rehearsals
from memquorum.core.records import APPLIED, Accessed, JournalEntry, Reencoded, Rehearsed, Restored, Stored


class Recalled(Struct, frozen=True):
    """A memory's past. `born`: the entry that stored it, with its detail; `encoded`: the last that replaced its
    embedding, if one did."""

    restored: Restored
    born: tuple[JournalEntry, Stored]
    encoded: tuple[JournalEntry, Reencoded] | None = None


def recall(codec: Codec, entries: Iterable[JournalEntry]) -> Recalled | None:
    """Returns the past of a memory from the entries that name it, in their order; None if none of them stored it.

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
        elif isinstance(detail, Accessed) and born is not None:
            accesses += born[0].memory_id in detail.those(APPLIED)
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
