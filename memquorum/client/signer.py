"""Signs an agent's records for one cluster."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass, field
from pathlib import Path

from nacl.signing import SigningKey

from memquorum.client.errors import NotConfigured
from memquorum.core.identity import signatures

_SEED_BYTES = 32


@dataclass(frozen=True, slots=True)
class Signer:
    """An agent's seed and the name of the cluster that its signatures are for."""

    seed: bytes = field(repr=False)
    cluster: bytes

    @classmethod
    def of(cls, seed: bytes, genesis_file: Path) -> Signer:
        """`seed`: 32 bytes. Raises NotConfigured for another length, or if there is no such file."""
        if len(seed) != _SEED_BYTES:
            raise NotConfigured(f"a signing seed has {_SEED_BYTES} bytes, not {len(seed)}")
        try:
            return cls(seed, hashlib.sha256(genesis_file.read_bytes()).digest())
        except OSError as error:
            raise NotConfigured(
                f"the genesis file, which names the cluster to sign for, cannot be read: {error}"
            ) from None

    def sign(self, topic: str, value: bytes) -> bytes:
        """The signature header of a record."""
        return signatures.sign(self.cluster, topic, self.seed, value)


def make_key(file: Path) -> bytes:
    """Writes a new seed to a new file that only its owner may read. Returns the public key.

    Raises NotConfigured.
    """
    seed = os.urandom(_SEED_BYTES)
    try:
        with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii") as out:
            out.write(f"{seed.hex()}\n")
    except FileExistsError:
        raise NotConfigured(f"no key was made: {file} exists already, and a key is never overwritten") from None
    except OSError as error:
        raise NotConfigured(f"no key was made: {error}") from None
    return bytes(SigningKey(seed).verify_key)


def seed_of(file: Path) -> bytes:
    """The seed in a key file: 64 hexadecimal digits, as the operator's key files. Raises NotConfigured."""
    try:
        seed = bytes.fromhex(file.read_text(encoding="ascii").strip())
    except (OSError, ValueError) as error:
        raise NotConfigured(f"key file {file} cannot be read: {error}") from None
    return seed
