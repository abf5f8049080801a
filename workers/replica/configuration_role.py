"""A member's part in one configuration of a shard: its key there, what it has signed there, and where it begins.

Each configuration has its own scope of the sign-state, which is empty when the configuration begins. So an empty scope
need not mean that a file was lost. It does not where the member still knows what it signed in an earlier
configuration, or had read all logs to their ends when this one was decided: nobody had signed anything in it by then.
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
    """What a member's seat needs to take part in a configuration.

    - `core`: the replica; its first event is `began`.
    - `over`: slots of the scope that are settled.
    - `listens`: it is no member of the configuration, or has not its key there, and signs nothing.
    - `forgets`: when it started, it did not know what it may have signed before.
    """

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
        """Whether it still does not know what it may have signed before it started. A listener never finds out."""
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
    """The part of member `me` in a configuration, beginning where its view file stands.

    - `closed`: see `ShardReplica`.
    - `before`: its part in the configuration before; None after a start.
    - `lived`: in that configuration it had read the logs to their ends.
    """
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
