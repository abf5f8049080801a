"""A session is read again when the store has an outcome of each of its last summaries, or after half a minute."""

from __future__ import annotations

from collections.abc import Collection

import pytest
from msgspec.structs import replace

from memquorum.core.records import SessionClosed
from workers.consolidator import published
from workers.consolidator.published import Published

CLOSED = SessionClosed("e", 0, "n", "ann", "shift-1", 1, "idle", 5)


class Behind:
    """A store that is asked so often before it has applied and answered anything."""

    def __init__(self, applies: int, answers: int) -> None:
        self.applies, self.answers, self.asked = applies, answers, list[Collection[str]]()

    def applied(self, shard: int) -> int:
        self.applies -= 1
        return 5 if self.applies < 0 else 4

    def answered(self, namespace: str, event_ids: Collection[str]) -> frozenset[str]:
        self.asked.append(event_ids)
        self.answers -= 1
        return frozenset(event_ids) if self.answers < 0 else frozenset(list(event_ids)[:1])


def test_it_waits_for_what_was_published_of_the_session() -> None:
    store, waits = Behind(applies=2, answers=3), list[int]()
    told = Published(store)  # type: ignore[arg-type]
    for event_id in ("s-1", "s-2"):
        told.add(CLOSED, event_id)
    told.settle(CLOSED, lambda: waits.append(1))
    assert (len(waits), store.asked[0]) == (5, ("s-1", "s-2"))
    told.settle(CLOSED, lambda: waits.append(1))
    assert (len(waits), len(store.asked)) == (5, 4), "and once"


def test_it_does_not_wait_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    store, waits = Behind(applies=0, answers=10**9), list[int]()
    told = Published(store)  # type: ignore[arg-type]
    told.add(CLOSED, "never")
    told.add(CLOSED, "neither")
    monkeypatch.setattr(published, "_ANSWERED_S", 0.01)
    told.settle(CLOSED, lambda: waits.append(1))
    assert waits


def test_what_is_made_for_want_of_room_and_sessions_wait_for_each_other() -> None:
    """It may be of what any session said."""
    session, room = CLOSED, replace(CLOSED, session="", why="budget", agent=None)
    for first, second, waits in (
        (session, room, True), (room, session, True), (session, replace(session, session="shift-2"), False),
        (room, replace(session, namespace="other"), False),
    ):  # fmt: skip
        store = Behind(applies=0, answers=0)
        told = Published(store)  # type: ignore[arg-type]
        told.add(first, "s-1")
        told.settle(second, lambda: None)
        assert bool(store.asked) == waits, (first, second)
