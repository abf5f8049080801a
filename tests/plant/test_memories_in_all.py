"""A limit of memories in all, on a running installation: Kafka, Postgres with the logins of each process, real
processes."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import psycopg
import pytest

from infra import genesis, process_telemetry, run_folder
from infra.settings import Settings
from memquorum import topics
from memquorum.client import Memory
from memquorum.core.records import EpisodeAccepted, IntakeRefused
from memquorum.schema_files import load_codec
from tests.support.commands import ran
from tests.support.sessions import Plant
from tests.support.waiting import until
from workers.kafka import loop
from workers.upkeep import dead_letters

pytestmark = pytest.mark.slow
LIMIT = 5
"""Of `tests.support.sessions.ROOMS`."""


def publish(line: Settings, namespace: str, first: int, count: int) -> None:
    producer = loop.producer(line.bootstrap)
    for number in range(first, first + count):
        # No two are like each other, so each becomes a memory of its own.
        text = " ".join(hashlib.sha256(f"{number}/{word}".encode()).hexdigest()[:9] for word in range(12))
        said = {"agent": "a", "content": text, "namespace": namespace, "event_id": f"e{number}"}
        producer.produce(topics.EPISODES, json.dumps(said).encode(), partition=0)
    assert producer.flush(20) == 0


def stored(line: Settings, namespace: str) -> int:
    with psycopg.connect(line.memory_dsn, autocommit=True) as link:
        row = link.execute("SELECT alive FROM living WHERE namespace = %s", [namespace]).fetchone()
    return row[0] if row else 0


def now_ms() -> int:
    return time.time_ns() // 1_000_000


class Seen:
    """The output of intake for a namespace's episodes, read from its topics."""

    def __init__(self, line: Settings, namespace: str) -> None:
        self.line, self.namespace, self.codec = line, namespace, load_codec()
        self.since = now_ms()
        self.accepted: list[EpisodeAccepted] = []
        self.reader = loop.consumer(line.bootstrap)
        loop.assign(self.reader, {(topics.ACCEPTED, p): None for p in range(genesis.read(line).shards)})

    def letters(self) -> list[IntakeRefused]:
        wanted = dead_letters.Wanted(reasons=frozenset({"over_quota"}), since=self.since)
        shards = genesis.read(self.line).shards
        return [letter.record for letter in dead_letters.read(self.line.bootstrap, shards, self.codec, None, wanted)]

    def came(self) -> int:
        for message in loop.records(self.reader, 1000, 0.2):
            record = self.codec.decode(message.value() or b"")
            if isinstance(record, EpisodeAccepted) and record.namespace == self.namespace:
                self.accepted.append(record)
        return len(self.accepted)

    def close(self) -> None:
        self.reader.close()


def intake(line: Settings) -> Any:
    """Returns intake's `/readyz`; None while it does not answer."""
    try:
        return httpx.get(f"{process_telemetry.announced(line.run_dir)['intake']['url']}/readyz", timeout=2).json()
    except httpx.HTTPError:
        return None


def alarm(line: Settings) -> str:
    answer = intake(line)
    return str((answer or {}).get("alarms", {}).get("memories in all", ""))


def pid(line: Settings, name: str) -> int:
    """Of a process; 0 while it is not there."""
    return int(run_folder.read_pids(line.run_dir)["processes"][name]["pid"] or 0)


