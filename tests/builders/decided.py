"""The store's rows about the decisions of a namespace, without a store."""

from __future__ import annotations

from memquorum.core.accounts.decisions import ERASED, VOTED, Certified, Found, Voted, page
from memquorum.core.api.answers import Subject
from memquorum.core.journal.rows import DecisionRow
from tests.builders.shard import NAMESPACE, Shard


def first_page(shard: Shard, namespace: str = NAMESPACE, *, limit: int = 20) -> Found:
    """Returns what `db/decision_rows.py` would load of all decisions: the first page."""
    decided = [row for change in shard.changes for row in change.of(DecisionRow)]
    places = [(row, at) for row in reversed(decided) for at in reversed(range(len(row.ballots[0].yes)))]
    rows = [_voted(shard, row, at) for row, at in places]
    shown, behind = page([one for one in rows if one is not None and _own(shard, one, namespace)][: limit + 1], limit)
    epochs = {
        row.epoch: Certified(row.journal_seq, row.pre_prepare, tuple(row.commits))
        for row in decided
        if row.epoch in {one.epoch for one in shown}
    }
    return Found(shown, epochs, (), behind)


def _own(shard: Shard, one: Voted, namespace: str) -> bool:
    return all(shard.rows.memories[each.memory_id].namespace == namespace for each in one.memories)


def _voted(shard: Shard, row: DecisionRow, at: int) -> Voted | None:
    named = [one for one in row.outcomes if one.position == at and one.memory_id in shard.rows.memories]
    if not named or named[0].kind not in VOTED:
        return None
    memories = tuple(Subject(one.memory_id, _state(shard, one.memory_id)) for one in named)
    first = named[0]
    return Voted(row.shard, row.epoch, at, first.kind, first.outcome, first.reason, row.as_of, memories)


def _state(shard: Shard, memory_id: str) -> str:
    memory = shard.rows.memories[memory_id]
    return ERASED if (memory.namespace, memory_id) in shard.rows.erased else memory.tier
