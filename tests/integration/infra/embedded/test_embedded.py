"""The embedded servers are real, keep their data over a restart, and end when asked or when their starter dies."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psycopg
import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient

from infra import topic_files as provisioning
from infra.embedded import kafka_broker as embedded
from infra.embedded import postgres
from infra.embedded.kafka_broker import Kafka, share_classes, shared_classes
from infra.embedded.postgres import Postgres
from infra.embedded.processes import EmbeddedError
from memquorum import topics
from tests import ROOT


def _gone(pid: int, patience_s: float = 10) -> bool:
    deadline = time.monotonic() + patience_s
    while time.monotonic() < deadline:
        stat = Path(f"/proc/{pid}/stat")
        if not stat.exists() or stat.read_text().rsplit(")", 1)[1].split()[0] == "Z":
            return True
        time.sleep(0.05)
    return False


def _send(bootstrap: str, value: bytes) -> None:
    producer = Producer({"bootstrap.servers": bootstrap, "acks": "all"})
    producer.produce(topics.EPISODES, value, partition=0)
    assert producer.flush(10) == 0


def _first(bootstrap: str) -> bytes | None:
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "none", "enable.auto.commit": False})
    consumer.assign([TopicPartition(topics.EPISODES, 0, 0)])
    try:
        message = consumer.poll(10)
        return None if message is None or message.error() else message.value()
    finally:
        consumer.close()


def test_records_outlive_a_restart_of_the_broker(own_kafka: Kafka) -> None:
    _send(own_kafka.bootstrap, b"still here")
    own_kafka.stop()
    own_kafka.start()
    assert _first(own_kafka.bootstrap) == b"still here"


def test_the_broker_of_another_that_took_the_port_is_not_taken_for_ones_own(kafka: str, tmp_path: Path) -> None:
    """Until the own one has noticed that it cannot listen there the other one answers in its place."""
    own = Kafka(tmp_path, port=int(kafka.rpartition(":")[2]))
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "meta.properties").write_text("version=1\ncluster.id=bXEownxxxxxxxxxxxxxxxx\nnode.id=1\n")
    own.process = subprocess.Popen(["sleep", "60"])
    try:
        with pytest.raises(EmbeddedError, match="Address already in use"):
            own.wait()
    finally:
        own.process.kill()
        own.process.wait()
    assert own.bootstrap == ""


def test_topics_are_as_declared_and_a_second_call_changes_nothing(kafka: str) -> None:
    found = AdminClient({"bootstrap.servers": kafka}).list_topics(timeout=10).topics
    assert {name: len(found[name].partitions) for name in topics.ALL} == {
        topic.name: topic.count(4) for topic in provisioning.declared()
    }
    assert provisioning.ensure(kafka, 4) == []


def test_another_number_of_shards_is_reported_by_name(kafka: str) -> None:
    assert f"{topics.ACCEPTED}: has 4 partitions, declared are 8" in provisioning.ensure(kafka, 8)


def test_fresh_topics_hold_nothing_of_an_earlier_test(fresh_kafka: str) -> None:
    consumer = Consumer({"bootstrap.servers": fresh_kafka, "group.id": "none"})
    try:
        assert consumer.get_watermark_offsets(TopicPartition(topics.EPISODES, 0), timeout=10) == (0, 0)
    finally:
        consumer.close()
    _send(fresh_kafka, b"mine")
    assert _first(fresh_kafka) == b"mine"


def test_topics_are_never_made_by_asking(kafka: str) -> None:
    admin = AdminClient({"bootstrap.servers": kafka, "log_level": 0})
    admin.list_topics(topic="nobody.declared.this", timeout=5)
    assert "nobody.declared.this" not in admin.list_topics(timeout=5).topics


def test_databases_are_separate_and_migrated(databases: tuple[str, str]) -> None:
    memory, vault = databases
    with psycopg.connect(memory) as connection:
        assert connection.execute("SELECT count(*) FROM memory").fetchone() == (0,)
        assert connection.execute("SELECT '[1,2]'::halfvec <=> '[1,2]'::halfvec").fetchone() == (0.0,)
    with psycopg.connect(vault) as connection:
        assert connection.execute("SELECT count(*) FROM memory_key").fetchone() == (0,)


def test_postgres_keeps_its_data_and_listens_on_no_port(tmp_path: Path) -> None:
    server = Postgres(tmp_path / "pg", throwaway=True)
    server.start()
    try:
        server.create("kept")
        server.stop()
        server.start()
        with psycopg.connect(server.dsn("kept")) as connection:
            assert connection.execute("SHOW listen_addresses").fetchone() == ("",)
    finally:
        server.stop()


def test_postgres_stops_at_once_although_a_client_is_connected(tmp_path: Path) -> None:
    server = Postgres(tmp_path / "pg", throwaway=True)
    server.start()
    client = psycopg.connect(server.dsn("postgres"))
    started = time.monotonic()
    server.stop()
    assert time.monotonic() - started < 5
    client.close()


def test_a_deep_folder_gets_a_socket_elsewhere(tmp_path: Path) -> None:
    server = Postgres(tmp_path / ("deep" * 25), throwaway=True)
    server.start()
    try:
        dsn = server.dsn("postgres")
        socket = Path(dsn.split("host=", 1)[1].split(" ", 1)[0])
        assert len(os.fsencode(socket)) < 90
        psycopg.connect(dsn).close()
    finally:
        server.stop()
    assert not socket.exists()


def test_a_server_that_cannot_start_says_why(tmp_path: Path) -> None:
    broken = Postgres(tmp_path / "pg", throwaway=True)
    broken.start()
    broken.stop()
    (tmp_path / "pg" / "data" / "postgresql.conf").write_text("no_such_setting = 1\n")
    with pytest.raises(EmbeddedError, match="no_such_setting"):
        broken.start()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has to start Postgres as somebody else")
def test_programs_and_data_may_lie_below_a_folder_closed_to_all_but_root(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    (closed / "installed").symlink_to(postgres.BINARIES.parent)
    monkeypatch.setattr(postgres, "BINARIES", closed / "installed" / "bin")
    with Postgres(closed / "pg", throwaway=True) as server:
        psycopg.connect(server.dsn("postgres")).close()


@pytest.mark.parametrize(("module", "kind"), [("kafka_broker", "Kafka"), ("postgres", "Postgres")])
def test_a_server_dies_with_the_process_that_started_it(tmp_path: Path, module: str, kind: str) -> None:
    code = (
        f"from pathlib import Path; from infra.embedded.{module} import {kind}; import time\n"
        f"s = {kind}(Path({str(tmp_path / 'server')!r})); s.start(); print(s.process.pid, flush=True); time.sleep(600)"
    )
    starter = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    try:
        assert starter.stdout is not None
        server = int(starter.stdout.readline())
    finally:
        starter.send_signal(signal.SIGKILL)
        starter.wait()
    assert _gone(server)


def test_a_broker_starts_with_the_classes_that_setup_had_it_load(tmp_path: Path) -> None:
    """Half of a start is loading them."""
    share_classes()
    with Kafka(tmp_path / "broker") as broker:
        assert broker.process is not None
        assert str(shared_classes().resolve()) in Path(f"/proc/{broker.process.pid}/maps").read_text()


def test_a_data_folder_is_made_as_kafkas_own_tool_makes_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def made(name: str) -> tuple[bytes, dict[str, str]]:
        Kafka(tmp_path / name).prepare()
        data = tmp_path / name / "data"
        rows = [row for row in (data / "meta.properties").read_text().splitlines() if not row.startswith("#")]
        return (data / "bootstrap.checkpoint").read_bytes(), dict(row.split("=") for row in rows if row)

    monkeypatch.setattr(embedded, "first_records", lambda: tmp_path / "kept")
    (by_tool, named), (by_us, ours) = made("by-tool"), made("by-us")
    assert by_tool == by_us
    assert ours.keys() == named.keys() and {name for name in named if ours[name] != named[name]} == {
        "cluster.id", "directory.id"
    }  # fmt: skip
    assert len(ours["directory.id"]) == len(named["directory.id"])
