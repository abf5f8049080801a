"""The part of a replica's view that keeps memories in the order in which they go: the tables `ranking` and `due`
(db/view_holdings.py).

A namespace with a budget is ranked from its first memory on, a shard from half of its capacity on. A ranking that
begins, or one that another policy ends, is filled or emptied some rows at a time, batch by batch; a vote that needs it
does the rest at once.
"""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

import msgspec

from db import view_holding_statements as sql
from memquorum.core.budgets import due_statements
from memquorum.core.budgets.limits import budget_of
from memquorum.core.budgets.sort_keys import BEYOND, KINDS, NEVER, USED, BudgetKeys
from memquorum.core.budgets.weighing import item
from memquorum.core.ids import shard_of
from memquorum.core.policy import Policy
from memquorum.core.vote.crowding import PressureKeys
from memquorum.ports import Weighted

_DAY_MS = 24 * 3_600 * 1_000
_LATEST = 2**62
"""An offset beyond all."""
_STEP = 1_000
"""The number of memories that are ranked at once."""
Keys = BudgetKeys | PressureKeys
_Row = tuple[int, int, int, int, int, str]
Weighed = Callable[[Iterable[str]], list[tuple[Weighted, bool]]]
"""Reads memories that count, each with whether another has to go before it."""


class _Ranking(msgspec.Struct, frozen=True):
    """One order: of a namespace, or of a shard, of so many.

    `before`: where filling goes on, at the memories of a namespace that came before one; None where it is whole."""

    ranking: int
    namespace: str | None
    shard: int | None
    shards: int | None
    keys: Keys
    before: tuple[str, int, str] | None = ("", _LATEST, "")

    @property
    def scope(self) -> str | int:
        """The namespace, or the shard."""
        if self.namespace is not None:
            return self.namespace
        assert self.shard is not None
        return self.shard


