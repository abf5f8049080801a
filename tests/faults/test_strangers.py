"""Strangers write to the topics of a whole fleet: every good record arrives, every bad one gets a reason, no forgery
has an effect, and the fleet goes on.
"""

from __future__ import annotations

import json
import os
import signal
import threading
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from random import Random
from typing import Any

import psycopg
import pytest
from confluent_kafka import KafkaError
from prometheus_client.parser import text_string_to_metric_families

from db.audit_rows import snapshot
from infra import admin_commands, checks, fleet, genesis, process_telemetry
from infra.settings import Settings, SettingsError
from memquorum import topics
from memquorum.core import ids
from memquorum.core.audit.findings import Kind
from memquorum.schema_files import load_codec
from tests import LONG
from tests.faults import badrecords, flood, resident, strangers
from tests.faults.publications import EITHER, KEPT, REFUSED, START, TURNED_AWAY, Maker, Publication
from tests.faults.strangers import Forgery
from tests.support.clock import tick
from tests.support.waiting import PATIENCE_S
from workers.audit import auditor as audit
from workers.kafka import loop

pytestmark = pytest.mark.slow
RECORDS = 5_000 if LONG else 1_500
SLOWEST = 15
"""Records a second that two cores process beside another session of tests."""
DAY = 24 * 3600 * 1000
# The most that a flood may add to a process: buffers, and some records of the largest size. Kafka has its heap.
GROWTH_KIB = 64 * 1024
KAFKA_KIB = 768 * 1024


@pytest.fixture(scope="module")
def line(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Settings]:
    with flood.installation(tmp_path_factory.mktemp("line")) as running:
        yield running


def test_bad_records_in_good_traffic(line: Settings) -> None:
    report = flood.flood(line, seed=1, count=RECORDS, patience_s=RECORDS / SLOWEST)
    assert report.problems == []
    ends = {end: sum(one.publication.end == end for one in report.sent) for end in (KEPT, REFUSED, TURNED_AWAY, EITHER)}
    assert min(ends[KEPT], ends[REFUSED]) > RECORDS * 2 // 5
    assert {one.publication.kind for one in report.sent} == set(badrecords.KINDS)
    servers = ("kafka", resident.BACK_ENDS)
    grown = {name: most - before for name, (before, most, _) in report.memory.items() if name not in servers}
    assert max(grown.values()) < GROWTH_KIB, report.memory
    assert report.memory["kafka"][1] < KAFKA_KIB, report.memory


def test_no_forgery_on_an_internal_topic_is_acted_upon(line: Settings) -> None:
    """Follows the flood: there are memories, scores and a journal that a stranger would like to change."""
    with psycopg.connect(line.memory_dsn, autocommit=True) as store:
        # Some of what the flood brought in was old enough to be voted on at once.
        until_decided(store, 1)
        before = digest(line)
        forged = strangers.forgeries(line, seed=1)
        assert {f.topic for f in forged} == set(strangers.INTERNAL)
        assert write(line, forged) == [f.kind for f in forged if f.large]

        # Records after the forgeries in every topic are processed as before: accepted and scored, and stored with their
        # scores.
        maker = Maker(Random(9), genesis.read(line).cluster, 4, number=10**6)
        sent = flood.publish(line.bootstrap, [maker.good("good", maker.episode()) for _ in range(100)])
        tick(line, START + 2_000)
        assert set(store.execute("SELECT as_of FROM shard")) == {(START + 2_000,)}
        found = flood.find(line)
        assert [wrong for one in sent if (wrong := flood.wrong(one, found))] == []
        assert digest(line, [one.publication.event[1] or "" for one in sent if one.publication.event]) == before
        assert set(store.execute("SELECT max(epoch) FROM decision GROUP BY shard")) == {(1,)}

        # And the fleet still forgets, by vote alone.
        tick(line, START + 60 * DAY)
        until_decided(store, 2)
    assert flood.deaths(line) == []
    counted(line)
    told = checks.rebuilt(line, "rebuilt")
    assert (told["equal"], told["differing"]) == (True, [])
    # The audit knows what the line did not write, counts it, and finds nothing wrong with the rest.
    report = audit.verify(
        line.bootstrap,
        genesis.read(line),
        load_codec(),
        line.memory_dsn,
        stamps=genesis.stamps_at_hand(line),
        patience_s=0.5,
    )
    assert report.findings == ()
    assert (
        report.strangers > sum(f.kind != "repeated" and f.topic in (topics.JOURNAL, topics.HEADS) for f in forged) / 2
    )
    # Strangers' records in the evidence topic accuse no member.
    assert command(line, "audit", "evidence") == 0
    # An audit from outside, with the genesis file alone, reports foreign records.
    outside = audit.verify(line.bootstrap, genesis.read(line), load_codec(), patience_s=0.5)
    assert {Kind.UNREADABLE, Kind.FOREIGN_ENTRY, Kind.HEAD_FORGED} <= {finding.kind for finding in outside.findings}


