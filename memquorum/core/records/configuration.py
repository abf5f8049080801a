"""The record of an order of the operator: other members of a shard, other keys, or another policy."""

from __future__ import annotations

from msgspec import Struct


class ConfigurationOrdered(Struct, frozen=True):
    """The operator orders another configuration of a shard."""

    cluster: bytes
    config: int
    shard: int
    base: bytes
    action: str
    member: int = -1
    name: str = ""
    role: str = ""
    public_key: bytes = b""
    weight_milli: int = 0
    reliabilities: tuple[int, ...] = ()
    through: int = 0
    policy: str = ""
