"""How far each partition can be committed: before the first record that was read and is not done with.

Records of a partition are let in in another order than they stand there (`workers.intake.holding`). What is done with
behind the first that waits comes again after a crash, under the same ids.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field

from confluent_kafka import Message

from workers.kafka import loop

Place = tuple[str, int]


@dataclass(slots=True)
class _Partition:
    read: deque[int] = field(default_factory=deque)
    done: set[int] = field(default_factory=set)


class Offsets:
    """The partitions of one process."""

    def __init__(self) -> None:
        self._partitions: dict[Place, _Partition] = {}

    def read(self, messages: Iterable[Message]) -> None:
        """These were read, in the order of their partitions."""
        for message in messages:
            self._partitions.setdefault(loop.place(message), _Partition()).read.append(loop.offset(message))

    def done(self, messages: Iterable[Message]) -> dict[Place, int]:
        """These are done with; up to where partitions can be committed that moved on by that."""
        ends: dict[Place, int] = {}
        for message in messages:
            place, offset = loop.place(message), loop.offset(message)
            partition = self._partitions.get(place)
            if partition is not None:
                partition.done.add(offset)
                while partition.read and partition.read[0] in partition.done:
                    ends[place] = partition.read.popleft() + 1
                    partition.done.discard(ends[place] - 1)
        return ends

    def lose(self, places: Iterable[Place]) -> None:
        """The group took partitions away."""
        for place in places:
            self._partitions.pop(place, None)
