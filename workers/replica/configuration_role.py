"""A member's part in one configuration of a shard: its key there, what it has signed there, and where it begins.

A configuration has its own scope of the sign-state, which is empty when it begins. Who knows what it signed in one
before has not lost its memory of this one: there was none. Nor has who had read all logs to their ends when it was
decided: nobody had said anything in it by then.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass

from db.view import View
from memquorum.core.avro import Codec
from memquorum.core.consensus.events import Restarted, Timings
from memquorum.core.consensus.replica import ShardReplica
from memquorum.core.consensus.slots import is_decided
from memquorum.core.identity.keys import Sign
from memquorum.core.identity.membership import Genesis
from memquorum.ports import SignState

_LOG = logging.getLogger("memquorum.replica")

# Beyond every sequence: who is silent up to here never speaks.
_NEVER = 2**62


@dataclass(frozen=True, slots=True)
class Part:
    """`core` is to be told of `began` first. `over`: slots of the scope that are settled. `listens`: it is no member,
    or has not its key, and says nothing. `forgets`: what it may have signed before it started was not known then."""

    genesis: Genesis
    scope: str
    core: ShardReplica
    began: Restarted
    over: list[str]
    sign: Sign
    listens: bool
    forgets: bool

    @property
    def fresh(self) -> bool:
        """Whether what it may have signed before it started is still not known. A listener never finds out."""
        return self.forgets and (self.listens or self.core.silence.fresh)

    @property
    def unsure(self) -> bool:
        """Whether it may have lost what it signed, and is silent. Then nothing may go into its sign-state, not even
        that something is settled: it would look like a memory to whoever asks next."""
        return self.fresh and (self.listens or not self.core.speaks)


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
    before: Part | None,
    lived: bool,
) -> Part:
    """The part of member `me` in a configuration, from where its view is. `closed`: see `ShardReplica`. `before`: its
    part in the configuration before, None after a start. `lived`: it had read the logs to their ends in that."""
    own = sign(genesis)
    scope, progress = f"{genesis.config}/{shard}", view.progress(shard)
    said = signed.load(f"{scope}/")
    over = [slot for slot in said if is_decided(slot, progress.seq, progress.epoch)]
    left = {slot: held for slot, held in said.items() if slot not in over}
    # What it knew when it started goes on with it. The scopes of what came before are asked only then.
    asked = range(genesis.config + 1) if before is None else (genesis.config,)
    known = lived or (before is not None and not before.fresh)
    fresh = not known and all(signed.fresh(f"{config}/{shard}") for config in asked)
    if own is None:
        _LOG.warning("shard %d: member %d has no key in configuration %d: it listens", shard, me, genesis.config)
    through = _NEVER if own is None else signed.through(scope)
    began = Restarted(left, through, fresh and own is not None)
    core = ShardReplica(
        codec, genesis, shard=shard, me=me, sign=own or mute, timings=timings, progress=progress, closed=closed
    )
    return Part(genesis, scope, core, began, over, own or mute, own is None, fresh)


def mute(body: bytes) -> bytes:
    """Signs nothing: what a listener would say never leaves it."""
    return b""
