"""Whose candidates have their turn: namespaces one after the other, a page of each, so that none waits for another.

Candidates can become due by a decision alone. So a namespace is swept once for each decision of its shard, from its
oldest candidate on; a sweep that a decision overtakes goes on to its end, and then another one begins: however many
candidates there are, each has its turn.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection
from dataclasses import dataclass, field

from memquorum.core.experience.ports import News
from memquorum.core.experience.rounds import Ledger

_OPEN = 5_000

Key = tuple[int, str]
"""A shard, and a namespace that lies in it."""


@dataclass(slots=True)
class Line:
    """What is known of a shard: its decisions, how far its journal goes, and up to where what verifiers told was looked
    at."""

    ledger: Ledger = field(default_factory=Ledger)
    epoch: int = 0
    seq: int = 0
    told: int = 0


@dataclass(slots=True)
class Sweep:
    """How far a namespace's candidates were gone through. `begun`, `done`: for the decisions up to which epoch.

    Whoever has too few tasks near has as few until there are others: so where the tasks are the same as at the last
    sweep, the next one goes through what is new since then, and what had tasks enough, alone.
    """

    begun: int = 0
    done: int = 0
    after: tuple[int, str] | None = None
    news: News | None = None
    """What this sweep goes through; None: all."""
    now: _Known | None = None
    before: _Known | None = None

    def begin(self, epoch: int, seq: int, tasks: tuple[int, int]) -> None:
        """Begins at the first candidate. `seq`: how far the journal goes; `tasks`: what tells whether they are the
        same."""
        last = self.before
        narrow = last is not None and tasks == last.tasks and len(last.open) <= _OPEN
        self.news = News(last.seq, frozenset(last.open)) if last is not None and narrow else None
        self.begun, self.now = epoch, _Known(seq, tasks)

    def opens(self, memory_id: str) -> None:
        """A candidate has tasks enough, and is not settled yet."""
        if self.now is not None and len(self.now.open) <= _OPEN:
            self.now.open.add(memory_id)

    def end(self) -> None:
        """All of it was gone through."""
        self.done, self.after, self.before, self.now = self.begun, None, self.now, None


@dataclass(slots=True)
class _Known:
    """What a sweep has found: from which place in the journal on, by which tasks, and who had enough of them."""

    seq: int
    tasks: tuple[int, int]
    open: set[str] = field(default_factory=set)


class Sweeps:
    """The namespaces that have tasks enough, in turn; some 200 bytes for each of them."""

    def __init__(self) -> None:
        self._of: dict[Key, Sweep] = {}
        self._queue = deque[Key]()

    def __len__(self) -> int:
        return len(self._queue)

    def decided(self, shard: int, epoch: int, namespaces: Collection[str]) -> None:
        """A shard has decided up to an epoch, and these are its namespaces: they are to be swept for that."""
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
        """The namespace whose turn it is, or None. Where it has no place to go on from, whoever asks begins it."""
        if not self._queue:
            return None
        key = self._queue.popleft()
        return key, self._of[key]

    def back(self, key: Key) -> None:
        """The namespace's turn came to nothing: it is the next again."""
        self._queue.appendleft(key)

    def went(self, key: Key, sweep: Sweep, after: tuple[int, str] | None, epoch: int) -> None:
        """A page of the namespace was gone through, up to a candidate; None: to the end. `epoch`: the shard's last."""
        sweep.after = after
        if after is None:
            sweep.end()
        if after is not None or sweep.done < epoch:
            self._queue.append(key)
