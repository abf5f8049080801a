"""Rolling hashes: what was decided and what was read, each in 32 bytes that hold everything before (DESIGN 13)."""

from __future__ import annotations

from memquorum.core.ids import sha256
from memquorum.core.records import Checkpoint

_DECISIONS = b"memquorum/decisions/1"
_STREAM = b"memquorum/stream/1"
_CHECKPOINT = b"memquorum/checkpoint/1"
_NOTHING = bytes(32)


def beginning(cluster: bytes, shard: int) -> bytes:
    """The hash of a shard before anything was decided or read."""
    return sha256(cluster, shard.to_bytes(4, "big"))


def decided(before: bytes, proposal: bytes) -> bytes:
    """The hash of the decisions with one more: the digest of its proposal."""
    return sha256(_DECISIONS, before, proposal)


def read(before: bytes, offset: int, accepted: bytes, scored: bytes | None) -> bytes:
    """The hash of the accepted stream with one more record: its offset, and the SHA-256 of its bytes and of its score's
    as they were read. `scored` is None for what has no score."""
    return sha256(_STREAM, before, offset.to_bytes(8, "big"), accepted, scored or _NOTHING)


def checkpoint_digest(body: Checkpoint) -> bytes:
    """What a checkpoint says, whoever says it."""
    place = (body.config, body.shard, body.seq, body.epoch, body.accepted_offset)
    # Signed: a liar's number must not be an error.
    numbers = b"".join(n.to_bytes(8, "big", signed=True) for n in place)
    return sha256(_CHECKPOINT, body.cluster, numbers, sha256(body.decisions), sha256(body.stream))
