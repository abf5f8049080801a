"""The state digest: one SHA-256 that two databases share exactly when they hold the same memories.

A rebuild is proven by it: the digest of a shard is taken over one canonical line per memory, ordered by id, and the
line holds every durable column of the memory, its strength, and digests of its content and its vector. Nothing in a
line depends on the place it was read from: no row order, no float formatting, no time zone.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields


class DigestOrder(ValueError):
    """Rows that do not come ordered by (shard, id) without repetition; the message names the row."""


@dataclass(frozen=True, slots=True)
class StrengthRow:
    """The narrow row of a memory that is alive: what changes often. Field for field the table `strength`."""

    tier: str
    salience_ppm: int
    created: int
    last_access: int
    due_at: int
    touched: int
    accesses: int
    reinforced: int
    forget_kept: int
    forget_rest: int
    promote_kept: int
    promote_rest: int


@dataclass(frozen=True, slots=True)
class MemoryRow:
    """One memory as the store holds it. `strength`, `content` and `vector` are absent when it is sealed or gone.

    `content` is the text's UTF-8, `vector` its components as float16, little-endian, one after the other.
    """

    shard: int
    id: str
    namespace: str
    agent: str
    subject: str
    session: str | None
    role: str | None
    event_id: str
    tier: str
    created: int
    characters: int
    commitment: bytes
    encoder: str
    early: bool
    confidence_ppm: int | None
    changed: int
    sealed_until: int | None
    seq: int
    strength: StrengthRow | None
    content: bytes | None
    vector: bytes | None


@dataclass(frozen=True, slots=True)
class ShardDigest:
    """The digest of one shard, with what it was taken over."""

    shard: int
    digest: bytes
    memories: int
    alive: int


@dataclass(frozen=True, slots=True)
class StateDigest:
    """The digest of every shard that holds a memory, and one over them all."""

    digest: bytes
    shards: tuple[ShardDigest, ...]

    def of(self, shard: int) -> ShardDigest:
        """The digest of a shard; of one without memories, the digest of nothing."""
        for one in self.shards:
            if one.shard == shard:
                return one
        return ShardDigest(shard, hashlib.sha256().digest(), 0, 0)


@dataclass(frozen=True, slots=True)
class Difference:
    """Two databases disagree about a shard."""

    shard: int
    left: ShardDigest
    right: ShardDigest


_COLUMNS = tuple(f.name for f in fields(MemoryRow) if f.name not in ("commitment", "strength", "content", "vector"))
_STRENGTH = tuple(f.name for f in fields(StrengthRow))


def line(row: MemoryRow) -> bytes:
    """The canonical line of a memory: a JSON array of its columns in the order of `MemoryRow`, and a line feed.

    Bytes stand as hexadecimal, content and vector as their SHA-256; a JSON text has no bare line feed, so that lines
    cannot run into each other.
    """
    strength = row.strength
    values = [
        [getattr(row, name) for name in _COLUMNS],
        row.commitment.hex(),
        None if strength is None else [getattr(strength, name) for name in _STRENGTH],
        _fingerprint(row.content),
        _fingerprint(row.vector),
    ]
    return json.dumps(values, ensure_ascii=True, separators=(",", ":")).encode() + b"\n"


def state_digest(rows: Iterable[MemoryRow]) -> StateDigest:
    """The digest of rows that come ordered by (shard, id as a UUID's lower-case text).

    Streams: one row is held at a time. Raises DigestOrder where the order is broken, because a digest over another
    order would differ without a difference in state.
    """
    shards = tuple(_by_shard(rows))
    whole = hashlib.sha256()
    for one in shards:
        whole.update(one.shard.to_bytes(4, "big") + one.digest)
    return StateDigest(whole.digest(), shards)


def compare(left: StateDigest, right: StateDigest) -> list[Difference]:
    """The shards that differ, in order. Empty: the two hold the same state."""
    numbers = sorted({s.shard for s in left.shards} | {s.shard for s in right.shards})
    pairs = ((n, left.of(n), right.of(n)) for n in numbers)
    return [Difference(n, a, b) for n, a, b in pairs if a != b]


def from_mapping(row: Mapping[str, object]) -> MemoryRow:
    """A MemoryRow from a database row with the columns of `memory`, those of `strength` as `strength_<name>`,
    `body` (text) and `vector` (float16 bytes, little-endian). Absent strength: all its columns are None.
    """
    strength = None
    if row["strength_tier"] is not None:
        strength = StrengthRow(**{name: row[f"strength_{name}"] for name in _STRENGTH})  # type: ignore[arg-type]
    values = {name: row[name] for name in _COLUMNS}
    values["id"] = str(values["id"])
    body = row["body"]
    return MemoryRow(
        **values,  # type: ignore[arg-type]
        commitment=_bytes(row["commitment"]) or b"",
        strength=strength,
        content=body.encode() if isinstance(body, str) else _bytes(body),
        vector=_bytes(row["vector"]),
    )


def _by_shard(rows: Iterable[MemoryRow]) -> Iterator[ShardDigest]:
    shard: int | None = None
    last = ""
    whole = hashlib.sha256()
    memories = alive = 0
    for row in rows:
        if row.shard != shard:
            if shard is not None:
                if row.shard < shard:
                    raise DigestOrder(f"shard {row.shard} after shard {shard}: sort the rows by shard, then by id")
                yield ShardDigest(shard, whole.digest(), memories, alive)
            shard, last, whole, memories, alive = row.shard, "", hashlib.sha256(), 0, 0
        if row.id <= last:
            raise DigestOrder(f"memory {row.id} of shard {row.shard} after {last}: sort the rows by shard, then by id")
        last = row.id
        whole.update(line(row))
        memories += 1
        alive += row.strength is not None
    if shard is not None:
        yield ShardDigest(shard, whole.digest(), memories, alive)


def _fingerprint(data: bytes | None) -> str | None:
    return None if data is None else hashlib.sha256(data).hexdigest()


def _bytes(value: object) -> bytes | None:
    if value is None or isinstance(value, bytes):
        return value
    if isinstance(value, (bytearray, memoryview)):
        return bytes(value)
    raise TypeError(f"bytes expected where the database gave a {type(value).__name__}")
