"""Decides when a member may send messages (rule 8 of `transitions`): one that lost a file waits until it has caught
up."""

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
    """The silence of a member in a shard. `fresh`: it is not known what it signed before it started."""

    def __init__(self, genesis: Genesis, me: int, progress: Progress) -> None:
        # A founder whose view knows of decisions need not have sent anything: it may have crashed while it read them
        # for the first time. A member that was added may have been a member before, with files that are lost.
        self._lived = progress.lived or (progress.seq > 1 and not genesis.founded(me))
        self.fresh = self._caught_up = self._waits = False
        # True if the sign-state was restored from an earlier state.
        self.behind = False
        self._through = self.ended = 0

    def begin(self, event: Restarted, timings: Timings) -> list[Effect]:
        """Begins after a start. A member that may have lost its sign-state keeps silent for a while: its view file may
        show how far the log was read, but not which views it asked for and entered."""
        self._through = event.through
        return self._forget(timings) if event.fresh else []

    def went_back(self, timings: Timings) -> list[Effect]:
        """Begins a silence because the log holds a message that this member signed and its sign-state lacks: others may
        be lost too."""
        if self.fresh:
            return []
        self.behind = self._lived = True
        return self._forget(timings)

    def _forget(self, timings: Timings) -> list[Effect]:
        self.fresh = self._waits = True
        return [Reread(Message.VIEW_CHANGE, 0), SetTimer(Timer.SILENCE, timings.silence_ms, 0, 0)]

    def catch_up(self, seq: int, *, heard_itself: bool) -> bool:
        """Notes that the log was read to its end, with `seq` in flight. Returns True if this is the member's first
        start.

        A member that may have lost its sign-state waits until that sequence is decided without it, and until `waited`:
        its messages about views belong to no sequence, and may still be on their way to the log.
        """
        self._caught_up = True
        if self.fresh and (self._lived or heard_itself):
            self._through = seq + self.ended
            return False
        first, self.fresh = self.fresh, False
        self._waits = False
        return first

    def waited(self) -> None:
        """Notes that everything it sent before the start can be read by now."""
        self._waits = False

    def over(self, seq: int) -> bool:
        """True if it may send messages, with `seq` in flight."""
        return self._caught_up and not self._waits and seq + self.ended > self._through

    def end(self) -> None:
        """Notes that the last sequence of the configuration is decided: no other takes its place."""
        self.ended = 1
