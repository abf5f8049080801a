"""How far each stage is in what it reads: what its lag is counted from when somebody asks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple


class Source(NamedTuple):
    """A partition that a stage reads."""

    stage: str
    topic: str
    partition: int


class Places:
    """The next offset that a stage has not done with, by partition. Written by its loop, read at a scrape."""

    def __init__(self) -> None:
        self._next: dict[Source, int | None] = {}
        self._groups: dict[str, str] = {}

    def begin(self, stage: str, topic: str, partitions: Iterable[int], group: str) -> None:
        """Partitions whose place only the consumer group knows until their first record is done with."""
        self._groups[stage] = group
        for partition in partitions:
            self._next[Source(stage, topic, partition)] = None

    def at(self, stage: str, topic: str, partition: int, offset: int) -> None:
        """Everything before the offset is done with."""
        self._next[Source(stage, topic, partition)] = offset

    def leave(self, stage: str, topic: str, partitions: Iterable[int]) -> None:
        """Partitions that went to another process."""
        for partition in partitions:
            self._next.pop(Source(stage, topic, partition), None)

    def group(self, stage: str) -> str | None:
        """The stage's consumer group, if it has told one."""
        return self._groups.get(stage)

    def now(self) -> Mapping[Source, int | None]:
        """A copy; None where only the consumer group knows."""
        return dict(self._next)
