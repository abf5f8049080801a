from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable, Collection

import pytest

from memquorum import topics
from memquorum.core import intake
from memquorum.core.avro import Codec
from memquorum.core.intake import EpisodeIntent, Intent, Origin, Refusal
from memquorum.core.quota import Limits, Plan
from memquorum.core.reasons import Reason
from memquorum.core.stock import Full, Stock
from memquorum.ports import Counted, StoreUnavailable
from memquorum.telemetry.bundle import Telemetry
from workers.intake import stocktaking
from workers.intake.gate import Gate
from workers.intake.stocktaking import Stocktaking

NOW = 1_750_000_000_000
SHARD = 3


def let_in(stock: Stock, namespace: str, most: int) -> int:
    """Returns how many of so many the namespace has room for."""
    came = 0
    for _ in range(most):
        if stock.limited(namespace) and stock.full(namespace):
            break
        stock.take(namespace)
        came += 1
    return came


def test_what_is_on_its_way_counts_until_it_is_applied() -> None:
    stock = Stock(Plan(Limits(memories=10)))
    assert stock.limited("a") and not stock.counted("a")
    stock.took_stock({"a": 4}, {SHARD: 100})
    assert let_in(stock, "a", 20) == 6
    assert stock.full("a") == Full(10, 4, 6)
    for offset in range(100, 106):
        stock.placed("a", SHARD, offset)
    assert stock.full("a") == Full(10, 4, 6)
    # Two of the four that were applied became no memory.
    stock.took_stock({"a": 6}, {SHARD: 104})
    assert stock.at_limit() == {}
    assert let_in(stock, "a", 20) == 2
    # An erasure takes three.
    stock.took_stock({"a": 3}, {SHARD: 104})
    assert let_in(stock, "a", 20) == 3


def test_a_last_count_holds_while_there_is_no_other() -> None:
    stock = Stock(Plan(Limits(memories=10)))
    stock.limited("a")
    stock.took_stock({"a": 9}, {})
    assert let_in(stock, "a", 20) == 1
    stock.placed("a", SHARD, 5)
    assert let_in(stock, "a", 20) == 0


@pytest.mark.parametrize(("most", "uncounted"), [(1, 1), (9, 1), (100, 10)])
def test_who_was_never_counted_may_bring_in_a_tenth(most: int, uncounted: int) -> None:
    stock = Stock(Plan(Limits(memories=most)))
    assert let_in(stock, "a", 200) == uncounted
    assert stock.full("a") == Full(most, None, uncounted)
    stock.took_stock({"a": 0}, {})
    assert let_in(stock, "a", 200) == most - uncounted


def test_what_is_not_written_after_all_and_what_others_let_in() -> None:
    stock = Stock(Plan(Limits(memories=2)))
    stock.limited("a")
    stock.took_stock({"a": 0}, {SHARD: 7})
    assert let_in(stock, "a", 9) == 2
    stock.give_back("a")
    assert let_in(stock, "a", 9) == 1
    stock.found("b", SHARD, 7)
    # The same place once more is the same episode.
    stock.found("b", SHARD, 7)
    stock.took_stock({"b": 0}, {SHARD: 7})
    assert let_in(stock, "b", 9) == 1
    stock.took_stock({"b": 1}, {SHARD: 8})
    assert stock.full("b") == Full(2, 1, 1)


def test_without_a_limit_nothing_is_held_and_those_named_are_watched_from_the_start() -> None:
    plan = Plan(Limits(5), (("full", Limits(memories=3)), ("team-*", Limits(memories=4)), ("free", Limits(9))))
    stock = Stock(plan)
    assert set(stock.names) == {"full"}
    assert not stock.limited("garden") and not stock.limited("free") and stock.limited("team-a")
    for namespace in ("garden", "free"):
        stock.take(namespace)
        stock.placed(namespace, SHARD, 1)
    assert set(stock.names) == {"full", "team-a"}
    stock.took_stock({"full": 3, "team-a": 4, "gone": 9}, {})
    assert stock.at_limit() == {"full": Full(3, 3, 0), "team-a": Full(4, 4, 0)}


