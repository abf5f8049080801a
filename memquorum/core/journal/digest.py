"""The state digest: one SHA-256 that two databases share exactly when they hold the same memories.

It proves a rebuild. The digest of a shard covers one canonical line per memory, ordered by id. The line holds every
durable column of the memory, its strength, and digests of its content and its vector. A line is independent of the
database it was read from: no row order, no float formatting, no time zone.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator

from msgspec import Struct

from memquorum.core.journal.rows import Memory, Strength


class DigestOrder(ValueError):
    """Memories that do not come ordered by (shard, id) without repetition; the message names the memory."""


class Kept(Struct, frozen=True):
    """One memory with all that the store keeps of it. A sealed or gone one has no strength, content or vector.

    `content` is the text's UTF-8, with what it is filed under behind it, `vector` its components as float16,
    little-endian, one after the other."""

    memory: Memory
    strength: Strength | None
    content: bytes | None
    vector: bytes | None


class ShardDigest(Struct, frozen=True):
    """The digest of one shard, with what it was taken over."""

    shard: int
    digest: bytes
    memories: int
    alive: int


class StateDigest(Struct, frozen=True):
    """The digest of every shard that holds a memory, and one over them all."""

    digest: bytes
    shards: tuple[ShardDigest, ...]

    def of(self, shard: int) -> ShardDigest:
        """The digest of a shard; of one without memories, the digest of nothing."""
        for one in self.shards:
            if one.shard == shard:
                return one
        return ShardDigest(shard, hashlib.sha256().digest(), 0, 0)


class Difference(Struct, frozen=True):
    """Two stores disagree about a shard."""

    shard: int
    left: ShardDigest
    right: ShardDigest


_MEMORY = tuple(name for name in Memory.__struct_fields__ if name != "commitment")
_STRENGTH = Strength.__struct_fields__


def line(kept: Kept) -> bytes:
    """The canonical line of a memory: a JSON array of its columns in the order of their classes, and a line feed.

    Names stand in their order, bytes as hexadecimal, content and vector as their SHA-256; a JSON text has no bare line
    feed, so that lines cannot run into each other.
    """
    memory, strength = kept.memory, kept.strength
    values = [
        [getattr(memory, name) for name in _MEMORY],
        memory.commitment.hex(),
        None if strength is None else [getattr(strength, name) for name in _STRENGTH],
        _fingerprint(kept.content),
        _fingerprint(kept.vector),
    ]
    return json.dumps(values, ensure_ascii=True, separators=(",", ":"), sort_keys=True).encode() + b"\n"


def state_digest(memories: Iterable[Kept]) -> StateDigest:
    """The digest of memories that come ordered by (shard, id as text).

    Streams: one memory is held at a time. Raises DigestOrder where the order is broken, because a digest over another
    order would differ without a difference in state.
    """
    shards = tuple(_by_shard(memories))
    whole = hashlib.sha256()
    for one in shards:
        whole.update(one.shard.to_bytes(4, "big") + one.digest)
    return StateDigest(whole.digest(), shards)


def compare(left: StateDigest, right: StateDigest) -> list[Difference]:
    """The shards that differ, in order. Empty: the two hold the same state."""
    numbers = sorted({s.shard for s in left.shards} | {s.shard for s in right.shards})
    pairs = ((n, left.of(n), right.of(n)) for n in numbers)
    return [Difference(n, a, b) for n, a, b in pairs if a != b]


def _by_shard(memories: Iterable[Kept]) -> Iterator[ShardDigest]:
    shard: int | None = None
    last = ""
    whole = hashlib.sha256()
    count = alive = 0
    for kept in memories:
        memory = kept.memory
        if memory.shard != shard:
            if shard is not None:
                if memory.shard < shard:
                    raise DigestOrder(f"shard {memory.shard} after shard {shard}: sort by shard, then by id")
                yield ShardDigest(shard, whole.digest(), count, alive)
            shard, last, whole, count, alive = memory.shard, "", hashlib.sha256(), 0, 0
        if memory.id <= last:
            raise DigestOrder(f"memory {memory.id} of shard {shard} after {last}: sort by shard, then by id")
        last = memory.id
        whole.update(line(kept))
        count += 1
        alive += kept.strength is not None
    if shard is not None:
        yield ShardDigest(shard, whole.digest(), count, alive)


def _fingerprint(data: bytes | None) -> str | None:
    return None if data is None else hashlib.sha256(data).hexdigest()
