"""Retrieve and recall on a real store: words, filters, what is left out, what surrounds, what counts as used."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AsyncExitStack
from typing import Any

import psycopg
import pytest
from starlette.testclient import TestClient

from db import copying
from db.reads import Reads
from memquorum.core.avro import Codec
from memquorum.core.ids import memory_id
from memquorum.core.journal.rows import AdmissionRow
from memquorum.core.journal.tables import TABLES
from memquorum.core.retrieval.query import Filters
from memquorum.core.retrieval.recall import Reach
from memquorum.encoders.hashing import HashingEncoder
from tests.builders.published import GENESIS
from tests.support.kept import ALL, ENCODER, SIGHT, SPACE, StoredMemory, ask, put, question
from workers.retrieval.app import app


async def test_rare_words_are_worth_more_and_endings_do_not_matter(reads: Reads, databases: tuple[str, str]) -> None:
    tank, pump, pumps, lunch = put(
        databases[0],
        [
            StoredMemory("The tank is empty."),
            StoredMemory("The tank has a pump."),
            StoredMemory("Two pumps, one tank."),
            StoredMemory("Lunch at noon."),
        ],
    )
    found = await ask(reads, "which tanks were pumping?")
    words = {name: found[i].words for name, i in (("tank", tank), ("pump", pump), ("pumps", pumps), ("lunch", lunch))}
    assert words["pump"] == words["pumps"] > words["tank"] > 0  # type: ignore[operator]
    assert words["lunch"] is None
    assert {one.near for one in found.values()} == {True}
    exact = ENCODER.encode(["which tanks were pumping?", "Lunch at noon."])
    assert found[lunch].hit.score == pytest.approx(float(exact[0] @ exact[1]), abs=2e-3)
    assert found[lunch].vector == pytest.approx(exact[1], abs=1e-3)
    assert found[lunch].hit.text == "Lunch at noon."


@pytest.mark.parametrize(
    "query",
    [
        "the of and",
        "¿?",
        "'",
        "a\\'b",
        "x & y | !z <-> 'q' \\ \\\\",
        "foo:*",
        "http://a/b?c='d'",
        "it''s \\",
        "🔥" * 99,
    ],
)
async def test_any_query_is_plain_words(reads: Reads, databases: tuple[str, str], query: str) -> None:
    (said,) = put(databases[0], [StoredMemory(f"Somebody wrote {query} here.")])
    assert list(await ask(reads, query)) == [said]


async def test_long_queries_and_texts_of_any_words_are_taken(reads: Reads, databases: tuple[str, str]) -> None:
    codes = " ".join(f"{n:x}" for n in range(0x10000, 0x10000 + 10_900))
    first, second = put(databases[0], [StoredMemory(codes), StoredMemory("x" * 65_000)])
    assert (await ask(reads, codes[:16_000]))[first].words is not None
    assert (await ask(reads, "x" * 16_000))[second].words is None


async def test_each_question_with_filters_has_a_plan_of_its_own(reads: Reads, databases: tuple[str, str]) -> None:
    put(databases[0], [StoredMemory("tank")])

    async def held(filters: Filters) -> tuple[int, int, int]:
        """Returns how many statements the connections keep, and how often those with filters were planned: for any
        parameters, and for some alone."""
        for _ in range(8):  # psycopg prepares what it is asked more than five times
            await ask(reads, "tank", filters)
            for _ in range(2):  # each connection in turn
                await reads.memory(SIGHT, memory_id(SPACE, "e0"))
        told, pool = list[tuple[str, int, int]](), reads._pool.connections
        async with AsyncExitStack() as open_:
            for _ in range(pool.get_stats()["pool_size"]):
                connection = await open_.enter_async_context(pool.connection())
                asked = "SELECT statement, generic_plans, custom_plans FROM pg_prepared_statements"
                told += await (await connection.execute(asked)).fetchall()
        filtered = [(for_any, for_some) for text, for_any, for_some in told if "passed AS MATERIALIZED" in text]
        return len(told), sum(for_any for for_any, _ in filtered), sum(for_some for _, for_some in filtered)

    narrow = Filters(agents=("ann",))
    count, *plans = await held(narrow)
    assert count and plans == [0, 0]
    _, *plans = await held(ALL)
    assert plans == [8, 0], "without filters one plan is as good for all of them"
    _, *plans = await held(narrow)
    assert plans == [8, 0], "and it answers no question with filters"


async def test_filters_and_what_they_keep_out(reads: Reads, databases: tuple[str, str]) -> None:
    old = HashingEncoder(32).encode(["tank"])[0]
    ids = put(
        databases[0],
        [
            StoredMemory("tank"),
            StoredMemory("tank", agent="bob"),
            StoredMemory("tank", session="s2"),
            StoredMemory("tank", session=None, tier="long-term"),
            StoredMemory("tank", encoder="hashing-32/1", vector=old),
            StoredMemory("tank", tier="sealed"),
            StoredMemory("tank", namespace="elsewhere"),
        ],
    )

    async def through(filters: Filters) -> list[int]:
        found = await ask(reads, "tank", filters)
        through, kept = await reads.passed(SIGHT, question("tank", filters))
        assert sum(through.values()) == len(found)
        assert sum(through.values()) + sum(kept.values()) == 5
        return sorted(ids.index(i) for i in found)

    assert await through(ALL) == [0, 1, 2, 3]
    assert await through(Filters(agents=("bob", "eve"))) == [1]
    assert await through(Filters(sessions=("s1",))) == [0, 1]
    assert await through(Filters(tiers=("long-term",))) == [3]
    assert await through(Filters(since=1_000, until=3_000)) == [1, 2]
    assert await through(Filters(types=("task",))) == []
    narrow = Filters(agents=("ann",), sessions=("s2",), since=0)
    assert await reads.passed(SIGHT, question("tank", narrow)) == (
        {ENCODER.name: 1},
        {"agent": 1, "session": 3},
    )
    both = {ENCODER.name: ENCODER.encode(["tank"])[0], "hashing-32/1": old}
    assert sorted(ids.index(i) for i in await ask(reads, "tank", vectors=both)) == [0, 1, 2, 3, 4]
    assert await ask(reads, "tank", namespace="nowhere") == {}


async def test_what_follows_in_the_session_is_told(reads: Reads, databases: tuple[str, str]) -> None:
    ids = put(
        databases[0],
        [StoredMemory(f"tank {n}", session="s2" if n == 2 else "s1") for n in range(5)]
        + [StoredMemory("t", session=None)],
    )
    found = await ask(reads, "tank")
    assert [[ids.index(i) for i in found[one].after] for one in ids] == [[1, 3], [3, 4], [], [4], [], []]


async def test_what_surrounds(reads: Reads, databases: tuple[str, str]) -> None:
    told = [StoredMemory(f"tank {n}", session="s2" if n in (3, 6) else "s1") for n in range(9)]
    ids = put(databases[0], [*told, StoredMemory("gone", tier="sealed")])
    found = await reads.around(SIGHT, SPACE, [ids[4]], Reach(2, 1_500))
    assert sorted((one.way, ids.index(one.candidate.hit.memory_id), one.apart) for one in found) == [
        ("anchor", 4, 0), ("session", 1, -2), ("session", 2, -1), ("session", 5, 1), ("session", 7, 2),
        ("time", 3, -1_000),
    ]  # fmt: skip
    assert await reads.around(SIGHT, "elsewhere", [ids[4]], Reach(2, 1_500)) == []
    assert await reads.around(SIGHT, SPACE, [ids[9]], Reach(2, 1_500)) == []
    assert len(await reads.around(SIGHT, SPACE, [ids[4]], Reach(0, 0))) == 1


def test_no_sample_holds_content(databases: tuple[str, str]) -> None:
    ids = put(databases[0], [StoredMemory(f"a memory with the word canary{n % 3}") for n in range(100)])
    with psycopg.connect(databases[0], autocommit=True) as connection:
        connection.execute("ANALYZE")
        sampled = connection.execute(
            "SELECT tablename, attname FROM pg_stats WHERE tablename IN ('content', 'embedding')"
        ).fetchall()
        assert sorted(sampled) == [
            ("content", "memory_id"),
            ("content", "namespace"),
            ("embedding", "encoder"),
            ("embedding", "memory_id"),
            ("embedding", "namespace"),
        ]
        connection.execute("DELETE FROM content WHERE memory_id = ANY(%s::uuid[])", [ids])
        assert connection.execute("SELECT count(*) FROM content").fetchone() == (0,)


CLIENT_TEXTS = [
    StoredMemory("The tank in bay 3 holds 40 litres.", session="s1"),
    StoredMemory("Its valve opens at 4 bar.", session="s1"),
    StoredMemory("the tank in bay 3 holds 40 litres", session="s2", agent="bob"),
    StoredMemory("Lunch is at noon.", session="s2", agent="bob"),
    StoredMemory("The tank in bay 3 holds 60 litres.", session="s3", tier="long-term"),
]


@pytest.fixture
def client(databases: tuple[str, str], kafka: str, codec: Codec) -> Iterator[TestClient]:
    put(databases[0], CLIENT_TEXTS)
    built = app(memory_dsn=databases[0], bootstrap=kafka, genesis=GENESIS, codec=codec, encoder=ENCODER)
    with TestClient(built, base_url="http://127.0.0.1") as found:
        yield found


def answered(client: TestClient, path: str, **asked: Any) -> dict[str, Any]:
    answer = client.post(path, json={"namespace": SPACE, "peek": True} | asked)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def texts(found: dict[str, Any]) -> list[str]:
    return [item["text"] for item in found["items"]]


def test_a_retrieval_fits_its_budget_and_says_what_it_left_out(client: TestClient) -> None:
    found = answered(client, "/retrieve", query="how much does the tank in bay 3 hold?")
    assert set(texts(found)[:2]) & {CLIENT_TEXTS[0].text, CLIENT_TEXTS[2].text}
    assert CLIENT_TEXTS[4].text in texts(found)[:2]
    assert len(found["items"]) == 4
    assert found["left_out"]["duplicate"]["count"] == 1
    folded = [one for item in found["items"] for one in item["folded"]]
    assert folded == found["left_out"]["duplicate"]["memory_ids"]
    assert found["tokens"] == sum(item["tokens"] for item in found["items"]) <= found["budget_tokens"] == 2_000
    assert texts(found)[0] == CLIENT_TEXTS[4].text, "it was said later, and gives another value"
    scores = [item["score"] for item in found["items"]]
    assert scores == sorted(scores, reverse=True) and all(0 <= score <= 1 for score in scores)
    assert found["answerable"] is found["items"][0]["answerable"] is True
    small = answered(
        client, "/retrieve", query="how much does the tank in bay 3 hold?", budget_tokens=9, agents=["ann"]
    )
    assert (len(small["items"]), small["tokens"]) == (1, 9)
    assert small["left_out"]["agent"] == {"count": 2, "memory_ids": []}
    assert small["left_out"]["budget"]["count"] == 2
    assert answered(client, "/retrieve", query="tank", namespace="elsewhere")["items"] == []


def test_ten_agents_who_report_one_event_are_one_hit_and_others_fill_the_rest(
    databases: tuple[str, str], kafka: str, codec: Codec
) -> None:
    event = "The north gate of the depot was opened."
    told = [StoredMemory(event, agent=f"agent-{at}", session=f"s{at}") for at in range(30)]
    put(databases[0], [*told, *(StoredMemory(f"Gate {at} of the depot was painted.", agent="ann") for at in range(6))])
    built = app(memory_dsn=databases[0], bootstrap=kafka, genesis=GENESIS, codec=codec, encoder=ENCODER)
    with TestClient(built, base_url="http://127.0.0.1") as client:
        hits = answered(client, "/search", query=event, k=5)["hits"]
        assert [hit["text"] for hit in hits].count(event) == 1
        assert len(hits) == 5, "others fill the rest"
        (one,) = [hit for hit in hits if hit["text"] == event]
        assert len(one["folded"]) == len(one["also_by"]) == 29
        assert {one["agent"], *one["also_by"]} == {f"agent-{at}" for at in range(30)}
        for path in ("/retrieve", "/context"):
            asked = {"query": event} | ({"agent": "reader"} if path == "/context" else {})
            items = answered(client, path, **asked)["items"]
            (one,) = [item for item in items if item["text"] == event]
            assert len(one["folded"]) == len(one["also_by"]) == 29


def test_of_two_of_one_millisecond_the_one_that_came_in_later_is_the_later_word(
    client: TestClient, databases: tuple[str, str]
) -> None:
    said = ["Bernd trains the juniors.", "As of May it is Svenja who trains the juniors."]
    put(databases[0], [StoredMemory(text, namespace="club") for text in said])
    with psycopg.connect(databases[0], autocommit=True) as connection:
        for first, arrival in ((said[1], "seq"), (said[0], "1 - seq")):
            connection.execute(
                f"UPDATE memory SET created = 5, said = 5, said_offset = {arrival} WHERE namespace = 'club'"
            )
            for path, items in (("/retrieve", "items"), ("/search", "hits")):
                found = answered(client, path, query="Who trains the juniors?", namespace="club")
                assert found[items][0]["text"] == first, path


RIVERS = [
    StoredMemory("The mill at the old bridge is driven by the River Aare.", namespace="rivers"),
    StoredMemory("River Aare: Thun lies on it.", namespace="rivers"),
    StoredMemory("River Aare: spies meet there.", namespace="rivers", sensitivity=0.9),
    *(StoredMemory(f"Sight {n} has a bridge.", namespace="rivers") for n in range(240)),
]
DRIVES = {"namespace": "rivers", "query": "Which place has what drives the mill at the old bridge?", "agent": "ann"}


def test_a_second_step_finds_what_the_first_hits_name_within_the_same_gates_and_budget(
    client: TestClient, databases: tuple[str, str]
) -> None:
    ids = dict(zip((one.text for one in RIVERS), put(databases[0], RIVERS), strict=True))
    mill, thun, spies = (one.text for one in RIVERS[:3])
    once = answered(client, "/retrieve", **DRIVES)
    assert mill in texts(once)[:2] and thun not in texts(once) and {one["through"] for one in once["items"]} == {None}
    twice = answered(client, "/retrieve", **DRIVES, hops=2, sensitivity_max=0.5)
    through = {one["text"]: one["through"] for one in twice["items"] if one["through"] is not None}
    assert through == {thun: ids[mill]} and texts(twice)[2] == thun
    assert spies in texts(answered(client, "/retrieve", **DRIVES, hops=2))
    small = answered(client, "/retrieve", **DRIVES, hops=2, budget_tokens=twice["items"][0]["tokens"])
    assert small["tokens"] <= small["budget_tokens"] and thun not in texts(small)
    context = answered(client, "/context", **DRIVES, hops=2, sensitivity_max=0.5)
    assert {one["text"]: one["through"] for one in context["items"] if one["through"]} == through
    assert thun in context["text"] and spies not in context["text"]


def test_what_a_second_step_finds_of_experience_is_as_near_as_it_has_to_be(
    client: TestClient, databases: tuple[str, str]
) -> None:
    asked = DRIVES["query"]
    near = StoredMemory(f"River Aare: {asked.lower()}", namespace="rivers")
    mill, far, near_id = put(databases[0], [RIVERS[0], RIVERS[1], near])
    with psycopg.connect(databases[0], autocommit=True) as connection:
        copying.copy_rows(connection, TABLES[AdmissionRow], (
            AdmissionRow(one, 0, 0, "rivers", "admitted", 0, version=1, weight_ppm=1_000_000)
            for one in (mill, far, near_id)
        ))  # fmt: skip
    found = answered(client, "/retrieve", **DRIVES, hops=2, experience=True)
    assert far not in {one["memory_id"] for one in found["items"]}
    assert {mill, near_id} <= {one["memory_id"] for one in found["items"]}
    assert far in {one["memory_id"] for one in answered(client, "/retrieve", **DRIVES, hops=2)["items"]}


def test_a_recall_tells_what_was_said_around(client: TestClient) -> None:
    anchor = memory_id(SPACE, "e0")
    found = answered(client, "/recall", memory_id=anchor, within_ms=3_000, hops=0)
    assert texts(found) == [one.text for one in (CLIENT_TEXTS[0], CLIENT_TEXTS[1], CLIENT_TEXTS[3])]
    assert [item["way"] for item in found["items"]] == ["anchor", "session", "time"]
    assert found["left_out"]["duplicate"]["count"] == 1
    ways = {1: ["anchor", "session", "time", "name"], 2: ["anchor", "session", "name", "name"]}
    for hops, told in ways.items():  # bay 3 has another memory, and what bob said of it a neighbour in his session
        found = answered(client, "/recall", memory_id=anchor, within_ms=3_000, hops=hops)
        assert texts(found) == [one.text for at, one in enumerate(CLIENT_TEXTS) if at != 2]
        assert [item["way"] for item in found["items"]] == told
    found = answered(client, "/recall", query="when does the valve open?", anchors=1, steps=1)
    assert texts(found) == [CLIENT_TEXTS[0].text, CLIENT_TEXTS[1].text]
    gone = client.post("/recall", json={"memory_id": memory_id(SPACE, "none"), "peek": True})
    assert (gone.status_code, gone.json()["field"]) == (404, "memory_id")
    elsewhere = client.post("/recall", json={"memory_id": anchor, "peek": True, "namespace": "elsewhere"})
    assert elsewhere.status_code == 404


def test_a_recall_begins_at_what_a_goal_needs(client: TestClient, databases: tuple[str, str]) -> None:
    needed = [memory_id(SPACE, name) for name in ("e0", "e3")]
    with psycopg.connect(databases[0]) as connection:
        for seq, (kind, one) in enumerate([("goal:sow", needed[0]), ("goal:sow", needed[1]), ("goal:reap", needed[0])]):
            order = memory_id("orders", f"g{seq}")
            row = (one, kind, 0, seq, SPACE, order, "service:erasure", "ada", kind[5:], 5)
            connection.execute(f"INSERT INTO protection VALUES ({', '.join(['%s'] * len(row))})", row)
    found = answered(client, "/recall", goal="sow", steps=0)
    assert (found["anchors"], texts(found)) == (sorted(needed), [CLIENT_TEXTS[0].text, CLIENT_TEXTS[3].text])
    assert answered(client, "/recall", goal="sow", steps=0, anchors=1)["anchors"] == [min(needed)]
    unknown = client.post("/recall", json={"namespace": SPACE, "goal": "rest", "peek": True})
    assert (unknown.status_code, unknown.json()["field"]) == (404, "goal")
    both = client.post("/recall", json={"namespace": SPACE, "goal": "sow", "query": "tank", "peek": True})
    assert (both.status_code, both.json()["field"]) == (400, "memory_id")


def test_what_is_given_counts_as_used(client: TestClient) -> None:
    found = answered(client, "/retrieve", query="lunch", k_max=2, peek=False, agent="planner")
    assert found["used"] == 2
    assert answered(client, "/recall", query="lunch", anchors=1, steps=0, peek=False, agent="planner")["used"] == 1
    assert answered(client, "/retrieve", query="lunch")["used"] == 0
    refused = client.post("/retrieve", json={"query": "q", "peek": True, "budget_tokens": 0})
    assert (refused.status_code, refused.json()["field"]) == (400, "budget_tokens")
