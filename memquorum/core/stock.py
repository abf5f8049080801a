"""Counts the memories of namespaces, for a limit that intake checks (docs/operate/tenants.md).

The store counts the memories that it has applied. An accepted episode that is not applied yet counts as a memory too,
whatever its outcome will be: so no flood gets past the limit while the store is behind. An episode on its way is known
by its place in the accepted stream, and the store says with each count up to where it has applied that.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from msgspec import Struct

from memquorum.core.quota import HELD_MOST, Plan

_UNCOUNTED_PART = 10
"""A namespace that nobody could count may bring in this part of its limit."""


class Full(Struct, frozen=True):
    """A namespace that has no room: how many memories it may have, has, and has on their way. `stored`: None where
    nobody could count them."""

    most: int
    stored: int | None
    coming: int


MEMORIES_IN_ALL = "memories in all"
"""The alarm of intake that names the namespaces that have no room."""
_TOLD = re.compile(r"(?<!\S)(\S++) \(\d+ \+ \d+ of \d+\)")


def full_namespaces(full: Mapping[str, Full], most: int) -> str:
    """The namespaces that have no room, with their numbers, as an alarm names them: `most` of them."""
    named = [f"{name} ({full[name].stored} + {full[name].coming} of {full[name].most})" for name in sorted(full)[:most]]
    return ", ".join(named) + (f" and {len(full) - len(named)} more" if len(full) > len(named) else "")


def named(alarm: str) -> frozenset[str]:
    """The namespaces that `told` names in an alarm."""
    return frozenset(_TOLD.findall(alarm))


@dataclass(slots=True)
class _Shelf:
    most: int
    stored: int | None = None
    # Let in, and not written yet: it has no place.
    unplaced: int = 0
    shard: int = 0
    places: set[int] = field(default_factory=set)

    @property
    def coming(self) -> int:
        return self.unplaced + len(self.places)

    @property
    def full(self) -> Full | None:
        room = max(1, self.most // _UNCOUNTED_PART) if self.stored is None else self.most - self.stored
        return Full(self.most, self.stored, self.coming) if self.coming >= room else None


class Stock:
    """The memories that the namespaces with a limit hold, as one process knows it."""

    def __init__(self, plan: Plan, held_most: int = HELD_MOST) -> None:
        self._plan, self._held_most = plan, held_most
        # By when they were asked for last, the latest at the end. Those named are watched before they say anything.
        self._shelves = {
            name: _Shelf(limits.memories) for name, limits in plan.named if limits.memories and not name.endswith("*")
        }

    @property
    def names(self) -> Collection[str]:
        """The namespaces that are to be counted."""
        return self._shelves.keys()

    def limited(self, namespace: str) -> bool:
        """Whether the namespace has a limit; it is counted from now on, if it has."""
        shelf = self._shelves.pop(namespace, None)
        if shelf is None:
            most = self._plan.of(namespace).memories
            if not most:
                return False
            shelf = _Shelf(most)
        self._shelves[namespace] = shelf
        if len(self._shelves) > self._held_most:
            self._drop_one()
        return True

    def counted(self, namespace: str) -> bool:
        """Whether somebody has counted a namespace that has a limit."""
        return self._shelves[namespace].stored is not None

    def full(self, namespace: str) -> Full | None:
        """Returns the state of a namespace with a limit that has no room for one more; None if it has room."""
        return self._shelves[namespace].full

    def take(self, namespace: str) -> None:
        """Lets one in; without a limit nothing is counted."""
        if shelf := self._shelves.get(namespace):
            shelf.unplaced += 1

    def give_back(self, namespace: str) -> None:
        """One that was let in is not written after all."""
        if shelf := self._shelves.get(namespace):
            shelf.unplaced -= 1

    def placed(self, namespace: str, shard: int, offset: int) -> None:
        """One that was let in stands in the accepted stream."""
        if shelf := self._shelves.get(namespace):
            shelf.unplaced -= 1
            shelf.shard = shard
            shelf.places.add(offset)

    def found(self, namespace: str, shard: int, offset: int) -> None:
        """An episode stands in the accepted stream that somebody else let in."""
        if self.limited(namespace):
            self._shelves[namespace].shard = shard
            self._shelves[namespace].places.add(offset)

    def took_stock(self, stored: Mapping[str, int], applied: Mapping[int, int]) -> None:
        """The store counted: memories by namespace, and up to which offset (exclusive) each shard's stream is applied.

        `stored` may be younger than `applied`, and not older.
        """
        for namespace, number in stored.items():
            if shelf := self._shelves.get(namespace):
                shelf.stored = number
                shelf.places = {place for place in shelf.places if place >= applied.get(shelf.shard, 0)}

    def at_limit(self) -> dict[str, Full]:
        """The namespaces that were counted and have no room."""
        found = ((namespace, shelf.full) for namespace, shelf in self._shelves.items() if shelf.stored is not None)
        return {namespace: full for namespace, full in found if full is not None}

    def _drop_one(self) -> None:
        # A namespace with episodes in progress cannot be counted again from the store alone.
        idle = next((name for name, shelf in self._shelves.items() if not shelf.coming), None)
        if idle is not None:
            del self._shelves[idle]
