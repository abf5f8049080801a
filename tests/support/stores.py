"""Both stores behind one interface: the ports' suites fill them by the rules of commit and ask each the same."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from db.comparisons import PostgresComparisons
from db.generals import PostgresGenerals
from db.neighbourhoods import PostgresNeighbourhoods
from db.rehearsal_reads import PostgresRehearsals
from db.rollup_reads import PostgresRollups
from db.schedule import PostgresSchedule
from db.session_reads import PostgresSessions
from db.standing import Clear
from db.store import PostgresStore
from db.stored_orders import PostgresStoredOrders
from db.trial_reads import PostgresTrials
from memquorum.core.avro import Codec
from memquorum.core.experience.ports import Trials
from memquorum.core.identity.membership import Genesis
from memquorum.core.journal.rows import RowKeys, Rows
from memquorum.core.journal.workset import Workset
from memquorum.ports import Comparisons, Generals, Neighbourhoods, Rehearsals, Rollups, Schedule, Sessions, StoredOrders
from memquorum.schema_files import load_codec
from tests.builders.shard import Shard
from tests.inmemory.comparisons import InMemoryComparisons
from tests.inmemory.rehearsals import InMemoryRehearsals
from tests.inmemory.sessions import InMemorySessions
from tests.inmemory.store import (
    InMemoryNeighbourhoods,
    InMemoryRollups,
    InMemorySchedule,
    InMemoryStore,
    InMemoryStoredOrders,
)
from tests.inmemory.trials import InMemoryGenerals, InMemoryTrials

KINDS = ["memory", "postgres"]


def clear(memory_id: str) -> Clear:
    """Builds a text with a unit vector of 8 dimensions that float16 holds exactly."""
    vector = np.zeros(8, np.float32)
    vector[int(memory_id[0], 16) % 8] = 1
    return Clear(f"text of {memory_id}, 100 %\n\\N", vector)


@dataclass
class World:
    """A store with its reading ports; `reopen` gives another process's view of the same."""

    store: PostgresStore | InMemoryStore
    schedule: Schedule
    stored: StoredOrders
    neighbourhoods: Neighbourhoods
    rehearsals: Rehearsals
    rollups: Rollups
    sessions: Sessions
    trials: Trials
    generals: Generals
    comparisons: Comparisons
    reopen: Callable[[], World]
    dsn: str | None = None

    def flush(self, shard: Shard, contents: Mapping[str, Clear] | None = None) -> None:
        """Writes the shard's changes since the last time."""
        net = shard.work.net()
        texts = {i: clear(i) for i in net.revealed} if contents is None else contents
        with self.store.transaction({net.before: RowKeys()}) as transaction:
            transaction.write([net], texts, {})
        rows = shard.rows
        known = (dict(rows.memories), dict(rows.strengths), dict(rows.events), set(rows.erased))
        shard.work = Workset(
            Rows(
                rows.state,
                *known,
                protected=dict(rows.protected),
                grounds=dict(rows.grounds),
                admissions=dict(rows.admissions),
                trials=dict(rows.trials),
                nominated=dict(rows.nominated),
                tasks=dict(rows.tasks),
                feedback=dict(rows.feedback),
                weights=dict(rows.weights),
            )
        )

    def shard(self, codec: Codec, genesis: Genesis, number: int = 0) -> Shard:
        """Returns a shard of the store, and begins it if necessary."""
        state = self.store.start(genesis.cluster, genesis.shards)[number].state
        shard = Shard(codec, genesis, number)
        assert shard.rows.state == state
        return shard


def make(request: pytest.FixtureRequest) -> World:
    """Makes the world that the parameter names."""
    if request.param == "memory":
        store = InMemoryStore()

        def reopen() -> World:
            ports = InMemoryStoredOrders(store), InMemoryNeighbourhoods(store)
            more = (
                InMemoryRehearsals(store),
                InMemoryRollups(store),
                InMemorySessions(store, load_codec()),
                InMemoryTrials(store),
                InMemoryGenerals(store),
                InMemoryComparisons(store),
            )
            return World(store, InMemorySchedule(store), *ports, *more, reopen)

        return reopen()
    dsn = request.getfixturevalue("databases")[0]
    opened: list[Any] = []

    def connect() -> World:
        store, schedule, stored = PostgresStore(dsn), PostgresSchedule(dsn), PostgresStoredOrders(dsn)
        neighbourhoods, rehearsals, rollups = PostgresNeighbourhoods(dsn), PostgresRehearsals(dsn), PostgresRollups(dsn)
        sessions, trials, generals = PostgresSessions(dsn, load_codec()), PostgresTrials(dsn), PostgresGenerals(dsn)
        parts = (
            store, schedule, stored, neighbourhoods, rehearsals, rollups, sessions, trials, generals,
            PostgresComparisons(dsn),
        )  # fmt: skip
        opened.extend(parts)
        return World(*parts, connect, dsn)

    request.addfinalizer(lambda: [part.close() for part in opened])
    return connect()
