"""The influence of a namespace's size on what a nominator reads to choose for want of room: a budget, a capacity, a
maximum age."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from functools import partial
from statistics import median
from typing import Any

import numpy as np
import psycopg
from numpy.typing import NDArray

from bench.feed import DIMENSIONS, HOUR, START
from bench.kept import Row
from bench.parts import Parts, parts
from db import copying
from db.schedule import PostgresSchedule
from memquorum.core.budgets.beginning import Beginning, whole
from memquorum.core.ids import memory_id, shard_of
from memquorum.core.journal.rows import JournalRow, Memory, Strength
from memquorum.core.policy import PPM
from memquorum.core.records import JournalEntry, Lapsed, Standing, Stored
from memquorum.core.vote.nomination import Elsewhere
from streams.budget_choice import Budgets
from streams.candidates import Candidates

_SIZE, _WARM = 64, 2
_NOW, _DAY = START + 400 * 24 * HOUR, 24 * HOUR
_SHARDS = 4
_SPACE = next(name for name in map("choice-{}".format, range(99)) if shard_of(name, _SHARDS) == 0)
_TOKENS = 20
_REASONS = ("budget", "pressure", "age")
Choose = Callable[[], Sequence[object]]


def measure(quick: bool) -> Row:
    """A nominator's choices of an epoch, on Postgres."""
    row = Row("choosing", "a nominator's choice for want of room, in a namespace of 10 k, 100 k and 1 M memories")
    sizes, epochs = ((1_000, 3_000), 3) if quick else ((10_000, 100_000, 1_000_000), 8)
    seen: dict[str, list[float]] = {}
    for stored in sizes:
        for name, value in _at(stored, epochs).items():
            row.figure(f"{stored:,}: {name}", value, "MiB" if "read" in name else "ms")
            seen.setdefault(name, []).append(value)
    for reason in _REASONS:
        name = f"{reason}, largest ÷ smallest"
        row.figure(name, seen[f"{reason}, processor"][-1] / seen[f"{reason}, processor"][0], "")
        row.at_most(name, 1.3)
    name = f"{sizes[-1]:,}: budget, processor"
    row.compare(name, "the same with all memories read", seen["budget, whole, processor"][-1], "ms")
    row.note("processor time is the nominator's and Postgres', a choice each; between two, 64 memories are forgotten, "
             "64 come and 64 are used. Read: pages of Postgres, whether from memory or disk. *Filled*: what it "
             "takes to read a namespace once, after a start")  # fmt: skip
    row.series["sizes"] = list(sizes)
    row.series["seen"] = {name: [round(one, 2) for one in told] for name, told in seen.items()}
    return row


