"""Fair queueing and its window: nothing lost, order kept, a bounded wait, and no idle time."""

from __future__ import annotations

from collections import Counter, defaultdict, deque

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memquorum.core.fairness import LEAST, MOST, TARGET_S, Fair, Window, cost
from memquorum.core.intake import CONTENT_BYTES_MAX

Record = tuple[str, int, int]
"""Its namespace, its number there, and its cost."""

SPACES = st.sampled_from("abcde")
STEPS = st.lists(st.one_of(st.tuples(SPACES, st.integers(0, 8)), st.none()), max_size=200)
"""A record that comes, or None: one is let in."""


def served(fair: Fair[Record]) -> list[Record]:
    return [fair.pop() for _ in range(len(fair))]


@given(STEPS)
def test_nothing_is_lost_and_each_namespace_keeps_its_order(steps: list[tuple[str, int] | None]) -> None:
    fair, came, gone = Fair[Record](), list[Record](), list[Record]()
    numbers: Counter[str] = Counter()
    for step in steps:
        if step is not None:
            one = (step[0], numbers[step[0]], step[1])
            numbers[step[0]] += 1
            came.append(one)
            fair.put(step[0], step[1], one)
        elif len(fair):
            gone.append(fair.pop())
    gone += served(fair)
    assert sorted(gone) == sorted(came) and not len(fair) and not fair.namespaces
    for space in "abcde":
        assert [n for name, n, _ in gone if name == space] == list(range(numbers[space]))


@given(STEPS, st.integers(1, 8))
def test_who_said_little_waits_for_one_record_of_each_other(steps: list[tuple[str, int] | None], units: int) -> None:
    fair, numbers = Fair[Record](), Counter[str]()
    for step in steps:
        if step is not None:
            fair.put(step[0], step[1], (step[0], numbers[step[0]], step[1]))
            numbers[step[0]] += 1
        elif len(fair):
            fair.pop()
    fair.put("quiet", units, ("quiet", 0, units))
    before = served(fair)
    before = before[: before.index(("quiet", 0, units))]
    # A record without cost delays no namespace.
    waited = Counter(space for space, _, costs in before if costs)
    assert all(count <= 1 for count in waited.values()), waited


@given(st.lists(st.tuples(SPACES, st.integers(1, 8)), min_size=1, max_size=300))
@example([*[("a", 8)] * 40, *[("b", 1)] * 40])
def test_who_waits_gets_an_equal_share_of_cost(records: list[tuple[str, int]]) -> None:
    fair, left, shares = Fair[Record](), Counter[str](), Counter[str]()
    for number, (space, units) in enumerate(records):
        fair.put(space, units, (space, number, units))
        left[space] += 1
    spaces = set(left)
    for space, _, units in served(fair):
        shares[space] += units
        left[space] -= 1
        if not all(left[one] for one in spaces):
            break
        assert max(shares[one] for one in spaces) - min(shares[one] for one in spaces) <= 16


def test_what_names_others_comes_right_behind_the_last_of_them() -> None:
    fair = Fair[str]()
    for text in ("ada 1", "bob 1", "ada 2", "bob 2"):
        fair.put("a", 1, text)
    assert fair.put_behind("a", 0, "erase ada", lambda one: one.startswith("ada"))
    assert not fair.put_behind("a", 0, "erase eve", lambda one: one.startswith("eve"))
    assert not fair.put_behind("b", 0, "erase ada", lambda _: True)
    assert [fair.pop() for _ in range(len(fair))] == ["ada 1", "bob 1", "ada 2", "erase ada", "bob 2"]


@given(st.lists(st.tuples(SPACES, st.integers(0, 8)), max_size=60), st.sets(SPACES))
def test_what_is_dropped_is_gone_and_nothing_else(records: list[tuple[str, int]], gone: set[str]) -> None:
    fair = Fair[Record]()
    for number, (space, units) in enumerate(records):
        fair.put(space, units, (space, number, units))
    dropped = fair.drop(lambda one: one[0] in gone)
    left = served(fair)
    assert {one[0] for one in dropped} <= gone and not {one[0] for one in left} & gone
    assert sorted(one[1] for one in [*dropped, *left]) == list(range(len(records)))