class ViewRankings:
    """Keeps the rankings of namespaces and shards."""

    def __init__(self, connected: Callable[[], sqlite3.Connection], weighed: Weighed) -> None:
        """`connected`: the view's connection, in the batch of now."""
        self._connected, self._weighed = connected, weighed
        self._known: dict[str | int, _Ranking] | None = None
        self._ended: list[int] = []
        self._policies: dict[int, Policy] = {}
        self._shards = 0

    def follow(self, shard: int, shards: int, policy: Policy) -> None:
        """A shard is in a configuration with this policy from here on."""
        self._policies[shard], self._shards = policy, shards

    def reload(self) -> None:
        """Drops what was held in memory, as a batch was taken back."""
        self._known, self._ended = None, []

    # Keeping ---------------------------------------------------------------------------------------------------------

    def begin(self, namespaces: Iterable[str], holders: Callable[[], Mapping[str, int]]) -> None:
        """Begins the rankings that a policy asks for where memories came. `holders`: the number of memories of each
        namespace."""
        held: Counter[int] | None = None
        for namespace in namespaces:
            shard = shard_of(namespace, self._shards) if self._shards else -1
            policy = self._policies.get(shard)
            if policy is None:
                continue
            if (budget := budget_of(policy.budget, namespace)) is not None:
                self._wanted(namespace, None, BudgetKeys.of(budget.policy, policy.budget))
            if shard not in self._all() and held is None:
                held = Counter()
                for name, count in holders().items():
                    held[shard_of(name, self._shards)] += count
            if shard in self._all() or (held is not None and 2 * held[shard] > policy.epoch.capacity):
                self._wanted(None, shard, PressureKeys.of(policy.triage))

    def rank(self, memory_ids: Collection[str]) -> None:
        """Ranks memories anew that changed."""
        if not self._all():
            return
        self._connected().execute(due_statements.LEAVES, (json.dumps(list(memory_ids)),))
        shards = {one.shards for one in self._all().values() if one.shards is not None}
        rows = list[_Row]()
        for told, leads in self._weighed(memory_ids):
            namespace = told.candidate.namespace
            scopes: list[str | int] = [namespace, *(shard_of(namespace, count) for count in shards)]
            for scope in scopes:
                if (ranking := self._all().get(scope)) is not None:
                    rows += self._rows(ranking, told, leads)
        self._connected().executemany(due_statements.ENTERS, rows)

    def behind(self) -> bool:
        """Tells whether a ranking is to be filled or emptied."""
        return bool(self._ended) or any(one.before is not None for one in self._all().values())

    def catch_up(self) -> None:
        """Fills and empties rankings by some rows."""
        for one in list(self._all().values()):
            if one.before is not None:
                self._fill(one)
        for ended in list(self._ended):
            if not self._connected().execute(sql.DUES_OF, (ended, _STEP)).rowcount:
                self._connected().execute(sql.UNRANKS, (ended,))
                self._ended.remove(ended)

    # Reads for a vote ------------------------------------------------------------------------------------------------

    def of_namespace(self, namespace: str, keys: BudgetKeys) -> int:
        """Returns the ranking of a namespace. Raises OverflowError where a memory has no key to be sorted by."""
        return self._whole(self._wanted(namespace, None, keys))

    def of_shard(self, shard: int, shards: int, keys: PressureKeys, as_of: int) -> int:
        """Returns the ranking of a shard. Raises OverflowError as above, and for a time long before the shard's."""
        self._shards = shards
        ranking, time = self._whole(self._wanted(None, shard, keys)), self._time(shard)
        if as_of < time - _DAY_MS:
            raise OverflowError
        self._connected().execute(sql.LONG_AGO, (ranking, USED * KINDS, NEVER, time - 2 * _DAY_MS))
        return ranking

    def _whole(self, ranking: _Ranking) -> int:
        while ranking.before is not None:
            ranking = self._fill(ranking)
        if self._connected().execute(sql.BEYOND, (ranking.ranking, BEYOND * KINDS)).fetchone():
            raise OverflowError
        return ranking.ranking

    def _wanted(self, namespace: str | None, shard: int | None, keys: Keys) -> _Ranking:
        """Returns the ranking by these keys. A ranking by other keys ends, and a missing one begins."""
        wanted = _Ranking(0, namespace, shard, None if shard is None else self._shards, keys)
        known = self._all().get(wanted.scope)
        if known is not None and (known.keys, known.shards) == (wanted.keys, wanted.shards):
            return known
        if known is not None:
            self._connected().execute(sql.RANKED_OTHERWISE, (known.ranking,))
            self._ended.append(known.ranking)
        row = (namespace, shard, wanted.shards, msgspec.json.encode(keys), json.dumps(wanted.before))
        number = self._connected().execute(sql.RANKS, row).fetchall()[0][0]
        self._all()[wanted.scope] = made = msgspec.structs.replace(wanted, ranking=number)
        return made

    def _fill(self, ranking: _Ranking) -> _Ranking:
        """Ranks some more memories."""
        assert ranking.before is not None
        namespace, offset, memory_id = ranking.before
        if ranking.namespace is not None:
            namespace = ranking.namespace
        found = self._connected().execute(sql.BEFORE, (namespace, offset, memory_id, _STEP)).fetchall()
        told = self._weighed(one for _, one in found)
        rows = [row for one, leads in told for row in self._rows(ranking, one, leads)]
        self._connected().executemany(due_statements.ENTERS, rows)
        before: tuple[str, int, str] | None = None
        if len(found) == _STEP:
            before = namespace, *found[-1]
        elif ranking.namespace is None and (following := self._next(ranking, namespace)) is not None:
            before = following, _LATEST, ""
        self._connected().execute(sql.FILLED, (None if before is None else json.dumps(before), ranking.ranking))
        self._all()[ranking.scope] = made = msgspec.structs.replace(ranking, before=before)
        return made

    def _next(self, ranking: _Ranking, namespace: str) -> str | None:
        """Returns the next namespace of a shard."""
        while (row := self._connected().execute(sql.NEXT_HOLDER, (namespace,)).fetchone())[0] is not None:
            (namespace,) = row
            if shard_of(namespace, ranking.shards or 1) == ranking.shard:
                return namespace
        return None

    def _rows(self, ranking: _Ranking, told: Weighted, leads: bool) -> Iterator[_Row]:
        """Yields the rows of a memory in a ranking. `leads`: whether another has to go before it."""
        one = item(told)
        try:
            if isinstance(ranking.keys, BudgetKeys):
                keys, late = ranking.keys.keys(one), None
            else:
                assert ranking.shard is not None
                keys, leads, late = ranking.keys.keys(told.candidate), False, self._time(ranking.shard) - _DAY_MS
        except OverflowError:
            yield ranking.ranking, BEYOND * KINDS, NEVER, 0, 0, one.memory_id
            return
        if isinstance(ranking.keys, BudgetKeys) and told.deadline is not None:
            return  # time changes its rank (`ViewShelf.dated`)
        if one.protected is None and not leads:
            for key in keys:
                if late is None or key.line != USED * KINDS or key.value > late:
                    yield ranking.ranking, key.line, key.step, key.value, key.created, one.memory_id

    def _all(self) -> dict[str | int, _Ranking]:
        if self._known is None:
            self._known, self._ended = {}, []
            for ranking, namespace, shard, shards, keys, before in self._connected().execute(sql.RANKINGS).fetchall():
                if namespace is None and shard is None:
                    self._ended.append(ranking)
                    continue
                place = None if before is None else tuple(json.loads(before))
                one = _Ranking(ranking, namespace, shard, shards, msgspec.json.decode(keys, type=Keys), place)
                self._known[one.scope] = one
        return self._known

    def _time(self, shard: int) -> int:
        row = self._connected().execute(sql.TIME, (shard,)).fetchone()
        return int(row[0]) if row else 0
