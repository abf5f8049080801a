"""What strangers write to the topics of a whole fleet: every good record arrives, every bad one is told why, no forgery
is acted upon, and the fleet goes on."""

from __future__ import annotations

import urllib.request
from collections import Counter
from collections.abc import Iterator, Sequence
from random import Random

import psycopg
import pytest
from confluent_kafka import KafkaError
from prometheus_client.parser import text_string_to_metric_families

from db.audit_rows import snapshot
from infra import checks, genesis, telemetry
from infra.settings import Settings
from memquorum.core.findings import Kind
from memquorum.schema_files import load_codec
from tests.faults import badrecords, flood, strangers
from tests.faults.publications import EITHER, KEPT, REFUSED, START, TURNED_AWAY, Maker
from tests.faults.strangers import Forgery
from workers import audit, loop

RECORDS = 5_000
DAY = 24 * 3600 * 1000
# What a flood may add to a process at its worst: buffers, and some records of the largest size. Kafka has its heap.
GROWTH_KIB = 64 * 1024
KAFKA_KIB = 768 * 1024


@pytest.fixture(scope="module")
def line(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Settings]:
    with flood.installation(tmp_path_factory.mktemp("line")) as running:
        yield running


def test_bad_records_in_good_traffic(line: Settings) -> None:
    report = flood.flood(line, seed=1, count=RECORDS)
    assert report.problems == []
    ends = {end: sum(one.publication.end == end for one in report.sent) for end in (KEPT, REFUSED, TURNED_AWAY, EITHER)}
    assert ends[KEPT] > 2_000
    assert ends[REFUSED] > 2_000
    assert {one.publication.kind for one in report.sent} == set(badrecords.KINDS)
    grown = {name: most - before for name, (before, most, _) in report.memory.items() if name != "kafka"}
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

        # What comes after the forgeries in every topic is done as ever: accepted and scored, and stored with its score.
        maker = Maker(Random(9), genesis.read(line).cluster, 4, number=10**6)
        sent = flood.publish(line.bootstrap, [maker.good("good", maker.episode()) for _ in range(100)])
        flood.tick(line, START + 2_000)
        assert set(store.execute("SELECT as_of FROM shard")) == {(START + 2_000,)}
        found = flood.find(line)
        assert [wrong for one in sent if (wrong := flood.wrong(one, found))] == []
        assert digest(line, [one.publication.event[1] or "" for one in sent if one.publication.event]) == before
        assert set(store.execute("SELECT max(epoch) FROM decision GROUP BY shard")) == {(1,)}

        # And the fleet still forgets, by vote alone.
        flood.tick(line, START + 60 * DAY)
        until_decided(store, 2)
    assert flood.deaths(line) == []
    counted(line)
    told = checks.rebuilt(line, "rebuilt")
    assert (told["equal"], told["differing"]) == (True, [])
    # The audit, which has no keys but those of the genesis file, names what does not belong there, and nothing else.
    report = audit.verify(line.bootstrap, genesis.read(line), load_codec(), patience_s=0.5)
    assert not report.ok
    kinds = Counter(finding.kind for shard in report.shards for finding in shard.findings)
    assert kinds.keys() <= {Kind.UNREADABLE, Kind.FOREIGN_ENTRY, Kind.ENTRY_FORKED, Kind.HEAD_FORGED}, kinds


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


def until_decided(store: psycopg.Connection, epoch: int, patience_s: float = 30) -> None:
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
    for process, where in telemetry.announced(line.run_dir).items():
        with urllib.request.urlopen(f"{where['url']}/metrics") as answer:
            for metric in text_string_to_metric_families(answer.read().decode()):
                for sample in metric.samples:
                    if sample.labels.get("reason") == "stranger":
                        told[process, sample.labels["stage"], sample.name] += int(sample.value)
    replicas = [(f"replica-{i}", "replica") for i in range(4)]
    stages = [("streams", name) for name in ("salience", "decay", "nomination")]
    for stage in (*stages, ("commit", "commit"), *replicas):
        assert told[*stage, "memquorum_refused_total"] > 0, told
    for stage in replicas:
        assert told[*stage, "memquorum_ignored_total"] > 0, told
