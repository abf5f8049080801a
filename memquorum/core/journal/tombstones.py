"""Keeps episodes out that arrive after an erasure that covers them: an order is in force as long as its namespace
exists.

An episode stays out if it occurred until the order came in and is what the order names, whatever way it takes in: late,
delivered again, or from a dead letter. And whatever its time, if it was made of something that was erased.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from msgspec import Struct

from memquorum.core.journal.rows import EventKey, Memory
from memquorum.core.orders import aged
from memquorum.core.orders.erase import AGE, AGENT, MEMORY, NAMESPACE, SOURCE, SUBJECT
from memquorum.core.tiers import GONE


class Tombstone(Struct, frozen=True):
    """An order that was carried out. `accepted_at`: what occurred until then stays out."""

    namespace: str
    order_id: str
    selector: str
    value: str
    accepted_at: int


class Newcomer(Struct, frozen=True):
    """An episode to check: `id` is its own memory id, `at` when it occurred; `repeats`: the memory that it was found to
    say again, if any."""

    namespace: str
    id: str
    agent: str
    subject: str
    source: str | None
    type: str
    at: int
    parents: tuple[str, ...] = ()
    repeats: str | None = None


class Tombstones:
    """The orders of one shard. The cost grows with the number of orders, not with the number of erased memories."""

    def __init__(self, known: Iterable[Tombstone] = ()) -> None:
        self._until: dict[tuple[str, str, str], int] = {}
        self._latest: dict[str, int] = {}
        self._spaces: set[str] = set()
        # By namespace and type, what is too old: as many as there are types, however many orders.
        self._aged: dict[tuple[str, str], aged.Aged] = {}
        for tombstone in known:
            self.add(tombstone)

    def add(self, one: Tombstone) -> None:
        """An order was carried out."""
        self._spaces.add(one.namespace)
        if one.selector == AGE:
            named = aged.read(one.value)
            for type in named.types:
                known = self._aged.get((one.namespace, type))
                before = max(min(named.before, one.accepted_at + 1), known.before if known else 0)
                self._aged[one.namespace, type] = aged.Aged((type,), before)
            return
        self._latest[one.namespace] = max(one.accepted_at, self._latest.get(one.namespace, 0))
        key = one.namespace, one.selector, one.value
        self._until[key] = max(one.accepted_at, self._until.get(key, 0))

    def stand_in(self, namespace: str) -> bool:
        """Whether there is any in the namespace."""
        return namespace in self._spaces

    def keep_out(self, episode: Newcomer, memories: Mapping[str, Memory], erased: Collection[EventKey]) -> bool:
        """Whether the episode may not come in. `memories`, `erased`: of its parents, and of what it repeats, the rows
        that there are, and (namespace, id) of those that were erased."""
        if not self.stand_in(episode.namespace):
            return False
        if self._covers(episode):
            return True
        repeated = (episode.namespace, episode.repeats) in erased
        # If the repeated memory was erased by age alone, a younger repetition is judged by its own age.
        if repeated and episode.at <= self._latest.get(episode.namespace, -1):
            return True
        return any(self._took(episode.namespace, parent, memories.get(parent), erased) for parent in episode.parents)

    def _covers(self, one: Newcomer) -> bool:
        old = self._aged.get((one.namespace, one.type))
        if old is not None and old.covers(one.agent, one.type, one.at):
            return True
        named = ((MEMORY, one.id), (AGENT, one.agent), (SUBJECT, one.subject), (SOURCE, one.source), (NAMESPACE, ""))
        return any(
            one.at <= self._until.get((one.namespace, selector, value), -1)
            for selector, value in named
            if value is not None
        )

    def _took(self, namespace: str, parent: str, row: Memory | None, erased: Collection[EventKey]) -> bool:
        """Whether what the episode was made of was erased, or would have been, had its key not been gone before."""
        if (namespace, parent) in erased:
            return True
        if row is None:
            return (namespace, MEMORY, parent) in self._until
        if row.tier != GONE or row.namespace != namespace:
            return False
        return self._covers(Newcomer(namespace, parent, row.agent, row.subject, row.source, row.type, row.created))
