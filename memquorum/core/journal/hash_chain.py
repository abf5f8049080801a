"""The journal's chain: every entry's hash covers the one before, so that no entry can be altered, removed or moved.

`hash = SHA-256(domain ‖ previous_hash ‖ entry bytes)`: domain and previous hash have fixed lengths, so the parts cannot
run into each other. The chain of a shard begins at a hash that names the cluster and the shard, so no chain can be
presented as that of another shard.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from msgspec.structs import replace

from memquorum.core.avro import Codec, DecodeError
from memquorum.core.journal.rows import ShardState
from memquorum.core.records import JournalAppended, JournalEntry

_GENESIS = b"memquorum/journal/0"
_LINK = b"memquorum/journal/1"


class BrokenChain(ValueError):
    """A journal entry that does not follow the one before; the message names shard, sequence and what is wrong."""


def genesis_hash(cluster: bytes, shard: int) -> bytes:
    """The hash that a shard's first entry follows: 32 bytes."""
    return hashlib.sha256(_GENESIS + cluster + shard.to_bytes(4, "big")).digest()


def entry_hash(previous_hash: bytes, entry: bytes) -> bytes:
    """Returns the hash of an entry's bytes, chained to the previous hash: 32 bytes."""
    return hashlib.sha256(_LINK + previous_hash + entry).digest()


def beginning(cluster: bytes, shard: int) -> ShardState:
    """A shard before its first entry."""
    return ShardState(shard=shard, seq=0, hash=genesis_hash(cluster, shard))


def append(codec: Codec, state: ShardState, entry: JournalEntry) -> JournalAppended:
    """The entry as the next link of the shard's chain. Raises BrokenChain where it is not the next."""
    _follows(state, entry)
    data = codec.encode(entry)
    return JournalAppended(entry=data, previous_hash=state.hash, hash=entry_hash(state.hash, data))


def check_link(codec: Codec, state: ShardState, link: JournalAppended) -> JournalEntry:
    """The entry that a link holds, if it is the next of the shard's chain. Raises BrokenChain."""
    try:
        entry = codec.decode_as(JournalEntry, link.entry)
    except DecodeError as error:
        _check_hash(state, link)
        raise BrokenChain(f"{_where(state)}: the next entry cannot be read: {error}") from None
    check_next(state, link, entry)
    return entry


def check_next(state: ShardState, link: JournalAppended, entry: JournalEntry) -> None:
    """Checks a link as `check_link` does, where the link's entry is decoded already."""
    _check_hash(state, link)
    _follows(state, entry)


def _check_hash(state: ShardState, link: JournalAppended) -> None:
    if link.previous_hash != state.hash:
        raise BrokenChain(f"{_where(state)}: the next entry follows {link.previous_hash.hex()}, not {state.hash.hex()}")
    if link.hash != entry_hash(state.hash, link.entry):
        raise BrokenChain(f"{_where(state)}: the next entry's bytes do not have the hash {link.hash.hex()} of its link")


def walk(codec: Codec, state: ShardState, links: Iterable[JournalAppended]) -> tuple[ShardState, str | None]:
    """The state behind the last link that follows, and what is wrong with the next one; None where all follow."""
    for link in links:
        try:
            state = advance(state, check_link(codec, state, link), link)
        except BrokenChain as error:
            return state, str(error)
    return state, None


def advance(state: ShardState, entry: JournalEntry, link: JournalAppended) -> ShardState:
    """The state with the link as its last: sequence, hash and time; what the entry does besides is its rule's."""
    return replace(state, seq=entry.seq, hash=link.hash, as_of=entry.as_of)


def _follows(state: ShardState, entry: JournalEntry) -> None:
    if entry.shard != state.shard:
        raise BrokenChain(f"{_where(state)}: the next entry is of shard {entry.shard}")
    if entry.seq != state.seq + 1:
        raise BrokenChain(f"{_where(state)}: the next entry has sequence {entry.seq}")
    if entry.as_of < state.as_of:
        raise BrokenChain(f"{_where(state)}: the next entry's time {entry.as_of} lies before {state.as_of}")


def _where(state: ShardState) -> str:
    return f"journal of shard {state.shard} after sequence {state.seq}"
