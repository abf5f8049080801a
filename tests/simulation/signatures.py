"""Signatures for many replicas in one process: nothing is verified or decoded twice, and Ed25519 can be left out.

The core verifies by a function of its module `messages`. `installed` puts another in its place while a simulation
runs, in this process alone. Whoever signs, signs the same bytes as always, so the core builds and compares what it
always does; only the arithmetic differs.

- *real*: Ed25519; that a signature holds is remembered by its bytes, for all replicas together.
- *cheap*: BLAKE2b under the signer's seed. Simulated liars do not forge, so it tells the same signatures apart.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

from nacl.signing import SigningKey

from memquorum.core.avro import Codec
from memquorum.core.consensus import messages
from memquorum.core.consensus.membership import Genesis
from memquorum.core.records import Signed
from memquorum.schema_files import load_codec
from tests.unit.genesis import make, seed_of

_CONSENSUS = "memquorum.core.consensus."
_VERIFY = messages.verify
_MOST = 20_000


@lru_cache(maxsize=256)
def _seed(signer: str) -> bytes:
    return seed_of(signer)


@lru_cache(maxsize=256)
def _key(signer: str) -> SigningKey:
    return SigningKey(_seed(signer))


@lru_cache(maxsize=64)
def genesis(n: int, shards: int) -> Genesis:
    """The genesis of n members with the keys of the tests."""
    return make(n, shards=shards)


class Signatures:
    """Signs for every identity of the tests, and verifies."""

    def __init__(self, cheap: bool = False) -> None:
        self.cheap = cheap
        self._held: set[tuple[str, bytes, bytes]] = set()

    def sign(self, cluster: bytes, signer: str, body: bytes) -> Signed:
        """As `messages.sign`, with the signer's key of the tests."""
        said = messages._signed_bytes(cluster, signer, body)
        if self.cheap:
            return Signed(signer, self._cheap(signer, said), body)
        return Signed(signer, _key(signer).sign(said).signature, body)

    def verify(self, world: Genesis, signed: Signed) -> None:
        """As `messages.verify`: raises BadMessage."""
        if self.cheap:
            said = messages._signed_bytes(world.cluster, signed.signer, signed.body)
            if world.key_of(signed.signer) is None or self._cheap(signed.signer, said) != signed.signature:
                raise messages.BadMessage(f"the signature is not {signed.signer[:40]!r}'s")
            return
        mark = (signed.signer, signed.signature, signed.body)
        if mark in self._held:
            return
        _VERIFY(world, signed)
        if len(self._held) >= _MOST:
            self._held.clear()
        self._held.add(mark)

    def clear(self) -> None:
        """Forgets what was verified: another cluster begins."""
        self._held.clear()

    @staticmethod
    def _cheap(signer: str, said: bytes) -> bytes:
        return hashlib.blake2b(said, key=_seed(signer)).digest()

    @contextmanager
    def installed(self) -> Iterator[None]:
        """While this lasts, the core verifies here, in whichever of its modules the function was imported."""
        places = [
            module
            for name, module in list(sys.modules.items())
            if name.startswith(_CONSENSUS) and getattr(module, "verify", None) is _VERIFY
        ]
        for module in places:
            module.verify = self.verify  # type: ignore[attr-defined]
        try:
            yield
        finally:
            for module in places:
                module.verify = _VERIFY  # type: ignore[attr-defined]


class SharedCodec(Codec):
    """A codec that decodes the same bytes once for all replicas: records are frozen, so they can share them."""

    def __init__(self) -> None:
        vars(self).update(vars(_plain_codec()))
        self._known: dict[bytes, Any] = {}

    def decode(self, data: bytes) -> Any:
        """The record that the bytes hold. Raises DecodeError."""
        found = self._known.get(data)
        if found is None:
            found = super().decode(data)
            if len(self._known) >= _MOST:
                self._known.clear()
            self._known[data] = found
        return found


@lru_cache(maxsize=1)
def _plain_codec() -> Codec:
    return load_codec()
