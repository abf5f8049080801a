"""The vote to roll the weight of a memory of experience back, when somebody asks for it (SPEC E; decision 127).

Members keep who was admitted, and no weight that moved. So a member is for a request that it has read where it is said
to stand, about a memory that it has seen admitted and that is alive. What the older version weighed, the journal has
(`core.journal.rollbacks`), and whoever reads it counts that again.
"""

from __future__ import annotations

from collections.abc import Mapping

from memquorum.core.orders.restore import REASON
from memquorum.core.policy import Policy
from memquorum.core.vote.kinds.ordered import ordered

NOT_ALIVE = "not alive"
NOT_IN_EXPERIENCE = "not in experience"
NOT_OLDER = "not an older version"
NO_VERSION = "no such version"


def _in_words(terms: Mapping[str, int], yes: bool, score_ppm: int, policy: Policy) -> str:
    if yes:
        return "somebody who may asked for it, and members admitted it: roll its weight back"
    return "does not know the request, or has not seen it admitted, or not alive: leave its weight as it is"


ROLLBACK = ordered(
    "rollback",
    "rolled back",
    aim="let it count in experience as it did before",
    proposed={REASON: "because somebody asked for an older version of its weight"},
    why={
        NOT_ALIVE: "it is not alive: what rests sealed has to be restored first, and what is gone does not come back",
        NOT_IN_EXPERIENCE: "it is not in experience: it has no weight",
        NOT_OLDER: "that version is not older than the one in force",
        NO_VERSION: "its weight never had that version",
    },
    opinion=_in_words,
    effect=lambda found, confidence, as_of, policy: [None for _ in found],
    reweighs=True,
)
