"""Stamps: who may write to the internal topics that carry no signatures (infra/decisions/0010).

Accepted, scored, crossed and journal records are many, and a signature on each would cost a third of the line. They
bear a stamp in the header `stamp` instead: two keyed BLAKE2b tags over topic, partition and value, one for the services
and one for the members. Whoever holds neither key cannot write a record that anyone reads; whoever holds the members'
key, as every replica does to check, can still write none that a service believes.
"""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass, field

HEADER = "stamp"
KEY_BYTES = 32

_TAG_BYTES = 16
_PERSON = b"memquorum/stamp1"  # exactly the 16 bytes that BLAKE2b takes


@dataclass(frozen=True, slots=True)
class Reader:
    """Tells the line's records from strangers'. Made by `for_services` or `for_members`."""

    key: bytes = field(repr=False)
    first: int

    def genuine(self, topic: str, partition: int, value: bytes, stamp: bytes | None) -> bool:
        """Whether the stamp is one of the line's for this record in this partition."""
        if stamp is None or len(stamp) != 2 * _TAG_BYTES:
            return False
        tag = stamp[self.first : self.first + _TAG_BYTES]
        return hmac.compare_digest(tag, _tag(self.key, topic, partition, value))


@dataclass(frozen=True, slots=True)
class Writer:
    """Stamps what a service writes. `services`, `members`: 32 bytes each, not the same."""

    services: bytes = field(repr=False)
    members: bytes = field(repr=False)

    def stamp(self, topic: str, partition: int, value: bytes) -> bytes:
        """The header's 32 bytes."""
        return _tag(self.services, topic, partition, value) + _tag(self.members, topic, partition, value)

    def reader(self) -> Reader:
        """What a service checks by."""
        return for_services(self.services)


def for_services(key: bytes) -> Reader:
    """Checks the services' tag."""
    return Reader(key, 0)


def for_members(key: bytes) -> Reader:
    """Checks the members' tag."""
    return Reader(key, _TAG_BYTES)


def _tag(key: bytes, topic: str, partition: int, value: bytes) -> bytes:
    # The topic's length keeps (topic, partition, value) unambiguous.
    name = topic.encode()
    place = len(name).to_bytes(2, "big") + name + partition.to_bytes(4, "big")
    return hashlib.blake2b(place + value, digest_size=_TAG_BYTES, key=key, person=_PERSON).digest()
