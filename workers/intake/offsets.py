"""Computes the offset to commit for each partition: the first record that was read and is not processed.

Records of a partition are let in in another order than they were read (`workers.intake.waiting_episodes`). Records
processed after the first waiting one are read again after a crash, with the same ids.
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
    """The offsets of one process's partitions."""

    def __init__(self) -> None:
        self._partitions: dict[Place, _Partition] = {}

    def read(self, messages: Iterable[Message]) -> None:
        """Notes messages that were read, in the order of their partitions."""
        for message in messages:
            self._partitions.setdefault(loop.place(message), _Partition()).read.append(loop.offset(message))

    def done(self, messages: Iterable[Message]) -> dict[Place, int]:
        """Notes messages as processed; returns the new offsets to commit of partitions that advanced."""
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
        """Forgets revoked partitions."""
        for place in places:
            self._partitions.pop(place, None)
