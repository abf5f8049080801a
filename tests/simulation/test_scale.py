"""More members than four: they decide, with some silent, and the log grows with N, the checks with its square."""

from __future__ import annotations

import pytest

from tests.simulation.scale import measure


# The first members are silent: the primary of the first view is one, and with two the next one as well.
@pytest.mark.parametrize(("n", "silent"), [(5, 0), (5, 1), (7, 0), (7, 1), (7, 2), (10, 3), (13, 4), (31, 10)])
def test_they_decide_with_up_to_f_silent(n: int, silent: int) -> None:
    cost = measure(n, epochs=2, proposals=2, silent=range(silent))
    speaking = n - silent
    # A nomination, a pre-prepare, a ballot and a commit of every speaking member, and a prepare of all but the primary.
    assert cost.messages == 2 + 3 * speaking - 1
    assert cost.signatures == cost.messages


def test_what_is_checked_grows_with_the_square_and_not_faster() -> None:
    small, large = (measure(n, epochs=1, proposals=2).verifications for n in (7, 28))
    assert large <= small * 4**2 * 1.2


def test_each_silent_primary_costs_twice_the_time_of_the_one_before_and_at_most_64_s() -> None:
    limits = [1.25] + [min(2**number, 64) for number in range(9)]  # the timeouts of the request and of each view change
    for n, silent in ((4, 1), (10, 3), (31, 10)):
        cost = measure(n, epochs=1, proposals=2, silent=range(silent))
        assert (cost.view, cost.first_s) == (silent, sum(limits[:silent]))
    assert measure(4, epochs=1, proposals=2).first_s == 0
