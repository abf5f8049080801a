"""The client against the whole line: remember, find, use, repeat, forget by a vote, and be told why; and the line
watched meanwhile: one trace from the publication to the last key, metrics and health of every process, clean logs."""

from __future__ import annotations

import asyncio
import io
import itertools
import json
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest
from msgspec import structs

from infra import admin_commands, fleet, genesis, process_telemetry, settings, status, supervisor
from infra.checks import rebuilt
from infra.settings import Settings
from memquorum import cli, topics
from memquorum.client import AsyncMemory, Forget, Invalid, Memory, NoOutcome, NotFound, Restore
from memquorum.commands import FAILED, NOT_FOUND, OK, UNREACHABLE, USAGE
from memquorum.core.ids import memory_id
from memquorum.core.policy import UNCAPPED
from memquorum.core.records import Link
from memquorum.core.retrieval.paging import cursor
from memquorum.core.showing.quoting import HEADING
from memquorum.encoders.hashing import HashingEncoder
from memquorum.telemetry import metrics, reading
from tests.support.clock import tick
from tests.support.collector import BINARY, WITHOUT, Collector, collector
from tests.support.waiting import PATIENCE_S, later, until

START = 1_750_000_000_000
HOUR = 3_600_000


@pytest.fixture(scope="module")
def collected(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Collector | None]:
    """A collector that the fleet sends its traces to; None where none was built."""
    if not BINARY.exists():
        yield None
        return
    with collector(tmp_path_factory.mktemp("collector")) as found:
        yield found


