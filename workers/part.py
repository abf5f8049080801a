"""A member's part in one configuration of a shard: its key there, what it has signed there, and where it begins.

A configuration has its own scope of the sign-state, which is empty when it begins. Who knows what it signed in one
before has not lost its memory of this one: there was none. Nor has who had read all logs to their ends when it was
decided: nobody had said anything in it by then.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from nacl.signing import SigningKey

from db.view import View
from memquorum.core.avro import Codec
from memquorum.core.consensus.events import Restarted, Timings
from memquorum.core.consensus.membership import Genesis
from memquorum.core.consensus.messages import sign
from memquorum.core.consensus.replica import ShardReplica
from memquorum.core.consensus.slots import is_decided
from memquorum.ports import SignState

_LOG = logging.getLogger("memquorum.replica")

# Beyond every sequence: who is silent up to here never speaks.
_NEVER = 2**62

Sign = Callable[[bytes], bytes]
"""A body → the encoded `Signed`."""


class Keys:
    """A member's keys: each is for the configurations that name it."""

    def __init__(self, codec: Codec, name: str, seed: bytes, further: Callable[[], Sequence[bytes]]) -> None:
        self._codec, self._name, self._seed, self._further = codec, name, seed, further

    def signer(self, genesis: Genesis) -> Sign | None:
        """What signs for the member in a configuration; None where none of its keys is named there."""
        wanted = genesis.key_of(self._name)
        for seed in (self._seed, *self._further()):
            if bytes(SigningKey(seed).verify_key) == wanted:
                return partial(self._sign, genesis.cluster, seed)
        return None

    def _sign(self, cluster: bytes, seed: bytes, body: bytes) -> bytes:
        return self._codec.encode(sign(cluster, self._name, seed, body))


@dataclass(frozen=True, slots=True)
class Part:
    """`core` is to be told of `began` first. `over`: slots of the scope that are settled. `listens`: it is no member,
    or has not its key, and says nothing."""

    genesis: Genesis
    scope: str
    core: ShardReplica
    began: Restarted
    over: list[str]
    sign: Sign
    listens: bool


def take(
    codec: Codec,
    view: View,
    signed: SignState,
    genesis: Genesis,
    *,
    shard: int,
    me: int,
    sign: Callable[[Genesis], Sign | None],
    timings: Timings,
    closed: bool,
    lived: bool,
) -> Part:
    """The part of member `me` in a configuration, from where its view is. `closed`: see `ShardReplica`. `lived`: it had
    read the logs to their ends in the configuration before."""
    own = sign(genesis)
    scope, progress = f"{genesis.config}/{shard}", view.progress(shard)
    said = signed.load(f"{scope}/")
    over = [slot for slot in said if is_decided(slot, progress.seq, progress.epoch)]
    left = {slot: held for slot, held in said.items() if slot not in over}
    if own is None:
        _LOG.warning("shard %d: member %d has no key in configuration %d: it listens", shard, me, genesis.config)
        through, fresh = _NEVER, False
    else:
        through = signed.through(scope)
        fresh = not lived and all(signed.fresh(f"{config}/{shard}") for config in range(genesis.config + 1))
    core = ShardReplica(
        codec, genesis, shard=shard, me=me, sign=own or mute, timings=timings, progress=progress, closed=closed
    )
    return Part(genesis, scope, core, Restarted(left, through, fresh), over, own or mute, own is None)


def mute(body: bytes) -> bytes:
    """Signs nothing: what a listener would say never leaves it."""
    return b""
