"""Makes the items of a policy from a store's rows of memories, with the urgency of a task by its deadline (SPEC D; MaRS
3.2.4 and eq. 5).

Urgency is 1 within a day of the deadline, a half two days before it, a seventh a week before it. It ends with the
deadline; a day later it is -1, so that the task goes before others of its worth. A task that is over has no deadline.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from memquorum.core.budgets.items import DUE, HELD, LONG_TERM, NEEDED, PINNED, RESTING, VOTED_ON, Item, accesses_ppm
from memquorum.core.budgets.ledger import Group
from memquorum.core.policy import PPM
from memquorum.core.tiers import DRAFT
from memquorum.core.tiers import LONG_TERM as PROMOTED
from memquorum.ports import Weighted

ORDINARY = 3 * PPM // 2
"""The worth per token of a text whose words were not counted, such as a summary: that of ordinary text."""
NEAR_MS = 24 * 3600 * 1000
"""So long before its deadline a task is due, and so long after it it has only lost its urgency."""


def item(told: Weighted, as_of: int = 0, *, voted_on: bool = False) -> Item:
    """Makes the item of a living memory. `as_of`: the time by which the urgency of a task with a deadline is told;
    nothing else needs one. `voted_on`: whether the same epoch votes on it for another reason."""
    worth = told.worth_ppm
    needed = any(one.startswith("goal:") for one in told.protections)
    urgency = 0 if told.deadline is None else urgency_ppm(told.deadline, as_of)
    return Item(
        told.candidate.memory_id,
        told.type,
        max(1, told.tokens),
        told.candidate.created,
        told.candidate.last_access,
        uses=told.uses,
        sensitivity_ppm=told.sensitivity_ppm,
        goals_ppm=told.goals_ppm,
        centrality_ppm=accesses_ppm(told.links),
        worth=told.tokens * ORDINARY if worth is None else worth,
        novelty_ppm=told.novelty_ppm or 0,
        urgency_ppm=PPM if needed else urgency,
        needs=told.needs,
        protected=_protected(told, as_of) or (VOTED_ON if voted_on else None),
    )


def groups(weighted: Iterable[Weighted], proposable: Collection[str]) -> list[Group]:
    """Returns the summaries that the epoch votes on, each as a group that it may replace.

    Their own vectors are sealed, so the distortion is the predicted one: the distance of the sources from the middle of
    those that are quoted. Members open the summaries, and compute it from their vectors.
    """
    drafts = (told for told in weighted if told.candidate.tier == DRAFT and told.candidate.memory_id in proposable)
    return [
        Group(told.candidate.memory_id, told.needs, max(1, told.tokens), told.distortion_ppm, told.sensitivity_ppm)
        for told in drafts
    ]


def _protected(told: Weighted, as_of: int) -> str | None:
    for kind, why in (("hold", HELD), ("pin", PINNED)):
        if kind in told.protections:
            return why
    if told.protections:
        return NEEDED
    if told.candidate.tier == PROMOTED:
        return LONG_TERM
    if told.deadline is not None and due(told.deadline, as_of):
        return DUE
    return RESTING if told.rests else None


def urgency_ppm(deadline: int, as_of: int) -> int:
    """Returns the urgency of a task, from 1 before its deadline to -1 long after it."""
    left = deadline - as_of
    if left > 0:
        return PPM * NEAR_MS // max(NEAR_MS, left)
    return 0 if -left < NEAR_MS else -PPM


def due(deadline: int, as_of: int) -> bool:
    """Whether a task is to be done within a day."""
    return 0 < deadline - as_of <= NEAR_MS
