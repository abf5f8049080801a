"""Cuts a log into steps: publish some records, or let time pass. The same log always gives the same steps.

Two runs can only decide the same if the records come in the same order. Episodes and accesses are in two topics, so a
step holds records of one kind, and the next step waits for it. Time moves by a step of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from infra.demo.inputs import Record
from memquorum.core.records import EpisodeRecorded


@dataclass(frozen=True, slots=True)
class Publish:
    """Records of one kind, to be published together."""

    records: tuple[Record, ...]


@dataclass(frozen=True, slots=True)
class Tick:
    """It is `as_of` now, milliseconds since the epoch."""

    as_of: int


Step = Publish | Tick


def when(record: Record) -> int:
    """When a record happened; 0 if it does not say."""
    return (record.occurred_at if isinstance(record, EpisodeRecorded) else record.accessed_at) or 0


def steps(records: Iterable[Record], size: int, gap_ms: int, after_ms: Sequence[int] = ()) -> Iterator[Step]:
    """Yields the steps of a log: a tick first, then one after every `size` records, and at every pause of `gap_ms`.

    A pause gets two ticks, at its beginning and its end, so that memories that decay overnight are judged in the
    morning. Time never runs backwards: an earlier record does not change it. `after_ms`: the times of further ticks
    after the last record, ascending.
    """
    now = ticked = None
    waiting: list[Record] = []
    since = 0
    for record in records:
        at = when(record)
        if now is None:
            now = ticked = at
            yield Tick(at)
        pause = at - now >= gap_ms
        if waiting and (pause or type(record) is not type(waiting[0]) or len(waiting) >= size):
            yield Publish(tuple(waiting))
            waiting = []
        if pause or since >= size:
            if now > (ticked or 0):
                yield Tick(now)
            ticked, since = now, 0
        if pause:
            ticked = at - 1
            yield Tick(ticked)
        now = max(now, at)
        waiting.append(record)
        since += 1
    if waiting:
        yield Publish(tuple(waiting))
    for later in (0, *after_ms) if now is not None else ():
        yield Tick((now or 0) + later)
