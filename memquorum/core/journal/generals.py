"""Applies a vote that admits the general form of a memory to experience (SPEC E; decision 131).

The general form has a weight from then on: a share of what the memory weighs that it was made of, in its first version.
Its own use changes its weight like any other's; the use of the source memory does not.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from memquorum.core.experience.admission import ADMITTED
from memquorum.core.experience.weights import BY_GENERALISING, general, standing, written
from memquorum.core.journal.rows import AdmissionRow, Rows, WeightRow
from memquorum.core.journal.weighing import WEIGHED, Weighed, of
from memquorum.core.policy import ExperiencePolicy
from memquorum.core.records import Decided, JournalEntry
from memquorum.core.tiers import DRAFT
from memquorum.core.vote.kinds import GENERALISES, KINDS


def fits(rows: Rows, memory_ids: Sequence[str]) -> bool:
    """True if the first of two memories is a general form of the other that waits for its vote, and the other has none
    yet."""
    if len(memory_ids) != 2:
        return False
    form, stands = rows.memories.get(memory_ids[0]), rows.admissions.get(memory_ids[1])
    if form is None or form.tier != DRAFT or form.general_of != memory_ids[1]:
        return False
    return stands is None or stands.general is None


def generalised(  # noqa: PLR0917
    rows: Rows, memory_ids: Sequence[str], entry: JournalEntry, epoch: int, moved: Weighed, policy: ExperiencePolicy, *,
    since: int,
) -> Weighed:  # fmt: skip
    """The rows of a general form that members took into experience. `moved`: how memories stand whose weights the
    decision has moved before; `since`: tasks before this accepted offset will not move the weight."""
    name, specific = memory_ids
    stands = {row.memory_id: row for row in moved if isinstance(row, AdmissionRow)}
    found = stands.get(specific) or rows.admissions[specific]
    weight = general(name, of(found), policy)
    first = WeightRow(
        name, weight.version, entry.shard, entry.seq, found.namespace, epoch, BY_GENERALISING, weight.weight_ppm,
        weight.gains, weight.losses, written(weight.evidence),
    )  # fmt: skip
    told = standing(weight, policy)
    status = told if told in WEIGHED else ADMITTED
    now = AdmissionRow(
        name, entry.shard, entry.seq, found.namespace, status, 0, version=weight.version,
        weight_ppm=weight.weight_ppm, epoch=epoch, since=since,
    )  # fmt: skip
    return [replace(found, seq=entry.seq, general=name), now, first]


def decided(detail: Decided) -> dict[str, str]:
    """The general forms that a decision takes in, each with the memory that it was made of."""
    made = (one for one in detail.results if one.kind in GENERALISES.values())
    return {one.memory_ids[0]: one.memory_ids[1] for one in made if one.outcome == KINDS[one.kind].outcome}
