"""Keeps the surroundings of each namespace's episodes, by which the stage judges, up to date with the journal."""

from __future__ import annotations

import logging
import pickle
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterator

from memquorum.core.identity.membership import CONSOLIDATOR
from memquorum.core.kept import Kept
from memquorum.core.salience import Surroundings, know, known_by
from memquorum.ports import Neighbourhoods, StoreUnavailable

log = logging.getLogger(__name__)


class Pictures:
    """The surroundings of all namespaces of the shards that this process holds, the most lately active last."""

    def __init__(
        self,
        neighbourhoods: Neighbourhoods,
        encoder: str,
        empty: Callable[[str], Surroundings],
        vectors_max: int,
        packed_max: int = 0,
    ) -> None:
        """`encoder`: the name of the one whose vectors are compared. `empty` makes those of a namespace. Beyond
        `vectors_max` vectors of all together, whole namespaces are packed; beyond `packed_max` bytes of those, the one
        packed first goes, and is drawn from the journal again when it acts."""
        self._neighbourhoods, self._encoder, self._empty = neighbourhoods, encoder, empty
        self._vectors_max = vectors_max
        self._held: OrderedDict[tuple[int, str], Surroundings] = OrderedDict()
        self._packed = Kept[tuple[int, str], bytes](len, packed_max)

    def __iter__(self) -> Iterator[tuple[int, str]]:
        return iter(self._held)

    def of(self, shard: int, namespace: str) -> Surroundings:
        """Those of a namespace; empty at first."""
        key = shard, namespace
        if key not in self._held:
            self._held[key] = self._empty(namespace)
            if (packed := self._packed.pop(key, None)) is not None:
                know(self._held[key], pickle.loads(packed))  # of this process
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
        self._packed.pop((shard, namespace), None)

    def leave(self, shards: Collection[int]) -> None:
        """Lets all namespaces of these shards go."""
        for shard, namespace in [key for key in (*self._held, *self._packed) if key[0] in shards]:
            self.drop(shard, namespace)

    def bound(self) -> None:
        """Packs the least lately active namespaces while there is too much of them (DESIGN 19)."""
        total = sum(one.size for one in self._held.values())
        while total > self._vectors_max and len(self._held) > 1:
            key, idle = self._held.popitem(last=False)
            total -= idle.size
            self._packed[key] = pickle.dumps(known_by(idle), pickle.HIGHEST_PROTOCOL)
