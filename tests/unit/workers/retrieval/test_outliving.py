"""Orders by the profiles of subjects: the store is asked where something was journaled, and now and then."""

from __future__ import annotations

from typing import Any

import pytest

from memquorum.core.access import Sight
from memquorum.core.avro import Codec
from memquorum.ports import StoreUnavailable
from tests.builders import erasures, genesis
from workers.retrieval import outliving
from workers.retrieval.configurations import Configurations
from workers.retrieval.outliving import Outliving

FOUNDING = genesis.make(shards=2, **erasures.entitled(signed=()))
SEED = genesis.seed_of("service:erasure")
MEMORY = "11111111-1111-4111-8111-111111111111"


class Store:
    """The shards' times, and how often they were asked for."""

    def __init__(self) -> None:
        self.asked, self.away, self.due = 0, False, list[tuple[str, str]]()

    async def times(self, shards: list[int]) -> dict[int, int]:
        self.asked += 1
        if self.away:
            raise StoreUnavailable("away")
        return dict.fromkeys(shards, 86_400_000 * (20_000 + self.asked))

    async def outlived(self, _: Sight, shard: int, __: int, ___: int) -> list[tuple[str, str]]:
        return self.due if shard == 0 else []


class Desk:
    """The giver of the orders, the store, and what was sent."""

    def __init__(self, codec: Codec) -> None:
        self.store, self.sent = Store(), list[str]()

        async def send(topic: str, *_: Any) -> None:
            self.sent.append(topic)

        self.outliving = Outliving(FOUNDING, codec, SEED, Configurations(codec, FOUNDING), send)

    async def look(self) -> int:
        """Looks, and returns how often the store was asked so far."""
        store: Any = self.store
        await self.outliving.look(store)
        return self.store.asked


@pytest.fixture
def desk(codec: Codec) -> Desk:
    return Desk(codec)


async def test_the_store_is_asked_where_something_was_journaled(desk: Desk) -> None:
    assert [await desk.look() for _ in range(3)] == [1, 1, 1], "nothing was journaled since"
    desk.store.due = [("greenhouse", MEMORY)]
    desk.outliving.heard()
    assert await desk.look() == 2 and len(desk.sent) == 1


async def test_it_is_asked_now_and_then_where_nothing_was_heard(desk: Desk) -> None:
    for _ in range(outliving.LOOKS):
        assert await desk.look() == 1
    assert await desk.look() == 2


async def test_a_look_that_failed_is_taken_again(desk: Desk) -> None:
    desk.store.away = True
    with pytest.raises(StoreUnavailable):
        await desk.look()
    desk.store.away = False
    assert await desk.look() == 2


async def test_what_is_left_of_a_look_is_ordered_at_the_next(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outliving, "MOST", 1)
    desk.store.due = [("greenhouse", MEMORY)]
    assert [await desk.look() for _ in range(2)] == [1, 2]
