"""Which memories of an experience say the same, and become one (SEDM 3.3.2).

Every pair of a group is near and says the same, by numbers, names and negations (`text.agreement`): similarity alone
never merges, and no bridge joins two that are far apart. The first of a group, by weight and then by id, stays; the
others are kept as stubs that name it.
"""

from __future__ import annotations

from collections.abc import Sequence

from memquorum.core.experience.similarity import similarities_ppm, stacked, units
from memquorum.core.experience.view import Held
from memquorum.core.policy import ExperiencePolicy
from memquorum.core.text.agreement import Said


def groups(memories: Sequence[Held], policy: ExperiencePolicy) -> list[tuple[str, ...]]:
    """Ids of those that become one, the one that stays first; what stays alone is in none. Memories of two encoders
    are not compared. The order in which they are given changes nothing."""
    order = sorted({one.id: one for one in memories}.values(), key=lambda one: (-one.weight_ppm, one.id))
    found: list[tuple[str, ...]] = []
    for encoder in sorted({one.encoder for one in order}):
        found += _of_one(tuple(one for one in order if one.encoder == encoder), policy)
    return sorted(found)


def _of_one(order: Sequence[Held], policy: ExperiencePolicy) -> list[tuple[str, ...]]:
    rows = stacked([one.vector for one in order], len(units(order[0].vector)))
    said = [Said(one.text) for one in order]
    parts: list[list[int]] = []
    place: dict[int, list[int]] = {}
    for at in range(len(order)):
        near = similarities_ppm(rows[:at], rows[at]) >= policy.merge_ppm
        joined = (place[other] for other in near.nonzero()[0].tolist())
        part = next((one for one in joined if all(near[other] and said[at].agrees(said[other]) for other in one)), None)
        if part is None:
            part = []
            parts.append(part)
        part.append(at)
        place[at] = part
    return [tuple(order[at].id for at in part) for part in parts if len(part) > 1]
