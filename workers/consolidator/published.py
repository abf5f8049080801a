"""The last summaries of sessions: two drafts of the same memories would keep each other from being promoted."""

from __future__ import annotations

import time
from collections.abc import Callable

from memquorum.core.consolidation.condensing import OF_NO_SESSION
from memquorum.core.kept import Kept
from memquorum.core.records import SessionClosed
from memquorum.ports import Sessions

# The time that the commit worker has to answer a session's published events, and the number of the last events that are
# kept.
_ANSWERED_S, _MOST = 30.0, 10_000


class Published:
    """The event ids of a session's last summaries, until the store has an outcome of each."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions
        self._of = Kept[tuple[str, str], tuple[str, ...]](len, _MOST)

    def add(self, closed: SessionClosed, event_id: str) -> None:
        """Notes a summary of a session."""
        key = _key(closed)
        self._of[key] = (*self._of.get(key, ()), event_id)

    def settle(self, closed: SessionClosed, wait: Callable[[], None]) -> None:
        """Waits until the store has what the accepted stream had of the session, and then what was published of it and
        of the namespace for want of room, or for half a minute. The sources of the latter may be of any session.
        Raises StoreUnavailable, and what `wait` raises."""
        while self._sessions.applied(closed.shard) < closed.accepted_offset:
            wait()
        made = tuple(
            event_id
            for key in self._of
            if (key[0] == closed.namespace and OF_NO_SESSION in (closed.session, key[1])) or key == _key(closed)
            for event_id in self._of.pop(key)
        )
        until = time.monotonic() + (_ANSWERED_S if made else 0.0)
        while time.monotonic() < until and len(self._sessions.answered(closed.namespace, made)) < len(made):
            wait()


def _key(closed: SessionClosed) -> tuple[str, str]:
    return closed.namespace, closed.session
