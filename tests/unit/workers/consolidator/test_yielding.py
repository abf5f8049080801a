"""Sessions that wait while ingest is behind."""

from __future__ import annotations

import pytest

from workers.consolidator.yielding import FEW, MOST_S, Yielding


class Flood:
    """Episodes that wait for their scores, and a clock."""

    def __init__(self) -> None:
        self.waits, self.now, self.asked = 0, 100.0, 0

    def waiting(self) -> int:
        self.asked += 1
        return self.waits


@pytest.fixture
def flood() -> Flood:
    return Flood()


@pytest.fixture
def yields(flood: Flood) -> Yielding:
    return Yielding(flood.waiting, lambda: flood.now)


def test_a_session_waits_while_many_episodes_have_no_score(flood: Flood, yields: Yielding) -> None:
    flood.waits = FEW + 1
    assert yields() == f"{FEW + 1} episodes wait for their scores"
    flood.waits, flood.now = FEW, flood.now + 1
    assert yields() is None


def test_no_flood_holds_a_session_back_for_ever(flood: Flood, yields: Yielding) -> None:
    """A pause ends the flood, and another one is yielded to again."""
    flood.waits = 1_000
    began = flood.now
    while yields() is not None:
        flood.now += 1
    assert flood.now - began == MOST_S
    flood.now += 1_000
    assert yields() is None
    flood.waits, flood.now = 0, flood.now + 1
    assert yields() is None
    flood.waits, flood.now = 1_000, flood.now + 1
    assert yields() is not None


def test_the_broker_is_asked_once_a_second(flood: Flood, yields: Yielding) -> None:
    for _ in range(10):
        yields()
        flood.now += 0.2
    assert flood.asked == 2
