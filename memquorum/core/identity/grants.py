"""Grants: the rights of an API key beyond its agent, signed by the retrieval service in the header `granted`.

A key may name slots that its holder takes from other agents without a vote (infra/decisions/0075). Records in Kafka
have no API key, so the service that saw the key signs the published record with the key's id before it. It signs as it
signs orders, with `service:erasure`, the only key that it has.
"""

from __future__ import annotations

import re

from nacl.exceptions import BadSignatureError
from nacl.signing import SigningKey, VerifyKey

from memquorum.core.identity.membership import Genesis

HEADER = "granted"
SIGNER = "erasure"

_DOMAIN = b"memquorum/granted/1\0"
_ID = re.compile(rb"[0-9a-f]{12}\Z")
_ID_BYTES = 12


def grant(cluster: bytes, seed: bytes, key_id: str, value: bytes) -> bytes:
    """Returns the header of a published record: the API key's id, and 64 bytes of signature. `seed`: of
    service:erasure."""
    told = key_id.encode()
    return told + SigningKey(seed).sign(_DOMAIN + cluster + told + value).signature


def granted(genesis: Genesis, value: bytes, header: bytes) -> str | None:
    """Returns the id of the API key that granted the record; None where the header does not prove that."""
    told, signature = header[:_ID_BYTES], header[_ID_BYTES:]
    service = genesis.services.get(SIGNER)
    if service is None or _ID.match(told) is None:
        return None
    try:
        VerifyKey(service).verify(_DOMAIN + genesis.cluster + told + value, signature)
    except (BadSignatureError, ValueError):
        return None
    return told.decode()
