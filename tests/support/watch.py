"""Watches the commit worker: the worker in a thread, its store, and its journal redone by the rules."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg

from db.vault import PostgresVault
from infra.embedded.postgres import Postgres
from memquorum.core.avro import Codec
from memquorum.core.identity.membership import Genesis
from memquorum.core.journal import hash_chain
from memquorum.core.journal.effects import Rules, redo
from memquorum.core.journal.rows import Rows
from memquorum.core.journal.workset import Workset
from memquorum.core.records import JournalAppended
from memquorum.ports import Vault
from tests.support.commit_process import GENESIS, MASTER, SEED
from tests.support.waiting import PATIENCE_S
from workers.commit import worker as commit
from workers.kafka.loop import Stop


class Worker:
    """The worker in a thread; its error is kept."""

    def __init__(
        self,
        bootstrap: str,
        codec: Codec,
        databases: tuple[str, str],
        vault: Vault | None = None,
        genesis: Genesis = GENESIS,
        **more: Any,
    ) -> None:
        self.stop, self.error = Stop(), None
        self._ready = threading.Event()
        self._arguments: dict[str, Any] = {
            "memory_dsn": databases[0], "vault": vault or PostgresVault(databases[1], MASTER), "journal_seed": SEED,
            "stop": self.stop, "ready": self._ready.set, **more,
        }  # fmt: skip
        self._thread = threading.Thread(target=self._run, args=(bootstrap, genesis, codec))

    def _run(self, bootstrap: str, genesis: Genesis, codec: Codec) -> None:
        try:
            commit.run(bootstrap, genesis, codec, **self._arguments)
        except Exception as error:
            self.error = error
            self._ready.set()

    def begin(self) -> None:
        self._thread.start()

    def await_ready(self) -> None:
        assert self._ready.wait(PATIENCE_S)

    def __enter__(self) -> Worker:
        self.begin()
        self.await_ready()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop.set()
        self.join()

    def join(self) -> None:
        """Waits until the worker has ended. A test of how fast that is measures the time itself."""
        self._thread.join(PATIENCE_S)
        assert not self._thread.is_alive(), "it does not end"


@contextmanager
def store(databases: tuple[str, str]) -> Iterator[psycopg.Connection]:
    with psycopg.connect(databases[0], autocommit=True) as connection:
        yield connection


def await_seq(databases: tuple[str, str], shard: int, seq: int, worker: Worker | None = None) -> None:
    """Waits for the shard's journal to reach a sequence, by the notifications that each transaction sends."""
    with store(databases) as connection:
        connection.execute("LISTEN journal")
        deadline = time.monotonic() + PATIENCE_S
        while True:
            row = connection.execute("SELECT seq FROM shard WHERE shard = %s", [shard]).fetchone()
            if row and row[0] >= seq:
                return
            assert time.monotonic() < deadline, f"shard {shard} is at {row}, not at {seq}"
            assert worker is None or worker.error is None, worker.error  # type: ignore[union-attr]
            for _ in connection.notifies(timeout=1, stop_after=1):
                pass


def rows(databases: tuple[str, str], query: str, *parameters: Any) -> list[tuple[Any, ...]]:
    with store(databases) as connection:
        return connection.execute(query, parameters).fetchall()  # type: ignore[arg-type]


def check_journal(databases: tuple[str, str], codec: Codec, shard: int, genesis: Genesis = GENESIS) -> Workset:
    """Checks the shard's journal in Postgres: it has no gaps, its hashes hold, and redone by the rules it gives the
    stored state.
    """
    work = Workset(Rows(hash_chain.beginning(genesis.cluster, shard)))
    columns = "entry, previous_hash, hash, seq, effect, event_id, source_offset"
    found = rows(databases, f"SELECT {columns} FROM journal WHERE shard = %s ORDER BY seq", shard)
    for entry, previous, this, *repeated in found:
        change = redo(Rules(codec, genesis), work.rows, JournalAppended(entry, previous, this))
        assert [change.entry.seq, change.entry.effect, change.entry.event_id, change.entry.source_offset] == repeated
        work.absorb(change)
    state = work.rows.state
    assert rows(
        databases,
        "SELECT seq, hash, as_of, interactions, last_epoch, last_epoch_at, decided_seq, alive, unattested, asked_at, "
        "contested_at, weighed_to "
        "FROM shard WHERE shard = %s",
        shard,
    ) == [
        (
            state.seq,
            state.hash,
            state.as_of,
            state.interactions,
            state.last_epoch,
            state.last_epoch_at,
            state.decided_seq,
            state.alive,
            state.unattested,
            state.asked_at,
            state.contested_at,
            state.weighed_to,
        )
    ]
    tiers = dict(rows(databases, "SELECT id::text, tier FROM memory WHERE shard = %s", shard))
    assert tiers == {m.id: m.tier for m in work.rows.memories.values()}
    counted = "last_access, touched, accesses, reinforced, kept, rest, replays, doubts, rehearsed"
    strengths = rows(databases, f"SELECT memory_id::text, {counted} FROM strength WHERE shard = %s", shard)
    assert {row[0]: row[1:] for row in strengths} == {
        s.memory_id: (
            s.last_access, s.touched, s.accesses, s.reinforced, s.kept, s.rest, s.replays, s.doubts, s.rehearsed
        )
        for s in work.rows.strengths.values()
    }  # fmt: skip
    return work


_numbers = itertools.count()


@contextmanager
def database(postgres: Postgres, template: str) -> Iterator[str]:
    """Makes a database of its own, copied from another."""
    name = f"audit_{next(_numbers)}"
    with psycopg.connect(postgres.dsn("postgres"), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} TEMPLATE {template}")
        try:
            yield postgres.dsn(name)
        finally:
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)")
