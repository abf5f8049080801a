r"""Kafka as the replicas see it: an append-only log per kind of message, read by everybody at a pace of its own.

Each (reader, log) has its own delays, in order within a log and in none between two. A record can be hidden from a
reader (a fork of the log), a log can lose its tail, and a producer's record can be repeated. Times are microseconds.
"""

from __future__ import annotations

from collections.abc import Iterable

from memquorum.core.consensus.events import Message
from tests.simulation.dice import Dice
from tests.simulation.plan import CALM, Network

LOGS = tuple(
    Message(kind)
    for kind in ("nomination", "ballot", "pre-prepare", "prepare", "commit", "view-change", "checkpoint")
)  # fmt: skip
_NUMBER = {message: number for number, message in enumerate(LOGS)}


class Broker:
    """The logs, and when each reader gets each record."""

    def __init__(self, dice: Dice, network: Network, readers: Iterable[int]) -> None:
        self.logs: dict[Message, list[bytes]] = {message: [] for message in LOGS}
        # Records that an honest replica may have built a decision on: no tail is cut below.
        self.floor: dict[Message, int] = dict.fromkeys(LOGS, 0)
        # The first offset of each log: records before it are deleted.
        self.low: dict[Message, int] = dict.fromkeys(LOGS, 0)
        self.network = network
        self._dice = dice
        # reader → log → when it gets each record; never earlier than the one before.
        self.arrivals: dict[int, dict[Message, list[int]]] = {r: {m: [] for m in LOGS} for r in readers}
        self._hidden: dict[int, set[tuple[Message, int]]] = {r: set() for r in self.arrivals}
        # The same, unnoticed: a reader that was not shown a record goes on without it.
        self._withheld: dict[int, set[tuple[Message, int]]] = {r: set() for r in self.arrivals}

    def append(self, now: int, message: Message, data: bytes, hidden_from: Iterable[int] = ()) -> list[tuple[int, int]]:
        """Writes a record. Returns (reader, time) of each arrival."""
        log, found, kind = self.logs[message], [], _NUMBER[message]
        offset, network, roll = len(log), self.network, self._dice.roll
        log.append(data)
        for reader, arrivals in self.arrivals.items():
            line = arrivals[message]
            when = now + network.base + roll(network.jitter + 1, "delay", reader, kind, offset)
            if network.slow_permille and roll(1000, "slow", reader, kind, offset) < network.slow_permille:
                when += network.slow
            if line and line[-1] > when:
                when = line[-1]
            line.append(when)
            found.append((reader, when))
        for reader in hidden_from:
            self._hidden[reader].add((message, offset))
        return found

    def repeats(self, message: Message) -> bool:
        """Whether the producer writes its next record of a log twice."""
        return self._dice.chance(self.network.repeat_permille, "repeat", _NUMBER[message], len(self.logs[message]))

    def read(self, reader: int, message: Message, offset: int) -> bytes | None:
        """Returns the record at an offset, or None where the reader is shown none."""
        hidden, withheld = self._hidden[reader], self._withheld[reader]
        if (hidden and (message, offset) in hidden) or (withheld and (message, offset) in withheld):
            return None
        return self.logs[message][offset]

    def hide(self, reader: int, message: Message, offset: int, count: int) -> None:
        """Hides the next records of a log from a reader for ever, whether or not they are written yet."""
        self._hidden[reader].update((message, offset + i) for i in range(count))

    def withhold(self, reader: int, message: Message, offset: int) -> None:
        """Hides a record from a reader until the broker is well, without notice to that reader."""
        self._withheld[reader].add((message, offset))

    def deceived(self) -> set[int]:
        """Returns the readers that were shown another log than the true one."""
        return {
            reader
            for reader, hidden in self._hidden.items()
            if any(offset < len(self.logs[message]) for message, offset in hidden)
        }

    def truncate(self, message: Message, count: int) -> int:
        """Cuts up to so many records off a log's end. Returns its new end."""
        log = self.logs[message]
        end = max(self.floor[message], len(log) - count)
        del log[end:]
        for reader, arrivals in self.arrivals.items():
            del arrivals[message][end:]
            for hidden in (self._hidden[reader], self._withheld[reader]):
                hidden -= {place for place in hidden if place[0] == message and place[1] >= end}
        return end

    def prune(self, message: Message, offset: int) -> None:
        """Deletes the records before an offset."""
        self.low[message] = max(offset, self.low[message])

    def settle(self) -> None:
        """Notes a decision: the records that it may stand on are not lost any more."""
        for message, log in self.logs.items():
            self.floor[message] = len(log)

    def heal(self) -> None:
        """Ends all hiding, delays and repetitions."""
        self.network = CALM
        for hidden in (*self._hidden.values(), *self._withheld.values()):
            hidden.clear()
