"""A model compares pairs of memories, against a real server on this machine: who is asked about, what it answered."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from memquorum.core.consolidation.leaving import Gate
from memquorum.core.orders.compare import pair_digest
from memquorum.core.showing.comparing import Side, Verdict
from memquorum.ports import ComparableMemory, SummariserUnavailable
from tests.support.scripted_model import Model as Scripted
from tests.support.scripted_model import scripted_model
from workers.consolidator.budget import Budget, BudgetSpent
from workers.consolidator.chat import Chat, Endpoint, Unanswerable
from workers.consolidator.comparison_turn import OLDER_MOST, Comparer

GATE = Gate(100_000, "summarising")
NEWER = ComparableMemory("n", Side("Ada has a flat in Linz.", "carla", "carla", 2))
OLDER = ComparableMemory("o", Side("Ada lives at Elm Road 5. Her van is blue.", "ben", "ben", 1))


class Shelf:
    """The neighbours of a memory, as a store would return them."""

    def __init__(
        self, newer: ComparableMemory = NEWER, *older: ComparableMemory, answered: Collection[bytes] = ()
    ) -> None:
        self.found, self.known = ("plant", newer, list(older)), frozenset(answered)

    def near(
        self, shard: int, memory_id: str, least: float, limit: int
    ) -> tuple[str, ComparableMemory, list[ComparableMemory]] | None:
        return self.found if memory_id == "n" else None

    def answered(self, shard: int, digests: Collection[bytes]) -> frozenset[bytes]:
        return frozenset(digests) & self.known

    def disclosed(self, recipient: str, memory_ids: Collection[str]) -> frozenset[str]:
        return frozenset(memory_ids)

    def close(self) -> None:
        """Nothing is held."""


@pytest.fixture
def scripted() -> Iterator[Scripted]:
    with scripted_model() as server:
        server.overtakes = [("Linz", "Elm Road")]
        yield server


def chat(server: Scripted, folder: Path, *, most: int = 0, per_minute: int = 0) -> Chat:
    endpoint = Endpoint(server.url, "scripted-1", "127.0.0.1", timeout_s=10.0, retries=0)
    return Chat(endpoint, Budget(folder / "spent.json", most, per_minute=per_minute), sleep=lambda _: None)


def comparer(asked: Chat, shelf: Shelf, refused: Counter[str] | None = None) -> Comparer:
    def count(reason: str, more: int) -> None:
        if refused is not None:
            refused[reason] += more

    return Comparer(asked, GATE, shelf, count)


def of(comparer: Comparer) -> list[str]:
    around = comparer.around(0, "n")
    return [] if around is None else [one.memory_id for one in around.older]


def test_the_nearest_are_asked_about_that_may_be_and_were_not_before(scripted: Scripted, tmp_path: Path) -> None:
    many = [replace(OLDER, memory_id=f"o{at}") for at in range(9)]
    apart = replace(OLDER, memory_id="apart", side=replace(OLDER.side, subject="tom"))
    newer = replace(NEWER, side=replace(NEWER.side, subject="lena"))
    asked = chat(scripted, tmp_path)
    assert of(comparer(asked, Shelf(newer, apart, *many))) == ["o0", "o1", "o2", "o3"]
    known = [pair_digest("plant", "n", f"o{at}") for at in (0, 2)]
    assert of(comparer(asked, Shelf(NEWER, *many, answered=known))) == ["o1", "o3"], "others come in its place"
    every = [pair_digest("plant", "n", f"o{at}") for at in range(OLDER_MOST)]
    assert comparer(asked, Shelf(NEWER, *many, answered=every)).around(0, "n") is None
    assert comparer(asked, Shelf()).around(0, "elsewhere") is None is comparer(asked, Shelf()).around(0, "n")


KEPT = (
    {"sensitivity_ppm": 100_001},
    {"purposes": "billing"},
    {"jurisdictions": "US"},
)


@pytest.mark.parametrize("facets", KEPT)
def test_of_what_may_not_leave_nothing_is_asked(scripted: Scripted, tmp_path: Path, facets: dict[str, object]) -> None:
    asked = chat(scripted, tmp_path)
    assert comparer(asked, Shelf(replace(NEWER, **facets), OLDER)).around(0, "n") is None
    assert of(comparer(asked, Shelf(NEWER, replace(OLDER, **facets)))) == []
    for pair in ((replace(NEWER, **facets), OLDER), (NEWER, replace(OLDER, **facets))):
        with pytest.raises(ValueError, match="may not leave"):
            comparer(asked, Shelf()).ask(*pair)
    assert scripted.requests == []


def test_what_it_answers_is_read_and_what_is_no_answer_is_counted(scripted: Scripted, tmp_path: Path) -> None:
    refused = Counter[str]()
    asks = comparer(chat(scripted, tmp_path), Shelf(), refused)
    assert asks.ask(NEWER, OLDER) == Verdict((1,), asserted=True)
    (told,) = scripted.compared
    assert "n" not in told and "plant" not in json.dumps(told), "an id or the namespace is sent"
    scripted.unasserted = {"Linz"}
    assert asks.ask(NEWER, OLDER) == Verdict((1,), asserted=False)
    for lie, reason in (('{"overtaken": [3], "asserted": true}', "numbers"), ("Yes.", "no_json")):
        scripted.lie = lie
        assert asks.ask(NEWER, OLDER) is None and refused[reason] == 1
    asks.left_out()
    assert refused["unanswerable"] == 1


@pytest.mark.parametrize(("status", "kind"), [(400, Unanswerable), (500, Unanswerable), ("nonsense", None)])
def test_a_question_that_the_endpoint_fails_on_is_told_from_one_that_is_away(
    scripted: Scripted, tmp_path: Path, status: int | str, kind: type[Exception] | None
) -> None:
    asks = comparer(chat(scripted, tmp_path), Shelf())
    scripted.out = status
    if kind is None:
        assert asks.ask(NEWER, OLDER) is None
        return
    with pytest.raises(kind):
        asks.ask(NEWER, OLDER)


@pytest.mark.parametrize("out", [503, 401, 429, "close"])
def test_one_that_is_away_is_left_alone(scripted: Scripted, tmp_path: Path, out: int | str) -> None:
    asks = comparer(chat(scripted, tmp_path), Shelf())
    scripted.out = out
    for _ in range(3):
        with pytest.raises(SummariserUnavailable) as caught:
            asks.ask(NEWER, OLDER)
        assert not isinstance(caught.value, Unanswerable)
    assert len(scripted.requests) == 1 and asks.rests_s > 0


def test_the_budgets_end_and_begin_anew(tmp_path: Path) -> None:
    now = [1_000_000.0]
    budget = Budget(tmp_path / "spent.json", 100, lambda: now[0], per_minute=2)
    budget.take(10)
    now[0] += 20
    budget.take(10)
    with pytest.raises(BudgetSpent, match="2 requests") as minute:
        budget.take(10)
    assert minute.value.wait_s == 40 and budget.spent == 20, "a request that was not made is paid"
    now[0] += 40
    budget.take(10)
    with pytest.raises(BudgetSpent, match="100 tokens a day") as day:
        budget.take(90)
    assert 0 < day.value.wait_s <= 24 * 3600
    now[0] += day.value.wait_s
    budget.take(90)
    now[0] -= 90 * 24 * 3600
    budget.take(1)


def test_the_budget_is_asked_before_the_model(scripted: Scripted, tmp_path: Path) -> None:
    asks = comparer(chat(scripted, tmp_path, per_minute=1), Shelf())
    asks.ask(NEWER, OLDER)
    with pytest.raises(BudgetSpent):
        asks.ask(NEWER, OLDER)
    with pytest.raises(BudgetSpent):
        comparer(chat(scripted, tmp_path / "other", most=10), Shelf()).ask(NEWER, OLDER)
    assert len(scripted.requests) == 1
