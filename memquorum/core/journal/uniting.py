"""What a vote does by which memories of experience become one there (SPEC E; decision 129).

The memories themselves stay as they are. The first has a new version of its weight, with what came of using the
others; of each of the others it stands which one stands for it, and since when. That holds while the one is alive:
whoever reads asks that, so nothing has to be written where it leaves.
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
from memquorum.core.journal.rows import AdmissionRow, Keys, Rows, WeightRow
from memquorum.core.journal.weighing import Weighed, of, version
from memquorum.core.policy import ExperiencePolicy
from memquorum.core.records import JournalEntry, Proposal, Result
from memquorum.core.vote.kinds import KINDS

_SEEN = (BY_USE, BY_MERGING)


def keys(named: Iterable[Proposal | Result]) -> Keys:
    """The rows of experience that votes on these touch."""
    admissions, weights = set[str](), set[str]()
    for one in named:
        kind, memory_ids = KINDS[one.kind], set(filter(is_uuid, one.memory_ids))
        admissions |= memory_ids if kind.admits or kind.reweighs or kind.unites or kind.generalises else set()
        weights |= memory_ids if kind.reweighs or kind.unites else set()
    return Keys(admissions=frozenset(admissions), weights=frozenset(weights))


def admitted(rows: Rows, memory_id: str) -> bool:
    """Whether a memory has a weight in experience."""
    row = rows.admissions.get(memory_id)
    return row is not None and row.version > 0


def united(  # noqa: PLR0917
    rows: Rows, memory_ids: Sequence[str], entry: JournalEntry, epoch: int, moved: Weighed, policy: ExperiencePolicy
) -> Weighed:
    """The rows of memories of which the first stands for the others from a decision on. `moved`: those whose weights
    the decision has moved before; of what is here as well, the row that says where it stands takes its place."""
    stand = {row.memory_id: row for row in moved if isinstance(row, AdmissionRow)}
    made = [row for row in moved if isinstance(row, WeightRow)]
    kept, *others = (stand.get(one) or rows.admissions[one] for one in memory_ids)
    seen = [_seen((*rows.weights.get(one, ()), *(row for row in made if row.memory_id == one))) for one in memory_ids]
    later = merged(of(kept), seen[0], seen[1:], policy)
    stays = replace(kept, merged_into=None, merged_at=0)
    stubs = (replace(one, seq=entry.seq, merged_into=kept.memory_id, merged_at=epoch) for one in others)
    return [*version(stays, later, entry, epoch, BY_MERGING, policy), *stubs]


def _seen(versions: Iterable[WeightRow]) -> tuple[Evidence, ...]:
    """What came of using a memory, by task: what a later version says stands. Where its weight was taken back, what
    came before that counts no more."""
    found: dict[str, Evidence] = {}
    for row in versions:
        found = found | {one.context: one for one in read_evidence(row.evidence)} if row.cause in _SEEN else {}
    return tuple(found.values())
