"""Signs a webhook by the Standard Webhooks convention: HMAC-SHA256 over id, time and body, so that none of them can be
exchanged.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
from collections.abc import Sequence

PREFIX = "whsec_"
ID, TIMESTAMP, SIGNATURE = "webhook-id", "webhook-timestamp", "webhook-signature"
_LEAST, _MOST = 24, 64  # bytes of a key


class BadSecret(ValueError):
    """A secret has a wrong form; the message holds none of it."""


def key_of(secret: str) -> bytes:
    """Returns the key of a secret, `whsec_` and base64 of 24 to 64 bytes. Raises BadSecret."""
    try:
        key = base64.b64decode(secret.removeprefix(PREFIX), validate=True)
    except (binascii.Error, ValueError):
        key = b""
    if not secret.startswith(PREFIX) or not _LEAST <= len(key) <= _MOST:
        raise BadSecret(f"a secret is {PREFIX} and base64 of {_LEAST} to {_MOST} random bytes")
    return key


def headers(keys: Sequence[bytes], event_id: str, at_s: int, body: bytes) -> list[tuple[str, str]]:
    """Returns the three headers of a request. With several keys it bears a signature by each, as while one replaces
    another."""
    signed = f"{event_id}.{at_s}.".encode() + body
    marks = [base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode() for key in keys]
    return [(ID, event_id), (TIMESTAMP, str(at_s)), (SIGNATURE, " ".join(f"v1,{mark}" for mark in marks))]
