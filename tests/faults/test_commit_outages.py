"""The commit worker waits out the broker and the vault, and stops in time while they are away."""

from __future__ import annotations

import os
import shutil
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import pytest

from db.migrate import migrate
from db.vault import PostgresVault
from infra.embedded.kafka_broker import Kafka
from infra.embedded.postgres import Postgres
from memquorum.core.avro import Codec
from memquorum.core.ids import memory_id
from memquorum.ports import StoreLost, VaultUnavailable
from memquorum.telemetry.bundle import Telemetry
from tests.support.commit_process import GENESIS, MASTER
from tests.support.flow import Flow, journal_of
from tests.support.waiting import PATIENCE_S
from tests.support.watch import Worker, await_seq, check_journal, rows


class Shaky:
    """A vault that is away whenever `away` is set."""

    def __init__(self, inner: PostgresVault) -> None:
        self.away, self.refused = threading.Event(), threading.Event()
        self._inner = inner

    def _ask(self) -> PostgresVault:
        if self.away.is_set():
            self.refused.set()
            raise VaultUnavailable("away")
        return self._inner

    def create(self, wanted: Sequence[tuple[str, str, str]]) -> dict[str, bytes]:
        return self._ask().create(wanted)

    def open(self, memory_ids: Iterable[str]) -> dict[str, bytes]:
        return self._ask().open(memory_ids)

    def destroy(self, memory_ids: Iterable[str]) -> int:
        return self._ask().destroy(memory_ids)

    def followed(self) -> dict[int, int]:
        return self._ask().followed()

    def follow(self, moves: Mapping[int, tuple[int, int]], memory_ids: Iterable[str] = ()) -> int:
        return self._ask().follow(moves, memory_ids)


