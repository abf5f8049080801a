"""Schedules candidates: namespaces in turn, a page of each, so that none waits for another.

A decision alone can make candidates due. So a namespace is swept once for each decision of its shard, from its oldest
candidate on; a sweep during which a decision comes continues to its end, and then another one begins: every candidate
has its turn, however many there are.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection
from dataclasses import dataclass, field

from memquorum.core.experience.ports import News
from memquorum.core.experience.rounds import Ledger

_OPEN = 5_000

Key = tuple[int, str]
"""A shard, and a namespace in it."""


@dataclass(slots=True)
class ShardProgress:
    """The state of a shard: its decisions, the end of its journal, and the position up to which verifiers' results were
    read."""

    ledger: Ledger = field(default_factory=Ledger)
    epoch: int = 0
    seq: int = 0
    told: int = 0


@dataclass(slots=True)
class Sweep:
    """The progress of a sweep through a namespace's candidates. `begun`, `done`: the epochs for which it began, and was
    completed.

    A candidate with too few near tasks needs new tasks: if the tasks are unchanged since the last sweep, the next one
    covers only new candidates and those that had enough tasks.
    """

    begun: int = 0
    done: int = 0
    after: tuple[int, str] | None = None
    news: News | None = None
    """The candidates that this sweep covers; None: all."""
    now: _Known | None = None
    before: _Known | None = None

    def begin(self, epoch: int, seq: int, tasks: tuple[int, int]) -> None:
        """Begins at the first candidate. `seq`: the end of the journal; `tasks`: identifies the state of the tasks."""
        last = self.before
        narrow = last is not None and tasks == last.tasks and len(last.open) <= _OPEN
        self.news = News(last.seq, frozenset(last.open)) if last is not None and narrow else None
        self.begun, self.now = epoch, _Known(seq, tasks)

    def opens(self, memory_id: str) -> None:
        """Notes that a candidate has enough tasks, and is not settled yet."""
        if self.now is not None and len(self.now.open) <= _OPEN:
            self.now.open.add(memory_id)

    def end(self) -> None:
        """Notes that the sweep is complete."""
        self.done, self.after, self.before, self.now = self.begun, None, self.now, None


@dataclass(slots=True)
class _Known:
    """The findings of a sweep: the journal's end at its beginning, the state of the tasks, and the candidates with
    enough of them."""

    seq: int
    tasks: tuple[int, int]
    open: set[str] = field(default_factory=set)


class Sweeps:
    """The namespaces that have enough tasks, in turn; some 200 bytes for each of them."""

    def __init__(self) -> None:
        self._of: dict[Key, Sweep] = {}
        self._queue = deque[Key]()

    def __len__(self) -> int:
        return len(self._queue)

    def decided(self, shard: int, epoch: int, namespaces: Collection[str]) -> None:
        """Schedules sweeps of a shard's namespaces after a decision of an epoch."""
        keys = {(shard, name) for name in namespaces}
        for key in [key for key in self._of if key[0] == shard and key not in keys]:
            del self._of[key]
        self._queue = deque(key for key in self._queue if key in self._of)
        waiting = set(self._queue)
        for key in sorted(keys):
            sweep = self._of.setdefault(key, Sweep())
            if sweep.done < epoch and key not in waiting:
                self._queue.append(key)

    def next(self) -> tuple[Key, Sweep] | None:
        """Returns the next namespace, or None. The caller begins its sweep if that has no position yet."""
        if not self._queue:
            return None
        key = self._queue.popleft()
        return key, self._of[key]

    def back(self, key: Key) -> None:
        """Puts back a namespace whose turn failed: it is the next again."""
        self._queue.appendleft(key)

    def went(self, key: Key, sweep: Sweep, after: tuple[int, str] | None, epoch: int) -> None:
        """Notes that a page of the namespace was covered, up to a candidate; None: to the end. `epoch`: the shard's
        last."""
        sweep.after = after
        if after is None:
            sweep.end()
        if after is not None or sweep.done < epoch:
            self._queue.append(key)
