"""What a rehearsal says of a memory, and what the journal tells of it."""

from __future__ import annotations

from msgspec import Struct


class RehearsalMade(Struct, frozen=True):
    """Within a Signed of service:rehearsal. What a rehearsal found of one memory (`core.rehearsal.Verdict`).

    `memory_seq`, `previous`: as it was read, the journal sequence of its last change of tier, and when it was rehearsed
    before (0: never). `as_of`: the shard's time at which it was read; `accepted_offset`: how far the store had applied
    the accepted stream then. `witness`: of what is contested, the memory that says otherwise; else empty.
    """

    cluster: bytes
    config: int
    shard: int
    memory_id: str
    namespace: str
    verdict: str
    witness: str
    memory_seq: int
    previous: int
    as_of: int
    accepted_offset: int


class Rehearsed(Struct, frozen=True):
    """Detail of 'rehearsed': what was said, as it was signed, and the memory's salience before and after."""

    made: bytes
    before_ppm: int
    after_ppm: int