def test_what_is_on_its_way_is_not_dropped_for_want_of_room() -> None:
    stock = Stock(Plan(Limits(memories=10)), held_most=2)
    stock.limited("a")
    stock.take("a")
    for namespace in ("b", "c"):
        stock.limited(namespace)
    assert set(stock.names) == {"a", "c"}


# With the gate, and a store that may be away


class Books:
    """The Living port as a test turns it."""

    def __init__(self) -> None:
        self.stored: dict[str, int] = {}
        self.applied: dict[int, int] = {}
        self.away = False
        self.open = threading.Event()
        self.open.set()

    def counted(self, namespaces: Collection[str]) -> Counted:
        assert self.open.wait(10)
        if self.away:
            raise StoreUnavailable("Postgres: gone")
        return Counted({name: self.stored.get(name, 0) for name in namespaces}, dict(self.applied))


class Door:
    """A gate with a limit of ten memories, and what it shows."""

    def __init__(self, books: Books, patience_s: float = 5.0) -> None:
        self.telemetry, self.offsets = Telemetry(), itertools.count()
        shown, plan = self.telemetry.stage("intake"), Plan(Limits(memories=10))
        self.stocktaking = Stocktaking(plan, books, shown, lambda _: iter([("late", SHARD, 50)]), patience_s)
        self.gate = Gate(plan, shown, 0, self.stocktaking)

    def let_in(self, namespace: str, most: int = 30) -> int:
        return sum(not isinstance(self.answer(namespace), Refusal) for _ in range(most))

    def answer(self, namespace: str) -> Intent | Refusal:
        data = f'{{"agent": "a", "content": "x", "namespace": "{namespace}"}}'.encode()
        self.last = intake.accept(Codec([]), data, Origin(topics.EPISODES, 0, next(self.offsets)), NOW, False)
        assert not isinstance(self.last, Refusal)
        return self.gate.limited(self.last, 9, 0)

    def until(self, enough: Callable[[], bool]) -> None:
        for _ in range(400):
            self.gate.turn(0)
            if enough():
                return
            threading.Event().wait(0.01)
        raise AssertionError(f"not within 4 s: {self.alarms}")

    @property
    def alarms(self) -> dict[str, str]:
        told = self.telemetry.health.able()[1].get("alarms", {})
        assert isinstance(told, dict)
        return told

    @property
    def gauge(self) -> float | None:
        return self.telemetry.meters.registry.get_sample_value("memquorum_full_namespaces", {"stage": "intake"})


@pytest.fixture
def books(monkeypatch: pytest.MonkeyPatch) -> Books:
    monkeypatch.setattr(stocktaking, "_EACH_S", 0.02)
    return Books()


def test_a_full_namespace_is_refused_and_named_until_there_is_room(books: Books) -> None:
    books.stored["a"] = 7
    door = Door(books)
    assert door.let_in("a") == 3
    answer = door.answer("a")
    assert isinstance(answer, Refusal) and (answer.reason, answer.field) == (Reason.OVER_QUOTA, "namespace")
    assert "may have 10 memories in all and has 7, and 3 are on their way" in answer.detail
    assert door.alarms["memories in all"].startswith("a (7 + 3 of 10): ") and door.gauge == 1
    # Episodes accepted before this process began count too, and namespaces are separate.
    assert (door.let_in("late"), door.let_in("b", 5)) == (9, 5)
    for offset in range(3):
        door.gate.placed("a", SHARD, offset)
    books.stored["a"], books.applied[SHARD] = 4, 3
    door.until(lambda: not door.alarms.get("memories in all", "").startswith("a "))
    assert door.let_in("a") == 6
    door.stocktaking.close()


