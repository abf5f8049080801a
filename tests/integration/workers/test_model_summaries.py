"""Models of an operator on a running installation: one sums sessions up, what it is sent, what comes of its answers and
its failures; by another members vote on what the rules of contradictions leave open."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import httpx
import pytest

from infra import genesis, status
from infra.process_telemetry import announced
from memquorum import cli, topics
from memquorum.client import Memory
from memquorum.client.verifying import receipt_lines
from memquorum.commands import OK
from memquorum.core import ids
from memquorum.core.audit.receipts import verify
from memquorum.core.identity import stamps
from memquorum.core.policy import PPM
from memquorum.core.records import SessionClosed
from memquorum.schema_files import load_codec
from tests.builders import contradicting
from tests.builders.notes import NOTES
from tests.support.scripted_model import Model, scripted_model
from tests.support.sessions import HOUR, Plant, configured, driven
from tests.support.waiting import PATIENCE_S
from workers.kafka import loop

NUMBER = "0401 2233"
OLDER, NEWER = "Valve 3 leaks at 4 bar.", "What leaks at 4 bar is not valve 3."


@pytest.fixture(scope="module")
def scripted() -> Iterator[Model]:
    with scripted_model(seed=1, invents=2) as model:
        yield model


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory, scripted: Model) -> Iterator[Plant]:
    """The whole fleet with a driven clock, whose sessions a model sums up, and whose members vote by another one."""
    folder = tmp_path_factory.mktemp("line")
    (folder / "summariser.key").write_text("sk-secret-4711\n")
    digest = contradicting.written(folder / "model")
    told = configured(
        folder, contradiction_path=folder / "model", contradiction_digest=digest,
        summariser_url=scripted.url, summariser_model="scripted-1", summariser_retries=0,
        summariser_jurisdictions="DE", summariser_fallback_hours=1,
    )  # fmt: skip
    supersede = {"model": digest, "inferred": True}
    with driven(told, {"share_ppm": 700_000, "lost_rank_ppm": PPM + 1}, supersede=supersede) as running:
        yield Plant(running)


def by(scripted: Model) -> str:
    return f"openai/scripted-1@{scripted.url.split('/')[2]}"


def lived(fleet: Plant, namespace: str, *, ends: bool = True, every: bool = True, **facets: Any) -> Memory:
    """A client in a namespace in which a session has been lived, and is over unless it goes on. `every`: the facets are
    those of each note, and not of the one alone that has a telephone number."""
    memory = fleet.client(namespace)
    for note in NOTES:
        # The number would suggest a sensitivity.
        fleet.live(memory, notes=(note,), **({"sensitivity": 0.0} | (facets if every or NUMBER in note else {})))
    if ends:
        memory.end_session("shift-1")
    return memory


def sent(scripted: Model) -> str:
    return json.dumps(scripted.requests, ensure_ascii=False)


def watched(fleet: Plant) -> tuple[dict[str, Any], str]:
    """Returns the consolidator's readiness, and its metrics."""
    url = announced(fleet.line.run_dir)["consolidator"]["url"]
    return httpx.get(f"{url}/readyz", timeout=PATIENCE_S).json(), httpx.get(f"{url}/metrics", timeout=PATIENCE_S).text


def consolidated(fleet: Plant, namespace: str, name: str) -> None:
    """Waits for the summary that one of that name made."""
    fleet.later(lambda: fleet.tiers(namespace).get(f"{name} short-term"), f"no summary by {name}")


