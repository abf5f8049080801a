"""Applies a vote that merges memories of experience (SPEC E; decision 129).

The memories themselves stay as they are. The first gets a new version of its weight, with the evidence on the others; a
row of each of the others names the first, and since when it represents them. The link is in force while the first is
alive: readers check that, so nothing is written when it leaves.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from memquorum.core.experience.weights import (
    BY_MERGING,
    BY_USE,
    Evidence,
    merged,
    read_evidence,
)
from memquorum.core.ids import is_uuid
from memquorum.core.journal.rows import AdmissionRow, RowKeys, Rows, WeightRow
from memquorum.core.journal.weighing import Weighed, of, version
from memquorum.core.policy import ExperiencePolicy
from memquorum.core.records import JournalEntry, Proposal, Result
from memquorum.core.vote.kinds import KINDS

_SEEN = (BY_USE, BY_MERGING)


def keys(named: Iterable[Proposal | Result]) -> RowKeys:
    """The rows of experience that votes on these touch."""
    touched = _Touched()
    for one in named:
        KINDS[one.kind].settle(one, True, touched)
    return touched.keys


class _Touched:
    """Collects the rows of experience that votes touch."""

    keys = RowKeys()

    def admit(self, named: Proposal | Result, passed: bool = True) -> None:
        touched = frozenset(filter(is_uuid, named.memory_ids))
        self.keys |= RowKeys(admissions=touched, weights=touched)

    unite = generalise = reweigh = admit


def admitted(rows: Rows, memory_id: str) -> bool:
    """Whether a memory has a weight in experience."""
    row = rows.admissions.get(memory_id)
    return row is not None and row.version > 0


def united(  # noqa: PLR0917
    rows: Rows, memory_ids: Sequence[str], entry: JournalEntry, epoch: int, moved: Weighed, policy: ExperiencePolicy
) -> Weighed:
    """Returns the rows of memories of experience that the first one represents from a decision on. `moved`: those whose
    weights the decision has moved before; of what is here as well, the row that says where it stands takes its place.
    """
    stand = {row.memory_id: row for row in moved if isinstance(row, AdmissionRow)}
    made = [row for row in moved if isinstance(row, WeightRow)]
    kept, *others = (stand.get(one) or rows.admissions[one] for one in memory_ids)
    seen = [_seen((*rows.weights.get(one, ()), *(row for row in made if row.memory_id == one))) for one in memory_ids]
    later = merged(of(kept), seen[0], seen[1:], policy)
    stays = replace(kept, merged_into=None, merged_at=0)
    stubs = (replace(one, seq=entry.seq, merged_into=kept.memory_id, merged_at=epoch) for one in others)
    return [*version(stays, later, entry, epoch, BY_MERGING, policy), *stubs]


def _seen(versions: Iterable[WeightRow]) -> tuple[Evidence, ...]:
    """Returns the evidence on the use of a memory, by task; a later version overrides an earlier one. Evidence from
    before a rollback of the weight does not count."""
    found: dict[str, Evidence] = {}
    for row in versions:
        found = found | {one.context: one for one in read_evidence(row.evidence)} if row.cause in _SEEN else {}
    return tuple(found.values())
