"""Makes the items of a policy from a store's rows of memories."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from memquorum.core.budgets.items import HELD, LONG_TERM, NEEDED, PINNED, RESTING, VOTED_ON, Item, accesses_ppm
from memquorum.core.budgets.ledger import Group
from memquorum.core.policy import PPM
from memquorum.core.tiers import DRAFT
from memquorum.core.tiers import LONG_TERM as PROMOTED
from memquorum.ports import Weighted

ORDINARY = 3 * PPM // 2
"""The worth per token of a text whose words were not counted, such as a summary: that of ordinary text."""


def item(told: Weighted, *, voted_on: bool = False) -> Item:
    """Makes the item of a living memory. `voted_on`: whether the same epoch votes on it for another reason."""
    worth = told.worth_ppm
    needed = any(one.startswith("goal:") for one in told.protections)
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
        urgency_ppm=PPM if needed else 0,
        needs=told.needs,
        protected=_protected(told) or (VOTED_ON if voted_on else None),
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


def _protected(told: Weighted) -> str | None:
    for kind, why in (("hold", HELD), ("pin", PINNED)):
        if kind in told.protections:
            return why
    if told.protections:
        return NEEDED
    if told.candidate.tier == PROMOTED:
        return LONG_TERM
    return RESTING if told.rests else None
