"""The votes on orders that change no memory."""

from __future__ import annotations

from collections.abc import Callable

from memquorum.core.records import Proposal
from memquorum.core.vote.kinds.families import Order
from memquorum.core.vote.kinds.kind import Words


class _Configure(Order):
    """The vote on the operator's order of another membership (core/orders/configuration)."""

    name = "configure"
    outcome = "configured"
    words = Words(aim=name)
    about_memories = False


class _Erase(Order):
    """The attestation that an order to erase is genuine, and of its offset. Its memories are erased before the vote."""

    name = "erase"
    outcome = "attested"
    words = Words(aim=name)
    about_memories = False

    def holds(self, proposal: Proposal, admitted: Callable[[str, str], bool]) -> bool | None:
        return True


CONFIGURE = _Configure()
ERASE = _Erase()
