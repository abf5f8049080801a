"""A report of all that concerns one of two people in a namespace, over HTTP and on a real Postgres."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from msgspec import convert
from msgspec.structs import asdict, replace
from starlette.testclient import TestClient

from db.queries import QUERIES
from db.standing import Clear
from db.store import PostgresStore
from memquorum.core import access, ids
from memquorum.core.access import Keys
from memquorum.core.accounts import reporting
from memquorum.core.accounts.stating import FORMAT
from memquorum.core.api.answers import Report
from memquorum.core.audit import person_receipts
from memquorum.core.audit.person_receipts import Compared
from memquorum.core.avro import Codec
from memquorum.core.experience.texts import Texts
from memquorum.core.identity.membership import CONSOLIDATOR
from memquorum.core.journal.rows import RowKeys
from memquorum.core.journal.workset import Workset
from memquorum.core.orders.patch import SIGNER
from memquorum.core.records import JournalEntry, Quote, Summary
from tests.builders import disclosures, erasures, trials, votes
from tests.builders import genesis as cluster
from tests.builders.published import POLICY
from tests.builders.shard import NAMESPACE, Shard, memory_id
from tests.support.kept import Encoder
from workers.retrieval.app import app
from workers.retrieval.door import Door

GENESIS = cluster.make(
    policy=POLICY, agent_keys={CONSOLIDATOR: cluster.public_key(SIGNER)}, **trials.entitled("erasure")
)
OTHER = next(name for name in (f"mill-{at}" for at in range(99)) if ids.shard_of(name, GENESIS.shards) == 0)
NAMES = (
    "a-port", "a-old", "a-new", "a-again", "a-faint", "a-lost", "a-secret", "a-task", "a-lamp", "b-lamp", "b-port",
    "note", "mixed",
)  # fmt: skip
ID = {name: memory_id(name) for name in NAMES}
TEXTS = {
    "a-port": "alpha port", "a-old": "alpha old desk", "a-new": "alpha new desk", "a-lost": "alpha lost",
    "a-secret": "alpha secret", "b-port": "beta port", "note": "beta note of it",
    "a-lamp": "alpha lamp", "b-lamp": "beta lamp", "mixed": "alpha lamp\nbeta lamp",
    "a-task": Texts("alpha goal", "alpha inputs", "alpha outputs", ()).content,
}  # fmt: skip
MIXED = Summary(
    "extractive/1", "s1", 600_000, b"c" * 32,
    tuple(Quote(ID[one], 0, len(TEXTS[one]), "facts", 900) for one in ("a-lamp", "b-lamp")),
)  # fmt: skip
SLOT: dict[str, Any] = {"explicit": True, "slot": "s" * 32}


class World:
    """A shard and its store; each write is a batch."""

    def __init__(self, dsn: str, codec: Codec) -> None:
        self.dsn, self.codec, self.shard = dsn, codec, Shard(codec, GENESIS)
        self.store, self._encoder = PostgresStore(dsn), Encoder()
        self.store.start(GENESIS.cluster, GENESIS.shards)
        self._before = self.shard.rows.state

    def flush(self) -> None:
        net, texts = self.shard.work.net(), {ID[name]: text for name, text in TEXTS.items()}
        clear = {one: Clear(texts[one], self._encoder.encode([texts[one]] * 2)) for one in net.revealed}
        with self.store.transaction({self._before: RowKeys()}) as transaction:
            transaction.write([net], clear, {})
        rows = self.shard.rows
        self._before = rows.state
        rows = replace(rows, memories=dict(rows.memories), strengths=dict(rows.strengths), loaded=None)
        self.shard.work = Workset(rows)

    def erase(self, subject: str, found: dict[str, str]) -> None:
        order = erasures.ordered(GENESIS, value=subject)
        record = erasures.accepted(order, erasures.signed(self.codec, GENESIS, order), 61_000)
        self.shard.erase(record, erasures.among(NAMESPACE, found))
        self.flush()


@pytest.fixture
def world(databases: tuple[str, str], codec: Codec) -> Iterator[World]:
    """Two people in one namespace; one has records of every kind."""
    made = World(databases[0], codec)
    shard, ada, bob = made.shard, {"subject": "ada", "source": "mail"}, {"subject": "bob", "source": "phone"}
    shard.tick(500)
    shard.episode("a-port", 900, **ada)
    shard.episode("a-old", 910, **SLOT | ada)
    shard.episode("a-lost", 920, **ada)
    shard.episode("a-secret", 930, sensitivity_ppm=900_000, purposes=("billing",), **ada)
    shard.episode("b-port", 940, agent="ben", **bob)
    shard.episode("a-lamp", 945, **ada)
    shard.episode("b-lamp", 946, agent="ben", **bob)
    made.flush()
    shard.episode("a-new", 950, **SLOT | ada)
    shard.episode("a-again", 960, outcome="reinforced", reinforces=ID["a-port"], **ada)
    shard.episode("a-faint", 970, outcome="below_threshold", **ada)
    shard.access(ID["a-port"], 980)
    shard.episode("note", 1_000, agent="ben", derives_from=(ID["a-port"],), **bob)
    lamps = (ID["a-lamp"], ID["b-lamp"])
    shard.episode("mixed", 1_020, agent=CONSOLIDATOR, derives_from=lamps, summary=MIXED, subject="", session=None)
    shard.task("a-task", [ID["a-port"]], at=1_030, subject="ada")
    shard.protect(disclosures.accepted(codec, GENESIS, ID["a-port"]))
    shard.tick(60_000)
    shard.decide([votes.proposal(ID["a-lost"], "forget")])
    shard.consolidate(ID["mixed"], lamps)
    made.flush()
    yield made
    made.store.close()


@pytest.fixture
def keys(tmp_path: Path) -> list[str]:
    """Keys that may read here, audit here, and read elsewhere."""
    held = ((NAMESPACE, "read"), (NAMESPACE, "audit"), (OTHER, "read"))
    made = [
        access.make(bytes([at] * 6), bytes([at] * 32), name="k", namespaces=[space], rights=[right], now_ms=1)
        for at, (space, right) in enumerate(held, 1)
    ]
    (tmp_path / "keys.json").write_bytes(access.dump(Keys(stored for _, stored in made)))
    return [told for told, _ in made]


@pytest.fixture
def client(world: World, kafka: str, keys: list[str], tmp_path: Path) -> Iterator[TestClient]:
    """The service, asked with the first key."""
    built = app(
        memory_dsn=world.dsn, bootstrap=kafka, genesis=GENESIS, codec=world.codec, encoder=Encoder(),
        door=Door(tmp_path / "keys.json"), erasure_seed=cluster.seed_of("service:erasure"),
    )  # fmt: skip
    with TestClient(built, base_url="http://127.0.0.1") as found:
        found.headers["Authorization"] = f"Bearer {keys[0]}"
        yield found


def answer(client: TestClient, **asked: Any) -> str:
    found = client.post("/memories/report", json={"namespace": NAMESPACE, **asked})
    assert found.status_code == 200, found.text
    return found.text


def page(client: TestClient, **asked: Any) -> Report:
    return convert(json.loads(answer(client, **asked)), Report)


def words(report: Report) -> str:
    return "\n".join(line for one in report.reported for line in reporting.record(one))


def test_a_report_has_everything_of_one_and_nothing_of_another(client: TestClient) -> None:
    told, report = answer(client, subject="ada"), page(client, subject="ada")
    states = {one.memory_id: one.state for one in report.reported}
    assert {name: states.get(ID[name]) for name in NAMES} == {
        "a-port": "short-term", "a-old": "superseded", "a-new": "short-term", "a-again": "reinforced",
        "a-faint": "below_threshold", "a-lost": "sealed", "a-secret": None, "a-task": "finished", "b-port": None,
        "note": "short-term", "mixed": "short-term", "a-lamp": "sealed", "b-lamp": None,
    }  # fmt: skip
    assert (report.records, report.kept_back) == (11, 1)
    for word in ("port", "old desk", "new desk", "goal", "inputs", "outputs", "lamp"):
        assert f"alpha {word}" in told
    for word in ("alpha lost", "alpha secret", "beta", "phone", "bob"):
        assert word not in told


def test_each_record_tells_its_origin_its_readers_its_votes_and_its_recipients(client: TestClient) -> None:
    report = page(client, subject="ada")
    found = {one.memory_id: one for one in report.reported}
    port, again, lost, mixed = (found[ID[name]] for name in ("a-port", "a-again", "a-lost", "mixed"))
    origin = port.event_id, port.agent, port.subject, port.source, port.session, port.type
    assert origin == ("a-port", "planner", "ada", "mail", "s1", "episodic")
    assert [(one.agent, one.how, one.times, one.last_at) for one in port.readers] == [
        ("planner", "reinforced", 1, 960), ("reviewer", "accessed", 1, 980),
    ]  # fmt: skip
    assert {(one.memory_id, one.state) for one in port.into} == {(ID["note"], "short-term"), (ID["a-task"], "finished")}
    assert port.account is not None and [one["recipient"] for one in port.account["sent"]] == [disclosures.HOST]
    assert port.account["born"]["salience_ppm"] == 600_000 and not port.account["uses"]
    assert (again.because, again.memory, again.source) == (ID["a-port"], None, "mail")
    # The report does not tell who made a note of it.
    note = found[ID["note"]]
    assert (note.because, note.agent, note.account is None) == (ID["a-port"], None, False)
    assert "ben" not in str(asdict(note)) + " ".join(reporting.record(note))
    assert lost.account is not None and [one["outcome"] for one in lost.account["votes"]] == ["forgotten"]
    assert lost.memory is not None and lost.memory.text is None
    assert lost.memory.sealed_until == lost.account["sealed_until"] is not None
    assert mixed.memory is not None and (mixed.memory.text, mixed.event_id) == ("alpha lamp", None)
    text = words(report)
    for said in (
        "> alpha port",
        "read it once",
        "llm.example.org",
        "It rests sealed",
        "scored 0.60",
        "speak of others",
    ):
        assert said in text, said


def test_pages_have_each_record_once_in_the_order_of_time(client: TestClient) -> None:
    whole, cursor, found = page(client, subject="ada"), None, list[str]()
    while True:
        part = page(client, subject="ada", limit=4, cursor=cursor)
        found += [one.memory_id for one in part.reported]
        if (cursor := part.next) is None:
            break
    assert found == [one.memory_id for one in whole.reported]
    assert [one.at for one in whole.reported] == sorted(one.at for one in whole.reported)
    asked = {"namespace": NAMESPACE, "subject": "bob", "cursor": page(client, subject="ada", limit=4).next}
    strange = client.post("/memories/report", json=asked)
    assert (strange.status_code, strange.json()["field"]) == (400, "cursor")


def test_a_receipt_says_without_texts_what_the_journal_says(client: TestClient, world: World) -> None:
    world.erase("bob", {"b-port": "stored"})
    pages, cursor = list[Report](), None
    while not pages or cursor is not None:
        pages.append(page(client, subject="ada", receipt=True, limit=4, cursor=cursor))
        cursor = pages[-1].next
    made = {"format": FORMAT, "parts": [one.receipt for one in pages]}
    person = person_receipts.verify(world.codec, GENESIS, json.dumps(made).encode())
    assert (len(person.each), person.kept_back, len(pages)) == (10, 1, 3)
    done = {one.memory_id: [event.what for event in one.events] for one in person.each}
    assert "forgotten" in done[ID["a-lost"]]
    assert {"stored", "scored", "read", "sent"} <= {*done[ID["a-port"]]}
    assert "superseded" in done[ID["a-old"]] and "dropped" in done[ID["a-faint"]] and "finished" in done[ID["a-task"]]
    assert not {"stored", "drafted", "scored"} & {*done[ID["note"]], *done[ID["mixed"]]}
    said = json.dumps([one.receipt for one in pages])
    assert not [word for word in ("alpha", "beta", "ben", "mail", "phone") if word in said]
    compared = Compared(person)
    with psycopg.connect(world.dsn) as connection:
        links = connection.execute(QUERIES["receipt_entries"], {"shard": 0, "first": 1, "last": 999}).fetchall()
    for data, _, digest in links:
        entry = world.codec.decode_as(JournalEntry, data)
        compared.take(entry, world.codec.decode(entry.detail), digest)
    assert compared.finish() == [] and compared.found >= len(person.each) - 4


def test_an_agent_and_a_memory_can_be_reported_too(client: TestClient) -> None:
    ben = {one.memory_id for one in page(client, agent="ben").reported if one.event_id is not None}
    assert ben == {ID["b-port"], ID["b-lamp"], ID["note"]}
    one = page(client, memory_id=ID["b-port"]).reported
    assert [(found.memory_id, found.state) for found in one] == [(ID["b-port"], "short-term")]
    assert page(client, source="phone").records == 4  # the two, the note, and the summary
    assert page(client, memory_id=memory_id("nobody")).records == 0


def test_texts_are_masked_as_in_other_reads(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "memquorum.core.retrieval.redaction.masked", lambda text, *_, **__: "[masked]" if text else text
    )
    told = answer(client, subject="ada", redact=True)
    assert "alpha" not in told and told.count("[masked]") >= 4


def test_limits_of_reading_and_rights_hold_as_for_other_reads(client: TestClient, keys: list[str]) -> None:
    assert page(client, subject="ada", purpose="billing").kept_back == 0
    assert "alpha secret" in answer(client, subject="ada", purpose="billing")
    assert page(client, subject="ada", purpose="billing", sensitivity_max=0.5).kept_back == 1
    for key in keys[1:]:
        asked = [
            client.post(
                "/memories/report",
                json={"namespace": NAMESPACE, "subject": subject},
                headers={"Authorization": f"Bearer {key}"},
            )
            for subject in ("ada", "nobody")
        ]
        assert [one.status_code for one in asked] == [403, 403] and asked[0].text == asked[1].text
    assert page(client, subject="nobody").records == 0
    for wrong in ({}, {"subject": "ada", "agent": "planner"}, {"memory_id": "x"}, {"subject": " "}):
        assert client.post("/memories/report", json={"namespace": NAMESPACE, **wrong}).status_code == 400, wrong


def test_after_an_erasure_it_shows_the_order_and_no_text(world: World, client: TestClient) -> None:
    before = page(client, subject="bob")
    assert "beta port" in answer(client, subject="bob") and before.orders == ()
    was = {"a-again": "reinforced", "a-faint": "dropped", "a-task": "finished", "a-lost": "sealed", "a-lamp": "sealed"}
    gone = {name: was.get(name, "short-term") for name in NAMES if not name.startswith("b-")}
    world.erase("ada", gone)
    told = answer(client, subject="ada", purpose="billing")
    report = convert(json.loads(told), Report)
    assert "alpha" not in told and "beta" not in told
    assert {one.state for one in report.reported} == {"erased"} and report.records == len(gone)
    (order,) = report.orders
    assert (order.order_id, order.reference, order.status) == (erasures.ORDER, "ticket-7", "erased")
    port = next(one for one in report.reported if one.memory_id == ID["a-port"])
    assert port.account is not None and port.account["erased"]["order_id"] == erasures.ORDER
    heading = "\n".join(reporting.heading(report))
    assert f"memquorum receipt get {erasures.ORDER}" in heading and "It was erased" in words(report)
    after = page(client, subject="bob")
    assert after.orders == () and {one.memory_id: one.state for one in after.reported}[ID["b-port"]] == "short-term"