def test_a_session_becomes_what_a_model_wrote_and_nothing_that_it_made_up(
    fleet: Plant, scripted: Model, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    name, before, began = by(scripted), len(scripted.requests), fleet.now
    with lived(fleet, "plant") as memory:
        consolidated(fleet, "plant", name)
        assert fleet.tiers("plant") == {"anna sealed": len(NOTES), f"{name} short-term": 1}
        ((summary, text),) = fleet.rows(
            "SELECT m.id::text, c.body FROM memory m JOIN content c ON c.memory_id = m.id WHERE made_by = %(n)s",
            n=name,
        )  # fmt: skip
        assert scripted.invented, "it made nothing up"
        assert not [one for one in scripted.invented if one.sentence in text]
        written = fleet.rows("SELECT count(DISTINCT sentence) FROM quote WHERE summary = %(i)s", i=summary)[0][0]
        verbatim = fleet.rows("SELECT count(*) FROM quote WHERE summary = %(i)s AND sentence IS NULL", i=summary)[0][0]
        assert written > 0 and verbatim >= 3
        counted = [
            row for row in watched(fleet)[1].splitlines() if row.startswith("memquorum_rejected_sentences_total{")
        ]
        assert sum(float(row.split()[-1]) for row in counted) >= len(scripted.invented)
        explained = memory.explain(summary).in_numbers()
        assert f"made by {name}" in explained
        texts = {i: t for i, t in fleet.rows("SELECT m.id::text, m.created FROM memory m WHERE namespace = 'plant'")}
        # If hours go by before the summary is there the session ends twice, and three others stand word for word.
        every = [json.loads(one["messages"][-1]["content"])["memories"] for one in scripted.requests[before:]]
        asked = {one["text"] for memories in every for one in memories}
        told = dict(fleet.rows("SELECT memory_id::text, recipient FROM disclosure WHERE namespace = 'plant'"))
        host = name.partition("@")[2]
        assert len(told) == len(asked) and set(told.values()) == {host} and set(told) <= set(texts)
        assert {NOTES[(texts[one] - began) // 1_000 - 1] for one in told} == asked
        assert f"Its text was sent to {host}, to a model there" in memory.explain(next(iter(told))).in_numbers()
        sources = fleet.rows("SELECT source::text, sentence FROM quote WHERE summary = %(i)s", i=summary)
        for source, sentence in sources:
            said = [one for one in explained.splitlines() if f" of {source}, said at" in one]
            assert said and all((f"sent to {host} at" in one) == (source in told) for one in said), said
            assert sentence is None or source in told, "a model renders what it was not sent"
        for lost in told.keys() - {source for source, _ in sources}:
            assert f"Of {lost} it says nothing; that was sent to {host}" in explained
        assert scripted.keys[-1] == "Bearer sk-secret-4711"
    assert "sk-secret-4711" not in "".join(file.read_text() for file in fleet.line.logs_dir.glob("*.log"))
    assert status.show(fleet.line, True, False) == OK
    assert f"summaries: {name}" in capsys.readouterr().out
    monkeypatch.chdir(fleet.line.run_dir.parent)
    monkeypatch.setenv("MEMQUORUM_RUN_DIR", str(fleet.line.run_dir))
    assert cli.main(["verify"]) == OK, capsys.readouterr().out


def test_a_receipt_names_to_whom_what_was_erased_had_been_sent(
    fleet: Plant, scripted: Model, capsys: pytest.CaptureFixture[str]
) -> None:
    name = by(scripted)
    with lived(fleet, "erased") as memory:
        consolidated(fleet, "erased", name)
        ((sent,), *_) = fleet.rows("SELECT memory_id::text FROM disclosure WHERE namespace = 'erased'")
        host = name.partition("@")[2]
        beforehand = memory.erase(memory_id=sent)
        assert beforehand.recipients == (host,) == {one.memory_id: one for one in beforehand.going}[sent].sent_to
        assert cli.main(["erase", "-n", "erased", "--url", fleet.line.retrieval_url, "--memory", sent]) == OK
        assert f"something of it was sent to {host}" in capsys.readouterr().out
        order = memory.erase(memory_id=sent, dry_run=False)
        assert order.order_id is not None and order.recipients == (host,)
        took = memory.order(order.order_id).took
        assert took is not None and took.recipients == (host,)
        receipt = memory.erasure_receipt(order.order_id)
    assert receipt["erased"]["recipients"] == [host]
    proven = verify(load_codec(), genesis.read(fleet.line), json.dumps(receipt).encode())
    assert any(f"to {host}, to a model there" in told for told in receipt_lines(proven, genesis.read(fleet.line)))


@pytest.mark.parametrize(
    ("namespace", "facets"),
    [
        ("sensitive", {"sensitivity": 0.5}),
        ("purpose", {"purposes": ["billing"]}),
        ("jurisdiction", {"jurisdiction": "US"}),
    ],
)
def test_what_may_not_leave_is_summed_up_here(
    fleet: Plant, scripted: Model, namespace: str, facets: dict[str, Any]
) -> None:
    asked = len(scripted.requests)
    with lived(fleet, namespace, **facets):
        consolidated(fleet, namespace, "extractive/1")
    assert len(scripted.requests) == asked, "something of it was sent"


@pytest.mark.parametrize(
    ("namespace", "facets"),
    [
        ("one-sensitive", {"sensitivity": 0.5}),
        ("suggested", {"sensitivity": None}),
        ("one-law", {"jurisdiction": "US"}),
    ],
)
def test_what_may_not_leave_stays_and_keeps_nothing_else_here(
    fleet: Plant, scripted: Model, namespace: str, facets: dict[str, Any]
) -> None:
    asked = len(scripted.requests)
    with lived(fleet, namespace, every=False, **facets) as memory:
        fleet.later(lambda: fleet.summaries(namespace))
        tiers = fleet.tiers(namespace)
        assert (tiers["anna sealed"], tiers["anna short-term"]) == (len(NOTES) - 1, 1), "of one no summary is made"
        found = memory.search("Who gave me this number?", peek=True, sensitivity_max=0.0, jurisdictions=["DE"], k=20)
    assert found, "what is not sensitive is found"
    assert scripted.requests[asked:] and NUMBER not in json.dumps(scripted.requests[asked:]), "it was sent"


def test_a_model_that_is_down_holds_up_nobody_and_nothing_is_lost(fleet: Plant, scripted: Model) -> None:
    name, scripted.out = by(scripted), 503
    with lived(fleet, "down"), lived(fleet, "beside", sensitivity=0.9):
        fleet.until(lambda: watched(fleet)[0].get("alarms"))
        assert "1 session has no summary yet" in str(watched(fleet)[0]["alarms"]) and watched(fleet)[0]["ready"]
        assert 'memquorum_failed_sessions{stage="consolidator"} 1.0' in watched(fleet)[1]
        consolidated(fleet, "beside", "extractive/1")
        assert fleet.tiers("down") == {"anna short-term": len(NOTES)}
        # It is not lost with the process either.
        scripted.out = None
        fleet.kill("consolidator")
        consolidated(fleet, "down", name)
        assert fleet.tiers("down") == {"anna sealed": len(NOTES), f"{name} short-term": 1}
        fleet.until(lambda: not watched(fleet)[0].get("alarms"))


def test_a_session_whose_model_fails_is_tried_again_and_summed_up_once_it_answers(
    fleet: Plant, scripted: Model
) -> None:
    name, scripted.out, asked = by(scripted), 503, len(scripted.requests)
    with lived(fleet, "again") as memory:
        fleet.until(lambda: watched(fleet)[0].get("alarms"))
        assert 'memquorum_failed_sessions{stage="consolidator"} 1.0' in watched(fleet)[1]
        fleet.until(lambda: len(scripted.requests) > asked + 1, "nobody asks it again")
        fleet.turn()
        assert fleet.tiers("again") == {"anna short-term": len(NOTES)}, "raw memories are touched"
        assert memory.search("Who serviced the boiler in hall 3?", k=1, peek=True)[0].text == NOTES[0]
        scripted.out = None
        consolidated(fleet, "again", name)
        assert fleet.tiers("again") == {"anna sealed": len(NOTES), f"{name} short-term": 1}
        fleet.until(lambda: not watched(fleet)[0].get("alarms"))
        assert 'memquorum_failed_sessions{stage="consolidator"} 0.0' in watched(fleet)[1]


def test_what_failed_for_so_long_is_summed_up_by_the_rules(fleet: Plant, scripted: Model) -> None:
    scripted.out, asked = 503, len(scripted.requests)
    made = genesis.read(fleet.line)
    with lived(fleet, "late", ends=False):
        shard = ids.shard_of("late", made.shards)
        ((accepted,),) = fleet.rows(
            "SELECT next_offset FROM cursor WHERE shard = %(s)s AND topic = %(t)s", s=shard, t=topics.ACCEPTED
        )
        closed = SessionClosed("over", shard, "late", "anna", "shift-1", fleet.now, "ended", accepted)
        value = load_codec().encode(closed)
        stamp = genesis.stamps(fleet.line, genesis.identities(fleet.line, made)).stamp(topics.CLOSED, shard, value)
        with closing(loop.producer(fleet.line.bootstrap)) as producer:
            # As the line wrote it two hours ago.
            producer.produce(
                topics.CLOSED, value, key=b"late", partition=shard, headers=[(stamps.HEADER, stamp)],
                timestamp=round(time.time() * 1000) - 2 * HOUR,
            )  # fmt: skip
            assert producer.flush(10) == 0
        consolidated(fleet, "late", "extractive/1")
        assert len(scripted.requests) > asked, "it was not asked at all"
        assert fleet.tiers("late").keys() == {"anna sealed", "extractive/1 short-term"}
    scripted.out = None


def test_a_consolidator_that_is_killed_while_it_asks_makes_each_summary_once(fleet: Plant, scripted: Model) -> None:
    name, scripted.out = by(scripted), "hang"
    scripted.asked.clear()
    with lived(fleet, "killed"):
        assert scripted.asked.wait(60), "it was not asked"
        fleet.kill("consolidator")
        scripted.out = None
        consolidated(fleet, "killed", name)
        fleet.turn()
        assert fleet.tiers("killed") == {"anna sealed": len(NOTES), f"{name} short-term": 1}


def test_members_vote_by_the_model_of_contradictions_that_their_policy_names(fleet: Plant) -> None:
    """The model marks and votes on pairs that the rules leave open."""
    with fleet.client("valves") as memory:
        older = memory.add(OLDER, wait=True, reward=0.9)
        newer = memory.add(NEWER, wait=True, reward=0.9)
        found = {hit.memory_id: hit.conflicts_with for hit in memory.search("valve 3", peek=True)}
        assert found[newer.memory_id] == (older.memory_id,)
        fleet.later(lambda: memory.get(older.memory_id).tier == "superseded")
        vote = memory.explain(older.memory_id).account["votes"][-1]
    assert {one["score_ppm"] for one in vote["opinions"]} == {750_000}
