"""Keeps, for the nominator, how much the namespaces with a budget hold and which of their memories go first.

An epoch then reads sums and the beginning of an order (`core.budgets.beginning`). Both are in a temporary file of
SQLite, which ends with the process: ids, tokens, and the keys of `core.budgets.sort_keys`, no content and no vector. A
namespace is read once, some memories at each tick. From then on the memories are read that the shard's journal names.
Until all of a namespace is read, nothing is nominated for its budget.
"""

from __future__ import annotations

import hmac
import json
import sqlite3
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from memquorum.core.budgets import due_statements
from memquorum.core.budgets.beginning import counted_as
from memquorum.core.budgets.items import Item, place
from memquorum.core.budgets.limits import budget_of
from memquorum.core.budgets.sort_keys import KINDS, NEVER, SCORED, BudgetKeys
from memquorum.core.budgets.weighing import item
from memquorum.core.journal.effects import touched
from memquorum.core.policy import Policy, budgets
from memquorum.core.tiers import ALIVE
from memquorum.ports import Schedule, Weighted
from memquorum.schema_files import shared_codec

_TABLES = """
CREATE TABLE one (
    memory_id TEXT PRIMARY KEY, ranking INTEGER NOT NULL, type INTEGER NOT NULL, tokens INTEGER NOT NULL,
    why TEXT NOT NULL, until INTEGER NOT NULL, dated INTEGER NOT NULL) WITHOUT ROWID;
CREATE INDEX one_dated ON one (ranking) WHERE dated;
CREATE INDEX one_ranking ON one (ranking);
CREATE INDEX one_rests ON one (ranking, until) WHERE until > 0;
CREATE TABLE tie (parent TEXT, child TEXT, PRIMARY KEY (parent, child)) WITHOUT ROWID;
CREATE INDEX tie_child ON tie (child);
CREATE TABLE due (
    ranking INTEGER, line INTEGER, step INTEGER, value, created INTEGER, memory_id TEXT,
    PRIMARY KEY (ranking, line, step, value, created, memory_id)) WITHOUT ROWID;
CREATE INDEX due_memory ON due (memory_id);
"""
_COUNTED = """
SELECT o.memory_id, o.ranking, o.why, o.type, o.tokens FROM json_each(?) w CROSS JOIN one o ON o.memory_id = w.value
"""
_GOES = "DELETE FROM one WHERE memory_id IN (SELECT value FROM json_each(?))"
_UNTIES = "DELETE FROM tie WHERE child IN (SELECT value FROM json_each(?))"
_COMES = "INSERT INTO one VALUES (?, ?, ?, ?, ?, ?, ?)"
_DATED = "SELECT memory_id FROM one WHERE ranking = ? AND dated"
_TIES = "INSERT OR IGNORE INTO tie VALUES (?, ?)"
_NEEDS = "SELECT DISTINCT t.parent FROM json_each(?) w CROSS JOIN tie t ON t.child = w.value"
_NEEDED = "SELECT DISTINCT t.parent FROM json_each(?) w CROSS JOIN tie t ON t.parent = w.value"
_SUPPORTERS = "SELECT t.parent, t.child FROM json_each(?) w CROSS JOIN tie t ON t.parent = w.value"
_RESTED = "SELECT memory_id FROM one WHERE ranking = ? AND until > 0 AND until <= ?"
_ENDS = (
    "DELETE FROM tie WHERE child IN (SELECT memory_id FROM one WHERE ranking = ?)",
    "DELETE FROM due WHERE ranking = ?",
    "DELETE FROM one WHERE ranking = ?",
)
_STEP = 1_000
"""The number of memories, or of journal entries, that are read at once."""
_FILLED = 10_000
"""The number of memories of new namespaces that are read at a tick."""

Lot = Callable[[str], bytes]
"""Returns the secret by which a namespace's lots are drawn."""


class _Space(Struct):
    """One namespace. `behind`: the last memory that was read; None once all were."""

    ranking: int
    shard: int
    namespace: str
    keys: BudgetKeys
    lot: bytes
    sums: Counter[tuple[str, int]]
    unsorted: set[str]
    whole: bool = False
    behind: tuple[int, str] | None = None


