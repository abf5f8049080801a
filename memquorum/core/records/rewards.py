"""The record of what an agent is given for what it does to the fleet's memory."""

from __future__ import annotations

from msgspec import Struct


class RewardGiven(Struct, frozen=True):
    """What an entry of the journal gave an agent: what for, and how much, in millionths (`core.journal.rewards`)."""

    shard: int
    seq: int
    namespace: str
    agent: str
    memory_id: str
    kind: str
    amount_ppm: int
    as_of: int
