"""Keeps the surroundings of each namespace's episodes, by which the stage judges, up to date with the journal."""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterator

from memquorum.core.identity.membership import CONSOLIDATOR
from memquorum.core.kept import Kept
from memquorum.core.salience import Surroundings, rest, wake
from memquorum.ports import Neighbourhoods, StoreUnavailable

log = logging.getLogger(__name__)

_EACH_BYTES = 1_150


class Pictures:
    """The surroundings of all namespaces of the shards that this process holds, the most lately active last."""

    def __init__(
        self,
        neighbourhoods: Neighbourhoods,
        encoder: str,
        empty: Callable[[str], Surroundings],
        vectors_max: int,
        resting_max: int = 0,
    ) -> None:
        """`encoder`: the name of the one whose vectors are compared. `empty` makes those of a namespace. Beyond
        `vectors_max` vectors of all together, whole namespaces rest in half the memory; beyond `resting_max` bytes of
        those, the one that rests longest goes, and is drawn from the journal again when it acts."""
        self._neighbourhoods, self._encoder, self._empty = neighbourhoods, encoder, empty
        self._vectors_max = vectors_max
        self._held: OrderedDict[tuple[int, str], Surroundings] = OrderedDict()
        self._resting = Kept[tuple[int, str], Surroundings](_bytes, resting_max)

    def __iter__(self) -> Iterator[tuple[int, str]]:
        return iter(self._held)

    def of(self, shard: int, namespace: str) -> Surroundings:
        """Those of a namespace; empty at first."""
        key = shard, namespace
        if key not in self._held:
            resting = self._resting.pop(key, None)
            if resting is not None:
                wake(resting)
            self._held[key] = self._empty(namespace) if resting is None else resting
        return self._held[key]

    def refresh(self, shard: int, namespace: str) -> None:
        """Brings a namespace up to the journal. As with the vault, every failure means: wait, by StoreUnavailable."""
        surroundings = self.of(shard, namespace)
        try:
            change = self._neighbourhoods.changes(shard, namespace, surroundings.seq, surroundings.memories)
        except Exception as error:
            raise StoreUnavailable(f"neighbourhood of {namespace!r}: {error!r}") from error
        for memory_id in change.left:
            surroundings.left(memory_id)
        told = [(surroundings.arrived, one) for one in change.arrived]
        told += [(surroundings.promoted, one) for one in change.settled]
        for take_in, memory in told:
            # A memory arrives again when it has been re-encoded. Until then it is not compared with others.
            if memory.encoder != self._encoder:
                continue
            try:
                take_in(memory.memory_id, memory.agent, memory.vector, memory.text, memory.marks)
                if memory.agent == CONSOLIDATOR:
                    surroundings.summed(memory.memory_id, memory.text, memory.said_by)
            except ValueError as error:
                log.warning("salience: memory %s is no neighbour: %s", memory.memory_id, error)
        surroundings.seq = change.seq
        self._held.move_to_end((shard, namespace))

    def drop(self, shard: int, namespace: str) -> None:
        """Lets a namespace go: the journal brings back what stays."""
        self._held.pop((shard, namespace), None)
        self._resting.pop((shard, namespace), None)

    def leave(self, shards: Collection[int]) -> None:
        """Lets all namespaces of these shards go."""
        for shard, namespace in [key for key in (*self._held, *self._resting) if key[0] in shards]:
            self.drop(shard, namespace)

    def bound(self) -> None:
        """Lets the least lately active namespaces rest while there is too much of them (DESIGN 19)."""
        total = sum(one.size for one in self._held.values())
        while total > self._vectors_max and len(self._held) > 1:
            key, idle = self._held.popitem(last=False)
            total -= idle.size
            rest(idle)
            self._resting[key] = idle


def _bytes(resting: Surroundings) -> int:
    """Returns the memory that resting surroundings take. A memory of one sentence counts twice in their size: once for
    its vector, and once for its text and claims."""
    return resting.size * _EACH_BYTES
