"""Rolling hashes of decisions and of the accepted stream: each value covers everything before, in 32 bytes (DESIGN
13)."""

from __future__ import annotations

from memquorum.core.ids import sha256
from memquorum.core.records import Checkpoint

_DECISIONS = b"memquorum/decisions/1"
_STREAM = b"memquorum/stream/1"
_CHECKPOINT = b"memquorum/checkpoint/1"
_NOTHING = bytes(32)


def beginning(cluster: bytes, shard: int) -> bytes:
    """Returns the hash of a shard before the first decision or record."""
    return sha256(cluster, shard.to_bytes(4, "big"))


def decided(before: bytes, proposal: bytes) -> bytes:
    """Returns the hash of the decisions with one more, by the digest of its proposal."""
    return sha256(_DECISIONS, before, proposal)


def read(before: bytes, offset: int, accepted: bytes, scored: bytes | None) -> bytes:
    """Returns the hash of the accepted stream with one more record: its offset, and the SHA-256 of its bytes and of its
    score's as they were read. `scored` is None for a record without a score."""
    return sha256(_STREAM, before, offset.to_bytes(8, "big"), accepted, scored or _NOTHING)


def checkpoint_digest(body: Checkpoint) -> bytes:
    """Returns the digest of a checkpoint's content, without its signer."""
    place = (body.config, body.shard, body.seq, body.epoch, body.accepted_offset)
    # Signed: a liar's negative number must not raise an error.
    numbers = b"".join(n.to_bytes(8, "big", signed=True) for n in place)
    return sha256(_CHECKPOINT, body.cluster, numbers, sha256(body.decisions), sha256(body.stream))
