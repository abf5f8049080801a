"""Rolling the weight of a memory of experience back: whether there is anything to be voted on, and what a vote leaves
(SPEC E; decision 127).

A request names the memory and an older version of its weight. It changes nothing before members have decided; then the
memory has a new version, which weighs what the older one did and has its gains and losses. Its use up to that decision
never changes the weight again: members reset it on purpose.
"""

from __future__ import annotations

from collections.abc import Iterable, MutableMapping

from msgspec.structs import replace

from memquorum.core import ids
from memquorum.core.avro import Codec, DecodeError
from memquorum.core.experience.weights import BY_ROLLBACK, Weight, rolled_back
from memquorum.core.journal import restores, weighing
from memquorum.core.journal.rows import AdmissionRow, RowKeys, Rows, WeightRow
from memquorum.core.orders.restore import ROLLBACK
from memquorum.core.policy import ExperiencePolicy
from memquorum.core.records import (
    Decided,
    JournalEntry,
    NominationProposed,
    OrderFound,
    PrePrepare,
    RestoreOrdered,
    Signed,
)
from memquorum.core.vote.kinds import KINDS
from memquorum.core.vote.kinds.kind import UNKNOWN
from memquorum.core.vote.kinds.rollback import NO_VERSION, NOT_ALIVE, NOT_IN_EXPERIENCE, NOT_OLDER


def keys(codec: Codec, data: bytes) -> RowKeys:
    """The rows that a request to roll a weight back touches; none of any other, or where it cannot be read. `data`: the
    Signed."""
    order = _read(codec, data)
    if order is None:
        return RowKeys()
    named = frozenset(filter(ids.is_uuid, order.memory_ids))
    return RowKeys(named, admissions=named, weights=named)


def note(weights: MutableMapping[str, tuple[WeightRow, ...]], rows: Iterable[WeightRow]) -> None:
    """Adds versions of weights to those that are known."""
    for row in rows:
        weights[row.memory_id] = (*weights.get(row.memory_id, ()), row)


def refused(rows: Rows, order: RestoreOrdered) -> str | None:
    """Returns why a weight cannot be rolled back as requested in the shard's current state, or None if it can."""
    (name,), to = order.memory_ids, order.version or 0
    memory, stands = rows.memories.get(name), rows.admissions.get(name)
    if memory is None or memory.namespace != order.namespace:
        return UNKNOWN
    if name not in rows.strengths:
        return NOT_ALIVE
    if stands is None or stands.status not in weighing.WEIGHED:
        return NOT_IN_EXPERIENCE
    if to >= stands.version:
        return NOT_OLDER
    return None if any(one.version == to for one in rows.weights.get(name, ())) else NO_VERSION


def answered(rows: Rows, order: RestoreOrdered) -> tuple[str, str]:
    """The effect of a request that comes for the first time: whether it is to be voted on; and of one to roll a weight
    back that is not, why."""
    why = (refused(rows, order) or "") if order.action == ROLLBACK else ""
    votable = not why if order.action == ROLLBACK else restores.votable(order, rows.memories, rows.state.as_of)
    return "requested" if votable else "declined", why


def voted(  # noqa: PLR0917
    rows: Rows, moved: weighing.Weighed, order: RestoreOrdered, entry: JournalEntry, epoch: int,
    policy: ExperiencePolicy, *, since: int,
) -> weighing.Weighed:  # fmt: skip
    """Returns the rows after an accepted request: a new version with the weight of the older one. `moved`: what this
    decision brings of itself, which comes before; `since`: tasks before this accepted offset do not move it any more.
    Raises KeyError where there is nothing to be rolled back."""
    if (why := refused(rows, order)) is not None:
        raise KeyError(why)
    (name,), to = order.memory_ids, order.version or 0
    stands = {name: rows.admissions[name]} | {row.memory_id: row for row in moved if isinstance(row, AdmissionRow)}
    older = {one.version: _weight(one) for one in rows.weights.get(name, ())}
    later = rolled_back(weighing.of(stands[name]), older, to)
    row, version = weighing.version(stands[name], later, entry, epoch, BY_ROLLBACK, policy)
    assert isinstance(row, AdmissionRow)
    return [replace(row, since=since), version]


def _weight(row: WeightRow) -> Weight:
    return Weight(row.memory_id, row.weight_ppm, row.version, row.gains, row.losses)


def requested_rollback(codec: Codec, nomination: NominationProposed) -> RestoreOrdered | None:
    """Returns the request to roll a weight back that a nomination puts to the vote, or None."""
    if nomination.order is None:
        return None
    try:
        return _read(codec, codec.decode_as(OrderFound, nomination.order).order)
    except DecodeError:
        return None


def _read(codec: Codec, data: bytes) -> RestoreOrdered | None:
    """Returns the request in a Signed; None of another order, or where it cannot be read."""
    try:
        order = codec.decode(codec.decode_as(Signed, data).body)
    except DecodeError:
        return None
    return order if isinstance(order, RestoreOrdered) and order.action == ROLLBACK else None


def decided(codec: Codec, detail: Decided) -> tuple[str, int] | None:
    """Returns the memory whose weight a decision rolls back, and the version that holds again; None of any other
    decision. Raises DecodeError where its nomination cannot be read."""
    if not any(KINDS[one.kind].ordered and one.outcome == KINDS[one.kind].outcome for one in detail.results):
        return None  # few decisions are about an order, so only their nominations are read
    made = codec.decode_as(PrePrepare, codec.decode_as(Signed, detail.pre_prepare).body)
    nomination = codec.decode_as(NominationProposed, codec.decode_as(Signed, made.nomination).body)
    order = requested_rollback(codec, nomination)
    return None if order is None else (order.memory_ids[0], order.version or 0)
