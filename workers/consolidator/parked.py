"""Sessions whose summary failed: each is tried again with growing pauses, while the others go on.

It is kept in memory only: the offset of a parked session is not committed, so the next reader of the partition gets it
again, and finds the sessions after it done already (`workers.consolidator.worker`).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from memquorum.core.consolidation.condensing import OF_NO_SESSION
from memquorum.core.records import SessionClosed

Place = tuple[str, int]
_FIRST_S, _LAST_S = 5.0, 900.0


@dataclass(slots=True)
class Session:
    """A session that is over, with the position of its record and its tries until now.

    `since_ms`: when the record was written, by the broker's or the writer's clock; −1 where that is not known. `due`:
    when it is tried again, by a clock that only runs forward, in seconds.
    """

    closed: SessionClosed
    place: Place
    offset: int
    parent: str | None = None
    since_ms: int = -1
    tries: int = 0
    due: float = 0.0
    why: str = ""


@dataclass(slots=True)
class Parked:
    """Those that wait, and how far each partition was read."""

    most: int
    held: list[Session] = field(default_factory=list)
    read: dict[Place, int] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.held)

    @property
    def full(self) -> bool:
        """Whether no further session may be read."""
        return len(self.held) >= self.most

    def reached(self, place: Place, offset: int) -> None:
        """Everything before the offset was read."""
        self.read[place] = max(offset, self.read.get(place, 0))

    def fail(self, session: Session, why: str, now: float, rests_s: float = 0.0) -> float:
        """Parks a session, unless its partition was revoked; returns the pause in seconds. `rests_s`: before that
        nobody can be asked."""
        pause = max(rests_s, min(_FIRST_S * 2.0**session.tries, _LAST_S))
        session.tries, session.due, session.why = session.tries + 1, now + pause, why
        if session.place in self.read:
            self.held.append(session)
        return pause

    def next(self, now: float) -> Session | None:
        """Takes the one that has been due the longest; None where none is."""
        found = min((one for one in self.held if one.due <= now), key=lambda one: one.due, default=None)
        if found is not None:
            self.held.remove(found)
        return found

    def hurry(self, now: float) -> None:
        """Makes all parked sessions due, since the cause of their failure is over."""
        for one in self.held:
            one.due = min(one.due, now)

    def done_before(self, place: Place) -> int | None:
        """Up to which offset a partition may be committed; None where nothing of it was read."""
        waiting = [one.offset for one in self.held if one.place == place]
        return min(waiting) if waiting else self.read.get(place)

    def lose(self, places: set[Place]) -> None:
        """Drops the parked sessions of revoked partitions."""
        self.held = [one for one in self.held if one.place not in places]
        for place in places:
            self.read.pop(place, None)

    def told(self) -> str | None:
        """Returns a message for operators about the parked sessions; None without any."""
        if not self.held:
            return None
        oldest = min(self.held, key=lambda one: (one.place, one.offset))
        many = "1 session has" if len(self.held) == 1 else f"{len(self.held)} sessions have"
        closed, tries = oldest.closed, "once" if oldest.tries == 1 else f"{oldest.tries} times"
        return (
            f"{many} no summary yet and will be tried again, nothing of them is lost; {named(closed)} was "
            f"tried {tries}: {oldest.why}"
        )


def named(closed: SessionClosed) -> str:
    """Names what is to be summed up, for operators."""
    if closed.session == OF_NO_SESSION:
        return f"what {closed.namespace} holds beyond its budget"
    return f"session {closed.session} of {closed.namespace}"
