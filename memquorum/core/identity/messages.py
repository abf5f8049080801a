"""Signed messages: Ed25519 over a domain, the cluster, the signer and the received bytes (DESIGN 6).

The signature covers the bytes as received, never a re-encoding, so a change of schema cannot change a digest.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache
from typing import Any, TypeVar

from nacl.exceptions import BadSignatureError
from nacl.signing import SigningKey, VerifyKey

from memquorum.core.avro import Codec, DecodeError, UnknownSchema
from memquorum.core.identity.membership import OPERATOR, Genesis
from memquorum.core.records import (
    BallotCast,
    Checkpoint,
    Commit,
    ConfigurationOrdered,
    JournalHead,
    Misbehaved,
    NewView,
    NominationProposed,
    Prepare,
    PrePrepare,
    RehearsalMade,
    Signed,
    TrialMade,
    ViewChange,
)

_DOMAIN = b"memquorum/signed/1\0"

SignedRecord = TypeVar(
    "SignedRecord",
    BallotCast,
    Checkpoint,
    Commit,
    JournalHead,
    ConfigurationOrdered,
    Misbehaved,
    NewView,
    NominationProposed,
    Prepare,
    PrePrepare,
    RehearsalMade,
    TrialMade,
    ViewChange,
)

# The required signer of records that are not a member's own.
_SERVICE: dict[type, str] = {
    NominationProposed: "service:nomination",
    JournalHead: "service:journal",
    RehearsalMade: "service:rehearsal",
    ConfigurationOrdered: OPERATOR,
}


class BadMessage(ValueError):
    """Raised for a message that proves nothing: forged, foreign, or of another kind. The text says why."""


class LaterFormat(BadMessage):
    """Raised for a message with a body of an unknown schema: a later release may have written it. `signed`: its
    envelope, with a signature that was not checked."""

    def __init__(self, signed: Signed, why: str) -> None:
        super().__init__(why)
        self.signed = signed


class UnknownConfiguration(BadMessage):
    """Raised for a message of an unknown configuration: the decisions that lead to it have not been read, or it is a
    lie."""


def digest(body: bytes) -> bytes:
    """Returns the SHA-256 of a signed body, by which other messages refer to it."""
    return hashlib.sha256(body).digest()


def sign(cluster: bytes, signer: str, seed: bytes, body: bytes) -> Signed:
    """Signs the body with the 32-byte Ed25519 seed of 'member:N' or 'service:NAME'. Deterministic (RFC 8032)."""
    return Signed(signer, _signing_key(seed).sign(_signed_bytes(cluster, signer, body)).signature, body)


@lru_cache(maxsize=128)
def _signing_key(seed: bytes) -> SigningKey:
    """Cached: computing the public half costs as much as a signature."""
    return SigningKey(seed)


def verify(genesis: Genesis, signed: Signed) -> None:
    """Raises BadMessage unless the signer is of this cluster and signed these bytes."""
    key = genesis.key_of(signed.signer)
    if key is None:
        raise BadMessage(f"{signed.signer[:40]!r} is not of this cluster")
    try:
        VerifyKey(key).verify(_signed_bytes(genesis.cluster, signed.signer, signed.body), signed.signature)
    except (BadSignatureError, ValueError):
        raise BadMessage(f"the signature is not {signed.signer}'s") from None


def read_signed(codec: Codec, genesis: Genesis, data: bytes, kind: type[SignedRecord]) -> tuple[Signed, SignedRecord]:
    """Reads an envelope and its body without the signature; checks cluster, config, shard and the required signer.

    The cheap half of `open_signed`, for a replica that verifies signatures only up to the quorum. Raises BadMessage.
    """
    signed, record = _decode(codec, data, kind)
    _check_entitled(genesis, signed, record)
    return signed, record


def open_signed(codec: Codec, genesis: Genesis, data: bytes, kind: type[SignedRecord]) -> tuple[Signed, SignedRecord]:
    """Reads an envelope and its body; checks identity, entitlement and signature. Raises BadMessage."""
    signed, record = read_signed(codec, genesis, data, kind)
    verify(genesis, signed)
    return signed, record


def open_any(codec: Codec, genesis: Genesis, data: bytes, kind: type[SignedRecord]) -> tuple[SignedRecord, Genesis]:
    """Opens a record as `open_signed` does, by the configuration that it names: the given one, or one that led to it.
    Returns the record and its configuration. Raises BadMessage."""
    signed, record = _decode(codec, data, kind)
    said: Any = record
    found = genesis.of(said.config)
    if found is None:
        raise UnknownConfiguration(f"of configuration {said.config}, which is not known here")
    _check_entitled(found, signed, record)
    verify(found, signed)
    return record, found


def unsigned(codec: Codec, data: bytes, kind: type[SignedRecord]) -> SignedRecord:
    """Reads the body of an envelope without any check. Raises BadMessage."""
    return _decode(codec, data, kind)[1]


def _decode(codec: Codec, data: bytes, kind: type[SignedRecord]) -> tuple[Signed, SignedRecord]:
    try:
        signed = codec.decode_as(Signed, data)
    except DecodeError as error:
        raise BadMessage(str(error)) from None
    try:
        return signed, codec.decode_as(kind, signed.body)
    except UnknownSchema as error:
        raise LaterFormat(signed, str(error)) from None
    except DecodeError as error:
        raise BadMessage(str(error)) from None


def _check_entitled(genesis: Genesis, signed: Signed, said: Any) -> None:
    if said.cluster != genesis.cluster:
        raise BadMessage("it is of another cluster")
    if getattr(said, "config", genesis.config) != genesis.config:
        raise BadMessage(f"it is of configuration {said.config}, not {genesis.config}")
    if not 0 <= said.shard < genesis.shards:
        raise BadMessage(f"there is no shard {said.shard}; the cluster has {genesis.shards}")
    if isinstance(said, TrialMade):
        entitled = f"service:{said.verifier}"
        if said.verifier not in genesis.verifiers:
            raise BadMessage(f"{said.verifier[:40]!r} is not a verifier of this configuration")
    else:
        entitled = _SERVICE.get(type(said)) or f"member:{said.member}"
    if signed.signer != entitled:
        raise BadMessage(f"{signed.signer[:40]!r} signed a record that only {entitled} may sign")


def _signed_bytes(cluster: bytes, signer: str, body: bytes) -> bytes:
    # The signer's length keeps (signer, body) unambiguous; the cluster has a fixed length.
    name = signer.encode()
    return _DOMAIN + cluster + len(name).to_bytes(2, "big") + name + body
