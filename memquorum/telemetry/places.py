"""Keeps each stage's positions in its topics, from which its lag is computed on request."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple


class Source(NamedTuple):
    """A partition that a stage reads."""

    stage: str
    topic: str
    partition: int


class Places:
    """The next offset to process of a stage, by partition. Written by its loop, read at a scrape."""

    def __init__(self) -> None:
        self._next: dict[Source, int | None] = {}
        self._groups: dict[str, str] = {}

    def begin(self, stage: str, topic: str, partitions: Iterable[int], group: str) -> None:
        """Adds partitions whose position only the consumer group knows until their first record is processed."""
        self._groups[stage] = group
        for partition in partitions:
            self._next[Source(stage, topic, partition)] = None

    def at(self, stage: str, topic: str, partition: int, offset: int) -> None:
        """Sets a position: everything before the offset is processed."""
        self._next[Source(stage, topic, partition)] = offset

    def leave(self, stage: str, topic: str, partitions: Iterable[int]) -> None:
        """Removes partitions that went to another process."""
        for partition in partitions:
            self._next.pop(Source(stage, topic, partition), None)

    def group(self, stage: str) -> str | None:
        """The stage's consumer group, if it has set one."""
        return self._groups.get(stage)

    def now(self) -> Mapping[Source, int | None]:
        """A copy of the positions; None where only the consumer group knows."""
        return dict(self._next)