def command(line: Settings, *arguments: str) -> int:
    """An operator's command, as `memquorum admin` runs it."""
    parsed = admin_commands.parser().parse_args(arguments)
    return int(parsed.command(line, parsed))


def letters(line: Settings, capsys: pytest.CaptureFixture[str], *arguments: str) -> list[dict[str, Any]]:
    capsys.readouterr()
    assert command(line, "dlq", "list", "--json", "--last", "0", *arguments) == 0
    return [json.loads(row) for row in capsys.readouterr().out.splitlines()]


def test_dead_letters_are_listed_and_published_again(line: Settings, capsys: pytest.CaptureFixture[str]) -> None:
    """Follows the forgeries: strangers wrote among the dead letters, too."""
    # Without the vault there are places and reasons, and no content.
    known = letters(replace(line, vault_dsn=""), capsys)
    assert len(known) > RECORDS * 2 // 5
    assert len({tuple(letter["origin"].values()) for letter in known}) == len(known)
    assert not any("content" in letter or letter["detail"] == strangers.LIE for letter in known)
    secret = "my secret: "
    assert not any(secret in json.dumps(letter) for letter in known)
    shown = letters(line, capsys, "--show", "--reason", "unknown_field")
    assert {letter["reason"] for letter in shown} == {"unknown_field"}
    assert any(secret in letter["content"] for letter in shown)
    (one,) = letters(line, capsys, "--letter", known[7]["letter"])
    assert one == known[7]
    assert command(line, "dlq", "list", "--letter", "99/1", "99/2") == 1
    with pytest.raises(SettingsError, match="replay what"):
        command(line, "dlq", "replay")
    with pytest.raises(SettingsError, match="reasons are"):
        command(line, "dlq", "list", "--reason", "bad luck")

    # Too early, and in time once the clock has moved on.
    ahead = time.time_ns() // 1_000_000 + 3 * DAY
    early = [
        {"agent": "a", "content": f"said before its time {i}", "namespace": "early", "occurred_at": ahead}
        for i in range(3)
    ]
    early[0]["event_id"] = "named"
    sent = flood.publish(line.bootstrap, [Publication("", topics.EPISODES, json.dumps(e).encode()) for e in early])
    tick(line, START + 61 * DAY)
    again = ("dlq", "replay", "--reason", "out_of_range", "--field", "occurred_at", "--since", str(ahead - 4 * DAY))
    assert replayed(line, capsys, *again)["would_be_published"] == 0
    tick(line, ahead)
    before = ends(line)
    told = replayed(line, capsys, *again)
    assert (told["would_be_published"], told["published"]) == (3, 0)
    assert told["others"]["still refused: out_of_range (occurred_at)"] > RECORDS // 100
    assert ends(line) == before, "a dry run publishes nothing"
    with psycopg.connect(line.memory_dsn, autocommit=True) as store:
        for round in range(2):
            if round == 0:
                assert replayed(line, capsys, *again, "--go")["published"] == 3
            else:  # what came in is not published again, and the others are refused still
                told = replayed(line, capsys, *again, "--go", status=1)
                inside = sum(n for why, n in told["others"].items() if why.startswith("came in before: "))
                assert (told["published"], inside) == (0, 3)
            tick(line, ahead + 1 + round)
            events = {row[0] for row in store.execute("SELECT event_id FROM event WHERE namespace = 'early'")}
            # A record without an id gets that of the offset of its first publication, however often it is replayed.
            assert events == {"named", *(ids.origin_event_id("a", *one.place) for one in sent[1:] if one.place)}
    assert flood.deaths(line) == []


