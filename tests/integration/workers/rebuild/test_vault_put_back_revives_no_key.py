"""A backup of the vault that is put back revives no key that was destroyed since it was made, for nobody."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import psycopg
import pytest
from psycopg import conninfo
from starlette.testclient import TestClient

from db.connection import KEYREADER
from db.vault import PostgresVault
from infra.embedded.postgres import Postgres
from memquorum.core.avro import Codec
from memquorum.encoders.hashing import HashingEncoder
from memquorum.ports import VaultBehind, VaultUnavailable
from memquorum.telemetry.bundle import Telemetry
from streams.encoding import Encoding
from streams.latest_episodes import Recall
from tests.support.commit_process import GENESIS, MASTER
from tests.support.erasing import SHARD, fill, order
from tests.support.flow import Flow
from tests.support.waiting import PATIENCE_S
from tests.support.watch import Worker, await_seq, database
from workers.kafka.accepted_past import KafkaPast
from workers.kafka.journals import Journals
from workers.rebuild.worker import rebuild
from workers.retrieval.app import LOOPBACK, around
from workers.retrieval.door import Door
from workers.retrieval.service import Service

ERASED = ("a", "b", "c", "echo", "faint")


class Backup:
    """A backup of the vault, which can be put back; of the time when ten entries were followed, and nothing erased."""

    def __init__(self, link: psycopg.Connection, name: str) -> None:
        self._link, self._name = link, name
        self._link.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", [name])
        self._link.execute(f"CREATE DATABASE {name}_backup TEMPLATE {name}")

    def put_back(self) -> None:
        self._link.execute(f"DROP DATABASE {self._name} WITH (FORCE)")
        self._link.execute(f"CREATE DATABASE {self._name} TEMPLATE {self._name}_backup")

    def drop(self) -> None:
        self._link.execute(f"DROP DATABASE {self._name}_backup WITH (FORCE)")


@contextmanager
def backup(postgres: Postgres, vault_dsn: str) -> Iterator[Backup]:
    with psycopg.connect(postgres.dsn("postgres"), autocommit=True) as link:
        made = Backup(link, str(conninfo.conninfo_to_dict(vault_dsn)["dbname"]))
        try:
            yield made
        finally:
            made.drop()


class Asking(HashingEncoder):
    """Goes by the name of who encoded what the flow writes: else nothing is compared."""

    @property
    def name(self) -> str:
        return "random"


class Opened(PostgresVault):
    """Knows whose keys it gave."""

    given: frozenset[str] = frozenset()

    def open(self, memory_ids: Iterable[str]) -> dict[str, bytes]:
        found = super().open(memory_ids)
        self.given |= found.keys()
        return found


def filled(flow: Flow, codec: Codec, databases: tuple[str, str]) -> dict[str, str]:
    names = fill(flow)
    for _ in range(2):  # a second start, after which the vault has followed so far
        with Worker(flow.bootstrap, codec, databases) as worker:
            await_seq(databases, SHARD, 10, worker)
    return names


def answered(vault: PostgresVault, ids: Iterable[str]) -> dict[str, bytes]:
    """The keys, once it gives some."""
    deadline = time.monotonic() + PATIENCE_S
    while True:
        try:
            return vault.open(ids)
        except VaultUnavailable as error:
            assert time.monotonic() < deadline, error
            time.sleep(0.05)


def served(memory_dsn: str, bootstrap: str, codec: Codec, namespace: str) -> set[str]:
    """Returns what the service finds in a namespace, with all its endpoints."""
    service = Service(
        memory_dsn, bootstrap, GENESIS, codec, encoder=Asking(), before=None, door=Door(None),
        shown=Telemetry().stage("retrieval"), cache_memories=0,
    )  # fmt: skip
    with TestClient(around(service, LOOPBACK, service.meters), base_url="http://127.0.0.1") as client:
        asked = {"namespace": namespace, "query": "Valve a opens at 4 bar.", "k": 100, "peek": True}
        answer = client.post("/search", json=asked)
    assert answer.status_code == 200, answer.text
    return {hit["memory_id"] for hit in answer.json()["hits"]}


def test_whoever_starts_first_on_a_vault_that_was_put_back_opens_nothing_of_what_was_erased(
    fresh_kafka: str, codec: Codec, databases: tuple[str, str], postgres: Postgres
) -> None:
    memory_dsn, vault_dsn = databases
    flow = Flow(fresh_kafka, codec, GENESIS, PostgresVault(vault_dsn, MASTER))
    names = filled(flow, codec, databases)
    gone, mine = {names[one] for one in ERASED}, flow.namespace(SHARD)
    assert names["a"] in served(memory_dsn, fresh_kafka, codec, mine)
    with backup(postgres, vault_dsn) as kept:
        with pytest.raises(VaultUnavailable):  # the copy took its connection
            flow.vault.open([names["d"]])
        order(flow)
        flow.episodes(SHARD, ["late"], subject="ada")
        flow.flush()
        with Worker(fresh_kafka, codec, databases) as worker:
            await_seq(databases, SHARD, 12, worker)
        kept.put_back()
        with psycopg.connect(vault_dsn) as link:
            keys = link.execute("SELECT memory_id::text FROM memory_key WHERE wrapped IS NOT NULL").fetchall()
        assert gone <= {name for (name,) in keys}, "the backup is of before"

        told = Journals(fresh_kafka, GENESIS.shards, codec)
        first = Opened(vault_dsn, MASTER, KEYREADER, told)
        for ids in (gone, [names["d"]]):
            with pytest.raises(VaultBehind, match=f"shard {SHARD} up to entry 10, and keys .* up to entry 12"):
                first.open(ids)
        # Salience, which takes up a shard, would encode once more what was said last in it.
        encoding = Encoding(HashingEncoder())
        recall = Recall(codec, past=KafkaPast(fresh_kafka, None), encoding=encoding, vault=first, each=50)
        with pytest.raises(VaultBehind):
            recall.before(SHARD, flow.offset[SHARD])
        # A rebuild cannot wait for a commit worker, which has no store yet. It leaves out what is gone by the journal.
        again = Opened(vault_dsn, MASTER, KEYREADER)
        with database(postgres, "template_memory") as other:
            rebuild(fresh_kafka, GENESIS, codec, other, again)
        assert names["d"] in again.given and not again.given & gone
        assert served(memory_dsn, fresh_kafka, codec, mine) == {names["d"]}

        with Worker(fresh_kafka, codec, databases) as worker:
            await_seq(databases, SHARD, 12, worker)
            assert set(answered(first, names.values())) == {names["d"], names["x"]}
            assert not {one.memory_id for one in recall.before(SHARD, flow.offset[SHARD])} & gone
        assert first.given == {names["d"], names["x"]}
        assert served(memory_dsn, fresh_kafka, codec, mine) == {names["d"]}


def test_a_vault_that_is_put_back_under_running_processes_is_noticed(
    fresh_kafka: str, codec: Codec, databases: tuple[str, str], postgres: Postgres
) -> None:
    _, vault_dsn = databases
    keys = PostgresVault(vault_dsn, MASTER)
    flow = Flow(fresh_kafka, codec, GENESIS, keys)
    names = filled(flow, codec, databases)
    gone = {names[one] for one in ERASED}
    keys.close()
    with backup(postgres, vault_dsn) as kept:
        order(flow)
        flow.flush()
        with Worker(fresh_kafka, codec, databases) as worker:
            await_seq(databases, SHARD, 11, worker)
        # One that knows the journals, and one that knows only what it has seen, as intake does.
        readers = [PostgresVault(vault_dsn, MASTER, KEYREADER, Journals(fresh_kafka, GENESIS.shards, codec))]
        readers.append(PostgresVault(vault_dsn, MASTER, KEYREADER))
        left = {names["d"], names["x"]}
        for reader in readers:
            assert set(answered(reader, names.values())) == left
        kept.put_back()
        for reader in readers:
            with pytest.raises(VaultUnavailable):  # its connection went
                reader.open(left)
            for ids in (left, gone):
                with pytest.raises(VaultBehind):
                    reader.open(ids)
        with Worker(fresh_kafka, codec, databases) as worker:
            for reader in readers:
                assert set(answered(reader, names.values())) == left
            kept.put_back()  # and the commit worker notices it by itself, with nothing to do
            for reader in readers:
                assert set(answered(reader, names.values())) == left
            assert worker.error is None
