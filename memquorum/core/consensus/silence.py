"""When a member may speak (rule 8 of `transitions`): who knows less than before waits until it has caught up."""

from __future__ import annotations

from memquorum.core.consensus.events import (
    Effect,
    Message,
    Progress,
    Reread,
    Restarted,
    SetTimer,
    Timer,
    Timings,
)
from memquorum.core.identity.membership import Genesis


class Silence:
    """The silence that a member keeps in a shard. `fresh`: what it may have signed before it started is not known."""

    def __init__(self, genesis: Genesis, me: int, progress: Progress) -> None:
        # That its view knows of decisions says nothing of a founder: who crashes while it reads of them for the first
        # time has not spoken. Who was added may have been so before, with files that are lost.
        self._lived = progress.lived or (progress.seq > 1 and not genesis.founded(me))
        self.fresh = self._caught_up = self._waits = False
        # Whether the sign-state went back to an earlier state.
        self.behind = False
        self._through = self.ended = 0

    def begin(self, event: Restarted, timings: Timings) -> list[Effect]:
        """Begins after a start. A member that may have lost its sign-state keeps silent for a while: its view file may
        know how far the log was read, but not which views were asked for and entered."""
        self._through = event.through
        return self._forget(timings) if event.fresh else []

    def went_back(self, timings: Timings) -> list[Effect]:
        """The log holds what this member signed and its sign-state does not: what else it signed is not known."""
        if self.fresh:
            return []
        self.behind = self._lived = True
        return self._forget(timings)

    def _forget(self, timings: Timings) -> list[Effect]:
        self.fresh = self._waits = True
        return [Reread(Message.VIEW_CHANGE, 0), SetTimer(Timer.SILENCE, timings.silence_ms, 0, 0)]

    def catch_up(self, seq: int, *, heard_itself: bool) -> bool:
        """The log was read to its end, with `seq` in flight. Answers whether this is the member's first life.

        Who may have lost its sign-state waits until that sequence is decided without it, and `waited`: what it said of
        views is bound to no sequence, and may still have been on its way to the log.
        """
        self._caught_up = True
        if self.fresh and (self._lived or heard_itself):
            self._through = seq + self.ended
            return False
        first, self.fresh = self.fresh, False
        self._waits = False
        return first

    def waited(self) -> None:
        """Whatever it sent before it started can be read by now."""
        self._waits = False

    def over(self, seq: int) -> bool:
        """Whether it may speak, with `seq` in flight."""
        return self._caught_up and not self._waits and seq + self.ended > self._through

    def end(self) -> None:
        """The sequence in flight is decided, and the last one of its configuration: no other takes its place."""
        self.ended = 1
