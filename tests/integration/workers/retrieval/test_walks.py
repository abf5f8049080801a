"""A recall that walks, asked of the service: what it gives, the way to each memory, and what it costs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from starlette.testclient import TestClient

from db.pool import Pool
from memquorum.core.avro import Codec
from memquorum.core.retrieval import entities
from memquorum.telemetry.bundle import Telemetry
from tests.builders import erasures, genesis
from tests.support.kept import ENCODER, SPACE, StoredMemory, linked, put
from workers.retrieval.app import LOOPBACK, around
from workers.retrieval.door import Door
from workers.retrieval.service import Service

GENESIS = genesis.make(**erasures.entitled(signed=()))


class Asked:
    """A service, and the names of the statements that its store was asked."""

    def __init__(self, client: TestClient, statements: list[str]) -> None:
        self._client, self.statements = client, statements

    def recall(self, **asked: Any) -> dict[str, Any]:
        self.statements.clear()
        told = {"namespace": SPACE, "peek": True, "steps": 0, "links": 0} | asked
        answer = self._client.post("/recall", json=told)
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found


@pytest.fixture
def asked(databases: tuple[str, str], kafka: str, codec: Codec, monkeypatch: pytest.MonkeyPatch) -> Iterator[Asked]:
    service = Service(
        databases[0], kafka, GENESIS, codec, encoder=ENCODER, before=None, door=Door(None),
        shown=Telemetry().stage("retrieval"), cache_memories=0,
    )  # fmt: skip
    statements: list[str] = []
    ask = Pool.ask

    async def noted(self: Pool, name: str, *rest: Any, **more: Any) -> Any:
        statements.extend([name] if name != "ping" else [])
        return await ask(self, name, *rest, **more)

    monkeypatch.setattr(Pool, "ask", noted)
    with TestClient(around(service, LOOPBACK, service.meters), base_url="http://127.0.0.1") as client:
        yield Asked(client, statements)


def told(found: dict[str, Any], ids: list[str]) -> dict[int, list[tuple[int, str, int]]]:
    """The way to each memory that was given, by its number."""
    return {
        ids.index(one["memory_id"]): [
            (ids.index(step["from"]), step["kind"], ids.index(step["to"])) for step in one.get("walk", ())
        ]
        for one in found["items"]
    }


def test_each_memory_says_the_way_to_it_and_hops_bound_the_statements(asked: Asked, databases: tuple[str, str]) -> None:
    ids = put(databases[0], [StoredMemory(f"Hall {n} has a roof.", session=None) for n in range(6)])
    linked(databases[0], ids, *((at + 1, "requires", at) for at in range(5)))
    asked.recall(memory_id=ids[0], hops=0)
    without = len(asked.statements)
    for hops in (0, 1, 2, 4):
        found = asked.recall(memory_id=ids[0], hops=hops)
        assert told(found, ids) == {at: [(one + 1, "requires", one) for one in range(at)] for at in range(hops + 1)}
        assert asked.statements.count("walked") == hops
        assert len(asked.statements) <= without + (3 * hops + 2 if hops else 0)
    found = asked.recall(memory_id=ids[0], hops=1)["items"]
    assert (found[1]["way"], found[1]["apart"], found[1]["anchor"]) == ("link", 1, ids[0])
    assert 0.45 <= found[1]["rank"] <= 0.9


def test_a_memory_that_may_not_be_read_ends_the_way_and_is_not_told_of(
    asked: Asked, databases: tuple[str, str]
) -> None:
    ids = put(databases[0], [
        StoredMemory("The key is red.", session=None), StoredMemory("Ada is ill.", session=None, sensitivity=0.9),
        StoredMemory("Hall 3 is shut.", session=None), StoredMemory("Hall 4 is open.", session=None),
    ])  # fmt: skip
    linked(databases[0], ids, (1, "requires", 0), (2, "requires", 1), (3, "isA", 0))
    assert set(told(asked.recall(memory_id=ids[0], hops=4), ids)) == {0, 1, 2, 3}
    found = asked.recall(memory_id=ids[0], hops=4, sensitivity_max=0.5)
    assert set(told(found, ids)) == {0, 3}
    assert ids[1] not in str(found) and ids[2] not in str(found)


def test_a_recall_for_a_goal_leaves_out_what_is_social_and_not_needed(asked: Asked, databases: tuple[str, str]) -> None:
    ids = put(databases[0], [
        StoredMemory("The bridge is built in May.", session="s"),
        StoredMemory("Ada designs bridges.", session=None, type="social"),
        StoredMemory("Ada has two cats.", session="s", type="social"),
        StoredMemory("Jon is fond of Ada.", session=None),
        StoredMemory("The bridge needs steel.", session=None),
    ])  # fmt: skip
    linked(databases[0], ids, (0, "requires", 1), (2, "isA", 1), (3, "friendOf", 1), (4, "partOf", 0))
    with psycopg.connect(databases[0], autocommit=True) as connection:
        connection.execute(
            "INSERT INTO protection VALUES (%s, 'goal:bridge', 0, 1, %s, gen_random_uuid(), 'k', 'k', NULL, 1)",
            (ids[0], SPACE),
        )
    found = asked.recall(goal="bridge", steps=9)
    assert set(told(found, ids)) == {0, 1, 4}
    assert found["left_out"]["social"] == {"count": 2, "memory_ids": []}
    free = asked.recall(memory_id=ids[0], steps=9)
    assert set(told(free, ids)) == {0, 1, 2, 3, 4} and "social" not in free["left_out"]


def test_a_recall_begins_at_a_name_and_goes_on_over_names(asked: Asked, databases: tuple[str, str]) -> None:
    ids = put(databases[0], [
        StoredMemory("Grace Hopper works with Jon Doe.", session=None),
        StoredMemory("Jon Doe keeps bees in Graz.", session=None),
        StoredMemory("The winter in Graz was cold.", session=None),
        StoredMemory("Bees sleep in winter.", session=None),
    ])  # fmt: skip
    found = asked.recall(entity="grace hopper", hops=2)
    assert found["anchors"] == [ids[0]]
    assert told(found, ids) == {0: [], 1: [(0, "sameName", 1)], 2: [(0, "sameName", 1), (1, "sameName", 2)]}
    assert [one["way"] for one in found["items"]] == ["anchor", "name", "name"]
    assert (asked.statements.count("names_said"), asked.statements.count("names_shared")) == (2, 3)
    refused = asked._client.post("/recall", json={"namespace": SPACE, "peek": True, "entity": "Eve Roe"})
    assert refused.status_code == 404 and "Eve Roe" in refused.text


def test_a_name_that_many_have_leads_nowhere(asked: Asked, databases: tuple[str, str]) -> None:
    texts = [f"Jon Doe counts {at} bees." for at in range(entities.SHARED + 1)]
    ids = put(databases[0], [StoredMemory(one, session=None) for one in texts])
    assert len(asked.recall(entity="Jon Doe", anchors=2)["items"]) == 2
    with psycopg.connect(databases[0], autocommit=True) as connection:
        connection.execute("DELETE FROM content WHERE memory_id = %s", [ids[0]])
    assert len(asked.recall(entity="Jon Doe", anchors=2)["items"]) > 2


def test_a_goal_is_not_led_on_by_names(asked: Asked, databases: tuple[str, str]) -> None:
    ids = put(databases[0], [
        StoredMemory("The bridge is built by Ada Roe.", session=None),
        StoredMemory("Ada Roe has two cats.", session=None),
    ])  # fmt: skip
    with psycopg.connect(databases[0], autocommit=True) as connection:
        connection.execute(
            "INSERT INTO protection VALUES (%s, 'goal:bridge', 0, 1, %s, gen_random_uuid(), 'k', 'k', NULL, 1)",
            (ids[0], SPACE),
        )
    assert set(told(asked.recall(goal="bridge"), ids)) == {0}
    assert set(told(asked.recall(memory_id=ids[0]), ids)) == {0, 1}
