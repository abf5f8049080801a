"""Looks again for missed messages: this member is left behind, and the log has gone on without it.

A broker may have kept a commit, a proposal or a view change from one member alone. The others have decided and have no
reason to send it again, and fewer than f+1 members that ask for a view are not answered. So a member left behind reads
the logs again from the start of the sequence in flight, that of view changes from its beginning; messages that are
missing the second time it takes from the journal, where each decision lies with its proof.

A member that asked for a view alone waits for it after the sequence is decided, too, until f others ask. Then there is
nothing to look for but view changes, unless a message of the next sequence is here.
"""

from __future__ import annotations

from memquorum.core.consensus.events import (
    CancelTimer,
    Effect,
    Message,
    NeedDecisions,
    Reread,
    SetTimer,
    Timer,
    TimerFired,
    Timings,
)
from memquorum.core.consensus.inbox import Inbox
from memquorum.core.consensus.views import Views

_DOUBLINGS_MAX = 6
# So often are view changes read again while no message of the sequence in flight is here.
_IDLE_LOOKS = 2


class Search:
    """The search of one replica in one shard. It repeats while a message is missing, each time after twice the delay,
    until the sequence is decided."""

    def __init__(self, inbox: Inbox, views: Views, timings: Timings) -> None:
        self._inbox, self._views, self._timings = inbox, views, timings
        self._begin(inbox.seq)

    def _begin(self, seq: int) -> None:
        self._seq, self._times, self._idle_looks, self._runs = seq, 0, 0, False

    def look(self, *, live: bool) -> list[Effect]:
        """Starts the timer if a message is missing, and stops it if that sequence is decided. `live`: the logs were
        read to their ends, and a sequence is in flight."""
        found: list[Effect] = []
        if self._seq != self._inbox.seq:
            found += [CancelTimer(Timer.SEARCH)] * self._runs
            self._begin(self._inbox.seq)
        if live and not self._runs and self._misses() and not (self._idle_looks == _IDLE_LOOKS and self._idle()):
            self._runs = True
            ms = self._timings.request_ms << min(self._times, _DOUBLINGS_MAX)
            found.append(SetTimer(Timer.SEARCH, ms, self._seq, self._views.view))
        return found

    def fired(self, event: TimerFired) -> list[Effect]:
        """Returns what to read again now, if a message is still missing."""
        if event.seq != self._seq or not self._runs:
            return []
        self._runs = False
        if not self._misses():
            return []
        # From its beginning: a missing view change may lie before all that this member has seen, as others may have
        # asked for a view before a lower one was opened. View changes are few.
        views = Reread(Message.VIEW_CHANGE, 0)
        if self._idle():
            self._idle_looks += 1
            return [views]
        self._times += 1
        found: list[Effect] = [*self._inbox.search()]
        if not self._inbox.lacks_proposal():
            found.append(views)
        if self._times > 1:
            found.append(NeedDecisions(self._seq, self._why()))
        return found

    def _misses(self) -> bool:
        """True if something is missing: a proposal that q members committed, a decision of members that are ahead, or
        anything at all, as it waits for a view that nobody opens."""
        return self._inbox.lacks_proposal() or self._inbox.trail.left_behind() or self._views.waiting

    def _idle(self) -> bool:
        """True if nothing shows that the sequence in flight has begun: then no log and no journal need hold it."""
        begun = any(True for buffer in (self._inbox.slot(), self._inbox.ballots()) for _ in buffer.held())
        return not begun and not self._inbox.trail.left_behind()

    def _why(self) -> str:
        if self._inbox.lacks_proposal():
            return "a quorum has committed a proposal that is not here"
        if self._inbox.trail.left_behind():
            return "other members have gone on from it"
        return f"view {self._views.asked}, which this member asked for, is not open"
