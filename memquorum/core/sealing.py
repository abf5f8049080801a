"""Sealing: content and embeddings leave the store only encrypted under their memory's own key (DESIGN 15).

AES-256-GCM, with the memory's id and what is sealed as additional data, so that a sealed thing cannot be passed off as
another. Layout of everything sealed: nonce (12 bytes), ciphertext, tag (16 bytes). Nonces are arguments: the caller
draws them at random and never uses one twice with the same key.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM
    from numpy.typing import NDArray

KEY_BYTES = 32
NONCE_BYTES = 12
# The bytes that sealing adds: the nonce before, GCM's tag after.
OVERHEAD_BYTES = NONCE_BYTES + 16
_CLOSED = "cannot be opened: another key, another purpose, or altered"


class SealError(ValueError):
    """The bytes to open were sealed with another key or for another purpose, or were altered."""


def seal(key: bytes, nonce: bytes, plaintext: bytes, aad: bytes) -> bytes:
    """The plaintext sealed under a 32-byte key with a fresh 12-byte nonce."""
    if len(nonce) != NONCE_BYTES:
        raise ValueError(f"a nonce has {NONCE_BYTES} bytes, not {len(nonce)}")
    return nonce + _aes()[0](key).encrypt(nonce, plaintext, aad)


def open_sealed(key: bytes, sealed: bytes, aad: bytes) -> bytes:
    """Opens bytes that were sealed under the key for the purpose named by `aad`. Raises SealError."""
    cipher, invalid = _aes()
    try:
        return cipher(key).decrypt(sealed[:NONCE_BYTES], sealed[NONCE_BYTES:], aad)
    except (invalid, ValueError):
        raise SealError(_CLOSED) from None


def seal_text(key: bytes, nonce: bytes, text: str, memory_id: str) -> bytes:
    """A memory's content, sealed."""
    return seal(key, nonce, text.encode(), _purpose("content", memory_id))


def open_text(key: bytes, sealed: bytes, memory_id: str) -> str:
    """A memory's content. Raises SealError."""
    return open_sealed(key, sealed, _purpose("content", memory_id)).decode()


def seal_signed(key: bytes, nonce: bytes, signed: bytes, memory_id: str) -> bytes:
    """Seals the bytes that an agent signed, with the signature before them."""
    return seal(key, nonce, signed, _purpose("signed", memory_id))


def open_signed(key: bytes, sealed: bytes, memory_id: str) -> bytes:
    """Opens the bytes that an agent signed, with the signature before them. Raises SealError."""
    return open_sealed(key, sealed, _purpose("signed", memory_id))


def seal_labels(key: bytes, nonce: bytes, labels: str, memory_id: str) -> bytes:
    """Seals the labels of a memory and the names that its links point to (`core.labelling`)."""
    return seal(key, nonce, labels.encode(), _purpose("labels", memory_id))


def open_labels(key: bytes, sealed: bytes, memory_id: str) -> str:
    """Opens the labels of a memory and the names that its links point to. Raises SealError."""
    return open_sealed(key, sealed, _purpose("labels", memory_id)).decode()


def seal_vector(key: bytes, nonce: bytes, vector: NDArray[np.float32], memory_id: str) -> bytes:
    """A memory's embedding, shape (d,), sealed as little-endian float16: what the store keeps is what is sealed."""
    return seal(key, nonce, vector.astype("<f2").tobytes(), _purpose("embedding", memory_id))


def open_vector(key: bytes, sealed: bytes, memory_id: str) -> NDArray[np.float32]:
    """A memory's embedding as float32, shape (d,). Raises SealError."""
    # Not at the top: the client seals nothing, and would wait for numpy when it is imported.
    import numpy as np

    return np.frombuffer(open_sealed(key, sealed, _purpose("embedding", memory_id)), "<f2").astype(np.float32)


def seal_sentences(key: bytes, nonce: bytes, vectors: NDArray[np.float32], memory_id: str) -> bytes:
    """The embeddings of a summary's sentences, or of a long text's passages, shape (n, d), sealed as `seal_vector`
    does."""
    return seal(key, nonce, vectors.astype("<f2").tobytes(), _purpose("sentences", memory_id))


def seal_rows(
    key: bytes, nonces: tuple[bytes, bytes], vectors: Sequence[NDArray[np.float32]], memory_id: str
) -> tuple[bytes, bytes | None]:
    """A memory's embedding, the first of the vectors, and those of a summary's sentences or a long text's passages
    behind it, each sealed under a nonce of its own; None where it has none. `open_rows` opens both."""
    import numpy as np

    whole = seal_vector(key, nonces[0], vectors[0], memory_id)
    return whole, seal_sentences(key, nonces[1], np.stack(vectors[1:]), memory_id) if len(vectors) > 1 else None


