"""When a member may speak (rule 8 of `transitions`): who knows less than before waits until it has caught up."""

from __future__ import annotations

from memquorum.core.consensus.events import Progress, Restarted
from memquorum.core.consensus.membership import Genesis


class Silence:
    """One member's in one shard. `fresh`: what it may have signed before it started is not known."""

    def __init__(self, genesis: Genesis, me: int, progress: Progress) -> None:
        # That its view knows of decisions says nothing of a founder: who crashes while it reads of them for the first
        # time has not spoken. Who was added may have been so before, with files that are lost.
        self._lived = progress.lived or (progress.seq > 1 and not genesis.founded(me))
        self.fresh = self._caught_up = False
        self._through = self.ended = 0

    def begin(self, event: Restarted) -> None:
        """After a start."""
        self._through, self.fresh = event.through, event.fresh

    def catch_up(self, seq: int, *, heard_itself: bool) -> bool:
        """The log was read to its end, with `seq` in flight. Answers whether this is the member's first life.

        Who may have lost its sign-state waits until that sequence is decided without it.
        """
        self._caught_up = True
        if self.fresh and (self._lived or heard_itself):
            self._through = seq + self.ended
            return False
        first, self.fresh = self.fresh, False
        return first

    def over(self, seq: int) -> bool:
        """Whether it may speak, with `seq` in flight."""
        return self._caught_up and seq + self.ended > self._through

    def end(self) -> None:
        """The sequence in flight is decided, and the last one of its configuration: no other takes its place."""
        self.ended = 1
