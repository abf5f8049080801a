"""Whose candidates have their turn: namespaces one after the other, a page of each, so that none waits for another.

Candidates can become due by a decision alone. So a namespace is swept once for each decision of its shard, from its
oldest candidate on; a sweep that a decision overtakes goes on to its end, and then another one begins: however many
candidates there are, each has its turn.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection
from dataclasses import dataclass, field

from memquorum.core.experience.rounds import Ledger

Key = tuple[int, str]
"""A shard, and a namespace that lies in it."""


@dataclass(slots=True)
class Line:
    """What is known of a shard: its decisions, and up to where what verifiers told was looked at."""

    ledger: Ledger = field(default_factory=Ledger)
    epoch: int = 0
    told: int = 0


@dataclass(slots=True)
class Sweep:
    """How far a namespace's candidates were gone through. `begun`, `done`: for the decisions up to which epoch."""

    begun: int = 0
    done: int = 0
    after: tuple[int, str] | None = None


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

    def next(self, epoch_of: dict[int, Line]) -> tuple[Key, Sweep] | None:
        """The namespace whose turn it is, or None."""
        if not self._queue:
            return None
        key = self._queue.popleft()
        sweep = self._of[key]
        if sweep.after is None:
            sweep.begun = epoch_of[key[0]].epoch
        return key, sweep

    def went(self, key: Key, sweep: Sweep, after: tuple[int, str] | None, epoch: int) -> None:
        """A page of the namespace was gone through, up to a candidate; None: to the end. `epoch`: the shard's last."""
        sweep.after = after
        if after is None:
            sweep.done = sweep.begun
        if after is not None or sweep.done < epoch:
            self._queue.append(key)
