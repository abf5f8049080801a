"""The keys that a member or a service has: each is for the configurations that name it.

A key is replaced by an order. Until the decision the old one signs, from then on the new one; the signing process has
both, and looks for new keys when none fits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache, partial

from nacl.signing import SigningKey

from memquorum.core.avro import Codec
from memquorum.core.identity.membership import Genesis
from memquorum.core.identity.messages import sign

Sign = Callable[[bytes], bytes]
"""A body → the encoded `Signed`."""


class Keys:
    """The keys of the signer `name`. `seed`: the first, 32 bytes of Ed25519; `further` returns the keys that a later
    configuration may name, and is called only where no known key fits."""

    def __init__(self, codec: Codec, name: str, seed: bytes, further: Callable[[], Sequence[bytes]] = tuple) -> None:
        self.name = name
        self._codec, self._first, self._further = codec, seed, further
        self._known: tuple[bytes, ...] = (seed,)

    def signer(self, genesis: Genesis) -> Sign | None:
        """Returns the signing function for a configuration; None where that names none of these keys."""
        wanted = genesis.key_of(self.name)
        if not any(_public(seed) == wanted for seed in self._known):
            self._known = (self._first, *self._further())
        for seed in self._known:
            if _public(seed) == wanted:
                return partial(self._sign, genesis.cluster, seed)
        return None

    def _sign(self, cluster: bytes, seed: bytes, body: bytes) -> bytes:
        return self._codec.encode(sign(cluster, self.name, seed, body))


@lru_cache(maxsize=128)
def _public(seed: bytes) -> bytes:
    return bytes(SigningKey(seed).verify_key)
