"""A nominator keeps of namespaces with a budget, by the journal alone, what it would read anew; on both
adapters."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import pytest

from memquorum.core.avro import Codec
from memquorum.core.policy import NO_CAPS, BudgetPolicy
from memquorum.core.records import ErasedEpisode, Link
from memquorum.core.tiers import SHORT_TERM
from streams.room_orders import RoomOrders
from tests.builders import erasures, genesis, votes
from tests.builders.erasures import entitled
from tests.builders.policies import by_the_paper
from tests.builders.protections import accepted as protection
from tests.builders.shard import NAMESPACE, memory_id
from tests.support.stores import World

LATE = 10**12


class Course:
    """Random events of a shard, some of them in a namespace without a budget."""

    def __init__(self, world: World, codec: Codec, name: str, seed: int) -> None:
        policy = by_the_paper(caps=NO_CAPS, budget=BudgetPolicy(tokens=f"{NAMESPACE}=64/{name}"))
        self.genesis = genesis.make(**entitled(signed=()), policy=policy)
        self.world, self.codec, self.shard = world, codec, world.shard(codec, self.genesis)
        self.chance, self.alive, self.count = random.Random(seed), list[str](), 0

    def some(self, most: int) -> list[str]:
        return self.chance.sample(self.alive, k=min(len(self.alive), most))

    def episodes(self) -> None:
        for _ in range(self.chance.randrange(1, 5)):
            event, at = f"e{self.count}", 1_000 + self.chance.randrange(10**9)
            self.count += 1
            derives = tuple(self.some(self.chance.choice([0, 0, 1, 2])))
            links = tuple(
                Link(self.chance.choice(["requires", "isA"]), one) for one in self.some(self.chance.choice([0, 0, 1]))
            )
            self.shard.episode(event, at, derives_from=derives, links=links)
            self.alive.append(memory_id(event))
        self.shard.episode(f"other-{self.count}", 2_000, namespace="elsewhere")

    def uses(self) -> None:
        for one in self.some(3):
            self.shard.access(one, 2 * 10**9 + self.count)

    def protects(self) -> None:
        for one in self.some(1):
            kind = self.chance.choice(["pin", "need"])
            self.count += 1
            told = {"reference": "deploy"} if kind == "need" else {}
            order = protection(self.codec, kind, one, self.count, cluster=self.genesis.cluster, **told)
            self.shard.protect(order)

    def decides(self) -> None:
        named = [one for one in self.some(4) if not any(at == one for at, _ in self.shard.rows.protected)]
        gone = set(named[:2])
        if len(self.alive) > 8 and named:
            self.shard.decide([votes.proposal(one, "evict") for one in named], lambda _, p: p.memory_ids[0] in gone)
            self.alive = [one for one in self.alive if one in self.shard.rows.strengths]

    def erases(self) -> None:
        if len(self.alive) > 8:
            gone = self.some(1)
            self.count += 1
            wanted = erasures.ordered(self.genesis, "memory", gone[0], namespace=NAMESPACE)
            record = erasures.accepted(wanted, erasures.signed(self.codec, self.genesis, wanted), LATE + self.count)
            self.shard.erase(record, [ErasedEpisode(one, SHORT_TERM, b"c" * 32) for one in gone])
            self.alive = [one for one in self.alive if one not in gone]

    def passes(self) -> None:
        happens = [self.episodes, self.uses, self.protects, self.decides, self.erases]
        for happen in self.chance.choices(happens, k=3):
            happen()
        self.world.flush(self.shard)


def _kept(orders: RoomOrders, course: Course) -> tuple[Any, Sequence[Any]]:
    held = orders.follow(0, course.shard.rows.state.last_epoch, course.genesis.policy)
    tables = [
        orders._db.execute(f"SELECT * FROM {table} ORDER BY 1, 2, 3, 4, 5, 6").fetchall() for table in ("one", "due")
    ]
    sums = {key: tokens for key, tokens in orders.of(NAMESPACE).sums().items() if tokens}
    return held, [*tables, orders._db.execute("SELECT * FROM tie ORDER BY 1, 2").fetchall(), sums]


@pytest.mark.parametrize(("name", "seed"), [("worth", 1), ("hybrid", 2), ("random", 3)])
def test_what_the_journal_names_is_all_that_changes(world: World, codec: Codec, name: str, seed: int) -> None:
    course = Course(world, codec, name, seed)
    course.shard.tick(LATE)
    for _ in range(6):
        course.episodes()
    world.flush(course.shard)
    kept = RoomOrders(world.schedule, str.encode)
    for at in range(12):
        held, found = _kept(kept, course)
        anew, wanted = _kept(RoomOrders(world.schedule, str.encode), course)
        assert found == wanted, f"after {at} steps"
        assert held == anew == world.schedule.held(0, [NAMESPACE])
        course.passes()
    assert len(course.alive) > 5 and course.shard.rows.state.last_epoch > 1, "much has happened"


def test_what_is_kept_of_other_shards_and_of_ended_budgets_goes(world: World, codec: Codec) -> None:
    course = Course(world, codec, "worth", 4)
    course.episodes()
    world.flush(course.shard)
    orders = RoomOrders(world.schedule, str.encode)
    assert list(orders.follow(0, 0, course.genesis.policy)) == [NAMESPACE]
    assert orders.follow(0, 0, by_the_paper(budget=BudgetPolicy(tokens="elsewhere=64"))).keys() == {"elsewhere"}
    assert orders._db.execute("SELECT count(*) FROM one JOIN due USING (memory_id)").fetchone() == (1,)
    orders.forget([0])
    assert orders._db.execute("SELECT count(*) FROM one").fetchone() == (0,)
    assert orders.follow(0, 0, by_the_paper()) == {}