def test_every_process_ends_when_asked_and_nothing_is_lost(line: Settings) -> None:
    """The last one: it ends every process once. Records are published all the while."""
    now = psycopg.connect(line.memory_dsn).execute("SELECT max(as_of) FROM shard").fetchone()
    maker, over, sent = Maker(Random(11), b"", 4, number=2 * 10**6), threading.Event(), list[flood.Sent]()

    def publish() -> None:
        while not over.wait(0.25):
            sent.extend(flood.publish(line.bootstrap, [maker.good("good", maker.episode()) for _ in range(10)]))

    before = {name: process["pid"] for name, process in flood.processes(line).items()}
    publisher = threading.Thread(target=publish)
    publisher.start()
    try:
        took = {role.name: ended(before[role.name]) for role in fleet.roles(4)}
        for role in fleet.roles(4):
            await_successor(line, role.name, before[role.name])
    finally:
        over.set()
        publisher.join()
    assert max(took.values()) < 5, took
    tick(line, (now or (0,))[0] + 1)
    assert len(sent) > 100
    found = flood.find(line)
    assert [wrong for one in sent if (wrong := flood.wrong(one, found))] == []
    # An orderly end brings nothing twice, either.
    assert max(found.episodes[one.place] for one in sent if one.place) == 1
    assert checks.rebuilt(line, "rebuilt")["equal"]


def ended(pid: int) -> float:
    """Ends a process with SIGTERM; how long that took, in seconds."""
    began = time.monotonic()
    os.kill(pid, signal.SIGTERM)
    while resident.resident(pid):
        assert time.monotonic() - began < 10, f"{pid} does not end"
        time.sleep(0.01)
    return time.monotonic() - began


def await_successor(line: Settings, name: str, pid: int) -> None:
    """Waits until another process does the work of the one that ended."""
    ready, deadline = line.run_dir / "ready" / name, time.monotonic() + PATIENCE_S
    while (successor := flood.processes(line)[name]["pid"]) in (None, pid) or ready.read_text() != str(successor):
        assert time.monotonic() < deadline, f"{name} does not come back"
        time.sleep(0.05)


def replayed(line: Settings, capsys: pytest.CaptureFixture[str], *arguments: str, status: int = 0) -> dict[str, Any]:
    capsys.readouterr()
    assert command(line, *arguments, "--json") == status
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def ends(line: Settings) -> dict[tuple[str, int], int]:
    """Returns the end offsets of the episodes' partitions."""
    reader = loop.consumer(line.bootstrap)
    try:
        return loop.ends(reader, ((topics.EPISODES, shard) for shard in range(4)))
    finally:
        reader.close()


def digest(line: Settings, without: Sequence[str] = ()) -> object:
    """Everything that the store keeps of its memories, but for those of some events."""
    with snapshot(line.memory_dsn) as found:
        return [kept for kept in found.kept(None) if kept.memory.event_id not in set(without)]


def write(line: Settings, forged: Sequence[Forgery]) -> list[str]:
    """Writes all of it, and returns the kinds of what the broker turned away."""
    producers = {large: loop.producer(line.bootstrap, **{"message.max.bytes": 20_000_000}) for large in (False, True)}
    turned_away: list[str] = []
    for f in forged:

        def answered(error: KafkaError | None, _: object, kind: str = f.kind) -> None:
            if error is not None:
                assert error.code() == KafkaError.MSG_SIZE_TOO_LARGE, (kind, error)
                turned_away.append(kind)

        producer = producers[f.large]
        producer.produce(f.topic, f.value, partition=f.partition, headers=list(f.headers), on_delivery=answered)
        producer.poll(0)
    for producer in producers.values():
        assert producer.flush(30) == 0
    return turned_away


def until_decided(store: psycopg.Connection, epoch: int, patience_s: float = PATIENCE_S) -> None:
    """Waits until every shard has decided the epoch."""
    store.execute("LISTEN journal")
    for _ in range(int(patience_s * 2)):
        if store.execute("SELECT count(*) FROM decision WHERE epoch = %s", [epoch]).fetchone() == (4,):
            return
        for _ in store.notifies(timeout=0.5, stop_after=1):
            pass
    raise AssertionError(store.execute("SELECT shard, epoch FROM decision").fetchall())


def counted(line: Settings) -> None:
    """Every stage says how many strangers' records it passed over."""
    told = Counter[tuple[str, ...]]()
    for process, where in process_telemetry.announced(line.run_dir).items():
        with urllib.request.urlopen(f"{where['url']}/metrics") as answer:
            for metric in text_string_to_metric_families(answer.read().decode()):
                for sample in metric.samples:
                    if sample.labels.get("reason") == "stranger":
                        told[process, sample.labels["stage"], sample.name] += int(sample.value)
    replicas = [(f"replica-{i}", "replica") for i in range(4)]
    stages = [("streams", name) for name in ("salience", "decay", "rewards", "nomination")]
    for stage in (*stages, ("commit", "commit"), *replicas):
        assert told[*stage, "memquorum_refused_total"] > 0, told
    for stage in replicas:
        assert told[*stage, "memquorum_ignored_total"] > 0, told
