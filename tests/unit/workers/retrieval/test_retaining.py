"""The policy's retention rules are ordered in time, once, and reported as rules."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from memquorum import topics
from memquorum.core.access import Sight
from memquorum.core.avro import Codec
from memquorum.core.identity.membership import Genesis
from memquorum.core.orders import aged
from memquorum.core.orders.envelope import SERVICE
from memquorum.core.orders.erase import ERASURE
from memquorum.core.policy import ErasePolicy, Policy
from memquorum.core.records import ErasureOrdered
from memquorum.telemetry.health import Health
from tests.builders import erasures, genesis
from workers.retrieval.configurations import Configurations
from workers.retrieval.retaining import ABOUT, Retaining
from workers.retrieval.service import KafkaUnavailable

DAY = 86_400_000
AT = 20_000 * DAY
FOUNDING = genesis.make(shards=2, **erasures.entitled(signed=()))
RULE = ErasePolicy("team-*=episodic:2d,social:2d,task:3d", every_ms=DAY)
SEED = genesis.seed_of("service:erasure")


class Store:
    """The shards' progress, and when the oldest of a namespace and a type occurred there."""

    def __init__(self) -> None:
        self.as_of = {0: AT + 5, 1: AT + 7}
        self.oldest: dict[tuple[str, str], int] = {}
        self.asked: list[int] = []

    async def times(self, shards: list[int]) -> dict[int, int]:
        return {shard: self.as_of[shard] for shard in shards}

    async def namespaces(self, sight: Sight) -> list[str]:
        assert sight.namespaces == ("*",)
        return sorted({name for name, _ in self.oldest})

    async def old(self, sight: Sight, shard: int, asked: list[tuple[str, str, int]]) -> dict[tuple[str, str], int]:
        assert sight.namespaces == ("*",)
        self.asked.append(shard)
        times = ((name, kind, self.oldest.get((name, kind), before), before) for name, kind, before in asked)
        return {(name, kind): at for name, kind, at, before in times if at < before}


class Desk:
    """Configurations in which a rule is in force, the store, and what was sent."""

    def __init__(self, codec: Codec, *ruled: int, seed: bytes | None = SEED) -> None:
        self.codec, self.store, self.away = codec, Store(), False
        self.sent: list[tuple[str, str, str, bytes]] = []
        configurations = Configurations(codec, FOUNDING)
        for shard in ruled:
            configurations._now[shard] = of(3)
        self.health = Health()
        self.retaining = Retaining(FOUNDING, codec, seed, configurations, self.send, health=self.health)

    def says(self, what: str) -> Any:
        """Returns the process's report of it: `notes` or `alarms`."""
        told: Any = self.health.able()[1].get(what, {})
        return told.get(ABOUT)

    async def send(self, topic: str, kind: str, event_id: str, namespace: str, data: bytes) -> None:
        if self.away:
            raise KafkaUnavailable("away")
        self.sent.append((topic, event_id, namespace, data))

    async def look(self) -> list[tuple[str, str]]:
        """The orders that a look gives."""
        before = len(self.sent)
        await self.retaining.look(self.store)  # type: ignore[arg-type]
        return [(one.namespace, one.value) for one in map(self.order, self.sent[before:])]

    def order(self, sent: tuple[str, str, str, bytes]) -> ErasureOrdered:
        signed, order = ERASURE.opened(self.codec, FOUNDING, sent[3])
        assert (sent[0], sent[1], sent[2]) == (topics.ERASURES, order.order_id, order.namespace)
        assert signed.signer == SERVICE
        return order


def of(config: int, policy: ErasePolicy = RULE) -> Genesis:
    return replace(FOUNDING, config=config, policy=replace(Policy(), erase=policy))


async def test_what_is_too_old_is_ordered_once_in_a_turn(codec: Codec) -> None:
    desk = Desk(codec, 0)
    desk.store.oldest = {
        ("team-a", "episodic"): AT - 2 * DAY - 1, ("team-a", "task"): AT - 3 * DAY, ("team-b", "task"): 7,
        ("team-e", "social"): AT - 2 * DAY - 1, ("team-e", "episodic"): AT - 2 * DAY, ("mill", "episodic"): 1,
        ("team-d", "semantic"): 1, ("team-c", "task"): 1,
    }  # fmt: skip
    two, three = aged.written(("episodic", "social"), AT - 2 * DAY), aged.written(("task",), AT - 3 * DAY)
    assert await desk.look() == [("team-a", two), ("team-b", three), ("team-e", two)]
    assert desk.says("notes") == "looked last at 2024-10-04 00:00:00 UTC; orders at the last look at each shard: 3"
    assert desk.store.asked == [0], "of a shard without a rule nothing is asked"
    desk.store.as_of[0] = AT + DAY - 1
    assert await desk.look() == [] and len(desk.store.asked) == 1
    desk.store.oldest = {("team-a", "task"): AT - 3 * DAY}
    desk.store.as_of[0] = AT + DAY
    assert await desk.look() == [("team-a", aged.written(("task",), AT - 2 * DAY))]


async def test_an_order_names_its_rule_and_is_the_same_from_whoever_gives_it(codec: Codec) -> None:
    sent = []
    for later in (0, 60_000):
        desk = Desk(codec, 0)
        desk.store.as_of[0] += later
        desk.store.oldest = {("team-a", "task"): 7}
        await desk.look()
        sent += desk.sent
    assert sent[0] == sent[1]
    order = desk.order(sent[0])
    assert (order.rule, order.ordered_at, order.ordered_by) == (3, AT, "rule of retention")
    assert order.reference == "configuration 3"
    assert aged.borne_out(of(3).policy, "team-a", aged.read(order.value), order.ordered_at)


async def test_what_could_not_be_sent_is_ordered_at_the_next_look(codec: Codec) -> None:
    desk = Desk(codec, 0, 1)
    desk.store.oldest = {("team-a", "task"): 7, ("team-c", "task"): 7}
    desk.away = True
    with pytest.raises(KafkaUnavailable):
        await desk.look()
    desk.away = False
    assert [name for name, _ in await desk.look()] == ["team-a", "team-c"]


async def test_another_policy_is_looked_at_at_once(codec: Codec) -> None:
    desk = Desk(codec, 0)
    desk.store.oldest = {("mill", "task"): 7}
    assert await desk.look() == []
    desk.retaining._configurations._now[0] = of(4, ErasePolicy("*=task:1d"))
    (told,) = await desk.look()
    assert told[0] == "mill" and desk.order(desk.sent[0]).rule == 4


async def test_without_its_key_or_a_rule_nothing_is_ordered(codec: Codec, caplog: pytest.LogCaptureFixture) -> None:
    for ruled, seed in (((), SEED), ((0,), None)):
        desk = Desk(codec, *ruled, seed=seed)
        desk.store.oldest = {("team-a", "task"): 7}
        assert await desk.look() == await desk.look() == []
        assert desk.says("alarms") == ("this service has no key of service:erasure" if ruled else None)
    told: list[Any] = [one for one in caplog.messages if "no key of service:erasure" in one]
    assert len(told) == 1
