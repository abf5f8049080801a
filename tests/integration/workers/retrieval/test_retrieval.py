"""The retrieval service on a real store and a real broker: ranking, what is never served, what counts as use."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psycopg
import pytest
from msgspec.structs import replace
from pgvector import HalfVector
from starlette.testclient import TestClient

from db.standing import Clear
from db.store import PostgresStore
from memquorum import topics
from memquorum.client import wire
from memquorum.core.avro import Codec
from memquorum.core.consolidation import rendering
from memquorum.core.consolidation.rendering import embedded_texts
from memquorum.core.journal.rows import RowKeys
from memquorum.core.records import AccessRecorded, QueryRecorded
from memquorum.encoders.hashing import HashingEncoder
from tests.builders import erasures, protections, votes
from tests.builders.published import GENESIS
from tests.builders.shard import NAMESPACE, Shard, memory_id
from tests.support.kept import Encoder
from tests.support.waiting import PATIENCE_S, until
from workers.kafka import loop
from workers.retrieval.app import app
from workers.retrieval.serving import NotStarted, run

TEXTS = {
    "tank": "the water tank is empty",
    "pump": "the pump of the water tank is broken",
    "lunch": "lunch is at noon",
    "secret": "the water tank has a secret lid",
}

SUMMARY = "Key facts:\nlunch is at noon\nthe pump of the water tank is broken\nDecisions:\nwe agreed on seven hens"


LONG = 12
"""So many long texts there may be."""


def long(number: int) -> str:
    """A log of a greenhouse with one fact in its middle."""
    filler = [f"Row {row} of house {number} was watered and weeded by the trainee." for row in range(60)]
    return "\n".join([*filler[:30], f"The spare gasket number {number} lies behind the blue door.", *filler[30:]])


class World:
    def __init__(self, dsn: str, codec: Codec) -> None:
        self.store = PostgresStore(dsn)
        self.store.start(GENESIS.cluster, GENESIS.shards)
        self.shard = Shard(codec, GENESIS)
        self.encoder = Encoder()

    def flush(self) -> None:
        net = self.shard.work.net()
        texts = {memory_id(name): text for name, text in TEXTS.items()}
        clear = {i: Clear(texts[i], self.encoder.encode([texts[i]])[0]) for i in net.revealed if i in texts}
        for number in range(LONG):
            if (i := memory_id(f"long{number}")) in net.revealed:
                clear[i] = Clear(long(number), self.encoder.encode(embedded_texts(long(number), summary=False)))
        if memory_id("sum") in net.revealed:
            rows = self.encoder.encode(embedded_texts(SUMMARY, summary=True))
            clear[memory_id("sum")] = Clear(SUMMARY, rows)
        with self.store.transaction({net.before: RowKeys()}) as transaction:
            transaction.write([net], clear, {})
        self.shard.work = type(self.shard.work)(replace(self.shard.rows))


@pytest.fixture
def world(databases: tuple[str, str], codec: Codec) -> Iterator[World]:
    found = World(databases[0], codec)
    found.shard.tick(1_000)
    for name in TEXTS:
        found.shard.episode(name, at=900)
    found.shard.tick(60_000)
    found.flush()
    yield found
    found.store.close()


@pytest.fixture
def client(world: World, databases: tuple[str, str], kafka: str, codec: Codec) -> Iterator[TestClient]:
    built = app(memory_dsn=databases[0], bootstrap=kafka, genesis=GENESIS, codec=codec, encoder=world.encoder)
    with TestClient(built, base_url="http://127.0.0.1") as found:
        yield found


def search(client: TestClient, **asked: Any) -> dict[str, Any]:
    answer = client.post("/search", json={"namespace": NAMESPACE, "query": "water tank", "agent": "planner"} | asked)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def names(found: dict[str, Any]) -> list[str]:
    return [name for hit in found["hits"] for name in TEXTS if memory_id(name) == hit["memory_id"]]


def test_hits_come_nearest_first_and_never_from_elsewhere(client: TestClient, world: World) -> None:
    found = search(client, peek=True)
    scores = [hit["score"] for hit in found["hits"]]
    vector = world.encoder.encode(["water tank"])[0]
    exact = {name: float(vector @ world.encoder.encode([text])[0]) for name, text in TEXTS.items()}
    assert names(found) == sorted(TEXTS, key=lambda name: -exact[name])
    assert scores == sorted(scores, reverse=True)
    assert [hit["cosine"] for hit in found["hits"]] == pytest.approx([exact[name] for name in names(found)], abs=2e-3)
    assert found["hits"][0]["text"] == TEXTS[names(found)[0]]
    assert names(search(client, peek=True, k=2)) == names(found)[:2]
    assert search(client, peek=True, namespace="elsewhere")["hits"] == []


def test_what_was_forgotten_is_never_served_and_what_was_promoted_is(client: TestClient, world: World) -> None:
    secret, pump = memory_id("secret"), memory_id("pump")
    world.shard.decide([votes.proposal(secret, "forget"), votes.proposal(pump, "promote")])
    world.flush()
    found = search(client, peek=True)
    assert set(names(found)) == {"tank", "pump", "lunch"}
    assert {hit["tier"] for hit in found["hits"]} == {"short-term", "long-term"}
    shown = client.get(f"/memories/{secret}").json()
    assert (shown["tier"], shown["text"], shown["namespace"]) == ("sealed", None, NAMESPACE)
    assert client.get(f"/memories/{pump}").json()["text"] == TEXTS["pump"]
    told = client.get(f"/memories/{secret}/explain").json()
    assert told["account"]["votes"][0]["outcome"] == "forgotten"
    assert any("4 of 4 members are for it" in line for line in told["numbers"])
    assert "lid" not in str(told)


def test_of_a_summary_those_sentences_are_served_that_answer(client: TestClient, world: World) -> None:
    """By each statement that finds: all, filtered, of a cache, and by words as well; one vector of all of them is near
    to none."""
    sources = [memory_id(name) for name in ("tank", "pump", "lunch")]
    world.shard.summary("sum", sources, at=900)
    world.shard.consolidate(memory_id("sum"), sources)
    world.flush()
    asked = "how many hens did we agree on"
    whole, *sentences = world.encoder.encode([SUMMARY, "we agreed on seven hens"])
    wanted = world.encoder.encode([asked])[0]
    assert float(wanted @ sentences[0]) > float(wanted @ whole) + 0.1
    for filters in ({}, {"types": ["episodic"]}, {}):
        found = search(client, query=asked, peek=True, **filters)
        assert [hit["memory_id"] for hit in found["hits"]] == [memory_id("sum"), memory_id("secret")], filters
        best = found["hits"][0]
        assert (best["text"], best["excerpt"]) == ("we agreed on seven hens", True)
        assert best["score"] == pytest.approx(float(wanted @ sentences[0]), abs=2e-3)
    until(lambda: search(client, query=asked, peek=True)["served_from"] == "cache")
    assert search(client, query=asked, peek=True)["hits"][0]["text"] == "we agreed on seven hens"
    body = {"namespace": NAMESPACE, "query": asked, "agent": "planner", "peek": True}
    best = client.post("/retrieve", json=body | {"budget_tokens": 6}).json()["items"][0]
    assert (best["text"], best["excerpt"]) == ("we agreed on seven hens", True)
    assert [SUMMARY[start:end] for start, end in best["spans"]] == ["we agreed on seven hens"]
    best = client.post("/retrieve", json=body).json()["items"][0]
    assert [SUMMARY[start:end] for start, end in best["spans"]] == [*rendering.sentences(SUMMARY)], "as much as fits"
    assert client.get(f"/memories/{memory_id('sum')}").json()["text"] == SUMMARY
    world.shard.decide([votes.proposal(memory_id("sum"), "forget")])
    world.flush()
    assert [hit["memory_id"] for hit in search(client, query=asked, peek=True)["hits"]] == [memory_id("secret")]


def test_a_long_text_is_found_by_its_best_passage(client: TestClient, world: World) -> None:
    """By each statement that finds: all, filtered, of a cache, by words as well; and what is given is the passage."""
    for number in range(LONG):
        world.shard.episode(f"long{number}", at=900, characters=len(long(number)))
    world.flush()
    asked, wanted = "where is spare gasket number 7", memory_id("long7")
    vector = world.encoder.encode([asked])[0]
    cosines = world.encoder.encode(embedded_texts(long(7), summary=False)) @ vector
    for filters in ({}, {"types": ["episodic"]}, {}):
        best = search(client, query=asked, peek=True, **filters)["hits"][0]
        assert (best["memory_id"], best["text"], best["excerpt"]) == (wanted, long(7), False), filters
        assert "gasket number 7" in long(7)[slice(*best["passage"])]
        assert best["score"] == pytest.approx(float(cosines.max()), abs=2e-3) and cosines.max() > cosines[0] + 0.05
    until(lambda: search(client, query=asked, peek=True)["served_from"] == "cache")
    cached = search(client, query=asked, peek=True)["hits"]
    assert (cached[0]["memory_id"], cached[0]["passage"]) == (wanted, best["passage"])
    assert search(client, query="lunch is at noon", peek=True)["hits"][0].get("passage") is None, "of a short text"
    body = {"namespace": NAMESPACE, "query": asked, "agent": "planner", "peek": True}
    item = client.post("/retrieve", json=body | {"budget_tokens": 100}).json()["items"][0]
    assert item["memory_id"] == wanted and item["excerpt"] and "gasket number 7" in item["text"]
    assert item["text"] == "\n".join(long(7)[start:end] for start, end in item["spans"])
    told = client.post("/context", json=body | {"budget_tokens": 200}).json()
    assert "gasket number 7" in told["text"] and "Row 3 of" not in told["text"]
    item = client.post("/retrieve", json=body | {"budget_tokens": 20_000}).json()["items"][0]
    assert (item["text"], item["spans"], item["passage"]) == (long(7), [], best["passage"])
    world.shard.decide([votes.proposal(wanted, "forget")])
    world.flush()
    assert wanted not in {hit["memory_id"] for hit in search(client, query=asked, peek=True)["hits"]}


def test_what_is_asked_is_told_to_intake_and_a_peek_is_not(
    world: World, databases: tuple[str, str], kafka: str, codec: Codec
) -> None:
    reader = loop.consumer(kafka)
    places = [(topics.QUERIES, p) for p in range(GENESIS.shards)]
    loop.assign(reader, dict(loop.ends(reader, iter(places))))
    made = {"memory_dsn": databases[0], "bootstrap": kafka, "genesis": GENESIS, "codec": codec}
    for queries in (False, True):
        built = app(**made, encoder=world.encoder, queries=queries)  # type: ignore[arg-type]
        with TestClient(built, base_url="http://127.0.0.1") as client:
            search(client, peek=True, query="a peek")
            search(client, query=f"tank {queries}", k=1)
            search(client, query="nothing at all", namespace="elsewhere")
            asked = {"namespace": NAMESPACE, "query": "pump", "agent": "planner"}
            assert client.post("/retrieve", json=asked).status_code == 200
    found: list[QueryRecorded] = []
    deadline = time.monotonic() + PATIENCE_S
    while len(found) < 3 and time.monotonic() < deadline:
        found += [codec.decode_as(QueryRecorded, m.value() or b"") for m in loop.records(reader, 10, 0.2)]
    reader.close()
    assert {(one.query, one.agent, one.namespace) for one in found} == {
        ("tank True", "planner", NAMESPACE), ("nothing at all", "planner", "elsewhere"), ("pump", "planner", NAMESPACE)
    }  # fmt: skip
    given = {one.query: one.memory_ids for one in found}
    assert given["tank True"] == (memory_id("tank"),) and given["nothing at all"] == () and len(given["pump"]) > 0


def test_hits_count_as_used_and_a_peek_does_not(client: TestClient, kafka: str, codec: Codec) -> None:
    reader = loop.consumer(kafka)
    places = [(topics.ACCESSES, p) for p in range(GENESIS.shards)]
    loop.assign(reader, dict(loop.ends(reader, iter(places))))
    assert search(client, peek=True)["used"] == 0
    found = search(client, k=2)
    assert found["used"] == 2
    accesses: list[AccessRecorded] = []
    deadline = time.monotonic() + PATIENCE_S
    while not accesses and time.monotonic() < deadline:
        accesses += [codec.decode_as(AccessRecorded, m.value() or b"") for m in loop.records(reader, 10, 0.2)]
    reader.close()
    (use,) = accesses
    assert (use.agent, use.namespace) == ("planner", NAMESPACE)
    assert use.memory_ids == tuple(hit["memory_id"] for hit in found["hits"])


def test_who_asks_for_it_is_answered_once_kafka_has_the_accesses(client: TestClient, kafka: str) -> None:
    reader = loop.consumer(kafka)
    places = [(topics.ACCESSES, p) for p in range(GENESIS.shards)]
    before = sum(dict(loop.ends(reader, iter(places))).values())
    wanted = {"namespace": NAMESPACE, "query": "water tank", "agent": "planner", "k": 3}
    assert client.post("/search?confirm=true", json=wanted).json()["used"] == 3
    assert sum(dict(loop.ends(reader, iter(places))).values()) == before + 1
    reader.close()
    refused = client.post("/search?confirm=yes", json=wanted)
    assert (refused.status_code, refused.json()["field"]) == (400, "confirm")


def test_who_waits_for_an_event_hears_of_it_at_once(client: TestClient, world: World) -> None:
    address = f"/events/{NAMESPACE}/late?wait_ms=20000"
    assert client.get(f"/events/{NAMESPACE}/tank").json()["outcome"] == "stored"
    assert client.get(f"/events/{NAMESPACE}/late?wait_ms=1").json()["outcome"] is None
    with ThreadPoolExecutor() as pool:
        asked = [pool.submit(client.get, address) for _ in range(3)]
        world.shard.episode("late", at=61_000, outcome="below_threshold")
        began = time.monotonic()
        world.flush()
        answers = [a.result(15).json() for a in asked]
    assert time.monotonic() - began < 5
    assert {(a["outcome"], a["memory_id"]) for a in answers} == {("below_threshold", memory_id("late"))}


def test_who_publishes_another_text_under_a_used_id_is_told_and_sees_no_word_of_the_first(
    client: TestClient, world: World
) -> None:
    def became(name: str, text: str, **more: str) -> tuple[str, str]:
        told = client.get(f"/events/{NAMESPACE}/{name}", params={"said": wire.digest(text)} | more).json()
        assert TEXTS["tank"] not in str(told)
        return told["outcome"], told["memory_id"]

    tank = memory_id("tank")
    assert became("tank", TEXTS["tank"]) == ("stored", tank)
    assert became("tank", "The water  tank is empty.") == ("stored", tank), "it says the same"
    assert became("tank", "the water tank is full") == ("reused", tank)
    plain = hashlib.sha256(TEXTS["tank"].encode()).hexdigest()
    assert client.get(f"/events/{NAMESPACE}/tank", params={"said": plain}).json()["outcome"] == "stored"
    assert became("tank", "the water tank is full", agent="somebody")[0] == "taken"
    assert became("tank", "the water tank is full", wait_ms="5000") == ("reused", tank)
    world.shard.episode("echo", at=61_000, outcome="reinforced", reinforces=tank)
    world.shard.episode("small", at=61_500, outcome="below_threshold")
    world.flush()
    assert became("echo", TEXTS["tank"]) == ("reinforced", tank)
    assert became("echo", "the pump runs") == ("reused", tank)
    assert became("small", "whatever")[0] == "below_threshold", "nothing is kept of it to compare with"
    refused = client.get(f"/events/{NAMESPACE}/tank", params={"said": "the water tank is empty"})
    assert (refused.status_code, refused.json()["field"]) == (400, "said")


def test_an_event_that_was_erased_is_told_as_erased(client: TestClient, world: World, codec: Codec) -> None:
    """Also where it is published again: its record stays out, whatever became of it first."""
    world.shard.episode("echo", at=950, outcome="reinforced", reinforces=memory_id("tank"))
    world.flush()
    wanted = erasures.ordered(GENESIS, "memory", memory_id("tank"))
    record = erasures.accepted(wanted, erasures.signed(codec, GENESIS, wanted), 70_000)
    went = {"tank": "short-term", "echo": "reinforced"}
    (change,) = world.shard.erase(record, erasures.among(NAMESPACE, went))
    world.flush()
    for name in went:
        for waiting in ("", "?wait_ms=5000"):
            told = client.get(f"/events/{NAMESPACE}/{name}{waiting}").json()
            assert (told["outcome"], told["journal_seq"]) == ("erased", change.entry.seq)
    assert client.get(f"/events/{NAMESPACE}/lunch").json()["outcome"] == "stored"


def test_what_says_the_same_and_stays_is_shown_with_the_reason(
    client: TestClient, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: dict[str, dict[str, Any]] = {
        "ada": {"subject": "ada"},
        "chat": {"source": "chat"},
        "bob": {"subject": "bob"},
        "theirs": {"agent": "reviewer", "subject": "reviewer"},
    }
    for name, marks in (said | {"far": {}}).items():
        monkeypatch.setitem(TEXTS, name, TEXTS["tank"])
        again = memory_id("theirs" if name == "far" else "tank")
        assert world.shard.episode(name, at=61_000, outcome="reinforced", reinforces=again, **marks)
    world.flush()

    def asked(**named: str) -> tuple[set[str], dict[str, str]]:
        told = client.post("/orders/erase", json={"namespace": NAMESPACE, **named}).json()
        assert told["staying_more"] == 0
        return {one["memory_id"] for one in told["going"]}, {o["memory_id"]: o["why"] for o in told["staying"]}

    stays = {
        memory_id("bob"): "it is about another: bob",
        memory_id("theirs"): "another agent said it: reviewer",
    }
    # "far" was found to repeat "theirs" alone, which stays.
    goes = {memory_id("tank"), memory_id("ada"), memory_id("far")}
    assert asked(subject="ada") == (goes | {memory_id("chat")}, stays)
    assert asked(memory_id=memory_id("ada")) == (goes, stays | {memory_id("chat"): "it has another source: chat"})
    assert asked(memory_id=memory_id("pump")) == ({memory_id("pump")}, {})
    less = client.post("/orders/erase", json={"namespace": NAMESPACE, "subject": "ada", "listed": 1}).json()
    assert (len(less["staying"]), less["staying_more"]) == (1, 1)


def test_what_stays_and_names_an_erased_person_is_shown(client: TestClient, world: World) -> None:
    def naming(**named: str) -> tuple[list[str], int]:
        told = client.post("/orders/erase", json={"namespace": NAMESPACE, **named}).json()
        return [one["memory_id"] for one in told["naming"]], told["naming_count"]

    assert naming(subject="LID") == ([memory_id("secret")], 1)
    assert naming(agent="tank") == (sorted(map(memory_id, ("tank", "pump", "secret"))), 3)
    assert naming(subject="tan") == naming(subject="%") == ([], 0)
    assert naming(agent="planner") == ([], 0), "what goes is not what stays"
    elsewhere = client.post("/orders/erase", json={"namespace": "elsewhere", "subject": "lid"})
    assert elsewhere.json()["naming_count"] == 0


def test_an_order_that_was_withheld_says_so_and_names_nothing_held(
    client: TestClient, world: World, codec: Codec
) -> None:
    world.shard.protect(protections.accepted(codec, "hold", memory_id("tank"), cluster=GENESIS.cluster))
    wanted = erasures.ordered(GENESIS, "namespace", "")
    record = erasures.accepted(wanted, erasures.signed(codec, GENESIS, wanted), 70_000)
    change = world.shard.withhold(record, memory_id("tank"))
    world.flush()
    answer = client.get(f"/orders/{wanted.order_id}")
    told = answer.json()
    assert (answer.status_code, told["status"], told["accepted_at"]) == (200, "withheld", 70_000)
    assert (told["says"]["selector"], told["ordered_by"], told["reference"]) == ("namespace", "ada", "ticket-7")
    assert (told["journal_seq"], told["took"]) == (change.entry.seq, None)
    assert "hold" in told["why"] and "anew" in told["why"] and memory_id("tank") not in answer.text


def test_no_question_sees_that_postgres_lost_its_connections(client: TestClient, databases: tuple[str, str]) -> None:
    """As after a restart: every connection was used a moment ago, and none has a server any more."""
    questions = [
        *[("POST", "/search", {"namespace": NAMESPACE, "query": f"tank {i}", "peek": True}) for i in range(4)],
        ("POST", "/retrieve", {"namespace": NAMESPACE, "query": "pump", "peek": True}),
        ("GET", f"/memories/{memory_id('tank')}", None),
        ("GET", f"/memories/{memory_id('tank')}/explain", None),
        ("GET", f"/memories/{memory_id('pump')}/explain", None),
    ]

    def ask() -> list[int]:
        with ThreadPoolExecutor(len(questions)) as threads:
            asked = [threads.submit(client.request, method, path, json=body) for method, path, body in questions]
            return [one.result(15).status_code for one in asked]

    with psycopg.connect(databases[0], autocommit=True) as admin:
        for _ in range(3):
            assert ask() == [200] * len(questions)
            gone = admin.execute(
                "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity "
                "WHERE datname = current_database() AND pid <> pg_backend_pid()"
            ).fetchall()
            assert len(gone) > 3
            assert ask() == [200] * len(questions)


def test_requests_that_cannot_be_answered_name_the_field(client: TestClient) -> None:
    for answer, status, field in (
        (client.post("/search", json={"query": "q"}), 400, "agent"),
        (client.post("/search", json={"query": "q", "peek": True, "limit": 1}), 400, "limit"),
        (client.post("/search", content=b"{}", headers={"content-type": "text/plain"}), 400, "content-type"),
        (client.post("/search", json={"query": "q" * 200_000}), 413, None),
        (client.get("/memories/7"), 400, "memory_id"),
        (client.get(f"/memories/{memory_id('nobody')}"), 404, "memory_id"),
        (client.get(f"/memories/{memory_id('nobody')}/explain"), 404, "memory_id"),
        (client.get(f"/memories/{memory_id('tank')}?namespace=elsewhere"), 404, "memory_id"),
        (client.get(f"/memories/{memory_id('tank')}/explain?namespace=elsewhere"), 404, "memory_id"),
        (client.get("/events/a%20b/e"), 400, "namespace"),
        (client.get("/events/a/e?wait_ms=99999999"), 400, "wait_ms"),
    ):
        assert answer.status_code == status, answer.text
        told = answer.json()
        assert told["field"] == field
        assert told["detail"]
    assert client.get("/livez", headers={"host": "evil.example"}).status_code == 400


def test_readiness_says_which_part_is_missing(client: TestClient, world: World) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while (answer := client.get("/readyz")).status_code != 200:  # until the journal is listened to
        assert time.monotonic() < deadline, answer.text
    assert answer.json()["encoder"] == "hashing"
    assert client.get("/livez").status_code == 200


def test_an_unreachable_store_is_said_to_be(kafka: str, codec: Codec) -> None:
    built = app(
        memory_dsn="host=127.0.0.1 port=1 user=nobody dbname=none", bootstrap=kafka, genesis=GENESIS, codec=codec,
        encoder=Encoder(),
    )  # fmt: skip
    with TestClient(built, base_url="http://127.0.0.1") as client:
        answer = client.get("/readyz")
        assert (answer.status_code, answer.json()["ready"]) == (503, False)
        assert "Postgres" in answer.json()["store"]


def test_a_start_without_kafka_fails_but_is_no_halt(databases: tuple[str, str], codec: Codec) -> None:
    # Status 3, with which uvicorn ends, tells a supervisor never to start it again.
    with pytest.raises(NotStarted, match=r"127\.0\.0\.1:0 is not served"):
        run(
            memory_dsn=databases[0],
            bootstrap="127.0.0.1:1",
            genesis=GENESIS,
            codec=codec,
            encoder=HashingEncoder(),
            host="127.0.0.1",
            port=0,
        )


class Former(HashingEncoder):
    """Another encoder, of another length."""

    @property
    def name(self) -> str:
        return "former"


def test_what_waits_to_be_encoded_anew_is_found_through_its_own_encoder(
    world: World, databases: tuple[str, str], kafka: str, codec: Codec
) -> None:
    former = Former(64)
    with psycopg.connect(databases[0], autocommit=True) as connection:
        for name in ("tank", "lunch"):
            vector = HalfVector(former.encode([TEXTS[name]])[0]).to_text()
            connection.execute("UPDATE memory SET encoder = 'former' WHERE id = %s", [memory_id(name)])
            connection.execute(
                "UPDATE embedding SET vector = %s, encoder = 'former' WHERE memory_id = %s", [vector, memory_id(name)]
            )
    given: dict[str, Any] = {"memory_dsn": databases[0], "bootstrap": kafka, "genesis": GENESIS, "codec": codec}
    with TestClient(app(**given, encoder=world.encoder), base_url="http://127.0.0.1") as client:
        assert set(names(search(client, peek=True))) == {"pump", "secret"}
    with TestClient(app(**given, encoder=world.encoder, before=former), base_url="http://127.0.0.1") as client:
        found = names(search(client, peek=True))
        assert set(found) == set(TEXTS) and found.index("tank") < found.index("lunch")
        assert names(search(client, peek=True, k=2))[1] in ("tank", "secret", "pump")
        assert client.get("/readyz").json()["encoder"] == "hashing"