class Line:
    """Intake in front of one that scores in order of arrival, so many units a second, in batches of half a second."""

    STEP_S = 0.05

    def __init__(self, rate: float) -> None:
        self.rate, self.now = rate, 0.0
        self.fair, self.window = Fair[tuple[str, int, float]](), Window(0.0)
        self.stream: deque[tuple[str, int, float]] = deque()
        self.out = self.scored = 0
        self.busy_until, self.batch = 0.0, list[tuple[str, int, float]]()
        self.waits: dict[str, list[float]] = defaultdict(list)
        self.idle_s = 0.0

    def publish(self, space: str, count: int, units: int = 1) -> None:
        for _ in range(count):
            self.fair.put(space, units, (space, units, self.now))

    def step(self) -> None:
        self.now += self.STEP_S
        finished = 0
        if self.batch and self.now >= self.busy_until:
            finished = sum(units for _, units, _ in self.batch)
            self.scored += len(self.batch)
            for space, _, came in self.batch:
                self.waits[space].append(self.now - came)
            self.batch = []
        if not self.batch and self.stream:
            units = 0
            while self.stream and units < max(8, self.rate / 2):
                self.batch.append(self.stream.popleft())
                units += self.batch[-1][1]
            self.busy_until = self.now + units / self.rate
        elif not self.batch and len(self.fair):
            self.idle_s += self.STEP_S
        self.out -= finished
        self.window.saw(finished, bool(len(self.fair)), self.now)
        while len(self.fair) and self.window.holds(self.out + self.fair.peek(), self.fair.peek()):
            one = self.fair.pop()
            self.out += one[1]
            self.stream.append(one)

    def until_scored(self, count: int) -> float:
        began = self.now
        while self.scored < count:
            self.step()
            assert self.now - began < 10_000
        return self.now - began


@pytest.mark.parametrize("rate", [25, 60, 200, 1_000, 5_000])
@pytest.mark.parametrize("units", [1, 4])
def test_a_flood_delays_another_namespace_by_what_is_on_its_way(rate: float, units: int) -> None:
    line = Line(rate * units)
    line.publish("flood", int(rate * 60), units)
    for _ in range(40):
        for _ in range(20):
            line.step()
        line.publish("quiet", 1, units)
    line.until_scored(int(rate * 60) + 40)
    # With a slow rate the least window lasts longer than the target.
    bound = max(TARGET_S, LEAST / (rate * units)) + 1.0
    assert max(line.waits["quiet"]) <= bound


@pytest.mark.parametrize("rate", [150, 300])
def test_a_flood_of_long_texts_delays_another_namespace_by_one_of_them(rate: float) -> None:
    line, each = Line(rate), cost(40_000)
    line.publish("flood", 200, each)
    for _ in range(40):
        for _ in range(20):
            line.step()
        line.publish("quiet", 1)
    line.until_scored(240)
    assert max(line.waits["quiet"]) <= max(TARGET_S, each / rate) + 1.0


@pytest.mark.parametrize("rate", [25, 60, 200, 1_000, 5_000])
def test_a_flood_alone_runs_at_full_rate(rate: float) -> None:
    line = Line(rate)
    line.publish("flood", int(rate * 60))
    assert line.until_scored(int(rate * 60)) <= 60 * 1.1
    assert line.idle_s <= 3.0


def test_where_those_behind_are_away_what_waits_goes_on_slowly() -> None:
    window, now = Window(0.0), 0.0
    for _ in range(600):
        now += 0.1
        window.saw(0, True, now)
    assert 2 * LEAST <= window.limit <= 15 * LEAST
    window.saw(1, True, now + 0.1)
    assert window.limit < 3 * LEAST


def test_the_window_has_bounds() -> None:
    window, now = Window(0.0), 0.0
    for _ in range(200):
        now += 0.3
        window.saw(10**6, True, now)
    assert window.size == MOST
    for _ in range(200):
        now += 0.3
        window.saw(1, True, now)
    assert window.size == LEAST


def test_a_record_costs_by_its_bytes_and_not_without_end() -> None:
    assert [cost(size) for size in (0, 383, 384, 1_024, 32 * 1024, 10**6)] == [1, 1, 2, 7, 255, cost(10**9)]
    assert cost(CONTENT_BYTES_MAX) < cost(10**9)


def test_a_text_that_costs_more_than_the_window_holds_is_let_in_alone() -> None:
    window, units = Window(0.0), cost(CONTENT_BYTES_MAX)
    assert window.limit < units and window.holds(units, units)
    assert not window.holds(units + 1, units) and not window.holds(units + 1, 1)
