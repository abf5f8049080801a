"""Where the sequence in flight began in each log, and who has gone on from it: what a search rests on (`search`)."""

from __future__ import annotations

from collections.abc import Mapping

from memquorum.core.consensus.buffers import EpochBuffer, Slot
from memquorum.core.consensus.events import Message, Received, Reread
from memquorum.core.consensus.gate import SERVICE


class Trail:
    """One replica's, in one shard; `f`: how many members may lie."""

    def __init__(self, f: int) -> None:
        self._f = f
        # By log, as far as it was read since the start.
        self._since: dict[Message, int] = {}
        # Who has said something of a later sequence or epoch: it has decided the one in flight, or it lies.
        self._ahead: set[int] = set()

    def reads(self, event: Received) -> None:
        """A record of a log: the first since the start, it may be."""
        self._since.setdefault(event.message, event.at)

    def meets(self, member: int) -> None:
        """An authentic message of a later sequence or epoch was read."""
        self._ahead |= {member} - {SERVICE}

    def leave(self, *decided: Slot | EpochBuffer) -> None:
        """Notes the messages of what is decided now: what comes next stands behind the first of each log."""
        first: dict[Message, int] = {}
        for each in decided:
            for message, held in each.held():
                first[message] = min(held.at, first.get(message, held.at))
        self._since.update(first)

    def go_on(
        self, slots: Mapping[int, Slot], epochs: Mapping[int, EpochBuffer], beyond: set[int], seq: int, epoch: int
    ) -> None:
        """The next sequence and epoch are in flight; what is held of them and of later ones, who was seen beyond."""
        self._ahead = beyond - {SERVICE}
        for slot in (held for number, held in slots.items() if number > seq):
            self._ahead |= {who for each in slot.rounds.values() for who in (*each.prepares, *each.commits)}
        for buffer in (held for number, held in epochs.items() if number > epoch):
            self._ahead |= buffer.early.keys()
            self._ahead |= {who for each in buffer.nominations.values() for who in each.ballots}

    def overtaken(self) -> bool:
        """Whether f+1 members have gone on: one of them is honest, so the sequence in flight is decided."""
        return len(self._ahead) > self._f

    def back(self) -> list[Reread]:
        """Tells from where to read each log again."""
        return [Reread(message, at) for message, at in sorted(self._since.items())]