def _at(stored: int, epochs: int) -> dict[str, float]:
    policy = {
        "budget": {"tokens": f"{_SPACE}={max(500, stored * _TOKENS * 9 // 10)}", "ttl_ms": [0, 0, 0, 370 * _DAY]},
        "epoch": {"capacity": max(100, stored * 9 // 10)},
    }
    with (
        parts(policy=policy) as running,
        closing(PostgresSchedule(running.settings.memory_dsn)) as schedule,
        psycopg.connect(running.settings.memory_dsn, autocommit=True) as connection,
    ):
        return _Nominator(running, schedule, connection, stored, epochs).measured()


class _WholeBudgets(Budgets):
    """Reads all memories of a namespace."""

    def _beginning(self, shard: int, namespace: str, *_: object, **__: object) -> Beginning:
        return whole(self._schedule.weighted(shard, namespace))


class _Nominator:
    """A shard with one namespace, and what a nominator asks about it."""

    def __init__(
        self, running: Parts, schedule: PostgresSchedule, connection: psycopg.Connection, stored: int, epochs: int
    ) -> None:
        self._running, self._schedule, self._db = running, schedule, connection
        self._chance, self._stored, self._epochs = random.Random(5), stored, epochs
        self._seq, self._new, self._epoch = 0, 0, 0
        self._candidates = Candidates(schedule)

    def measured(self) -> dict[str, float]:
        """Fills the store, and chooses epoch by epoch."""
        assert self._running.genesis.shards == _SHARDS
        self._fill()
        budgets, told = Budgets(self._schedule, bytes(32)), dict[str, float]()
        began, postgres = time.process_time(), self._postgres_ms()
        while _SPACE not in budgets._orders.follow(0, 0, self._running.genesis.policy):
            pass
        used = (time.process_time() - began) * 1000 + self._postgres_ms() - postgres
        told["filled, a thousand memories"] = used / self._stored * 1000
        for reason in _REASONS:
            choose: dict[str, Choose] = {
                "budget": partial(self._budget, budgets), "pressure": self._pressure, "age": self._age
            }  # fmt: skip
            figures = [self._epoch_of(choose[reason]) for _ in range(self._epochs + _WARM)][_WARM:]
            told[f"{reason}, processor"] = median(cpu for cpu, _, _ in figures)
            told[f"{reason}, p50"] = median(wall for _, wall, _ in figures)
            told[f"{reason}, read"] = median(read for _, _, read in figures)
        every = _WholeBudgets(self._schedule, bytes(32))
        every._orders = budgets._orders
        cpu, _, read = self._measured(partial(self._budget, every))
        told |= {"budget, whole, processor": cpu, "budget, whole, read": read}
        return told

    def _epoch_of(self, choose: Choose) -> tuple[float, float, float]:
        found = self._measured(choose)
        self._passes()
        return found

    def _measured(self, choose: Choose) -> tuple[float, float, float]:
        """Returns processor and wall time in milliseconds, and what Postgres read, in MiB."""
        pages, postgres = self._pages(), self._postgres_ms()
        began, cpu = time.perf_counter(), time.process_time()
        assert choose(), "nothing is chosen"
        own, wall = time.process_time() - cpu, time.perf_counter() - began
        used = own * 1000 + self._postgres_ms() - postgres
        return used, wall * 1000, (self._pages() - pages) * 8 / 1024

    def _budget(self, budgets: Budgets) -> Sequence[object]:
        standing = Standing(self._epoch, 0, 0, self._stored)
        return budgets.leaving(0, standing, _NOW, self._running.genesis, Elsewhere()).chosen

    def _pressure(self) -> Sequence[object]:
        policy = self._running.genesis.policy
        return self._candidates._evicted(0, _NOW, policy, policy.epoch.proposals_max, set())

    def _age(self) -> Sequence[object]:
        return self._candidates._aged(0, _NOW, self._running.genesis.policy)

    def _postgres_ms(self) -> float:
        return self._running.cpu_s()["postgres"] * 1000

    def _pages(self) -> int:
        with self._schedule._link.use() as connection:
            connection.execute("SELECT pg_stat_force_next_flush()")
            connection.execute("SELECT 1")
        self._db.execute("SELECT pg_stat_clear_snapshot()")
        found = self._db.execute(
            "SELECT blks_hit + blks_read FROM pg_stat_database WHERE datname = current_database()"
        ).fetchone()
        return int(found[0]) if found else 0

    # The store ------------------------------------------------------------------------------------------------------

    def _fill(self) -> None:
        self._db.execute("INSERT INTO shard (shard, hash) SELECT g, 'h' FROM generate_series(0, 3) g")
        self._come([memory_id(_SPACE, f"old-{at}") for at in range(self._stored)])
        self._db.execute("INSERT INTO living VALUES (0, %s, %s)", (_SPACE, self._stored))
        self._db.execute("VACUUM ANALYZE")

    def _come(self, names: list[str]) -> None:
        """Stores memories, each with the journal's entry, of which a policy reads worth and novelty."""
        some, first = self._chance, self._seq + 1
        used = [_NOW - some.randrange(60 * _DAY) for _ in names]
        old = [some.random() < 0.002 for _ in names]
        vector = copying.raw_vector(_vector(some))
        rows = list(zip(names, used, old, strict=True))
        copying.copy(self._db, "memory_copy", (
            copying.raw(Memory(
                one, 0, _SPACE, "ada", "ada", one, "short-term", _NOW - 380 * _DAY if aged else at, 80, bytes(32),
                "bench", False, None, at, None, first, type="task" if aged else "episodic",
            )) for one, at, aged in rows
        ))  # fmt: skip
        copying.copy(self._db, "content_copy", (
            (copying.raw_id(one), "x" * some.randrange(20, 140), _SPACE) for one in names
        ))  # fmt: skip
        copying.copy(self._db, "embedding_copy", ((copying.raw_id(one), _SPACE, vector, "bench") for one in names))
        copying.copy(self._db, "strength_copy", (
            copying.raw(Strength(
                one, 0, "short-term", some.randrange(30, 90) * 10_000, _NOW - 380 * _DAY if aged else at, at, 0
            ))
            for one, at, aged in rows
        ))  # fmt: skip
        # Memories of before the first choice are found in the store, and their entries tell worth and novelty alone.
        some_entries = [self._stored_entry(0, None) for _ in range(256)] if len(names) > _SIZE else []
        entries = (
            (seq, one, self._chance.choice(some_entries) if some_entries else self._stored_entry(seq, one))
            for seq, one in enumerate(names, first)
        )
        copying.copy(self._db, "journal_copy", (
            copying.raw(JournalRow(
                0, seq, _NOW, "stored", one, _SPACE, one, "accepted", 0, seq, entry, bytes(32), bytes(32)
            )) for seq, one, entry in entries
        ))  # fmt: skip
        self._stands(len(names))

    def _stored_entry(self, seq: int, memory: str | None) -> bytes:
        worth, novelty = (10 + self._chance.randrange(90)) * PPM, self._chance.randrange(PPM)
        told = Stored(
            agent="ada", subject="ada", occurred_at=_NOW, commitment=bytes(32), characters=80, outcome="stored",
            salience_ppm=450_000, early=False, accepted_offset=0, scored_offset=0, encoder="bench", novelty_ppm=novelty,
            worth_ppm=worth,
        )  # fmt: skip
        return self._running.codec.encode(self._entry(seq, "stored", told, memory))

    def _entry(self, seq: int, effect: str, detail: Any, memory: str | None = None) -> JournalEntry:
        told = self._running.codec.encode(detail)
        return JournalEntry(0, seq, _NOW, effect, f"e{seq}", "t", 0, seq, told, _SPACE, memory)

    def _stands(self, more: int) -> None:
        self._seq += more
        self._db.execute("UPDATE shard SET seq = %s, last_epoch = %s WHERE shard = 0", (self._seq, self._epoch))

    def _passes(self) -> None:
        """Forgets 64 memories, stores 64, and uses 64."""
        self._epoch += 1
        some = [memory_id(_SPACE, f"old-{self._chance.randrange(self._stored)}") for _ in range(2 * _SIZE)]
        gone, used = some[:_SIZE], some[_SIZE:]
        for table in ("strength", "content", "embedding"):
            self._db.execute(f"DELETE FROM {table} WHERE memory_id = ANY(%s::uuid[])", (gone,))
        self._db.execute("UPDATE memory SET tier = 'sealed' WHERE id = ANY(%s::uuid[])", (gone,))
        self._db.execute("UPDATE strength SET last_access = %s WHERE memory_id = ANY(%s::uuid[])", (_NOW, used))
        entry = self._entry(self._seq + 1, "lapsed", Lapsed("pin", 0, tuple(some)))
        told = JournalRow(0, self._seq + 1, _NOW, "lapsed", "e", _SPACE, None, "t", 0, 0,
                          self._running.codec.encode(entry), bytes(32), bytes(32))  # fmt: skip
        copying.copy(self._db, "journal_copy", [copying.raw(told)])
        self._stands(1)
        self._new += 1
        self._come([memory_id(_SPACE, f"new-{self._new}-{at}") for at in range(_SIZE)])


def _vector(some: random.Random) -> NDArray[np.float32]:
    return np.array([some.gauss(0, 1) for _ in range(DIMENSIONS)], np.float32)
