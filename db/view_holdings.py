"""The part of a replica's view that counts what each namespace holds, and keeps it in the order in which it goes
(db/view.py).

Whatever changes in a memory is noted by triggers (`view_tables`), and settled before the batch ends, in its
transaction: `alive`, `held` and `tie` say what is alive, its sums, and what was made of what; `db.view_rankings` keeps
the memories that may go in order. So a vote reads sums, and the beginning of an order.
"""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence

from db import view_holding_statements as sql
from db.view_rankings import ViewRankings
from db.view_shelf import ViewShelf
from memquorum.core.budgets.items import place
from memquorum.core.budgets.sort_keys import BudgetKeys
from memquorum.core.facets import TYPES
from memquorum.core.ids import shard_of
from memquorum.core.vote.crowding import PressureKeys
from memquorum.ports import Candidate, Weighted

_STEP = 1_000
"""The number of memories that are settled at once."""


class ViewHoldings:
    """The tables `changed`, `alive`, `held` and `tie`; and `destroyed`, how far the vault was asked for keys that are
    destroyed.

    A memory counts once the vault was seen to have its key: a view does not know which memories an erasure takes.
    """

    def __init__(
        self,
        connected: Callable[[], sqlite3.Connection],
        reading: sqlite3.Connection,
        forgotten_at: Callable[[str], int],
    ) -> None:
        """`connected`: the view's connection, in the batch of now; `reading`: the same, where no batch has to begin.
        `forgotten_at`: the offset of the last decision to forget a memory."""
        self._connected, self._reading, self._forgotten_at = connected, reading, forgotten_at
        self.rankings = ViewRankings(connected, self._weighed)

    def changed(self, memory_ids: Collection[str]) -> None:
        """Notes that memories have to be counted and ranked anew."""
        if memory_ids:
            self._connected().execute(sql.CHANGES, (json.dumps(list(memory_ids)),))

    def rested(self, shard: int, epoch: int) -> None:
        """Notes that a shard enters an epoch, at which rests of memories end."""
        self._connected().execute(sql.RESTED, (shard, epoch))

    # Settling --------------------------------------------------------------------------------------------------------

    def settle(self) -> None:
        """Counts and ranks anew the memories that changed."""
        connection = self._connected()
        while found := [memory_id for (memory_id,) in connection.execute(sql.CHANGED, (_STEP,))]:
            parents = self._count(found)
            self.rankings.rank({*found, *parents})
            connection.execute(sql.SETTLED, (json.dumps(found),))
        if self.rankings.behind():
            self.rankings.catch_up()

    def _count(self, memory_ids: Sequence[str]) -> set[str]:
        """Counts what is alive of some memories; returns the memories that these lead to, where that changed."""
        connection, asked = self._connected(), (json.dumps(memory_ids),)
        now = {row[0]: row[1:7] for row in connection.execute(sql.LIVING, asked) if row[7] > self._forgotten_at(row[0])}
        was = {row[0]: row[1:] for row in connection.execute(sql.COUNTED, asked).fetchall()}
        sums, parents = Counter[tuple[str, int, str]](), set[str]()

        def holds(namespace: str, type_: int, tokens: int, sign: int) -> None:
            sums[namespace, type_, "memories"] += sign
            sums[namespace, type_, "tokens"] += sign * tokens

        for memory_id in was.keys() - now.keys():
            namespace, type_, tokens, needs, linked, _, counted = was[memory_id]
            if counted:
                holds(namespace, type_, tokens, -1)
            connection.execute(sql.GOES, (memory_id,))
            if leads := _named(needs, linked):
                connection.executemany(sql.UNTIES, [(namespace, parent, memory_id) for parent in leads])
                parents |= leads
        for memory_id in now.keys() - was.keys():
            namespace, type_, tokens, offset, needs, linked = now[memory_id]
            connection.execute(sql.COMES, (memory_id, namespace, place(type_), max(1, tokens), offset, needs, linked))
            if leads := _named(needs, linked):
                needed = _named(needs)
                connection.executemany(sql.TIES, [(namespace, one, memory_id, one in needed) for one in leads])
                parents |= leads
        for memory_id in was.keys() & now.keys():
            namespace, type_, tokens, needs, linked, keyed, counted = was[memory_id]
            if bool(keyed) != bool(counted):
                holds(namespace, type_, tokens, 1 if keyed else -1)
                connection.execute(sql.COUNTS, (bool(keyed), memory_id))
                parents |= _named(needs)
        held = {(namespace, type_) for namespace, type_, _ in sums}
        connection.executemany(sql.HOLDS, [(*one, sums[*one, "memories"], sums[*one, "tokens"]) for one in held])
        self.rankings.begin({namespace for namespace, _ in held}, self.holders)
        return parents

    def _weighed(self, memory_ids: Iterable[str]) -> list[tuple[Weighted, bool]]:
        """Returns those of the memories that count, each with whether another has to go before it."""
        found = self._connected().execute(sql.WEIGHTS_OF, (json.dumps(list(memory_ids)),))
        return [
            (
                Weighted(
                    Candidate(memory_id, namespace, tier, created, used, salience, early=False, fades=bool(fades)),
                    type_, tokens, uses, sensitivity, 0, links,
                    needs=tuple(filter(None, needs.split(","))) if needs else (),
                    rests=bool(rests),
                    protections=tuple(sorted(json.loads(kinds))),
                    worth_ppm=worth,
                    novelty_ppm=novelty,
                    deadline=deadline,
                ),
                bool(leads),
            )
            for memory_id, namespace, tier, created, used, salience, fades, type_, tokens, uses, sensitivity, links,
            needs, rests, kinds, worth, novelty, deadline, leads in found
        ]  # fmt: skip

    # Keys ------------------------------------------------------------------------------------------------------------

    def unsure(self, namespace: str | None, most: int) -> list[str]:
        """Returns living memories of a namespace, None: of any, of which is not known whether they have a key; at most
        `most`."""
        if namespace is None:
            return [memory_id for (memory_id,) in self._reading.execute(sql.UNSURE_ANYWHERE, (most,))]
        return [memory_id for (memory_id,) in self._connected().execute(sql.UNSURE, (namespace, most))]

    def unsure_namespaces(self) -> list[str]:
        """Returns the namespaces that have such memories."""
        return [namespace for (namespace,) in self._connected().execute(sql.UNSURE_NAMESPACES)]

    def keyed(self, memory_ids: Collection[str], *, there: bool) -> None:
        """Notes that memories have a key in the vault, or have none."""
        told = int(there), json.dumps(list(memory_ids))
        self._connected().execute(sql.TURNED, told)
        self._connected().execute(sql.KEYED, told)

    def destroyed(self) -> tuple[int, str] | None:
        """Returns the number of the last destroyed key that the vault told of, and its memory; None before the
        first."""
        found: tuple[int, str] | None = self._connected().execute(sql.DESTROYED).fetchone()
        return found

    def destroys(self, number: int, memory_id: str) -> None:
        """The vault told of destroyed keys up to this one."""
        self._connected().execute(sql.DESTROYS, (number, memory_id))

    # Reads for a vote ------------------------------------------------------------------------------------------------

    def weighted(self, memory_ids: Iterable[str]) -> dict[str, Weighted]:
        """Returns those of the memories that are alive and have a key."""
        return {told.candidate.memory_id: told for told, _ in self._weighed(memory_ids)}

    def memories(self, namespace: str) -> int:
        """Returns the number of memories that a namespace holds."""
        return sum(memories for _, memories, _ in self._connected().execute(sql.HELD, (namespace,)))

    def holders(self) -> dict[str, int]:
        """Returns the number of memories of each namespace."""
        return dict(self._connected().execute(sql.HOLDERS).fetchall())

    def living(self, namespace: str, through: int) -> int:
        """Returns the number of memories of a namespace that were stored up to an accepted offset and are alive."""
        later = self._connected().execute(sql.LATER, (namespace, through)).fetchone()[0]
        return self.memories(namespace) - int(later)

    def of_namespace(self, namespace: str, keys: BudgetKeys, as_of: int) -> ViewShelf:
        """Returns a namespace's memories at a time, in a policy's order, which is kept from then on. Raises
        OverflowError where a memory has no key by which it could be sorted."""
        ranking = self.rankings.of_namespace(namespace, keys)
        held = [0] * len(TYPES)
        for type_, _, tokens in self._connected().execute(sql.HELD, (namespace,)):
            held[type_] += tokens
        dated = [memory_id for (memory_id,) in self._connected().execute(sql.DATED, (namespace,))]
        return ViewShelf(self._connected, ranking, self.weighted, held, lambda one: one == namespace, at=(as_of, dated))

    def of_shard(self, shard: int, shards: int, keys: PressureKeys, as_of: int) -> ViewShelf:
        """Returns a shard's memories in the order of decay scores, which is kept from then on. Raises OverflowError as
        above, and for a time long before the shard's."""
        ranking = self.rankings.of_shard(shard, shards, keys, as_of)
        return ViewShelf(self._connected, ranking, self.weighted, [], lambda one: shard_of(one, shards) == shard)


def _named(*lists: str) -> set[str]:
    return {one for told in lists if told for one in told.split(",") if one}