@contextmanager
def still(process: int) -> Iterator[None]:
    os.kill(process, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(process, signal.SIGCONT)


def test_a_flood_stops_at_the_limit_and_comes_in_again_where_an_erasure_made_room(fleet: Plant) -> None:
    line = fleet.line
    seen, namespace = Seen(line, "rooms-flood"), "rooms-flood"
    publish(line, namespace, 0, 12)
    publish(line, "many", 0, 12)
    until(lambda: len(seen.letters()) == 7, "what is beyond the limit is not in the dead letters")
    assert {(r.reason, r.field) for r in seen.letters()} == {("over_quota", "namespace")}
    assert all("may have 5 memories in all and has " in r.detail for r in seen.letters())
    until(lambda: (stored(line, namespace), stored(line, "many")) == (LIMIT, 12), "it was not stored")
    until(lambda: alarm(line).startswith("rooms-flood (5 + 0 of 5): "), "/readyz does not say so")
    url = process_telemetry.announced(line.run_dir)["intake"]["url"]
    assert 'memquorum_full_namespaces{stage="intake"} 1.0' in httpx.get(f"{url}/metrics").text
    assert intake(line)["ready"] is True

    with Memory(namespace=namespace, agent="a", kafka=line.bootstrap, url=line.retrieval_url) as memory:
        until(lambda: seen.came() >= LIMIT, "it did not come in")
        memory.erase(memory_id=seen.accepted[0].memory_id, dry_run=False, reference="test")
    until(lambda: stored(line, namespace) == LIMIT - 1, "nothing was erased")
    until(lambda: alarm(line) == "", "the alarm stands although there is room")

    assert replayed(line, seen.since, "--go") == (
        0,
        {"letters": 7, "would_be_published": 7, "published": 7, "others": {}},
    )
    until(lambda: stored(line, namespace) == LIMIT, "what was replayed did not come in")
    # The six that found no room again lie there a second time.
    until(lambda: len(seen.letters()) == 7 + 6, "what found no room is lost")
    until(lambda: seen.came() >= LIMIT + 1, "what was replayed did not come in")
    assert seen.came() == LIMIT + 1
    # As long as there is no room nothing is published, however often somebody asks.
    until(lambda: alarm(line).startswith("rooms-flood (5 + 0 of 5): "), "/readyz does not say so")
    others = {"no room in rooms-flood": 12, "came in before: stored": 1}
    assert replayed(line, seen.since) == (0, {"letters": 13, "would_be_published": 0, "published": 0, "others": others})
    assert replayed(line, seen.since, "--go") == (
        1,
        {"letters": 13, "would_be_published": 0, "published": 0, "others": others},
    )
    # And then each episode once, of whose letters there are two.
    with Memory(namespace=namespace, agent="a", kafka=line.bootstrap, url=line.retrieval_url) as memory:
        memory.erase(memory_id=seen.accepted[1].memory_id, dry_run=False, reference="test")
    until(lambda: alarm(line) == "", "the alarm stands although there is room")
    status, told = replayed(line, seen.since, "--go")
    assert (status, told["published"]) == (0, 6)
    assert told["others"] == {"another letter of the same episode is enough": 6, "came in before: stored": 1}
    until(lambda: len(seen.letters()) == 7 + 6 + 5, "what found no room is lost")
    seen.close()


def replayed(line: Settings, since: int, *more: str) -> tuple[int, dict[str, Any]]:
    """Runs the command `dlq replay` for what found no room; returns its exit status and its output."""
    wanted = ["--reason", "over_quota", "--since", str(since), "--json", *more]
    done = ran("infra", "admin", "dlq", "replay", *wanted, "--run-dir", str(line.run_dir))
    return done.returncode, json.loads(done.stdout or "{}")


def test_what_was_on_its_way_when_intake_died_counts(fleet: Plant) -> None:
    line = fleet.line
    seen, beside, namespace = Seen(line, "rooms-late"), Seen(line, "next"), "rooms-late"
    before, first = len(seen.letters()), pid(line, "intake")
    with still(pid(line, "commit")):
        publish(line, namespace, 100, LIMIT)
        until(lambda: seen.came() == LIMIT, "it did not come in")
        # Once the next batch is accepted, the offsets of this one are committed: none of it comes a second time.
        publish(line, "next", 100, 1)
        until(lambda: beside.came() == 1, "the next batch did not come in")
        os.kill(first, signal.SIGKILL)
        until(lambda: pid(line, "intake") not in (0, first) and intake(line), "intake did not come back")
        publish(line, namespace, 200, 3)
        until(lambda: len(seen.letters()) == before + 3, "who was started again did not know what was on its way")
        assert stored(line, namespace) == 0
    until(lambda: stored(line, namespace) == LIMIT, "it was not stored")
    assert seen.came() == LIMIT
    seen.close()
    beside.close()
