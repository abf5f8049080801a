"""Stamps: the authentication of internal topics that carry no signatures (infra/decisions/0010).

Accepted, scored, crossed and journal records are many, and a signature on each would cost a third of the line. They
have a stamp in the header `stamp` instead, an authenticator as in Castro and Liskov's PBFT (OSDI 1999, 5.2): a vector
of keyed BLAKE2b tags over topic, partition and value, one for the services and one for each member. Every member holds
only the key of its own tag, so a record with a valid tag was written by a service: neither a stranger nor another
member can make that tag.
"""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass, field
from functools import cached_property

HEADER = "stamp"
KEY_BYTES = 32

_TAG_BYTES = 16
_PERSON = b"memquorum/stamp2"  # exactly the 16 bytes that BLAKE2b takes
_MEMBER = b"memquorum/member"


@dataclass(frozen=True, slots=True)
class Reader:
    """Tells the fleet's own records from strangers'. Made by `for_services` or `for_member`."""

    key: bytes = field(repr=False)
    place: int
    """The index of its tag in the stamp: 0 for the services, 1 + id for a member."""
    added: bool = False
    """True if the member was added later: earlier records have no tag for it."""

    def genuine(self, topic: str, partition: int, value: bytes, stamp: bytes | None) -> bool:
        """True if the stamp is valid for this record in this partition."""
        first = self.place * _TAG_BYTES
        if stamp is None or len(stamp) < first + _TAG_BYTES:
            return False
        expected = _tag(self.key, _digest(topic, partition, value))
        return hmac.compare_digest(stamp[first : first + _TAG_BYTES], expected)

    def may_precede(self, stamp: bytes | None) -> bool:
        """True if a stamp may be from before this member was added: too short for its tag. It proves nothing, so it
        counts only before the first record of its partition that has such a tag (`workers.kafka.strangers`)."""
        return self.added and stamp is not None and _TAG_BYTES <= len(stamp) < (1 + self.place) * _TAG_BYTES


@dataclass(frozen=True)
class Writer:
    """Stamps the records of a service, for the services and `members` members. `key`: 32 bytes that services share."""

    key: bytes = field(repr=False)
    members: int

    @cached_property
    def _keys(self) -> tuple[bytes, ...]:
        return (self.key, *(member_key(self.key, member) for member in range(self.members)))

    def stamp(self, topic: str, partition: int, value: bytes) -> bytes:
        """Returns the header's 16 · (1 + members) bytes."""
        digest = _digest(topic, partition, value)
        return b"".join(_tag(key, digest) for key in self._keys)

    def reader(self) -> Reader:
        """Returns a service's reader."""
        return for_services(self.key)


def member_key(key: bytes, member: int) -> bytes:
    """Derives the key of one member's tag from the services' key: the only key that this member is given."""
    return hashlib.blake2b(member.to_bytes(4, "big"), digest_size=KEY_BYTES, key=key, person=_MEMBER).digest()


def for_services(key: bytes) -> Reader:
    """Returns a reader that checks the services' tag."""
    return Reader(key, 0)


def for_member(key: bytes, member: int, *, added: bool = False) -> Reader:
    """Returns a reader that checks the tag of one member, by the key that `member_key` derived for it. `added`: see
    `Reader`."""
    return Reader(key, 1 + member, added)


def _digest(topic: str, partition: int, value: bytes) -> bytes:
    # The topic's length keeps (topic, partition, value) unambiguous. Hashed once, however many tags follow.
    name = topic.encode()
    place = len(name).to_bytes(2, "big") + name + partition.to_bytes(4, "big")
    return hashlib.blake2b(place + value, digest_size=32, person=_PERSON).digest()


def _tag(key: bytes, digest: bytes) -> bytes:
    return hashlib.blake2b(digest, digest_size=_TAG_BYTES, key=key, person=_PERSON).digest()