def test_what_clears_a_slot_needs_no_room_and_takes_none(books: Books) -> None:
    books.stored["a"] = 9
    door = Door(books)
    nothing = b'{"agent": "a", "namespace": "a", "explicit": true, "key": "k", "clears": true}'

    def clears(offset: int) -> EpisodeIntent:
        wanted = intake.accept(Codec([]), nothing, Origin(topics.EPISODES, 1, offset), NOW, False)
        assert isinstance(wanted, EpisodeIntent) and door.gate.limited(wanted, 9, 0) is wanted
        return wanted

    for offset in range(3):
        clears(offset)
    assert door.let_in("a") == 1
    refused = Refusal(Reason.TAKEN, "event_id", "taken")
    door.gate.settled(clears(3), refused)
    assert door.let_in("a") == 0, "it gives no room back that it had not taken"
    door.stocktaking.close()


def test_what_was_let_in_before_needs_no_room(books: Books) -> None:
    books.stored["a"] = 9
    door = Door(books)
    assert door.let_in("a", 1) == 1
    said = door.last
    assert door.let_in("a", 1) == 0 and not isinstance(said, Refusal)
    assert door.gate.limited(said, 9, 0) is said
    door.stocktaking.close()


def test_what_is_refused_for_want_of_room_costs_nothing_of_the_minute(books: Books) -> None:
    books.stored["a"] = 10
    door = Door(books)
    plan = Plan(Limits(600, memories=10))
    door.gate = Gate(plan, door.telemetry.stage("intake"), 0, door.stocktaking)
    assert door.let_in("a", 100) == 0
    books.stored["a"] = 0
    door.until(lambda: not door.alarms)
    # A tenth of a minute's limit is there at the start: sixty, and the hundred took nothing.
    assert door.let_in("a", 10) == 10
    door.stocktaking.close()


def test_a_store_that_is_away_stops_nobody_and_opens_no_door(books: Books) -> None:
    books.stored["known"] = 8
    door = Door(books)
    assert door.let_in("known", 1) == 1
    books.away = True
    door.until(lambda: "count of memories" in door.alarms)
    assert "memories cannot be counted: Postgres: gone" in door.alarms["count of memories"]
    assert (door.let_in("known"), door.let_in("unknown")) == (1, 1)
    answer = door.answer("unknown")
    assert isinstance(answer, Refusal) and "cannot be counted" in answer.detail
    assert door.telemetry.health.waits.keys() <= {"start"}
    books.away = False
    door.until(lambda: "count of memories" not in door.alarms)
    assert door.let_in("unknown") == 9
    door.stocktaking.close()


def test_a_store_that_stands_still_is_waited_for_once(books: Books) -> None:
    books.open.clear()
    door = Door(books, patience_s=0.05)
    assert (door.let_in("a"), door.let_in("b")) == (1, 1)
    door.gate.turn(0)
    assert "has not counted memories within 0.05 s" in door.alarms["count of memories"]
    books.open.set()
    door.until(lambda: not door.alarms)
    assert door.let_in("a") == 9
    door.stocktaking.close()


def test_whatever_keeps_the_store_from_counting_is_told(books: Books, monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(_: Collection[str]) -> Counted:
        raise LookupError("permission denied for table living")

    door = Door(books)
    monkeypatch.setattr(books, "counted", denied)
    door.until(lambda: "permission denied" in door.alarms.get("count of memories", ""))
    monkeypatch.undo()
    door.until(lambda: not door.alarms)
    door.stocktaking.close()


def test_a_batch_waits_for_all_its_counts_no_longer_than_for_one(books: Books) -> None:
    class Slow(Books):
        def counted(self, namespaces: Collection[str]) -> Counted:
            threading.Event().wait(0.05)
            return super().counted(namespaces)

    door = Door(Slow(), patience_s=0.3)
    door.gate.turn(0)
    began = time.monotonic()
    for number in range(100):
        door.answer(f"n{number}")
    assert time.monotonic() - began < 2
    door.stocktaking.close()


def test_a_limit_that_nobody_can_count_is_no_limit_and_refused() -> None:
    with pytest.raises(ValueError, match="needs a store that counts them"):
        Gate(Plan(Limits(memories=1)), Telemetry().stage("intake"), 0)
