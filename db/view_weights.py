"""The part of a replica's view for the weights of memories, by which the member orders those to forget (db/view.py)."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

from db import view_statements as sql
from memquorum.core.policy import DAY_MS_MOST
from memquorum.core.records import EpisodeAccepted
from memquorum.core.tiers import ALIVE
from memquorum.ports import Candidate, Weighted


class ViewWeights:
    """The table `weight`: a short row for each memory, so that a namespace is looked through without its contents; and
    `gone`, the memories forgotten lately.

    A repetition of a memory that exists has no row: it is no memory of its own.
    """

    def __init__(self, connected: Callable[[], sqlite3.Connection]) -> None:
        """`connected`: the view's connection, in the batch of now."""
        self._connected = connected

    def add(
        self,
        memory_id: str,
        namespace: str,
        type_: str,
        *,
        tokens: int,
        tier: str,
        worth_ppm: int | None,
        novelty_ppm: int | None,
        needs: tuple[str, ...] = (),
        linked: tuple[str, ...] = (),
        slot: str | None = None,
        fades: bool = True,
        deadline: int | None = None,
        over: bool = False,
        requires: tuple[str, ...] = (),
        part_of: tuple[str, ...] = (),
    ) -> None:
        """A memory was read. `needs`: what it was made of, and what it requires; `linked`: what else it is linked
        with; `slot`: the one that it fills, on purpose; `fades`: whether triage goes by its decay score; `deadline`,
        `over`: how its task stands; `requires`, `part_of`: the memories that such links lead to."""
        row = (
            namespace, memory_id, type_, tokens, tier, worth_ppm, novelty_ppm, ",".join(needs), ",".join(linked), slot,
            fades, deadline, over, ",".join(requires), ",".join(part_of),
        )  # fmt: skip
        self._connected().execute(sql.WEIGH, row)

    def first(self, memory_id: str) -> bool:
        """Whether a write of nothing comes for the first time: what is delivered twice changes nothing."""
        return self._connected().execute(sql.KEEP_ID, (memory_id, None)).rowcount == 1

    def fills(
        self,
        memory_id: str,
        namespace: str,
        slot: str,
        *,
        agent: str,
        at: int,
        granted: bool,
        clears: bool = False,
    ) -> None:
        """A memory fills a slot: what filled it before is superseded, where nobody has to vote on that. `granted`:
        another agent's, too; `at`: when it is said; `clears`: it is a write of nothing, which takes what was promoted,
        too."""
        self._connected().execute(sql.GIVES_WAY, (namespace, slot, memory_id, agent, granted, at, clears))

    def said_again(self, episode: EpisodeAccepted, memory_id: str, offset: int) -> None:
        """An episode that became one with a memory moves the time of that, where it is of the same speaker."""
        if episode.accepted_at is not None:
            told = (memory_id, episode.namespace, episode.said_at, offset, episode.agent, episode.role)
            self._connected().execute(sql.SAID_AGAIN, told)

    def withdraws(self, memory_ids: Sequence[str], namespace: str, *, agent: str, at: int) -> None:
        """An agent takes back memories that it alone has said."""
        self._connected().execute(sql.WITHDRAWN, (namespace, json.dumps(memory_ids), agent, at))

    def moved(self, namespace: str, tiers: Mapping[str, str]) -> None:
        """It was decided in which tiers memories are alive."""
        rows = [(tier, namespace, memory_id) for memory_id, tier in tiers.items() if tier in ALIVE]
        if rows:
            self._connected().executemany(sql.MOVED, rows)

    def rest(self, shard: int, epoch: int, back: Iterable[str], until: int) -> None:
        """An epoch is decided. Memories brought `back` may have to make room in the epoch `until`, and not before."""
        self._connected().execute(sql.RESTED, (shard, epoch + 1))
        rows = [(memory_id, shard, until) for memory_id in back]
        if rows:
            self._connected().executemany(sql.RESTS, rows)

    def steps(self, namespace: str, memory_ids: Sequence[str], before: int) -> frozenset[str]:
        """Returns those of the memories that are steps of tasks over since a time: of no other task that is open, and
        required by no other memory that is alive. As `schedule_steps` in the store."""
        run = self._connected().execute
        told = run(sql.TASKS_OVER, (namespace, before)).fetchall()
        over, required = {one for one, _ in told}, {one for _, some in told for one in _ids(some)}
        if not over:
            return frozenset()
        parts = {one: _ids(some) for one, some in run(sql.PARTS, (namespace, json.dumps(memory_ids)))}
        found = {one for one, of in parts.items() if one not in over and (one in required or of & over)}
        whole = json.dumps(list(set().union(*(parts[one] for one in found)) - over))
        still = {one for (one,) in run(sql.OPEN_TASKS, (namespace, whole))}
        needed = {one for one, by in run(sql.REQUIRING, (namespace, json.dumps(list(found)))) if by not in over}
        return frozenset(one for one in found - needed if not parts[one] & still)

    def tier(self, namespace: str, memory_id: str) -> str | None:
        """Answers in which tier a memory was last known to be; None of what is not known."""
        row = self._connected().execute(sql.TIER, (namespace, memory_id)).fetchone()
        return None if row is None else str(row[0])

    def went(self, epoch: int, as_of: int, memories: Mapping[str, int]) -> None:
        """Records the number of memories of namespaces that a decision forgets. Deletes records too old for any cap to
        count."""
        connection = self._connected()
        rows = [(namespace, epoch, as_of, count) for namespace, count in memories.items()]
        connection.executemany(sql.WENT, rows)
        connection.execute(sql.WENT_LONG_AGO, (as_of - DAY_MS_MOST,))

    def gone(self, namespace: str) -> tuple[tuple[int, int], ...]:
        """When how many memories went by a decision, the oldest first (`core.caps`)."""
        found = self._connected().execute(sql.GONE, (namespace,))
        return tuple((as_of, count) for as_of, count in found)

    def alive(self, namespace: str) -> list[Weighted]:
        """Returns the living memories of a namespace, as far as was read, by id. A view knows of the rests of what came
        back, and of no others, and of no goals."""
        gone = dict[str, int]()
        for offset, memory_ids in self._connected().execute(sql.FORGOTTEN):
            gone |= {one: max(offset, gone.get(one, offset)) for one in json.loads(memory_ids)}
        # A memory that was used after the vote to forget began is alive: that vote did not count.
        found = self._connected().execute(sql.WEIGHTS, (namespace,))
        rows = [row[:-1] for row in found if row[-1] > gone.get(row[0], -1)]
        protected = dict[str, list[str]]()
        for memory_id, kind in self._connected().execute(sql.PROTECTIONS):
            protected.setdefault(memory_id, []).append(kind)
        resting = {memory_id for (memory_id,) in self._connected().execute(sql.STILL_RESTS)}
        others = (f"{needs},{linked}" for *_, needs, linked, _, _ in rows if needs or linked)
        links = Counter(other for told in others for other in set(told.split(",")) if other)
        return [
            Weighted(
                Candidate(memory_id, namespace, tier, created, last_access, salience, early=False, fades=bool(fades)),
                type_, tokens, uses, sensitivity, 0, links[memory_id],
                needs=tuple(filter(None, needs.split(","))) if needs else (),
                rests=memory_id in resting,
                protections=tuple(protected.get(memory_id, ())),
                worth_ppm=worth,
                novelty_ppm=novelty,
                deadline=deadline,
            )
            for memory_id, tier, created, last_access, salience, type_, tokens, uses, sensitivity, worth, novelty,
            needs, _, fades, deadline in rows
        ]  # fmt: skip


def _ids(told: str) -> set[str]:
    return {one for one in told.split(",") if one}
