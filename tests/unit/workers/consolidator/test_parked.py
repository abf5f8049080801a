"""Sessions that failed are tried again, later each time, and hold up neither the others nor what is committed."""

from __future__ import annotations

from memquorum.core.records import SessionClosed
from workers.consolidator.parked import Parked, Session

PLACE, OTHER = ("closed", 0), ("closed", 1)


def session(offset: int, place: tuple[str, int] = PLACE) -> Session:
    closed = SessionClosed(f"e{offset}", place[1], "plant", "anna", f"s{offset}", 1_000, "ended", 7)
    return Session(closed, place, offset)


def parked(*reached: tuple[tuple[str, int], int]) -> Parked:
    made = Parked(most=2)
    for place, offset in reached:
        made.reached(place, offset)
    return made


def test_what_failed_is_read_again_after_a_restart() -> None:
    waits = parked((PLACE, 6), (OTHER, 3))
    waits.fail(session(4), "down", now=0.0)
    waits.reached(PLACE, 9)
    assert waits.done_before(PLACE) == 4, "the session that failed would be lost with the process"
    assert waits.done_before(OTHER) == 3
    assert waits.next(now=100.0) is not None
    assert waits.done_before(PLACE) == 9


def test_it_is_tried_again_later_each_time_and_at_once_when_its_reason_is_gone() -> None:
    waits, one = parked((PLACE, 6)), session(4)
    pauses = []
    for _ in range(12):
        pauses.append(waits.fail(one, "down", now=0.0))
        assert waits.next(now=pauses[-1] - 0.1) is None
        assert waits.next(now=pauses[-1]) is one
    assert pauses == sorted(pauses) and pauses[0] == 5.0 and pauses[-1] == 900.0
    assert waits.fail(one, "down", now=0.0, rests_s=5_000.0) == 5_000.0, "nobody is asked before"
    waits.hurry(now=1.0)
    assert waits.next(now=1.0) is one


def test_so_many_wait_and_no_more_and_an_operator_is_told() -> None:
    waits = parked((PLACE, 9))
    assert waits.told() is None and not waits.full
    waits.fail(session(5), "timed out", now=0.0)
    assert waits.told() == (
        "1 session has no summary yet and will be tried again, nothing of them is lost; session s5 of plant was tried "
        "once: timed out"
    )
    waits.fail(session(4), "status 503", now=0.0)
    assert waits.full and "2 sessions have" in (waits.told() or "") and "503" in (waits.told() or "")


def test_what_is_anothers_is_not_held() -> None:
    waits = parked((PLACE, 9), (OTHER, 9))
    waits.fail(session(5), "down", now=0.0)
    waits.fail(session(5, OTHER), "down", now=0.0)
    waits.lose({PLACE})
    assert [one.place for one in waits.held] == [OTHER] and waits.done_before(PLACE) is None
    waits.fail(session(6), "down", now=0.0)
    assert len(waits) == 1
