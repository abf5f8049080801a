"""Dead letters: a refused record's bytes, sealed under a key of their own, by nobody's name."""

from __future__ import annotations

from memquorum import topics
from memquorum.core import ids
from memquorum.core.crypto import sealing
from memquorum.core.intake import Origin


def seal_payload(letter: str, key: bytes, nonce: bytes, payload: bytes) -> bytes:
    """A refused record's bytes, sealed under the dead letter's own key."""
    return sealing.seal(key, nonce, payload, _letter(letter))


def open_payload(letter: str, key: bytes, sealed: bytes) -> bytes:
    """A refused record's bytes, for whoever repairs it. Raises SealError."""
    return sealing.open_sealed(key, sealed, _letter(letter))


def _letter(letter: str) -> bytes:
    return f"memquorum/dead-letter/1/{letter}".encode()


def dead_letter_id(origin: Origin) -> str:
    """The vault id of a refused payload's key: the same again on a redelivery, never a memory's."""
    return ids.origin_event_id(f"{topics.REFUSED}/{origin.topic}", origin.partition, origin.offset)
