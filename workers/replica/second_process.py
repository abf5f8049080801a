"""Notices that another process signs as this member: two that know nothing of each other would contradict each other.

On one machine the lock of the sign-state keeps a second process out. One on another machine begins with an empty sign-
state, or with a copy. Then the member is silent, until a sequence is decided without it. If meanwhile the log shows
messages of this member that were written after the start, the other one lives, and this one ends before its first word.
"""

from __future__ import annotations

import time

from memquorum.core.avro import Codec, DecodeError
from memquorum.core.identity.messages import BadMessage, verify
from memquorum.core.records import Signed
from workers.replica.seat import Seat

# A larger difference of two machines' clocks delays the notice of the other process by as much.
_CLOCKS_MS = 1_000


class TwinRuns(RuntimeError):
    """Another process signs as this member in the same shard. The message says in which."""


class Twins:
    """Looks for messages of this member that it did not sign, as long as it does not know what it has signed."""

    def __init__(self, codec: Codec, me: int) -> None:
        self._codec, self._me = codec, me
        self._since_ms = time.time_ns() // 1_000_000 + _CLOCKS_MS

    def heard(self, seat: Seat, data: bytes, written_ms: int) -> None:
        """Takes a record of a log. Raises TwinRuns."""
        silence = seat.core.silence
        if not (seat.live and silence.fresh) or seat.core.speaks or written_ms < self._since_ms:
            return
        try:
            signed = self._codec.decode_as(Signed, data)
            if signed.signer != f"member:{self._me}":
                return
            verify(seat.genesis, signed)
        except (DecodeError, BadMessage):
            return
        raise TwinRuns(
            f"another process signs as member {self._me} in shard {seat.shard}, and this one lacks its sign-state: a "
            "shard has one process of a member. Stop one of the two; docs/operate/machines.md says how shards move"
        )
