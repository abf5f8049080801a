"""A member's part in one configuration of a shard: its key, the messages that it has signed there, and the sequence at
which it begins.

Each configuration has its own scope of the sign-state, which is empty when the configuration begins. So an empty scope
need not mean that a file was lost. It means no loss if the member still knows the messages it signed in an earlier
configuration, or had read all logs to their ends when this configuration was decided: no message had been signed in it
by then.
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

# Beyond every sequence: a member that is silent up to here never signs.
_NEVER = 2**62


@dataclass(frozen=True, slots=True)
class Part:
    """The state with which a member's seat takes part in a configuration.

    - `core`: the replica; its first event is `began`.
    - `over`: slots of the scope that are settled.
    - `listens`: it is no member of the configuration, or lacks its key there, and signs nothing.
    - `forgets`: when it started, it did not know which messages it may have signed before.
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
        """True while it does not know which messages it may have signed before it started. A listener never finds
        out."""
        return self.forgets and (self.listens or self.core.silence.fresh)

    @property
    def unsure(self) -> bool:
        """True if it may have lost messages that it signed, and so is silent. Then nothing may be written to its
        sign-state, not even that a slot is settled: a later reader would take it for a complete record."""
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
    - `lived`: it had read the logs to their ends in that configuration.
    """
    own = sign(genesis)
    scope, progress = f"{genesis.config}/{shard}", view.progress(shard)
    said = signed.load(f"{scope}/")
    over = [slot for slot in said if is_decided(slot, progress.seq, progress.epoch)]
    left = {slot: held for slot, held in said.items() if slot not in over}
    # Its knowledge at the start is kept across configurations. The scopes of earlier ones are loaded only at the start.
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
    """Signs nothing, as the messages of a listener are never sent."""
    return b""