def test_the_broker_goes_and_comes_back(
    own_kafka: Kafka, databases: tuple[str, str], codec: Codec, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = own_kafka.bootstrap
    flow = Flow(address, codec, GENESIS, PostgresVault(databases[1], MASTER))
    with Worker(address, codec, databases) as worker:
        flow.episodes(1, ["a", "b"])
        flow.flush()
        await_seq(databases, 1, 2, worker)
        own_kafka.stop()
        own_kafka.start()
        flow.episodes(1, ["c"])
        flow.tick(1, 5_000)
        flow.flush()
        await_seq(databases, 1, 4, worker)
        assert [e.effect for e in journal_of(own_kafka.bootstrap, codec, 1, 4)] == ["stored"] * 3 + ["ticked"]
        own_kafka.stop()
        began = time.monotonic()
    assert time.monotonic() - began < 5
    assert worker.error is None
    # One that starts without a broker cannot know whether its store has lost anything: it waits, and can be stopped.
    for again in (False, True):
        telemetry, waits = Telemetry(), threading.Event()
        monkeypatch.setattr(telemetry.health, "wait", lambda what, why, waits=waits: waits.set())
        late = Worker(address, codec, databases, telemetry=telemetry)
        late.begin()
        assert waits.wait(PATIENCE_S)
        if again:
            own_kafka.start()
            late.await_ready()
        late.__exit__()
        assert late.error is None
    check_journal(databases, codec, 1)


@pytest.mark.parametrize("step", ["open", "destroy"])
def test_the_vault_goes_and_comes_back(fresh_kafka: str, databases: tuple[str, str], codec: Codec, step: str) -> None:
    vault = Shaky(PostgresVault(databases[1], MASTER))
    flow = Flow(fresh_kafka, codec, GENESIS, PostgresVault(databases[1], MASTER))
    with Worker(fresh_kafka, codec, databases, vault) as worker:
        flow.episodes(0, ["a"])
        flow.tick(0, 1_000_000)
        flow.flush()
        await_seq(databases, 0, 2, worker)
        vault.away.set()
        if step == "open":
            flow.episodes(0, ["b"])
        else:
            flow.decide(0, [flow.proposal(0, "a", "forget")])
        flow.flush()
        assert vault.refused.wait(PATIENCE_S)
        # A decision stands before its keys are destroyed; an episode waits whole.
        assert rows(databases, "SELECT seq FROM shard WHERE shard = 0") == [(3 if step == "destroy" else 2,)]
        vault.away.clear()
        await_seq(databases, 0, 4 if step == "destroy" else 3, worker)
        effects = [e.effect for e in journal_of(fresh_kafka, codec, 0, 3)]
        assert effects[2] == ("decided" if step == "destroy" else "stored")
        vault.away.set()
        flow.episodes(0, ["c"])
        flow.flush()
        vault.refused.clear()
        assert vault.refused.wait(PATIENCE_S)
        began = time.monotonic()
    assert time.monotonic() - began < 5
    assert worker.error is None
    check_journal(databases, codec, 0)


def test_postgres_restarts_under_store_and_vault(
    fresh_kafka: str, codec: Codec, tmp_path_factory: pytest.TempPathFactory
) -> None:
    with Postgres(tmp_path_factory.mktemp("pg"), throwaway=True) as server:
        for name in ("memory", "vault"):
            migrate(server.dsn(name), name)
        databases = (server.dsn("memory"), server.dsn("vault"))
        flow = Flow(fresh_kafka, codec, GENESIS, PostgresVault(databases[1], MASTER))
        with Worker(fresh_kafka, codec, databases) as worker:
            flow.episodes(0, ["a"])
            flow.flush()
            await_seq(databases, 0, 1, worker)
            server.stop()
            flow.tick(0, 1_000)
            flow.flush()
            server.start()
            assert server.dsn("memory") == databases[0]
            with pytest.raises(VaultUnavailable):
                flow.vault.open([memory_id(flow.namespace(0), "a")])
            flow.episodes(0, ["b"])
            flow.flush()
            # Entries are published after they are committed: a worker that is stopped between both leaves that to the
            # next one.
            assert [e.effect for e in journal_of(fresh_kafka, codec, 0, 3)] == ["stored", "ticked", "stored"]
            server.stop()
            began = time.monotonic()
        assert time.monotonic() - began < 5
        assert worker.error is None
        server.start()
        check_journal(databases, codec, 0)


def test_a_store_that_has_lost_what_it_committed_is_not_written_on(
    fresh_kafka: str, codec: Codec, tmp_path: Path
) -> None:
    with Postgres(tmp_path / "pg", throwaway=True) as server:
        for name in ("memory", "vault"):
            migrate(server.dsn(name), name)
        databases = (server.dsn("memory"), server.dsn("vault"))
        flow = Flow(fresh_kafka, codec, GENESIS, PostgresVault(databases[1], MASTER))
        with Worker(fresh_kafka, codec, databases) as worker:
            flow.episodes(0, ["a"])
            flow.flush()
            await_seq(databases, 0, 1, worker)
            server.stop()
            shutil.copytree(tmp_path / "pg" / "data", tmp_path / "old")
            _own(tmp_path / "old", tmp_path / "pg" / "data")
            server.start()
            flow.tick(0, 1_000)
            flow.flush()
            await_seq(databases, 0, 2, worker)
            assert len(journal_of(fresh_kafka, codec, 0, 2)) == 2
            server.stop()
            shutil.rmtree(tmp_path / "pg" / "data")
            (tmp_path / "old").rename(tmp_path / "pg" / "data")
            server.start()
            flow.tick(0, 2_000)  # a worker that has nothing to do asks nothing
            flow.flush()
            worker.join()
        assert isinstance(worker.error, StoreLost)
        assert "shard 0 stands at sequence 1 in Postgres, but 2 is published" in str(worker.error)
        with Worker(fresh_kafka, codec, databases) as again:
            again.join()
        assert isinstance(again.error, StoreLost)
        assert rows(databases, "SELECT seq FROM shard WHERE shard = 0") == [(1,)]


def test_an_empty_database_beside_a_full_journal_is_not_begun_upon(
    fresh_kafka: str, postgres: Postgres, databases: tuple[str, str], codec: Codec
) -> None:
    flow = Flow(fresh_kafka, codec, GENESIS, PostgresVault(databases[1], MASTER))
    with Worker(fresh_kafka, codec, databases) as worker:
        flow.episodes(0, ["a", "b"])
        flow.tick(2, 1_000)
        flow.flush()
        await_seq(databases, 0, 2, worker)
        await_seq(databases, 2, 1, worker)
    postgres.create("emptied")
    migrate(postgres.dsn("emptied"), "memory")
    with Worker(fresh_kafka, codec, (postgres.dsn("emptied"), databases[1])) as worker:
        worker.join()
    assert isinstance(worker.error, StoreLost)
    assert "shard 0 stands at sequence 0 in Postgres, but 2 is published" in str(worker.error)
    assert "rebuild --whole" in str(worker.error)


def _own(copy: Path, original: Path) -> None:
    """Gives a copy of the server's files to the server's user."""
    found = original.stat()
    for file in (copy, *copy.rglob("*")):
        os.chown(file, found.st_uid, found.st_gid)
