"""Sealing: content and embeddings leave the store only encrypted under their memory's own key (DESIGN 15).

AES-256-GCM, with the memory's id and what is sealed as additional data, so that a sealed thing cannot be passed off as
another. Layout of everything sealed: nonce (12 bytes), ciphertext, tag (16 bytes). Nonces are arguments: the caller
draws them at random and never uses one twice with the same key.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable

import numpy as np
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from numpy.typing import NDArray

KEY_BYTES = 32
NONCE_BYTES = 12
# What sealing adds: the nonce before, GCM's tag after.
OVERHEAD_BYTES = NONCE_BYTES + 16


class SealError(ValueError):
    """What should be opened was sealed with another key or for another purpose, or was altered."""


def seal(key: bytes, nonce: bytes, plaintext: bytes, aad: bytes) -> bytes:
    """The plaintext sealed under a 32-byte key with a fresh 12-byte nonce."""
    if len(nonce) != NONCE_BYTES:
        raise ValueError(f"a nonce has {NONCE_BYTES} bytes, not {len(nonce)}")
    return nonce + AESGCM(key).encrypt(nonce, plaintext, aad)


def open_sealed(key: bytes, sealed: bytes, aad: bytes) -> bytes:
    """What was sealed under the key for the purpose named by `aad`. Raises SealError."""
    try:
        return AESGCM(key).decrypt(sealed[:NONCE_BYTES], sealed[NONCE_BYTES:], aad)
    except (InvalidTag, ValueError):
        raise SealError("cannot be opened: another key, another purpose, or altered") from None


def seal_text(key: bytes, nonce: bytes, text: str, memory_id: str) -> bytes:
    """A memory's content, sealed."""
    return seal(key, nonce, text.encode(), _purpose("content", memory_id))


def open_text(key: bytes, sealed: bytes, memory_id: str) -> str:
    """A memory's content. Raises SealError."""
    return open_sealed(key, sealed, _purpose("content", memory_id)).decode()


def seal_vector(key: bytes, nonce: bytes, vector: NDArray[np.float32], memory_id: str) -> bytes:
    """A memory's embedding, shape (d,), sealed as little-endian float16: what the store keeps is what is sealed."""
    return seal(key, nonce, vector.astype("<f2").tobytes(), _purpose("embedding", memory_id))


def open_vector(key: bytes, sealed: bytes, memory_id: str) -> NDArray[np.float32]:
    """A memory's embedding as float32, shape (d,). Raises SealError."""
    return np.frombuffer(open_sealed(key, sealed, _purpose("embedding", memory_id)), "<f2").astype(np.float32)


def open_vectors(wanted: Iterable[tuple[str, bytes, bytes]]) -> dict[str, NDArray[np.float32]]:
    """The embeddings of (memory id, key, sealed) by their id; what cannot be opened, or holds no vector of finite
    numbers, is left out. Many at once: what is opened alike is made numbers together."""
    opened: dict[int, dict[str, bytes]] = {}
    for memory_id, key, sealed in wanted:
        try:
            plaintext = open_sealed(key, sealed, _purpose("embedding", memory_id))
        except SealError:
            continue
        opened.setdefault(len(plaintext), {})[memory_id] = plaintext
    found: dict[str, NDArray[np.float32]] = {}
    for length, alike in opened.items():
        if length == 0 or length % 2:
            continue
        vectors = np.frombuffer(b"".join(alike.values()), "<f2").astype(np.float32).reshape(len(alike), -1)
        sound = np.flatnonzero(np.isfinite(vectors).all(axis=1)).tolist()
        ids = list(alike)
        found.update((ids[at], vectors[at]) for at in sound)
    return found


def commitment(key: bytes, content: str) -> bytes:
    """HMAC-SHA256 of the content under a key derived from the memory's.

    Whoever holds the key can show that a text is the one that was accepted; once the key is destroyed, the
    commitment says nothing about even a guessable text, which a bare hash would.
    """
    derived = hmac.digest(key, b"memquorum/commitment/1", hashlib.sha256)
    return hmac.digest(derived, content.encode(), hashlib.sha256)


def wrap(kek: bytes, nonce: bytes, key: bytes, purpose: str) -> bytes:
    """A key sealed under the key above it; `purpose` names whose key it is."""
    return seal(kek, nonce, key, _purpose("key", purpose))


def unwrap(kek: bytes, wrapped: bytes, purpose: str) -> bytes:
    """The key that `wrap` sealed. Raises SealError."""
    return open_sealed(kek, wrapped, _purpose("key", purpose))


def _purpose(what: str, whose: str) -> bytes:
    return f"memquorum/{what}/1/{whose}".encode()