def open_rows(key: bytes, embedding: bytes, sentences: bytes | None, memory_id: str) -> NDArray[np.float32]:
    """A memory's embedding as float32, shape (d,); of a summary with those of its sentences below it, and of a long
    text with those of its passages, shape (1 + n, d).

    Raises SealError, and ValueError where the sentences' vectors are of another length.
    """
    import numpy as np

    whole = open_vector(key, embedding, memory_id)
    if sentences is None:
        return whole
    rows = np.frombuffer(open_sealed(key, sentences, _purpose("sentences", memory_id)), "<f2").astype(np.float32)
    return np.vstack([whole, rows.reshape(-1, max(1, whole.size))])


def seal_counts(key: bytes, nonce: bytes, counts: bytes, memory_id: str) -> bytes:
    """Seals the counts of how often a memory's words had been said before (`core.worth`)."""
    return seal(key, nonce, counts, _purpose("counts", memory_id))


def open_counts(key: bytes, sealed: bytes, memory_id: str) -> bytes:
    """Opens the counts of how often a memory's words had been said before. Raises SealError."""
    return open_sealed(key, sealed, _purpose("counts", memory_id))


def open_vectors(wanted: Iterable[tuple[str, bytes, bytes]]) -> dict[str, NDArray[np.float32]]:
    """The embeddings of (memory id, key, sealed) by their id; what cannot be opened, or holds no vector of finite
    numbers, is left out. Many at once: what is opened alike is made numbers together."""
    asked = list(wanted)
    found: dict[str, NDArray[np.float32]] = {}
    for places, vectors in open_matrices(asked):
        found.update((asked[at][0], vector) for at, vector in zip(places, vectors, strict=True))
    return found


def open_matrices(
    wanted: Sequence[tuple[str, bytes | None, bytes | None]],
) -> list[tuple[list[int], NDArray[np.float32]]]:
    """The embeddings of (memory id, key, sealed), side by side: for each length d that there is, which of those wanted
    they are, and their rows, shape (n, d). Left out is what has no key, cannot be opened, or holds no vector of finite
    numbers."""
    import numpy as np

    cipher, invalid = _aes()
    opened: dict[int, tuple[list[int], list[bytes]]] = {}
    purpose = _purpose("embedding", "")
    for at, (memory_id, key, sealed) in enumerate(wanted):
        if key is None or sealed is None:
            continue
        try:
            plaintext = cipher(key).decrypt(sealed[:NONCE_BYTES], sealed[NONCE_BYTES:], purpose + memory_id.encode())
        except (invalid, ValueError):
            continue
        places, alike = opened.get(len(plaintext)) or opened.setdefault(len(plaintext), ([], []))
        places.append(at)
        alike.append(plaintext)
    found = []
    for length, (places, alike) in opened.items():
        if length == 0 or length % 2:
            continue
        vectors = np.frombuffer(b"".join(alike), "<f2").astype(np.float32).reshape(len(alike), -1)
        sound = np.flatnonzero(np.isfinite(vectors).all(axis=1))
        if len(sound) == len(places):
            found.append((places, vectors))
        elif len(sound):
            found.append(([places[row] for row in sound.tolist()], vectors[sound]))
    return found


def commitment(key: bytes, content: str) -> bytes:
    """Returns the HMAC-SHA256 of the content under a key derived from the memory's.

    The holder of the key can show that a text is the one that was accepted. Once the key is destroyed, the commitment
    does not even reveal a text that can be guessed, which a bare hash would.
    """
    derived = hmac.digest(key, b"memquorum/commitment/1", hashlib.sha256)
    return hmac.digest(derived, content.encode(), hashlib.sha256)


def wrap(kek: bytes, nonce: bytes, key: bytes, purpose: str) -> bytes:
    """A key sealed under the key above it; `purpose` names whose key it is."""
    return seal(kek, nonce, key, _purpose("key", purpose))


def unwrap(kek: bytes, wrapped: bytes, purpose: str) -> bytes:
    """The key that `wrap` sealed. Raises SealError."""
    return open_sealed(kek, wrapped, _purpose("key", purpose))


def unwrap_all(kek: bytes, wrapped: Sequence[tuple[str, bytes]]) -> list[bytes]:
    """The keys that `wrap` sealed under one key, of (purpose, wrapped). Raises SealError."""
    cipher, invalid = _aes()
    above, purpose = cipher(kek), _purpose("key", "")
    try:
        return [
            above.decrypt(sealed[:NONCE_BYTES], sealed[NONCE_BYTES:], purpose + whose.encode())
            for whose, sealed in wrapped
        ]
    except (invalid, ValueError):
        raise SealError(_CLOSED) from None


@cache
def _aes() -> tuple[type[AESGCM], type[Exception]]:
    """The cipher and its error for altered bytes, imported once something is sealed or opened: a client over HTTP has
    no library for it (infra/decisions/0170)."""
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    return AESGCM, InvalidTag


def _purpose(what: str, whose: str) -> bytes:
    return f"memquorum/{what}/1/{whose}".encode()
