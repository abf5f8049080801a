"""Four members who have read a memory and, two places later, a request about it."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import numpy as np
from msgspec.structs import replace

from memquorum import topics
from memquorum.core import sealing
from memquorum.core.consensus.certificate import check_pre_prepare
from memquorum.core.orders.restore import REQUEST
from memquorum.core.records import (
    ClockTicked,
    DecayCrossed,
    NominationProposed,
    OrderAccepted,
    OrderFound,
    Proposal,
    RestoreOrdered,
    Standing,
)
from memquorum.core.vote import asking
from memquorum.core.vote.tally import Outcome
from tests.builders import votes
from tests.builders.genesis import make
from tests.builders.seats import AS_OF, CODEC, Fleet
from tests.builders.shard import accepted, memory_id, scored
from tests.builders.worths import weighed

GENESIS = make(4)
MINE = memory_id("umbrella")
KEY = bytes(range(32))
LONG_AGO = AS_OF - 400_000_000
OFFSET = 3
"""The request's offset in the accepted stream: a tick, the episode, a tick, the request, a tick."""


class Keys:
    """A vault with the memory's key."""

    def __init__(self) -> None:
        self.keys = {MINE: KEY}

    def open(self, wanted: Collection[str]) -> dict[str, bytes]:
        return {i: self.keys[i] for i in wanted if i in self.keys}


def found_request(order: RestoreOrdered) -> OrderFound:
    """Returns the request as found at its offset."""
    return OrderFound(votes.signed(CODEC, GENESIS, "operator", order), AS_OF, OFFSET)


def fleet(folder: Path, order: RestoreOrdered) -> Fleet:
    """Starts the members, who have decided nothing yet."""
    made = Fleet(folder, GENESIS)
    text = "Somebody left an umbrella."
    episode = replace(
        accepted("umbrella", LONG_AGO), sealed_content=sealing.seal_text(KEY, bytes(12), text, MINE),
        commitment=sealing.commitment(KEY, text),
    )  # fmt: skip
    score = replace(
        scored(episode, 1),
        sealed_embedding=sealing.seal_vector(KEY, bytes(12), np.ones(4, np.float32), MINE),
        **weighed(KEY, text, MINE),
    )
    signed = found_request(order).order
    request = OrderAccepted(order.order_id, "restore", order.namespace, (MINE,), signed, AS_OF, topics.RESTORES, 0, 7)
    later = ClockTicked("later", AS_OF)
    made.logs[topics.ACCEPTED] += [CODEC.encode(record) for record in (episode, later, request, later)]
    made.logs[topics.SCORED] = [CODEC.encode(score)]
    for member in range(4):
        made.sit(member)
        made.seats[member]._judge._vault = Keys()  # type: ignore[assignment]
    made.run()
    return made


def forgets(epoch: int = 1, as_of: int = AS_OF, offset: int = 2, used: int = LONG_AGO) -> NominationProposed:
    """Nominates the memory for forgetting. `used`: the time of its last use."""
    proposal = Proposal((MINE,), votes.GREENHOUSE, "forget", "decayed", used, used, 600_000)
    return NominationProposed(GENESIS.cluster, 0, 0, epoch, as_of, offset, "interval", (proposal,))


def asks(order: RestoreOrdered, stands: OrderFound, epoch: int) -> NominationProposed:
    """Nominates the request. `stands`: the offset that the nomination claims."""
    tick, before = DecayCrossed(0, AS_OF, OFFSET + 1, 9, ()), Standing(epoch - 1, AS_OF, 0, 0)
    return asking.build(CODEC, GENESIS, before, tick, (REQUEST, stands, order))


def decide(into: Fleet, proposed: NominationProposed) -> Outcome:
    """Returns the members' outcome of a nomination."""
    into.logs[topics.NOMINATIONS].append(votes.signed(CODEC, GENESIS, "service:nomination", proposed))
    into.run()
    return outcomes(into)[-1]


def outcomes(of: Fleet) -> list[Outcome]:
    """Returns the outcome of the first proposal of every nomination."""
    return [check_pre_prepare(CODEC, GENESIS, data).outcomes[0] for data in of.logs[topics.PRE_PREPARES]]
