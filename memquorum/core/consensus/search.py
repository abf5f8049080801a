"""When a member looks again for what it has missed: it is left behind, and the log has gone on without it.

A broker may have kept a commit, a proposal or a view change from one member alone. The others have decided and have no
reason to say it again, and fewer than f+1 who ask for a view are not answered. So who is left behind reads the logs
again, from where the sequence in flight began in them, that of view changes from its beginning; what they do not show
it the second time it takes from the journal, where each decision lies with its proof.
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


class Search:
    """One replica's, in one shard. It runs while something is missing, each time twice as long, until the sequence is
    decided."""

    def __init__(self, inbox: Inbox, views: Views, timings: Timings) -> None:
        self._inbox, self._views, self._timings = inbox, views, timings
        self._seq, self._times, self._runs = inbox.seq, 0, False

    def look(self, *, live: bool) -> list[Effect]:
        """Starts the timer if something is missing, and stops it if the sequence that missed it is decided. `live`: the
        logs were read to their ends, and a sequence is in flight."""
        found: list[Effect] = []
        if self._seq != self._inbox.seq:
            found += [CancelTimer(Timer.SEARCH)] * self._runs
            self._seq, self._times, self._runs = self._inbox.seq, 0, False
        if live and not self._runs and self._misses():
            self._runs = True
            ms = self._timings.request_ms << min(self._times, _DOUBLINGS_MAX)
            found.append(SetTimer(Timer.SEARCH, ms, self._seq, self._views.view))
        return found

    def fired(self, event: TimerFired) -> list[Effect]:
        """What to read again now, if it is still missing."""
        if event.seq != self._seq or not self._runs:
            return []
        self._runs = False
        if not self._misses():
            return []
        self._times += 1
        found: list[Effect] = [*self._inbox.search()]
        if not self._inbox.lacks_proposal():
            # From its beginning: what it was not shown may lie before all that it was shown, and who asks for a view
            # may have done so before a lower one was opened. View changes are few.
            found.append(Reread(Message.VIEW_CHANGE, 0))
        if self._times > 1:
            found.append(NeedDecisions(self._seq))
        return found

    def _misses(self) -> bool:
        """A proposal that q members committed; or what others have decided, who are ahead; or, as far as it can tell,
        anything at all, since it waits for a view that nobody opens."""
        return self._inbox.lacks_proposal() or self._inbox.trail.overtaken() or self._views.waiting