class RoomOrders:
    """Follows the journals of shards. Not safe to share between threads; an epoch's reads see what `follow` read."""

    def __init__(self, schedule: Schedule, lot: Lot) -> None:
        self._schedule, self._lot = schedule, lot
        self._db = sqlite3.connect("", isolation_level=None, check_same_thread=False)
        self._db.executescript(_TABLES)
        self._db.execute("PRAGMA journal_mode = OFF")
        self._spaces: dict[str, _Space] = {}
        # By shard, the sequence up to which its journal was read.
        self._read: dict[int, int] = {}
        self._ranking = 0

    def follow(self, shard: int, epoch: int, policy: Policy) -> dict[str, int]:
        """Reads what changed in a shard since the last call. Returns the tokens of the namespaces with a budget that
        are read as a whole. `epoch`: the last that was decided."""
        patterns = {one.pattern for one in budgets(policy.budget)}
        if not patterns:
            self.forget([shard])
            return {}
        if shard not in self._read:
            self._read[shard] = self._schedule.status(shard).seq
        self._begin(shard, patterns, policy)
        self._follow(shard)
        here, left = [one for one in self._spaces.values() if one.shard == shard], _FILLED
        for space in here:
            rested = self._db.execute(_RESTED, (space.ranking, epoch + 1)).fetchall()
            self._refresh(shard, [memory_id for (memory_id,) in rested])
            left -= self._fill(space, left)
        return {one.namespace: sum(one.sums.values()) for one in here if one.whole}

    def of(self, namespace: str) -> RoomOrder:
        """Returns a namespace in its order. Raises OverflowError where a memory has no key to be sorted by."""
        space = self._spaces[namespace]
        if space.unsorted:
            raise OverflowError
        return RoomOrder(self._db, self._schedule, space)

    def living(self, namespace: str, memory_ids: Collection[str]) -> list[str]:
        """Returns those of the memories that are alive in a namespace."""
        ranking = self._spaces[namespace].ranking
        found = self._db.execute(_COUNTED, (json.dumps(list(memory_ids)),))
        return [memory_id for memory_id, where, *_ in found if where == ranking]

    def forget(self, shards: Collection[int]) -> None:
        """Drops what is kept of shards: another process may see to them."""
        for space in [one for one in self._spaces.values() if one.shard in shards]:
            self._end(space)
        for shard in shards:
            self._read.pop(shard, None)

    # Following -------------------------------------------------------------------------------------------------------

    def _begin(self, shard: int, patterns: Collection[str], policy: Policy) -> None:
        """Begins with the namespaces that are new, or have another policy."""
        for namespace in self._schedule.spaces(shard, patterns):
            self._spaces.setdefault(namespace, self._new(shard, namespace))
        for space in [one for one in self._spaces.values() if one.shard == shard]:
            budget = budget_of(policy.budget, space.namespace)
            keys = None if budget is None else BudgetKeys.of(budget.policy, policy.budget)
            if keys == space.keys:
                continue
            if space.ranking:
                self._end(space)
            else:
                del self._spaces[space.namespace]
            if keys is not None:
                self._ranking += 1
                new = self._new(shard, space.namespace)
                self._spaces[space.namespace] = replace(new, ranking=self._ranking, keys=keys)

    def _new(self, shard: int, namespace: str) -> _Space:
        return _Space(0, shard, namespace, _NONE, self._lot(namespace), Counter(), set())

    def _end(self, space: _Space) -> None:
        del self._spaces[space.namespace]
        for statement in _ENDS:
            self._db.execute(statement, (space.ranking,))

    def _follow(self, shard: int) -> None:
        codec = shared_codec()
        while entries := self._schedule.entries(shard, self._read[shard], _STEP):
            changed = set[str]()
            for entry in entries:
                if entry.namespace is None or entry.namespace in self._spaces:
                    changed |= touched(codec, entry)
            if changed:
                self._refresh(shard, changed | self._schedule.around(changed))
            self._read[shard] = entries[-1].seq
            if len(entries) < _STEP:
                return

    def _fill(self, space: _Space, most: int) -> int:
        """Reads memories of a namespace that were never read; returns how many."""
        read = 0
        while not space.whole and read < most:
            found = self._schedule.living(space.shard, space.namespace, space.behind, _STEP)
            self._refresh(space.shard, [memory_id for _, memory_id in found])
            read += len(found)
            space.whole = len(found) < _STEP
            space.behind = found[-1] if found else space.behind
        return read

    def _refresh(self, shard: int, memory_ids: Iterable[str]) -> None:
        """Counts and ranks memories anew, as the store has them now."""
        ids = list(dict.fromkeys(memory_ids))
        for first in range(0, len(ids), _STEP):
            some = ids[first : first + _STEP]
            now = self._weights(shard, some)
            # Memories that these need may not go any more, and those that they needed before may go now.
            needed = {parent for (parent,) in self._db.execute(_NEEDS, (json.dumps(some),))}
            parents = needed.union(*(one.needs for one in now)) - set(some)
            known = [memory_id for memory_id, *_ in self._db.execute(_COUNTED, (json.dumps(list(parents)),))]
            self._put([*some, *known], now + self._weights(shard, known))

    def _weights(self, shard: int, memory_ids: Sequence[str]) -> list[Weighted]:
        found = self._schedule.weights(shard, memory_ids) if memory_ids else ()
        return [one for one in found if one.candidate.tier in ALIVE and one.candidate.namespace in self._spaces]

    def _put(self, memory_ids: Sequence[str], now: Sequence[Weighted]) -> None:
        """Replaces what is kept of memories. `now`: those of them that are alive."""
        asked, by_ranking = (json.dumps(memory_ids),), {one.ranking: one for one in self._spaces.values()}
        self._db.execute("BEGIN")
        for memory_id, ranking, why, type_, tokens in self._db.execute(_COUNTED, asked).fetchall():
            by_ranking[ranking].sums[why, type_] -= tokens
            by_ranking[ranking].unsorted.discard(memory_id)
        for statement in (_GOES, _UNTIES, due_statements.LEAVES):
            self._db.execute(statement, asked)
        self._db.executemany(_TIES, [(parent, one.candidate.memory_id) for one in now for parent in one.needs])
        needed = {parent for (parent,) in self._db.execute(_NEEDED, asked)}
        for told in now:
            space, one = self._spaces[told.candidate.namespace], item(told)
            why, kind = counted_as(one.protected, one.memory_id in needed), place(one.type)
            space.sums[why, kind] += one.tokens
            dated = told.deadline is not None
            self._db.execute(_COMES, (one.memory_id, space.ranking, kind, one.tokens, why, told.until, dated))
            if one.protected is None and one.memory_id not in needed and not dated:
                self._db.executemany(due_statements.ENTERS, self._dues(space, one))
        self._db.execute("COMMIT")

    def _dues(self, space: _Space, one: Item) -> Iterator[tuple[object, ...]]:
        ranking = space.ranking
        if space.keys.name == "random":
            lot = hmac.digest(space.lot, one.memory_id.encode(), "sha256")
            yield ranking, SCORED * KINDS + space.keys.kind(one.type), NEVER, lot, 0, one.memory_id
            return
        try:
            for key in space.keys.keys(one):
                yield ranking, key.line, key.step, key.value, key.created, one.memory_id
        except OverflowError:
            space.unsorted.add(one.memory_id)


