r"""Signatures for many replicas in one process: nothing is verified or read twice, and Ed25519 can be left out.

The core reads envelopes and verifies signatures by two functions of its module `messages`. `installed` puts others in
their place while a simulation runs, in this process alone. They give the core's own answers, and remember them by the
bytes and the genesis, for all replicas together. The signed bytes are the same as always, so the core builds and
compares what it always does; only the arithmetic differs.

- *real*: Ed25519.

- *cheap*: BLAKE2b under the signer's seed. Simulated liars do not forge, so it tells the same signatures apart.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, TypeVar

from nacl.signing import SigningKey

from memquorum.core.avro import Codec
from memquorum.core.identity import messages
from memquorum.core.identity.membership import Genesis
from memquorum.core.records import Signed
from memquorum.schema_files import load_codec
from tests.builders.genesis import make, seed_of
from tests.builders.rehearsals import entitled

_ROOMS = ("memquorum.core.identity.", "memquorum.core.vote.", "memquorum.core.consensus.")
_VERIFY, _READ = messages.verify, messages.read_signed
_MOST = 20_000

T = TypeVar("T")


@lru_cache(maxsize=256)
def _seed(signer: str) -> bytes:
    return seed_of(signer)


@lru_cache(maxsize=256)
def _key(signer: str) -> SigningKey:
    return SigningKey(_seed(signer))


@lru_cache(maxsize=64)
def genesis(n: int, shards: int) -> Genesis:
    """Builds the genesis of n members with the keys of the tests."""
    return make(n, shards=shards, **entitled())


def key_name(genesis: Genesis, signer: str) -> str:
    """Returns the name of a signer's seed in a configuration: one more stroke for each replacement of the key."""
    return _named(signer, genesis.key_of(signer))


def next_key(genesis: Genesis, signer: str) -> bytes:
    """Returns the public key that replaces a signer's; the first one of a signer without a key."""
    known = genesis.key_of(signer) is not None
    return bytes(_key(key_name(genesis, signer) + "'" * known).verify_key)


@lru_cache(maxsize=256)
def _named(signer: str, key: bytes | None) -> str:
    if key is None:
        return signer
    names = (signer + "'" * count for count in range(16))
    return next((name for name in names if bytes(_key(name).verify_key) == key), signer)


class Signatures:
    """Signs for every identity of the tests, reads and verifies."""

    def __init__(self, cheap: bool = False) -> None:
        self.cheap = cheap
        # The memory is valid for one genesis.
        self._of: Genesis | None = None
        self._all: dict[int, tuple[Genesis, set[tuple[str, bytes, bytes]], dict[tuple[bytes, type], Any]]] = {}
        self._held: set[tuple[str, bytes, bytes]] = set()
        self._read: dict[tuple[bytes, type], tuple[Signed, Any] | str] = {}

    def sign(self, cluster: bytes, signer: str, body: bytes, *, key: str = "") -> Signed:
        """Signs as `messages.sign`, with the signer's first key of the tests, or another one by its name."""
        said = messages._signed_bytes(cluster, signer, body)
        if self.cheap:
            return Signed(signer, self._cheap(key or signer, said), body)
        return Signed(signer, _key(key or signer).sign(said).signature, body)

    def verify(self, world: Genesis, signed: Signed) -> None:
        """Verifies as `messages.verify`: raises BadMessage."""
        self._about(world)
        mark = (signed.signer, signed.signature, signed.body)
        if mark in self._held:
            return
        if self.cheap:
            said = messages._signed_bytes(world.cluster, signed.signer, signed.body)
            known = world.key_of(signed.signer) is not None
            if not known or self._cheap(key_name(world, signed.signer), said) != signed.signature:
                raise messages.BadMessage(f"the signature is not {signed.signer[:40]!r}'s")
        else:
            _VERIFY(world, signed)
        if len(self._held) >= _MOST:
            self._held.clear()
        self._held.add(mark)

    def read(self, codec: Codec, world: Genesis, data: bytes, kind: Any) -> tuple[Signed, Any]:
        """Reads as `messages.read_signed`: raises BadMessage."""
        self._about(world)
        found = self._read.get((data, kind))
        if found is None:
            try:
                found = _READ(codec, world, data, kind)
            except messages.BadMessage as error:
                found = str(error)
            if len(self._read) >= _MOST:
                self._read.clear()
            self._read[data, kind] = found
        if isinstance(found, str):
            raise messages.BadMessage(found)
        return found

    def _about(self, world: Genesis) -> None:
        if world is not self._of:
            self._of = world
            _, self._held, self._read = self._all.setdefault(id(world), (world, set(), {}))

    def clear(self) -> None:
        """Forgets what was read and verified, for another cluster."""
        self._all.clear()
        self._of, self._held, self._read = None, set(), {}

    @staticmethod
    def _cheap(signer: str, said: bytes) -> bytes:
        return hashlib.blake2b(said, key=_seed(signer)).digest()

    @contextmanager
    def installed(self) -> Iterator[None]:
        """Replaces the core's functions during the block, in each of its modules that imports them."""
        ours = {"verify": (_VERIFY, self.verify), "read_signed": (_READ, self.read)}
        places = [
            (module, name)
            for at, module in list(sys.modules.items())
            if at.startswith(_ROOMS)
            for name, (theirs, _) in ours.items()
            if getattr(module, name, None) is theirs
        ]
        for module, name in places:
            setattr(module, name, ours[name][1])
        try:
            yield
        finally:
            for module, name in places:
                setattr(module, name, ours[name][0])


class SharedCodec(Codec):
    """A codec that decodes the same bytes once for all replicas: records are frozen, so they can share them."""

    def __init__(self) -> None:
        vars(self).update(vars(_plain_codec()))
        self._known: dict[bytes, Any] = {}

    def decode(self, data: bytes) -> Any:
        """Decodes a record. Raises DecodeError."""
        found = self._known.get(data)
        if found is None:
            found = super().decode(data)
            if len(self._known) >= _MOST:
                self._known.clear()
            self._known[data] = found
        return found

    def decode_as(self, kind: type[T], data: bytes) -> T:
        """Decodes as `decode`, for a place where only one kind of record belongs. Raises DecodeError."""
        found = self._known.get(data)
        return found if isinstance(found, kind) else super().decode_as(kind, data)


@lru_cache(maxsize=1)
def _plain_codec() -> Codec:
    return load_codec()
