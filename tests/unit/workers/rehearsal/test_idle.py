"""The machine is idle once its processors had little to do at every look of a minute."""

from __future__ import annotations

import pytest

from workers.rehearsal import idle
from workers.rehearsal.idle import Idleness, Spent, of_machine


def looks(shares: list[float], every_s: float = 5.0, busy: float = 0.3, for_s: float = 60.0) -> list[bool]:
    """Returns the answer at each look; `shares`: how busy the machine was before it."""
    worked, total, found = 0.0, 100.0, []

    def spent() -> Spent:
        return worked, total

    watch = Idleness(busy, for_s, spent)
    for at, share in enumerate(shares):
        worked, total = worked + 100 * share, total + 100
        found.append(watch.look(at * every_s))
    return found


def test_it_takes_a_minute_of_quiet() -> None:
    found = looks([0.0] * 20)
    assert found.index(True) == 13  # the first look compares with nothing; from the second on a minute has to go by
    assert all(found[13:])


@pytest.mark.parametrize(("share", "idle"), [(0.29, True), (0.3, False), (1.0, False)])
def test_a_share_below_the_setting_is_quiet(share: float, idle: bool) -> None:
    assert looks([share] * 20)[-1] is idle


def test_with_a_share_of_one_it_is_always_quiet() -> None:
    assert looks([1.0] * 3, busy=1.0, for_s=0) == [False, True, True]


def test_one_busy_look_begins_the_minute_anew() -> None:
    found = looks([0.0] * 10 + [0.5] + [0.0] * 20)
    assert found.index(True) == 23


def test_a_look_in_no_time_at_all_divides_by_nothing() -> None:
    watch = Idleness(0.3, 0, lambda: (1.0, 2.0))
    assert [watch.look(0), watch.look(0)] == [False, False]


def test_why_it_is_not_quiet_is_told() -> None:
    left = iter([(0.0, 100.0), (54.0, 200.0)])
    watch = Idleness(0.3, 60, lambda: next(left))
    wanted = "the machine's processors have to work less than 30% of the time for 60 s"
    assert not watch.look(0) and str(watch) == wanted
    assert not watch.look(5) and str(watch) == f"{wanted}, and they worked 54% of it just now"


def test_the_kernel_tells_what_the_processors_did(tmp_path: object, monkeypatch: pytest.MonkeyPatch) -> None:
    worked, total = of_machine()
    assert 0 < worked < total
    file = tmp_path / "stat"  # type: ignore[operator]
    file.write_text("cpu  10 20 30 400 50 6 7 8 99 99\ncpu0 1 2 3 4 5 6 7 8 9 10\n")
    monkeypatch.setattr(idle, "_STAT", file)
    # A guest's time stands in user's and nice's.
    assert of_machine() == (81, 531)