class RoomOrder:
    """The Kept of one namespace."""

    def __init__(self, db: sqlite3.Connection, schedule: Schedule, space: _Space) -> None:
        self._db, self._schedule, self._space = db, schedule, space

    def heads(self, line: int) -> Iterable[tuple[int, int]]:
        """See `lazily.Steps`."""
        return self._db.execute(due_statements.HEADS, (self._space.ranking, line)).fetchall()

    def entries(self, line: int, step: int) -> Iterator[tuple[int, int, str]]:
        """See `lazily.Steps`."""
        yield from self._db.execute(due_statements.ENTRIES, (self._space.ranking, line, step))

    def sums(self) -> Mapping[tuple[str, int], int]:
        """See `beginning.Kept`."""
        return self._space.sums

    def dated(self) -> Collection[str]:
        """See `beginning.Kept`."""
        return [memory_id for (memory_id,) in self._db.execute(_DATED, (self._space.ranking,))]

    def counted(self, memory_ids: Collection[str]) -> Iterable[tuple[str, int, int]]:
        """See `beginning.Kept`."""
        found = self._db.execute(_COUNTED, (json.dumps(list(memory_ids)),))
        return [(why, type_, tokens) for _, _, why, type_, tokens in found]

    def supporters(self, memory_ids: Collection[str]) -> Mapping[str, Collection[str]]:
        """See `beginning.Kept`."""
        found: dict[str, list[str]] = {}
        for parent, child in self._db.execute(_SUPPORTERS, (json.dumps(list(memory_ids)),)):
            found.setdefault(parent, []).append(child)
        return found

    def weighted(self, memory_ids: Collection[str]) -> Sequence[Weighted]:
        """See `beginning.Kept`."""
        return self._schedule.weighted_some(self._space.shard, self._space.namespace, memory_ids)


_NONE = BudgetKeys("", Policy().budget)