@pytest.fixture(scope="module")
def line(tmp_path_factory: pytest.TempPathFactory, collected: Collector | None) -> Iterator[Settings]:
    """The whole fleet with a driven clock, at START; keys of what is forgotten are destroyed half an hour later."""
    configured = replace(
        settings.load({}, tmp_path_factory.mktemp("line")), clock="driven", encoder="hashing", throwaway=True,
        otlp_endpoint=collected.url if collected else "",
    )  # fmt: skip
    decay = {"scales_s": [10.0, 60.0, 3_600.0]}
    genesis.create(configured, policy={"decay": decay, "forget": {"grace_ms": HOUR // 2}, "caps": UNCAPPED})
    with supervisor.started(configured) as running:
        tick(running, START)
        yield running


@pytest.fixture
def memory(line: Settings, request: pytest.FixtureRequest) -> Iterator[Memory]:
    """A client in a namespace of the test's own."""
    with client(line, request.node.name.replace("[", "-").replace("]", "")) as found:
        yield found


def client(line: Settings, namespace: str, agent: str = "planner") -> Memory:
    return Memory(kafka=line.bootstrap, url=line.retrieval_url, namespace=namespace, agent=agent)


def test_what_is_added_is_found_and_what_is_said_again_reinforces(memory: Memory) -> None:
    first = memory.add("The pump in bay 3 was replaced with the spare.", wait=True, session="s1", reward=0.9)
    assert first.outcome == "stored"
    (hit,) = memory.search("the pump in bay 3", peek=True)
    assert (hit.memory_id, hit.tier, hit.session, hit.occurred_at) == (first.memory_id, "short-term", "s1", START)
    found = memory.retrieve("which pumps were replaced?", sessions=["s1"], peek=True)
    assert [item.memory_id for item in found.items] == [first.memory_id]
    assert memory.retrieve("pump", budget_tokens=3, peek=True).left_out["budget"].memory_ids == (first.memory_id,)
    assert [item.way for item in memory.recall(first.memory_id, peek=True).items] == ["anchor"]
    prompt = memory.context("which pumps were replaced?", session="s1", peek=True)
    assert [(item.memory_id, item.why, item.place) for item in prompt.items] == [(first.memory_id, "buffer", 1)]
    assert str(prompt).startswith(f"{HEADING}This session:\n- [") and "The pump in bay 3 was replaced" in str(prompt)
    again = memory.add("The pump in bay 3 was replaced with the spare.", wait=True, session="s2")
    assert [item.memory_id for item in memory.context(session="s2", peek=True).items] == [first.memory_id]
    assert memory.context(session="s3", peek=True).items == ()
    assert (again.outcome, again.memory_id) == ("reinforced", first.memory_id)
    told_at_once = memory_id(again.namespace, again.event_id)
    for ask in (memory.get, memory.explain):  # the id that a publisher has before anybody knows what became of it
        with pytest.raises(NotFound, match=f"no memory {told_at_once}.*: .*reinforced {first.memory_id}"):
            ask(told_at_once)
    same = memory.add("The pump in bay 3 was replaced with the spare.", wait=True, event_id=first.event_id)
    assert (same.outcome, same.memory_id) == ("stored", first.memory_id)
    shown = memory.get(first.memory_id)
    assert (shown.reinforced, shown.accesses) == (1, 0)


def test_what_is_written_on_purpose_is_stored_whatever_it_is_worth(memory: Memory) -> None:
    doubtful = "Ada prefers tea in the afternoon."
    assert memory.add(doubtful, wait=True, confidence=0.1).outcome == "below_threshold"
    kept = memory.add(doubtful, wait=True, confidence=0.1, explicit=True, key="ada/drink")
    assert kept.outcome == "stored"
    (hit,) = memory.search("what does Ada drink?", peek=True)
    assert (hit.memory_id, hit.explicit, hit.key) == (kept.memory_id, True, "ada/drink")


def test_a_slot_that_is_filled_anew_serves_the_last_word_alone(line: Settings, memory: Memory) -> None:
    said = ["Ada eats no meat.", "Ada eats fish again.", "Ada eats everything but nuts."]
    receipts = [memory.add(text, explicit=True, key="ada/dietary") for text in said]
    found = memory.search("What does Ada eat?", peek=True, after=receipts[-1])
    assert [hit.text for hit in found] == said[-1:]
    assert [item.text for item in memory.retrieve("What does Ada eat?", peek=True).items] == said[-1:]
    assert [memory.get(one.memory_id).tier for one in receipts] == ["superseded", "superseded", "short-term"]
    with client(line, memory.namespace, "nurse") as other:
        theirs = other.add("Ada eats no nuts and no fish.", explicit=True, key="ada/dietary")
        both = other.search("What does Ada eat?", peek=True, after=theirs)
        lately = other.context("What does Ada eat?", peek=True)
        buffer = other.context(peek=True)
    beside = {theirs.memory_id: (receipts[-1].memory_id,), receipts[-1].memory_id: (theirs.memory_id,)}
    assert {hit.memory_id: hit.conflicts_with for hit in both} == beside
    assert {item.memory_id: item.conflicts_with for item in lately.items} == beside
    older, newer = receipts[-1].memory_id, theirs.memory_id
    for items in (both, lately.items):
        marks = {item.memory_id: (item.overtaken, item.overtakes) for item in items}
        assert marks[newer] == ((), (older,)) and [(by.by, by.disputed) for by in marks[older][0]] == [(newer, False)]
    assert [by.by for by in memory.get(older).overtaken] == [newer]
    assert str(lately).count(", overtaken on ") == 1
    assert [item.conflicts_with for item in buffer.items] == [beside[newer]]


def test_what_is_filed_is_found_where_it_is_filed(line: Settings, memory: Memory) -> None:
    def add(text: str, **filed: Any) -> str:
        return memory.add(text, explicit=True, wait=True, **filed).memory_id

    tea = add("Ada drinks tea.", key="drink", path="users/ada", attributes={"colour": "green", "cups": 3})
    hers = add("Ada drinks milk.", key="drink", path="users/adam", attributes={"colour": "white", "cups": 1.5})
    wine = add("Ada drinks wine now.", key="drink", path="users/ada", attributes={"colour": "red"})
    again = add("Ada drinks wine now.", key="drink", path="users/ada", attributes={"colour": "white"})
    assert [memory.get(one).tier for one in (tea, hers, wine, again)] == [
        "superseded", "short-term", "superseded", "short-term",
    ]  # fmt: skip
    shown, rests = memory.get(again), memory.get(wine)
    assert (shown.key, shown.path, shown.attributes) == ("drink", "users/ada", {"colour": "white"})
    assert (rests.key, rests.path, rests.attributes) == (None, None, None)
    assert "It fills the slot users/ada/drink" in memory.explain(again).in_numbers()
    asked = "What does Ada drink?"
    for only, expected in (
        ({"path": "users/ada"}, {again}),
        ({"path": "users"}, {again, hers}),
        ({"path": "users/ad"}, set[str]()),
        ({"path": "users", "where": {"cups": {"$gt": 1, "$lte": 1.5}}}, {hers}),
        ({"where": {"colour": {"$in": ["white", "red"]}, "cups": {"$ne": 1.5}}}, {again}),
    ):
        assert {hit.memory_id for hit in memory.search(asked, peek=True, **only)} == expected
        assert {one.memory_id for one in memory.retrieve(asked, peek=True, **only).items} == expected
        assert {one.memory_id for one in memory.context(asked, peek=True, **only).items} == expected
        assert {one.memory_id for one in memory.memories(**only).memories} == expected
    assert [one.memory_id for one in memory.memories(path="users/ada", keys=["drink"]).memories] == [again]
    (vector,) = HashingEncoder().encode(["Ada drinks wine now."])
    assert [hit.memory_id for hit in memory.search(vector=vector, k=1, peek=True)] == [again]
    assert [hit.memory_id for hit in memory.search(vector=vector, peek=True, path="users/adam")] == [hers]
    with pytest.raises(Invalid, match="384"):
        memory.search(vector=[1.0, 0.0], peek=True)
    with pytest.raises(Invalid, match="segments"):
        memory.add("x", path="users//ada")
    with pytest.raises(Invalid, match="operator"):
        memory.search(asked, where={"colour": {"$like": "red"}})


def test_what_renews_another_comes_first_where_no_rule_finds_that_they_contradict(
    line: Settings, memory: Memory
) -> None:
    older = memory.add("Bernd trains the juniors.", wait=True, explicit=True)
    with psycopg.connect(line.memory_dsn, autocommit=True) as connection:
        (now,) = connection.execute("SELECT max(as_of) FROM shard").fetchone() or (0,)
    tick(line, now + 1)  # where time stands still, no text is the later one
    newer = memory.add("Bernd handed the juniors over to Svenja.", wait=True, explicit=True)
    asked = "Which coach of the juniors is it on Mondays, Bernd?"
    assert [hit.memory_id for hit in memory.search(asked, k=1, peek=True)] == [newer.memory_id]
    found = [item.memory_id for item in memory.retrieve(asked, peek=True).items]
    assert found == [newer.memory_id, older.memory_id]


def test_a_read_sees_the_write_that_it_names_on_any_instance(line: Settings, memory: Memory) -> None:
    with client(line, memory.namespace, "reader") as other:
        for number in range(5):
            receipt = memory.add(f"Tank {number} holds {number}0 litres.", explicit=True)
            shown = other.get(receipt.memory_id, after=receipt.token)
            assert shown.text == f"Tank {number} holds {number}0 litres."
            found = other.search(f"What does tank {number} hold?", peek=True, after=receipt)
            assert receipt.memory_id in [hit.memory_id for hit in found]


def test_reading_counts_as_use_and_peeking_does_not(memory: Memory) -> None:
    receipt = memory.add("Lunch is at noon in the canteen.", wait=True)
    assert memory.outcome(memory.use(receipt.memory_id)).outcome == "accessed"
    assert memory.get(receipt.memory_id).accesses == 1
    memory.search("lunch")
    until(lambda: memory.get(receipt.memory_id).accesses == 2)
    memory.search("lunch", peek=True)
    memory.retrieve("lunch", peek=True)
    memory.recall(query="lunch", peek=True)
    # Whatever a peek had published would lie before this use in the stream.
    memory.outcome(memory.use(receipt.memory_id))
    assert memory.get(receipt.memory_id).accesses == 3
    memory.retrieve("lunch")
    until(lambda: memory.get(receipt.memory_id).accesses == 4)
    memory.context("lunch")
    until(lambda: memory.get(receipt.memory_id).accesses == 5)
    assert "Read 5 times" in memory.explain(receipt.memory_id).in_numbers()


def test_what_may_be_used_for_little_is_given_to_who_may(line: Settings) -> None:
    with client(line, "facets", "planner") as memory, client(line, "facets", "assistant") as other:
        bill = memory.add(
            "Invoice 17 of Ada was paid late.", wait=True, type="semantic", sensitivity=0.7,
            purposes=["billing", "audits"], jurisdiction="DE",
        )  # fmt: skip
        call = memory.add("Grace called about the broken lamp.", wait=True, purposes=["support", "audits"], type="task")
        plain = other.add("The cellar was painted green on Monday.", wait=True)
        made = memory.add(
            "Two customers are unhappy with our service.", wait=True, derives_from=[bill.memory_id, call.memory_id]
        )
        assert {one.outcome for one in (bill, call, plain, made)} == {"stored"}
        names = {bill.memory_id: "bill", call.memory_id: "call", plain.memory_id: "plain", made.memory_id: "made"}

        def given(**only: Any) -> tuple[set[str], dict[str, int]]:
            found = memory.retrieve("who was unhappy?", peek=True, **only)
            nearest = memory.search("who was unhappy?", peek=True, **only)
            assert {names[one.memory_id] for one in nearest} == {names[one.memory_id] for one in found.items}
            left = {why: told.count for why, told in found.left_out.items() if not told.memory_ids}
            return {names[one.memory_id] for one in found.items}, left

        assert given() == ({"plain"}, {"purpose": 3})
        assert given(purpose="billing") == ({"plain", "bill"}, {"purpose": 2})
        assert given(purpose="audits") == ({"plain", "bill", "call", "made"}, {})
        assert given(purpose="audits", sensitivity_max=0.5) == ({"plain", "call"}, {"sensitivity": 2})
        assert given(purpose="audits", jurisdictions=["FR"]) == ({"plain", "call"}, {"jurisdiction": 2})
        assert given(purpose="audits", types=["semantic", "task"]) == ({"bill", "call"}, {"type": 2})
        assert given(agents=["assistant"], purpose="audits") == ({"plain"}, {"agent": 3})
        assert given(purpose="audits", until=START) == (set(), {"time": 4})
        with pytest.raises(Invalid, match="must lie in"):
            memory.retrieve("q", sensitivity_max=7, peek=True)

        around = memory.recall(made.memory_id, steps=0, purpose="audits", peek=True)
        assert {(names[one.memory_id], one.way, one.apart) for one in around.items} == {
            ("made", "anchor", 0), ("bill", "source", -1), ("call", "source", -1)
        }  # fmt: skip
        below = memory.recall(call.memory_id, steps=0, purpose="audits", sensitivity_max=0.5, peek=True)
        assert [names[one.memory_id] for one in below.items] == ["call"]
        assert below.left_out["sensitivity"].count == 2
        assert [names[one.memory_id] for one in memory.context(peek=True).items] == []
        prompt = memory.context(peek=True, purpose="audits", sensitivity_max=0.5)
        assert [names[one.memory_id] for one in prompt.items] == ["call"]
        with pytest.raises(NotFound, match="for this purpose"):
            memory.recall(made.memory_id, peek=True)

        (top,) = (one for one in around.items if one.way == "anchor")
        assert (top.type, top.sensitivity, top.purposes, top.jurisdictions) == ("episodic", 0.7, ("audits",), ("DE",))
        # By id is given what a search for the same would give.
        for asked in (memory.get, memory.explain):
            with pytest.raises(NotFound):
                asked(made.memory_id)
        assert memory.get(made.memory_id, purpose="audits").purposes == ("audits",)
        told = memory.explain(made.memory_id, purpose="audits")
        assert told.account["holds"]["stricter"] is True
        assert "for audits only; under the law of DE, as strict as what it was made of." in told.in_numbers()
        assert "It may be used for audits only." in str(told)
    assert rebuilt(line, "facets")["equal"]


async def test_many_at_once(line: Settings) -> None:
    async with AsyncMemory(kafka=line.bootstrap, url=line.retrieval_url, namespace="many", agent="a") as memory:
        added = await asyncio.gather(*(memory.add(f"crate {i} holds {i * 7} lamps", wait=True) for i in range(20)))
        assert {receipt.outcome for receipt in added} <= {"stored", "below_threshold"}
        with pytest.raises(NoOutcome):
            await memory.outcome(replace(added[0], event_id="never published"), 0.2)
        with pytest.raises(NotFound):
            await memory.get("00000000-0000-4000-8000-000000000000")


def test_a_script_that_closes_nothing_ends_without_a_word(line: Settings) -> None:
    script = """
import sys
from memquorum.client import Memory
memory = Memory(kafka=sys.argv[1], url=sys.argv[2], namespace="script", agent="a")
print(memory.add("The spare key hangs in the office.", wait=True).outcome)
"""
    ended = subprocess.run(
        [sys.executable, "-W", "default", "-c", script, line.bootstrap, line.retrieval_url],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "stored\n", "")


@pytest.mark.parametrize("ends", ["at once", "later"])
def test_a_client_that_is_dropped_open_ends_with_one_warning(line: Settings, ends: str) -> None:
    script = f"""
import gc, sys, threading
from memquorum.client import Memory
from memquorum.core.showing.quoting import HEADING
memory = Memory(kafka=sys.argv[1], url=sys.argv[2], namespace="script", agent="a")
print(memory.add("The spare key hangs in the office.", wait=True).event_id != "")
thread = memory._loop._thread
del memory
if {ends == "later"}:
    thread.join(20)
    gc.collect()
    for other in threading.enumerate():
        other is threading.main_thread() or other.join(20)
    print(threading.active_count())
"""
    ended = subprocess.run(
        [sys.executable, "-W", "default", "-c", script, line.bootstrap, line.retrieval_url],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    told = [row for row in ended.stderr.splitlines() if not row.startswith(" ")]
    assert len(told) == 1 and "Memory was dropped without being closed: use it as `with`, or call close()" in told[0]
    assert (ended.returncode, ended.stdout) == (0, "True\n1\n" if ends == "later" else "True\n")


def test_the_fleet_forgets_and_says_why_and_restores_what_is_asked_back(
    line: Settings, memory: Memory, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    doomed = memory.add("Somebody left an umbrella.", wait=True)
    for agent in ("observer", "planner", "executor", "reviewer"):
        with client(line, memory.namespace, agent) as other:
            other.add(f"{agent} measured {len(agent)} litres of nitrate in tank {agent}", wait=True)
    tick(line, START + 2 * HOUR)
    shown = until(lambda: (m := memory.get(doomed.memory_id)).tier == "sealed" and m)
    assert shown.text is None
    assert doomed.memory_id not in {hit.memory_id for hit in memory.search("umbrella", peek=True)}
    told = memory.explain(doomed.memory_id)
    (vote,) = told.account["votes"]
    assert (vote["kind"], vote["outcome"]) == ("forget", "forgotten")
    assert vote["yes"] >= vote["quorum"] == 3
    assert vote["weight_ppm"] >= vote["needed_ppm"]
    assert str(told).startswith("Forgotten on ") and f"memquorum restore -n {memory.namespace} " in str(told)
    assert "All signatures hold." in told.in_numbers()
    assert "umbrella" not in str(told) + told.in_numbers()

    # Somebody wants it back: the members vote on that at the next tick.
    asked = memory.restore(doomed.memory_id, reference="ticket 9", timeout=0)
    assert (asked.status, asked.memories[0].status) == ("asked", "sealed")
    until(lambda: came_in(memory, asked))
    tick(line, START + 2 * HOUR + 1_000)
    done = until(lambda: (r := memory.order(asked.order_id or "")).status == "decided" and r)
    assert [one.status for one in done.memories] == ["restored"]
    shown = memory.get(doomed.memory_id)
    assert (shown.tier, shown.text, shown.last_access) == (
        "short-term", "Somebody left an umbrella.", START + 2 * HOUR,
    )  # fmt: skip
    assert doomed.memory_id in {hit.memory_id for hit in memory.search("umbrella", peek=True)}
    told = memory.explain(doomed.memory_id)
    vote = told.account["votes"][-1]
    assert (vote["kind"], vote["outcome"], vote["yes"], vote["quorum"]) == ("restore", "restored", 4, 2)
    assert f"asked for it back; the epoch was opened by request {asked.order_id}" in told.in_numbers()

    # Somebody wants another one forgotten: nothing would come of it now, and something later, before it is due.
    other = memory.add("It rained.", wait=True).memory_id
    would = memory.forget(other)
    assert (would.status, would.memories[0].relevance_below) == ("nothing asked", 0.0)
    tick(line, START + 2 * HOUR + HOUR * 5 // 12)
    assert 0.3 < memory.forget(other).memories[0].relevance_below < 0.5
    asked = memory.forget(other, dry_run=False, timeout=0)
    until(lambda: came_in(memory, asked))
    assert memory.get(other).tier == "short-term"
    tick(line, START + 2 * HOUR + HOUR * 5 // 12 + 1_000)
    done = until(lambda: (r := memory.order(asked.order_id or "")).status == "decided" and r)
    assert (done.says["action"], done.memories[0].status, memory.get(other).tier) == ("forget", "forgotten", "sealed")
    assert "because somebody wants it forgotten; the epoch was opened by request" in memory.explain(other).in_numbers()

    # No use follows the first: it is forgotten again, and after the grace time its key is destroyed.
    tick(line, START + 4 * HOUR)
    until(lambda: memory.get(doomed.memory_id).tier == "sealed")
    tick(line, START + 5 * HOUR)
    until(lambda: memory.get(doomed.memory_id).tier == "gone")
    assert run(line, monkeypatch, "forget", "-n", memory.namespace, doomed.memory_id) == OK
    assert "it is forgotten already" in capsys.readouterr().out
    late = memory.restore(doomed.memory_id)
    assert late.status == "nothing to restore" and "its key was destroyed on" in late.memories[0].detail
    assert run(line, monkeypatch, "restore", "-n", memory.namespace, doomed.memory_id) == FAILED
    assert "its key was destroyed on" in capsys.readouterr().out


def came_in(memory: Memory, asked: Restore | Forget) -> bool:
    try:
        return memory.order(asked.order_id or "").status == "asked"
    except NotFound:
        return False


def run(line: Settings, monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    for name in ("BOOTSTRAP", "URL", "NAMESPACE", "AGENT"):
        monkeypatch.delenv(f"MEMQUORUM_{name}", raising=False)
    monkeypatch.setenv("MEMQUORUM_RUN_DIR", str(line.run_dir))
    return cli.main(arguments)


def test_the_command_line(
    line: Settings, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    episodes = [
        {"content": "the spare pump is in locker 9"},
        {"content": " "},
        {"agent": "bob", "content": "tea is at four"},
    ]
    monkeypatch.setattr("sys.stdin", io.StringIO("\n".join(map(json.dumps, episodes)) + "\nno json\n"))
    assert run(line, monkeypatch, "publish", "-n", "cli", "--wait", "--json") == FAILED
    told = capsys.readouterr()
    receipts = [json.loads(row) for row in told.out.splitlines()]
    assert [receipt["outcome"] for receipt in receipts] == ["stored", "stored"]
    assert "line 2: content: blank" in told.err
    assert "line 4: not JSON" in told.err

    assert run(line, monkeypatch, "search", "-n", "cli", "--json", "--peek", "where is the pump") == OK
    (first, second) = [json.loads(row) for row in capsys.readouterr().out.splitlines()]
    assert (first["text"], second["agent"]) == ("the spare pump is in locker 9", "bob")
    assert run(line, monkeypatch, "search", "-n", "cli", "pump") == OK
    assert "the spare pump is in locker 9" in capsys.readouterr().out
    assert run(line, monkeypatch, "retrieve", "-n", "cli", "--budget", "9", "--peek", "where are pumps?") == OK
    retrieved = capsys.readouterr().out
    assert "the spare pump is in locker 9" in retrieved
    assert "did not fit the budget" in retrieved
    assert run(line, monkeypatch, "recall", "-n", "cli", "--json", first["memory_id"]) == OK
    assert json.loads(capsys.readouterr().out)["items"][0]["way"] == "anchor"
    assert run(line, monkeypatch, "explain", first["memory_id"]) == OK
    assert capsys.readouterr().out.startswith("In use since ")
    assert run(line, monkeypatch, "explain", "--numbers", first["memory_id"]) == OK
    assert "alive, in short-term memory" in capsys.readouterr().out
    assert run(line, monkeypatch, "explain", "00000000-0000-4000-8000-000000000000") == NOT_FOUND
    assert run(line, monkeypatch, "verify", "--topics-only") == OK
    assert "nothing is wrong" in capsys.readouterr().out
    assert run(line, monkeypatch, "verify") == OK  # the operator's, with the database


def test_what_is_kept_of_a_person_is_listed_and_written_out_and_what_is_erased_is_not(
    line: Settings, memory: Memory, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told = [
        memory.add(text, wait=True, session="s", subject=about, occurred_at=START + at)
        for at, (text, about) in enumerate([
            ("Ada Weil lives at 4 Harbour Road.", "ada"),
            ("Hall 3 has two doors.", "hall"),
            ("Ada Weil has 2 cats.", "ada"),
        ])
    ]  # fmt: skip
    first, hall, last = (one.memory_id for one in told)
    memory.add(
        "Ada Weil has 2 cats and a garden.",
        wait=True,
        subject="ada",
        derives_from=[last],
        links=[{"kind": "requires", "to": told[0].event_id}, {"kind": "friendOf", "name": "jon"}],
        explicit=True,
        occurred_at=START + 9,
    )
    memory.begin_goal("visit", [first])
    page = memory.memories(subjects=["ada"], limit=2)
    assert [one.memory_id for one in page.memories] == [first, last] and page.next is not None
    (garden,) = memory.memories(subjects=["ada"], cursor=page.next).memories
    assert (garden.derives_from, page.memories[0].goals, page.memories[1].follows) == ((last,), ("visit",), hall)
    assert garden.accesses == 0, "a list is no use"
    assert garden.links == (Link("requires", first), Link("friendOf", name="jon"))
    assert memory.get(garden.memory_id).links == garden.links
    assert f"Its publisher links it: requires {first}, friendOf jon." in memory.explain(garden.memory_id).in_numbers()
    with pytest.raises(Invalid, match="cursor"):
        memory.memories(cursor="1")

    asked, file = ["-n", memory.namespace, "--url", line.retrieval_url, "--subject", "ada"], tmp_path / "ada.jsonld"
    assert cli.main(["list", *asked, "--limit", "1"]) == OK
    said = capsys.readouterr()
    assert (
        "4 Harbour Road" in said.out
        and f"--cursor {cursor('memories', memory.namespace, f'{START}/{first}')}\n" in said.err
    )
    assert cli.main(["export", *asked, "-o", str(file)]) == OK
    whole = json.loads(file.read_text())
    assert [one.get("text", one.get("name")) for one in whole["@graph"]] == [
        "visit", "jon", "Ada Weil lives at 4 Harbour Road.", "Ada Weil has 2 cats.",
        "Ada Weil has 2 cats and a garden.",
    ]  # fmt: skip
    node = whole["@graph"][4]
    assert (node["derivesFrom"], node["requires"]) == ([f"urn:uuid:{last}"], [f"urn:uuid:{first}"])
    assert node["friendOf"] == [whole["@graph"][1]["id"]]
    assert cli.main(["export", *asked, "-o", str(tmp_path / "nowhere" / "x")]) == USAGE

    memory.erase(memory_id=last, dry_run=False)
    assert cli.main(["export", *asked]) == OK
    left = json.loads(capsys.readouterr().out)["@graph"]
    assert [one["text"] for one in left if one["type"] != "Goal"] == ["Ada Weil lives at 4 Harbour Road."]
    assert not any("derivesFrom" in one for one in left)


def test_what_stands_what_was_ordered_and_who_votes_is_listed(
    line: Settings, memory: Memory, capsys: pytest.CaptureFixture[str]
) -> None:
    pinned, needed = (memory.add(text, wait=True).memory_id for text in ("Hall 3 has two doors.", "Hall 4 has one."))
    memory.pin(pinned, reference="ticket-7")
    memory.pin(needed)
    memory.begin_goal("visit", [needed])
    assert [one.memory_id for one in memory.pins().pins] == [needed, pinned] and memory.holds().holds == ()
    first = memory.pins(limit=1)
    assert [one.reference for one in memory.pins(cursor=first.next).pins] == ["ticket-7"]
    memory.unpin(needed)
    assert [one.memory_id for one in memory.pins().pins] == [pinned]
    (goal,) = memory.goals(memory_id=needed).goals
    assert (goal.goal, goal.needs, goal.memory_ids) == ("visit", 1, (needed,))
    memory.erase(memory_id=pinned, dry_run=False)
    given = memory.orders().orders
    assert [one.says.get("action", one.kind) for one in given] == ["erase", "unpin", "need", "pin", "pin"]
    assert structs.asdict(given[0]) == structs.asdict(memory.order(given[0].order_id))
    assert memory.orders(kinds=["erase"]).orders == given[:1]
    assert memory.pins().pins == (), "an erasure goes over it"
    voters = memory.members(seated=True)
    assert [one.id for one in voters.members] == [0, 1, 2, 3] and voters.config == 0
    assert all(epoch.shard == voters.shard for epoch in memory.epochs(shard=voters.shard).epochs)
    asked = ["-n", memory.namespace, "--url", line.retrieval_url]
    for what, says in (
        ("orders", f"unpin {needed}: in force"), ("goals", "visit  needs 1 memory"), ("members", "weighs 1"),
        ("pins", "nothing is pinned"), ("epochs", "nothing was voted on"),
    ):  # fmt: skip
        assert cli.main([what, *asked]) == OK
        assert says in capsys.readouterr().out


def test_addresses_that_nobody_serves_are_said_so(
    line: Settings, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(line, monkeypatch, "search", "--url", "http://127.0.0.1:1", "x") == UNREACHABLE
    assert run(line, monkeypatch, "publish", "--kafka", "127.0.0.1:1", "x") == UNREACHABLE
    assert capsys.readouterr().err.count("make status") == 2


MEMBERS = {f"replica-{i}" for i in range(4)}
CANARY = "quokka"


def hops(trace: reading.Trace) -> list[str]:
    """The names of a trace that never branches, in order; each span begins within what led to it, or after."""
    (span,) = trace.roots
    found = [f"{span.name} [{span.service}]"]
    while span.children:
        (child,) = span.children
        assert child.start >= span.start
        span = child
        found.append(f"{span.name} [{span.service}]")
    return found


def services(trace: reading.Trace, name: str) -> set[str]:
    return {span.service for span in trace.spans if span.name == name}


def test_one_trace_from_the_publication_to_the_last_key(
    line: Settings, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MEMQUORUM_RUN_DIR", str(line.run_dir))
    with client(line, "traced") as memory:
        doomed = memory.add(f"It is {CANARY}.", wait=True)
        tick(line, START + 6 * HOUR)
        until(lambda: memory.get(doomed.memory_id).tier == "sealed")
    tick(line, START + 7 * HOUR)
    asked = doomed.memory_id.replace("-", "")

    def complete() -> list[reading.Trace]:
        found = reading.find(line.run_dir / "traces", asked)
        if len(found) != 3 or len(hops(found[0])) < 7 or len(hops(found[2])) < 2:
            return []
        vote = found[1]
        listened = services(vote, f"process {topics.NOMINATIONS}"), services(vote, f"process {topics.COMMITS}")
        # Three of four suffice, and after a grace nobody waits for the fourth.
        least = {topics.PRE_PREPARES: 1, topics.BALLOTS: 3, topics.PREPARES: 2, topics.COMMITS: 3, topics.JOURNAL: 1}
        said = all(len(services(vote, f"send {topic}")) >= count for topic, count in least.items())
        return found if said and listened == (MEMBERS, MEMBERS | {"commit"}) else []

    def incomplete() -> list[list[str]]:
        found = reading.find(line.run_dir / "traces", asked)
        return [[f"{span.name} [{span.service}]" for span in trace.spans] for trace in found]

    own, vote, destroyed = until(complete, incomplete)  # each process writes its spans twice a second

    assert own.trace_id == asked
    assert hops(own) == [
        f"send {topics.EPISODES} [client]",
        f"process {topics.EPISODES} [intake]",
        f"send {topics.ACCEPTED} [intake]",
        f"process {topics.ACCEPTED} [salience]",
        f"send {topics.SCORED} [salience]",
        f"process {topics.SCORED} [commit]",
        f"send {topics.JOURNAL} [commit]",
    ]
    assert hops(destroyed) == ["delete_memory [commit]", f"send {topics.JOURNAL} [commit]"]

    (root,) = vote.roots  # connected: nothing hangs loose
    assert root.name == f"process {topics.CROSSED}"
    assert asked in {link.trace_id for link in root.links}
    primaries = services(vote, f"send {topics.PRE_PREPARES}")  # one, or the next as well where the first was slow
    assert primaries <= services(vote, f"process {topics.BALLOTS}") <= MEMBERS
    for topic in (topics.BALLOTS, topics.PREPARES, topics.COMMITS):
        assert services(vote, f"send {topic}") <= MEMBERS, topic
    assert services(vote, f"send {topics.JOURNAL}") == {"commit"}

    assert run(line, monkeypatch, "trace", doomed.memory_id) == OK
    told = capsys.readouterr().out
    assert f"Trace {asked}: 7 spans" in told
    assert "(forgotten)" in told and "(destroyed)" in told
    assert "it waited" in told
    assert run(line, monkeypatch, "trace", "0" * 32) == NOT_FOUND
    assert run(line, monkeypatch, "tail", "--from", "start", "--once", "-n", "traced") == OK
    told = capsys.readouterr().out
    assert [row.split()[3] for row in told.splitlines() if row[0] != " "] == ["stored", "decided", "destroyed"]
    assert f"forgotten {doomed.memory_id}" in told


def test_a_collector_and_the_folder_have_the_trace_from_the_publication_to_the_erasure(
    line: Settings, collected: Collector | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    if collected is None:
        pytest.skip(WITHOUT)
    monkeypatch.setenv("MEMQUORUM_RUN_DIR", str(line.run_dir))
    with client(line, "collected") as memory:
        erased = memory.add("The gate is open.", explicit=True, wait=True).memory_id
        assert memory.erase(memory_id=erased, dry_run=False).memories == 1
    asked = erased.replace("-", "")

    def seen(folder: Path) -> list[set[tuple[str, str]]]:
        return [{(span.name, span.span_id) for span in trace.spans} for trace in reading.find(folder, asked)]

    folder = line.run_dir / "traces"
    until(lambda: [len(one) for one in seen(folder)] == [7, 2], lambda: str(seen(folder)))
    kept = seen(folder)
    until(lambda: seen(collected.folder) == kept, lambda: f"{seen(collected.folder)} instead of {kept}")
    own, erasure = reading.find(collected.folder, asked)
    assert own.trace_id == asked and hops(own)[0] == f"send {topics.EPISODES} [client]"
    assert hops(erasure) == [f"process {topics.ACCEPTED} [commit]", f"send {topics.JOURNAL} [commit]"]
    first, (root,) = own.roots[0].attributes, erasure.roots
    assert (first["gen_ai.operation.name"], first["gen_ai.memory.record.id"]) == ("upsert_memory", erased)
    assert root.attributes["gen_ai.operation.name"] == "delete_memory"
    assert [(link.trace_id, link.told["memquorum.outcome"]) for link in root.links] == [(asked, "erased")]


def test_what_is_erased_is_nowhere_and_its_receipt_proves_it(
    line: Settings, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    with client(line, "erased") as memory:
        own = memory.add("Ada keeps a spare key under the mat.", wait=True, subject="ada", source="diary")
        made = memory.add("Somebody hides keys near doors.", wait=True, derives_from=[own.memory_id])
        other = memory.add("Lunch in the garden was at one.", wait=True)
        would = memory.erase(subject="ada")
        assert (would.status, would.memories, would.episodes) == ("nothing ordered", 2, 2)
        assert {one.memory_id: one.because for one in would.going} == {
            own.memory_id: None, made.memory_id: own.memory_id
        }  # fmt: skip
        assert memory.get(own.memory_id).tier == "short-term"

        # The command line orders, as the operator's does.
        arguments = ("erase", "-n", "erased", "--subject", "ada", "--json", "--reference", "ticket 7")
        assert run(line, monkeypatch, *arguments, "--yes") == OK
        done = json.loads(capsys.readouterr().out.splitlines()[-1])
        assert (done["status"], done["memories"], done["episodes"]) == ("erased", 2, 2)
        assert memory.order(done["order_id"]).took.residue_until == done["residue_until"]
        assert {hit.memory_id for hit in memory.search("key", peek=True)} == {other.memory_id}
        for gone in (own, made):
            assert (memory.get(gone.memory_id).tier, memory.get(gone.memory_id).text) == ("gone", None)
            assert "Erased by order" in memory.explain(gone.memory_id).in_numbers()
        # Published again it goes to the dead letters; who waits for it is told what became of the event.
        assert memory.add("Lunch in the garden was at one.", event_id=other.event_id, wait=True).outcome == "stored"
        twice = memory.add("Ada keeps a spare key under the mat.", event_id=own.event_id, wait=True, subject="ada")
        assert (twice.outcome, memory.get(own.memory_id).text) == ("erased", None)
        late = memory.add("Ada has moved the key.", wait=True, subject="ada", occurred_at=START)
        assert late.outcome == "erased"
        again = memory.erase(subject="ada", dry_run=False)
        assert (again.status, again.memories, again.episodes) == ("erased", 0, 0)

        # The members attest it in an epoch of its own; then the receipt is whole.
        with psycopg.connect(line.memory_dsn, autocommit=True) as connection:
            (now,) = connection.execute("SELECT max(as_of) FROM shard").fetchone() or (0,)
        hours = itertools.count(now + HOUR, HOUR)
        orders = (done["order_id"], again.order_id or "")
        later(lambda: tick(line, next(hours)), lambda: all(memory.order(order).epoch for order in orders))
        until(lambda: memory.erasure_receipt(done["order_id"])["attested"])
        file = tmp_path / "receipt.json"
        file.write_text(json.dumps(memory.erasure_receipt(done["order_id"])))
    assert run(line, monkeypatch, "receipt", "verify", str(file)) == OK
    told = capsys.readouterr().out
    assert "ticket 7" in told and "signed by service:erasure" in told
    file.write_text(file.read_text().replace("ticket 7", "ticket 8"))
    assert run(line, monkeypatch, "receipt", "verify", str(file)) == FAILED
    capsys.readouterr()
    assert run(line, monkeypatch, "verify") == OK  # the operator's, with the database


@pytest.mark.parametrize("first", ["chat", "noor"])
def test_an_order_for_a_subject_leaves_no_copy_of_the_same_agent_alive(
    line: Settings, memory: Memory, first: str
) -> None:
    text = "Noor keeps the blue ledger in the third drawer of the oak desk."
    marks: dict[str, dict[str, Any]] = {"chat": {"source": "chat"}, "noor": {"subject": "noor"}}
    said = [memory.add(text, wait=True, **marks[name]) for name in sorted(marks, key=lambda name: name != first)]
    with client(line, memory.namespace, "reviewer") as another:
        theirs = another.add(text, wait=True)
    assert [one.outcome for one in (*said, theirs)] == ["stored"] * 3
    would = memory.erase(subject="noor")
    assert {one.memory_id for one in would.going} == {one.memory_id for one in said}
    assert {one.memory_id: one.why for one in would.staying} == {theirs.memory_id: "another agent said it: reviewer"}
    done = memory.erase(subject="noor", dry_run=False)
    assert (done.status, done.memories, len(done.staying)) == ("erased", 2, 1)
    assert {hit.memory_id for hit in memory.search(text, peek=True)} == {theirs.memory_id}


@pytest.mark.parametrize("order", [("mail", "bob", "bare"), ("bob", "mail", "bare"), ("bare", "bob", "mail")])
def test_another_agents_word_hides_no_copy_from_an_order(
    line: Settings, memory: Memory, order: tuple[str, str, str]
) -> None:
    """Of three that said the same, the last was found to repeat another agent's memory, and that hid its own agent's:
    `get` still gave the text after the order for the subject.
    """
    text = "Ada lives at 12 Harbour Street in Lisbon."
    given: dict[str, Any] = {"reward": 0.9, "confidence": 0.95, "wait": True}
    with client(line, memory.namespace, "bob") as bob:
        say: dict[str, Callable[[], Any]] = {
            "mail": lambda: memory.add(text, subject="ada", source="mail", **given),
            "bob": lambda: bob.add(text, subject="ada", source="crm", **given),
            "bare": lambda: memory.add(text, **given),
        }
        said = {name: say[name]() for name in order}
    assert {one.outcome for one in said.values()} == {"stored"}
    mine, theirs = {said["mail"].memory_id, said["bare"].memory_id}, said["bob"].memory_id
    by_source = memory.erase(source="mail")
    assert {one.memory_id for one in by_source.going} == mine
    assert {one.memory_id: one.why for one in by_source.staying} == {theirs: "another agent said it: bob"}
    would = memory.erase(subject="ada")
    assert ({one.memory_id for one in would.going}, would.staying) == (mine | {theirs}, ())
    done = memory.erase(subject="ada", dry_run=False)
    assert (done.status, done.memories) == ("erased", 3)
    assert [memory.get(one.memory_id).text for one in said.values()] == [None] * 3


def test_the_operator_sees_who_said_what_would_go_and_a_release_twice_is_no_failure(
    line: Settings, memory: Memory, capsys: pytest.CaptureFixture[str]
) -> None:
    own = memory.add("Ada waters the fern on Mondays.", wait=True, subject="ada")

    def operator(name: str, *arguments: str) -> str:
        parsed = admin_commands.parser().parse_args([*name.split(), "-n", memory.namespace, *arguments])
        assert parsed.command(line, parsed) == 0
        return capsys.readouterr().out

    operator("memories hold", own.memory_id)
    assert "release: in force" in operator("memories hold", own.memory_id, "--release")
    assert f"nothing to release: no hold stands of {own.memory_id}" in operator(
        "memories hold", own.memory_id, "--release"
    )
    assert f"{own.memory_id}  short-term, by planner, 2" in operator("memories erase", "--subject", "ada")


def test_every_process_can_be_watched(line: Settings) -> None:
    places = process_telemetry.announced(line.run_dir)
    assert set(places) == {role.name for role in fleet.roles(4)}
    for name, place in places.items():
        assert httpx.get(f"{place['url']}/livez", timeout=PATIENCE_S).json()["alive"] is True, name
        until(lambda url=place["url"]: httpx.get(f"{url}/readyz", timeout=PATIENCE_S).status_code == httpx.codes.OK)
        assert f"# HELP {metrics.WAITING.name} " in httpx.get(f"{place['url']}/metrics", timeout=PATIENCE_S).text
    # Whatever the other tests of this module have done is behind the line by now.
    now = until(
        lambda: (s := status.scrapes(line)) and all(scrape.total(metrics.LAG.name) == 0 for scrape in s.values()) and s
    )
    told = {row.stage: row for name in places for row in status.lines(name, [now])}
    stages = {
        "intake",
        "salience",
        "decay",
        "sessions",
        "rewards",
        "nomination",
        "replica",
        "commit",
        "consolidator",
        "rehearsal",
        "rollups",
        "verifier",
    }
    assert set(told) == stages | {"retrieval"}
    for stage in ("intake", "salience", "decay", "nomination", "commit"):
        assert now[stage if stage in now else "streams"].total(metrics.CONSUMED.name, stage=stage) > 0
        assert told[stage].p99 is not None

    def counted() -> bool:
        # The journal goes on by itself, as by rehearsals: between the two looks an entry may come.
        commit = status.scrapes(line)["commit"]
        with psycopg.connect(line.memory_dsn) as connection:
            entries = dict(connection.execute("SELECT effect, count(*) FROM journal GROUP BY effect").fetchall())
        return {effect: commit.total(metrics.JOURNALLED.name, effect=effect) for effect in entries} == entries

    until(counted, "the metrics count other entries than the journal has")


def test_logs_are_lines_of_json_and_nothing_that_is_kept_beside_the_store_holds_content(line: Settings) -> None:
    for name in (role.name for role in fleet.roles(4)):
        rows = (line.logs_dir / f"{name}.log").read_text().splitlines()
        assert rows
        assert {json.loads(row)["process"] for row in rows} == {name}
    kept = [*line.logs_dir.glob("*"), *(line.run_dir / "traces").glob("*")]
    assert len(kept) > 10
    for file in kept:
        assert CANARY.encode() not in file.read_bytes(), file.name


def test_a_link_to_what_is_not_there_is_told_to_who_published_it(line: Settings) -> None:
    with client(line, "linked", "planner") as memory, client(line, "elsewhere", "planner") as elsewhere:
        foreign = elsewhere.add("The spare key of hall 3 lies in the safe.", wait=True, explicit=True)
        key = memory.add("The red key of hall 3 hangs behind the door.", wait=True, explicit=True)
        never = str(uuid.uuid4())
        links = [{"kind": "requires", "to": one} for one in (key.memory_id, foreign.memory_id, never)]
        pump = memory.add("Pump 7 starts with the red key.", wait=True, explicit=True, links=links)
        missing = (Link("requires", foreign.memory_id), Link("requires", never))
        assert (pump.outcome, pump.nowhere, key.nowhere) == ("stored", missing, ())
        assert memory.event(pump.event_id).nowhere == missing
        assert f"requires {foreign.memory_id}, requires {never}: no such" in memory.explain(pump.memory_id).in_numbers()


def test_a_write_that_names_what_it_supersedes_has_members_vote_on_it(line: Settings) -> None:
    with client(line, "named", "planner") as memory, client(line, "elsewhere", "planner") as elsewhere:
        foreign = elsewhere.add("The shed is locked.", wait=True, explicit=True)
        older = memory.add("Parcels go to the lodge.", wait=True, explicit=True)
        never = str(uuid.uuid4())
        with psycopg.connect(line.memory_dsn, autocommit=True) as connection:
            (now,) = connection.execute("SELECT max(as_of) FROM shard").fetchone() or (0,)
        newer = memory.add(
            "Ask the porter where deliveries belong.", wait=True, explicit=True,
            supersedes=[older.memory_id, foreign.memory_id, never],
        )  # fmt: skip
        beside = {hit.memory_id: hit.conflicts_with for hit in memory.search("Where do parcels go?", peek=True)}
        assert (newer.outcome, beside[newer.memory_id]) == ("stored", (older.memory_id,))
        with pytest.raises(NotFound, match=f"no memory {newer.memory_id} in 'elsewhere'"):
            elsewhere.explain(newer.memory_id)
        told = memory.explain(newer.memory_id).in_numbers()
        assert f"wants it to take the place of {older.memory_id}: members vote on that" in told
        assert f"It also named {foreign.memory_id}, {never}: no such memory was alive in this namespace" in told
        # No hour has to pass: a contradiction opens an epoch of its own.
        moments = itertools.count(now + 2)
        later(lambda: tick(line, next(moments)), lambda: memory.get(older.memory_id).tier == "superseded")
        vote = memory.explain(older.memory_id).account["votes"][-1]
        assert (vote["kind"], vote["outcome"], vote["yes"]) == ("supersede", "superseded", 4)
        assert {one["score_ppm"] for one in vote["opinions"]} == {900_000}
