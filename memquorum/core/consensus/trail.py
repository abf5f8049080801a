"""The positions where the sequence in flight began in each log, and the members that have gone on from it, for
`search`."""

from __future__ import annotations

from collections.abc import Mapping

from memquorum.core.consensus.buffers import EpochBuffer, Slot
from memquorum.core.consensus.events import Message, Received, Reread
from memquorum.core.consensus.gate import SERVICE


class Trail:
    """The trail of one replica in one shard; `f`: how many members may lie."""

    def __init__(self, f: int) -> None:
        self._f = f
        # By log: the first position that was read since the start, or that the last decision left.
        self._since: dict[Message, int] = {}
        # The members that have sent a message of a later sequence or epoch: they have decided the one in flight, or
        # lie.
        self._ahead: set[int] = set()

    def reads(self, event: Received) -> None:
        """Notes the first record of each log since the start."""
        self._since.setdefault(event.message, event.at)

    def meets(self, member: int) -> None:
        """Notes an authentic message of a later sequence or epoch."""
        self._ahead |= {member} - {SERVICE}

    def leave(self, *decided: Slot | EpochBuffer) -> None:
        """Notes the positions of a decided sequence's messages: later messages lie behind the first of each log."""
        first: dict[Message, int] = {}
        for each in decided:
            for message, held in each.held():
                first[message] = min(held.at, first.get(message, held.at))
        self._since.update(first)

    def go_on(
        self, slots: Mapping[int, Slot], epochs: Mapping[int, EpochBuffer], beyond: set[int], seq: int, epoch: int
    ) -> None:
        """Moves on to the next sequence and epoch. `slots`, `epochs`: the buffers; `beyond`: members seen beyond the
        window."""
        self._ahead = beyond - {SERVICE}
        for slot in (held for number, held in slots.items() if number > seq):
            self._ahead |= {who for each in slot.rounds.values() for who in (*each.prepares, *each.commits)}
        for buffer in (held for number, held in epochs.items() if number > epoch):
            self._ahead |= buffer.early.keys()
            self._ahead |= {who for each in buffer.nominations.values() for who in each.ballots}

    def left_behind(self) -> bool:
        """True if f+1 members have gone on: one of them is honest, so the sequence in flight is decided."""
        return len(self._ahead) > self._f

    def back(self) -> list[Reread]:
        """Returns the positions to read each log again from."""
        return [Reread(message, at) for message, at in sorted(self._since.items())]
