"""An installation of version 1 is opened by this version: its store is migrated with all rows, its topics make the same
store, and the line goes on from there.
"""

from __future__ import annotations

import base64
import json
import shutil
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import conninfo, sql

from db.migrate import MIGRATIONS, migrate
from db.vault import PostgresVault
from infra.embedded.postgres import Postgres
from infra.golden import GOLDEN, SUMS
from memquorum import topics
from memquorum.core.avro import Codec
from memquorum.core.identity.membership import load
from memquorum.schema_files import load_codec
from tests.builders import recorded
from tests.builders.recorded import Recorded
from tests.support import watch
from tests.support.commit_process import MASTER
from tests.support.flow import Flow
from tests.support.waiting import until
from tests.support.watch import Worker, await_seq
from workers.audit.auditor import verify
from workers.kafka import loop
from workers.rebuild.worker import rebuild

FIRST = GOLDEN / "1"


@pytest.fixture
def first_store(databases: tuple[str, str], postgres: Postgres, tmp_path: Path) -> Iterator[str]:
    """An empty store as version 1 made it."""
    released = [line.split("  ")[1] for line in (FIRST / SUMS).read_text().splitlines() if "migrations/memory" in line]
    for name in released:
        shutil.copy(MIGRATIONS / "memory" / Path(name).name, tmp_path)
    name = str(conninfo.conninfo_to_dict(databases[0])["dbname"]) + "_first"
    dsn = postgres.dsn(name)
    assert len(migrate(dsn, "memory", tmp_path)) == len(released) < len(list((MIGRATIONS / "memory").glob("*.sql")))
    yield dsn
    with psycopg.connect(postgres.dsn("postgres"), autocommit=True) as connection:
        connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


def fill(dsn: str, told: Recorded) -> None:
    """Puts the rows that version 1 made into its store."""
    with psycopg.connect(dsn, autocommit=True) as store:
        store.execute("SET session_replication_role = replica")  # foreign keys wait
        for table, rows in told.rows.items():
            asked = "SELECT column_name, udt_name FROM information_schema.columns WHERE table_name = %s"
            kinds: dict[str, str] = dict(store.execute(asked, (table,)).fetchall())
            plain = [{name: _as_json(kinds[name], value) for name, value in row.items()} for row in rows]
            columns = sql.SQL(", ").join(map(sql.Identifier, rows[0]))
            statement = sql.SQL("INSERT INTO {t} ({c}) SELECT {c} FROM jsonb_populate_recordset(NULL::{t}, %s)")
            store.execute(statement.format(t=sql.Identifier(table), c=columns), (json.dumps(plain),))


def _as_json(kind: str, value: Any) -> Any:
    if kind == "_bytea" and value is not None:
        return [_as_json("bytea", one) for one in value]
    return "\\x" + base64.b64decode(value).hex() if kind == "bytea" and value is not None else value


def held(dsn: str, told: Recorded) -> dict[str, list[tuple[Any, ...]]]:
    """Returns the rows of a store in the tables and columns of a recorded history."""
    found = {}
    with psycopg.connect(dsn, autocommit=True) as store:
        for table, rows in told.rows.items():
            columns = sql.SQL(", ").join(map(sql.Identifier, rows[0]))
            statement = sql.SQL("SELECT {} FROM {}").format(columns, sql.Identifier(table))
            found[table] = sorted(store.execute(statement).fetchall(), key=repr)
    return found


def publish(bootstrap: str, told: Recorded) -> None:
    """Writes the topics of version 1."""
    written: dict[str, Sequence[bytes | None]] = {
        topics.ACCEPTED: told.accepted, topics.SCORED: told.scored, topics.JOURNAL: told.entries,
        topics.HEADS: told.heads,
    }  # fmt: skip
    with closing(loop.producer(bootstrap)) as producer:
        for topic, values in written.items():
            for value in values:
                producer.produce(topic, value, partition=0)
        assert producer.flush(30) == 0


@pytest.mark.parametrize("history", ["lively", "restored"])
def test_an_installation_of_version_one_goes_on(
    fresh_kafka: str, databases: tuple[str, str], first_store: str, codec: Codec, history: str
) -> None:
    told = recorded.read((FIRST / f"journals/{history}.json").read_text())
    genesis, reader = load(told.genesis), load_codec()
    fill(first_store, told)
    before = held(first_store, told)
    assert all(before.values())

    # The store is migrated, and no value of version 1 changes.
    assert migrate(first_store, "memory")
    assert held(first_store, told) == before

    # The topics make the same rows. No keys of that installation are left here, so texts stay away.
    publish(fresh_kafka, told)
    vault = PostgresVault(databases[1], MASTER)
    report = rebuild(fresh_kafka, genesis, reader, databases[0], vault, without_keys=True)
    assert report.entries == len(told.entries) and report.contents == 0
    assert held(databases[0], told) == before
    assert verify(fresh_kafka, genesis, reader).findings == ()

    # The line goes on: a memory is stored, and the members decide on it.
    flow, seq, late = Flow(fresh_kafka, codec, genesis, vault), len(told.entries), 2_100_000_000
    flow.offset[0] = len(told.accepted)
    flow.epoch[0] = max(row["epoch"] for row in told.rows["decision"])
    with Worker(fresh_kafka, codec, databases, vault, genesis) as worker:
        flow.episodes(0, ["after"], at=late)
        flow.tick(0, late + 1)
        flow.flush()
        await_seq(databases, 0, seq + 2, worker)
        flow.decide(0, [flow.proposal(0, "after", "forget")], as_of=late + 1)
        flow.flush()
        found = until(lambda: watch.rows(databases, "SELECT outcome FROM outcome WHERE epoch = %s", flow.epoch[0]))
    assert found == [("forgotten",)]
    assert verify(fresh_kafka, genesis, reader).findings == ()
