"""The vote to roll back the weight of a memory of experience on request (SPEC E; decision 127).

Members record which memories were admitted, but not the changes of weights. So a member votes yes to a request that it
has read at the stated offset, about a living memory that it has seen admitted. The journal has the weight of the older
version (`core.journal.rollbacks`), and every reader of the journal recomputes it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from memquorum.core.orders.restore import REASON
from memquorum.core.policy import Policy
from memquorum.core.records import Proposal
from memquorum.core.vote.kinds.families import Order
from memquorum.core.vote.kinds.kind import Experience, MemoryState, Named_contra, Words

NOT_ALIVE = "not alive"
NOT_IN_EXPERIENCE = "not in experience"
NOT_OLDER = "not an older version"
NO_VERSION = "no such version"


def _in_words(terms: Mapping[str, int], yes: bool, score_ppm: int, policy: Policy) -> str:
    if yes:
        return "somebody who may asked for it, and members admitted it: roll its weight back"
    return "does not know the request, or has not seen it admitted, or not alive: leave its weight as it is"


class _Rollback(Order):
    name = "rollback"
    outcome = "rolled back"
    words = Words(
        aim="let it count in experience as it did before",
        proposed={REASON: "because somebody asked for an older version of its weight"},
        why={
            NOT_ALIVE: "it is not alive: what rests sealed has to be restored first, and what is gone does not come "
            "back",
            NOT_IN_EXPERIENCE: "it is not in experience: it has no weight",
            NOT_OLDER: "that version is not older than the one in force",
            NO_VERSION: "its weight never had that version",
        },
        opinion=_in_words,
    )

    def holds(self, proposal: Proposal, admitted: Callable[[str, str], bool]) -> bool | None:
        return admitted(proposal.namespace, proposal.memory_ids[0])

    def absent(self, found: MemoryState, as_of: int) -> str | None:
        return found.refused

    def settle(self, named: Named_contra, passed: bool, experience: Experience[Named_contra]) -> None:
        if passed:
            experience.reweigh(named)


ROLLBACK = _Rollback()
