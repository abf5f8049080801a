"""A model sums sessions up on a running installation: what it is sent, what comes of its answers and its failures."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import httpx
import pytest

from infra import genesis, status
from infra.settings import Settings
from infra.telemetry import announced
from memquorum import cli, topics
from memquorum.client import Memory
from memquorum.client.receipts import lines
from memquorum.commands import OK
from memquorum.core import ids
from memquorum.core.audit.receipts import verify
from memquorum.core.identity import stamps
from memquorum.core.policy import PPM
from memquorum.core.records import SessionClosed
from memquorum.schema_files import load_codec
from tests.builders.notes import NOTES
from tests.support.clock import tick
from tests.support.scripted_model import Model, scripted_model
from tests.support.sessions import configured, driven, rows, tiers
from tests.support.waiting import until
from workers.kafka import loop

START = 1_750_000_000_000
HOUR = 3_600_000
NUMBER = "0401 2233"


@pytest.fixture(scope="module")
def scripted() -> Iterator[Model]:
    with scripted_model(seed=1, invents=2) as model:
        yield model


@pytest.fixture(scope="module")
def line(tmp_path_factory: pytest.TempPathFactory, scripted: Model) -> Iterator[Settings]:
    """The whole fleet with a driven clock, at START."""
    folder = tmp_path_factory.mktemp("line")
    (folder / "summariser.key").write_text("sk-secret-4711\n")
    told = configured(
        folder, summariser_url=scripted.url, summariser_model="scripted-1", summariser_retries=0,
        summariser_jurisdictions="DE", summariser_fallback_hours=1,
    )  # fmt: skip
    with driven(told, {"share_ppm": 700_000, "lost_rank_ppm": PPM + 1}) as running:
        yield running


def by(line: Settings, scripted: Model) -> str:
    return f"openai/scripted-1@{scripted.url.split('/')[2]}"


def lived(line: Settings, namespace: str, session: str = "shift-1", *, ends: bool = True, **facets: Any) -> Memory:
    """A client in a namespace in which a session has been lived, and is over unless it goes on."""
    memory = Memory(kafka=line.bootstrap, url=line.retrieval_url, namespace=namespace, agent="anna")
    for at, note in enumerate(NOTES):
        # One of the notes has a telephone number, which would keep all of them here.
        said = {"sensitivity": 0.0} | (facets if NUMBER in note else {})
        receipt = memory.add(note, session=session, occurred_at=START + at * 1_000, wait=True, **said)
        assert receipt.outcome == "stored", note
    if ends:
        memory.end_session(session)
    return memory


def sent(scripted: Model) -> str:
    return json.dumps(scripted.requests, ensure_ascii=False)


def watched(line: Settings) -> tuple[dict[str, Any], str]:
    """What the consolidator says of itself: its readiness, and its metrics."""
    url = announced(line.run_dir)["consolidator"]["url"]
    return httpx.get(f"{url}/readyz").json(), httpx.get(f"{url}/metrics").text


class Clock:
    """Time goes on by an hour at a time, so that each tick opens an epoch."""

    now = START + HOUR

    @classmethod
    def turn(cls, line: Settings) -> None:
        cls.now += HOUR
        tick(line, cls.now)


def consolidated(line: Settings, namespace: str, name: str) -> bool:
    Clock.turn(line)
    return tiers(line, namespace).get(f"{name} short-term", 0) > 0


def test_a_session_becomes_what_a_model_wrote_and_nothing_that_it_made_up(
    line: Settings, scripted: Model, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    name, before = by(line, scripted), len(scripted.requests)
    with lived(line, "plant") as memory:
        until(lambda: consolidated(line, "plant", name))
        assert tiers(line, "plant") == {"anna sealed": len(NOTES), f"{name} short-term": 1}
        ((summary, text),) = rows(
            line, "SELECT m.id::text, c.body FROM memory m JOIN content c ON c.memory_id = m.id WHERE made_by = %(n)s",
            n=name,
        )  # fmt: skip
        assert scripted.invented, "it made nothing up"
        assert not [one for one in scripted.invented if one.sentence in text]
        written = rows(line, "SELECT count(DISTINCT sentence) FROM quote WHERE summary = %(i)s", i=summary)[0][0]
        verbatim = rows(line, "SELECT count(*) FROM quote WHERE summary = %(i)s AND sentence IS NULL", i=summary)[0][0]
        assert written > 0 and verbatim >= 3
        counted = [
            row for row in watched(line)[1].splitlines() if row.startswith("memquorum_rejected_sentences_total{")
        ]
        assert sum(float(row.split()[-1]) for row in counted) >= len(scripted.invented)
        explained = str(memory.explain(summary))
        assert f"made by {name}" in explained
        texts = {i: t for i, t in rows(line, "SELECT m.id::text, m.created FROM memory m WHERE namespace = 'plant'")}
        # Where hours go by before the summary is there the session ends twice, and other three stand word for word.
        every = [json.loads(one["messages"][-1]["content"])["memories"] for one in scripted.requests[before:]]
        asked = {one["text"] for memories in every for one in memories}
        told = dict(rows(line, "SELECT memory_id::text, recipient FROM disclosure WHERE namespace = 'plant'"))
        host = name.partition("@")[2]
        assert len(told) == len(asked) and set(told.values()) == {host} and set(told) <= set(texts)
        assert {NOTES[(texts[one] - START) // 1_000] for one in told} == asked
        assert f"Its text was sent to {host} to be summed up" in str(memory.explain(next(iter(told))))
        sources = rows(line, "SELECT source::text, sentence FROM quote WHERE summary = %(i)s", i=summary)
        for source, sentence in sources:
            said = [one for one in explained.splitlines() if f" of {source}, said at" in one]
            assert said and all((f"sent to {host} at" in one) == (source in told) for one in said), said
            assert sentence is None or source in told, "a model renders what it was not sent"
        for lost in told.keys() - {source for source, _ in sources}:
            assert f"Of {lost} it says nothing; that was sent to {host}" in explained
        assert scripted.keys[-1] == "Bearer sk-secret-4711"
    assert "sk-secret-4711" not in "".join(file.read_text() for file in line.logs_dir.glob("*.log"))
    assert status.show(line, True, False) == OK
    assert f"summaries: {name}" in capsys.readouterr().out
    monkeypatch.chdir(line.run_dir.parent)
    monkeypatch.setenv("MEMQUORUM_RUN_DIR", str(line.run_dir))
    assert cli.main(["verify"]) == OK, capsys.readouterr().out


def test_a_receipt_names_to_whom_what_was_erased_had_been_sent(
    line: Settings, scripted: Model, capsys: pytest.CaptureFixture[str]
) -> None:
    name = by(line, scripted)
    with lived(line, "erased") as memory:
        until(lambda: consolidated(line, "erased", name))
        ((sent,), *_) = rows(line, "SELECT memory_id::text FROM disclosure WHERE namespace = 'erased'")
        host = name.partition("@")[2]
        beforehand = memory.erase(memory_id=sent)
        assert beforehand.recipients == (host,) == {one.memory_id: one for one in beforehand.going}[sent].sent_to
        assert cli.main(["erase", "-n", "erased", "--url", line.retrieval_url, "--memory", sent]) == OK
        assert f"something of it was sent to {host}" in capsys.readouterr().out
        order = memory.erase(memory_id=sent, dry_run=False)
        assert order.order_id is not None and order.recipients == (host,)
        took = memory.order(order.order_id).took
        assert took is not None and took.recipients == (host,)
        receipt = memory.erasure_receipt(order.order_id)
    assert receipt["erased"]["recipients"] == [host]
    proven = verify(load_codec(), genesis.read(line), json.dumps(receipt).encode())
    assert any(f"to {host}, to be summed up there" in told for told in lines(proven, genesis.read(line)))


@pytest.mark.parametrize(
    ("namespace", "facets"),
    [
        ("sensitive", {"sensitivity": 0.5}),
        ("suggested", {"sensitivity": None}),
        ("purpose", {"purposes": ["billing"]}),
        ("jurisdiction", {"jurisdiction": "US"}),
    ],
)
def test_what_may_not_leave_is_summed_up_here(
    line: Settings, scripted: Model, namespace: str, facets: dict[str, Any]
) -> None:
    asked = len(scripted.requests)
    with lived(line, namespace, **facets):
        until(lambda: consolidated(line, namespace, "extractive/1"))
    assert len(scripted.requests) == asked, "something of it was sent"


def test_a_model_that_is_down_holds_up_nobody_and_nothing_is_lost(line: Settings, scripted: Model) -> None:
    name, scripted.out = by(line, scripted), 503
    with lived(line, "down"), lived(line, "beside", sensitivity=0.9):
        until(lambda: watched(line)[0].get("alarms"))
        assert "1 session has no summary yet" in str(watched(line)[0]["alarms"]) and watched(line)[0]["ready"]
        assert 'memquorum_failed_sessions{stage="consolidator"} 1.0' in watched(line)[1]
        until(lambda: consolidated(line, "beside", "extractive/1"), "another session waits for it")
        assert tiers(line, "down") == {"anna short-term": len(NOTES)}
        # It is not lost with the process either.
        scripted.out = None
        (pid,) = [int(text) for text in (line.run_dir / "ready" / "consolidator").read_text().split()]
        os.kill(pid, signal.SIGKILL)
        until(lambda: consolidated(line, "down", name))
        assert tiers(line, "down") == {"anna sealed": len(NOTES), f"{name} short-term": 1}
        until(lambda: not watched(line)[0].get("alarms"))


def test_a_session_whose_model_fails_is_tried_again_and_summed_up_once_it_answers(
    line: Settings, scripted: Model
) -> None:
    name, scripted.out, asked = by(line, scripted), 503, len(scripted.requests)
    with lived(line, "again") as memory:
        until(lambda: watched(line)[0].get("alarms"))
        assert 'memquorum_failed_sessions{stage="consolidator"} 1.0' in watched(line)[1]
        until(lambda: len(scripted.requests) > asked + 1, "nobody asks it again")
        Clock.turn(line)
        assert tiers(line, "again") == {"anna short-term": len(NOTES)}, "raw memories are touched"
        assert memory.search("Who serviced the boiler in hall 3?", k=1, peek=True)[0].text == NOTES[0]
        scripted.out = None
        until(lambda: consolidated(line, "again", name))
        assert tiers(line, "again") == {"anna sealed": len(NOTES), f"{name} short-term": 1}
        until(lambda: not watched(line)[0].get("alarms"))
        assert 'memquorum_failed_sessions{stage="consolidator"} 0.0' in watched(line)[1]


def test_what_failed_for_so_long_is_summed_up_by_the_rules(line: Settings, scripted: Model) -> None:
    scripted.out, asked = 503, len(scripted.requests)
    made = genesis.read(line)
    with lived(line, "late", ends=False):
        shard = ids.shard_of("late", made.shards)
        ((accepted,),) = rows(
            line, "SELECT next_offset FROM cursor WHERE shard = %(s)s AND topic = %(t)s", s=shard, t=topics.ACCEPTED
        )
        closed = SessionClosed("over", shard, "late", "anna", "shift-1", START + HOUR, "ended", accepted)
        value = load_codec().encode(closed)
        stamp = genesis.stamps(line, genesis.identities(line, made)).stamp(topics.CLOSED, shard, value)
        with closing(loop.producer(line.bootstrap)) as producer:
            # As the line wrote it two hours ago.
            producer.produce(
                topics.CLOSED, value, key=b"late", partition=shard, headers=[(stamps.HEADER, stamp)],
                timestamp=round(time.time() * 1000) - 2 * HOUR,
            )  # fmt: skip
            assert producer.flush(10) == 0
        until(lambda: consolidated(line, "late", "extractive/1"))
        assert len(scripted.requests) > asked, "it was not asked at all"
        assert tiers(line, "late").keys() == {"anna sealed", "extractive/1 short-term"}
    scripted.out = None


def test_a_consolidator_that_is_killed_while_it_asks_makes_each_summary_once(line: Settings, scripted: Model) -> None:
    name, scripted.out = by(line, scripted), "hang"
    scripted.asked.clear()
    with lived(line, "killed"):
        assert scripted.asked.wait(60), "it was not asked"
        (pid,) = [int(text) for text in (line.run_dir / "ready" / "consolidator").read_text().split()]
        os.kill(pid, signal.SIGKILL)
        scripted.out = None
        until(lambda: consolidated(line, "killed", name))
        Clock.turn(line)
        assert tiers(line, "killed") == {"anna sealed": len(NOTES), f"{name} short-term": 1}
