"""The cost of questions about a large experience on a real Postgres: 10,000 memories of one namespace, 10,000 tasks.

Memories are HotpotQA's sentences with their titles, the goals of tasks are sentences without them.
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from statistics import median

import numpy as np
import psycopg
from numpy.typing import NDArray

from bench.crowd import START, Crowd, fill
from bench.experience.frame import HOTPOT, POLICY, Material
from bench.kept import Row
from bench.sets import records
from db import copying
from db.migrate import migrate
from db.reads import Reads
from db.schedule import PostgresSchedule
from infra.embedded.postgres import Postgres
from memquorum.core.access import Sight
from memquorum.core.ids import memory_id
from memquorum.core.journal.rows import AdmissionRow, Memory, TaskRow
from memquorum.core.journal.tables import TABLES
from memquorum.core.policy import ExperiencePolicy, Policy
from memquorum.core.retrieval import hops
from memquorum.core.retrieval.query import ALL, Filters
from memquorum.core.retrieval.ranking import DEFAULTS, Question, rank
from memquorum.core.tiers import FINISHED
from streams.merge_candidates import MOST

_SPACE, _OFFICE, _COUNT, _ASKED = "fleet", "office", 10_000, 40
_WHY_MS = 300


def large(material: Material) -> Row:
    """Measures `experience why`, a round of uniting memories, and the second step of a retrieval."""
    asked = material.some(list(records(material.data, HOTPOT, "question", "context")), 20)
    said = {text.strip(): title for one in asked for title, texts in one["context"] for text in texts if text.strip()}
    titled = [f"{title}: {text}" for text, title in said.items()][:_COUNT]
    count = len(titled)
    row = Row(
        "large", f"the cost of experience for Postgres, with {count:,} memories and {count:,} finished tasks in it"
    )
    people, goals = (
        Crowd(material.vectors.name, texts, material.vectors.of(texts)) for texts in (titled, [*said][:count])
    )
    questions = [one["question"] for one in asked][:_ASKED]
    with tempfile.TemporaryDirectory() as folder, Postgres(Path(folder) / "postgres", throwaway=True) as server:
        dsn = server.dsn("memory")
        migrate(dsn, "memory")
        with psycopg.connect(dsn, autocommit=True) as connection:
            connection.execute("INSERT INTO shard (shard, hash) VALUES (0, '')")
        fill(dsn, people, [_SPACE])
        _experience(dsn, people, goals)
        asyncio.run(_reads(row, dsn, people.encoder, questions, material.vectors.of(questions)))
        schedule = PostgresSchedule(dsn)
        try:
            _rounds(row, schedule)
        finally:
            schedule.close()
    row.at_most("why of what may be tried: slowest", _WHY_MS)
    row.note(
        "sentences of HotpotQA, titled as memories and bare as goals of tasks, in one namespace of one shard. For "
        "admitted memories no tasks are counted; candidates are compared with each. A search for near-duplicates runs "
        "once an epoch, and compares each memory that it looks at with all; a memory counts in each round that has it. "
        "For reads from another namespace, all of them are general forms whose publishers allow it"
    )
    return row


def _experience(dsn: str, people: Crowd, goals: Crowd) -> None:
    """All memories are admitted; all tasks succeeded."""
    count, name = len(people.texts), people.encoder
    tasks = [memory_id(_SPACE, f"t{at}") for at in range(count)]
    with psycopg.connect(dsn, autocommit=True) as connection:
        copying.copy_rows(connection, TABLES[AdmissionRow], (
            AdmissionRow(memory_id(_SPACE, f"e{at}"), 0, at, _SPACE, "admitted", 0, version=1, weight_ppm=1_000_000)
            for at in range(count)
        ))  # fmt: skip
        copying.copy_rows(connection, TABLES[Memory], (
            Memory(
                one, 0, _SPACE, "ada", "ada", f"t{at}", FINISHED, START + at, len(goals.texts[at]), bytes(32), name,
                False, None, START, None, count + at,
            ) for at, one in enumerate(tasks)
        ))  # fmt: skip
        copying.copy_rows(connection, TABLES[TaskRow], (
            TaskRow(one, 0, count + at, _SPACE, "succeeded", "ada", bytes(32), 0, (), at)
            for at, one in enumerate(tasks)
        ))  # fmt: skip
        copying.copy(connection, "experience_copy", (
            (copying.raw_id(one), _SPACE, goals.texts[at], copying.raw_vector(goals.vectors[at]), name, bytes(32))
            for at, one in enumerate(tasks)
        ))  # fmt: skip
        connection.execute("VACUUM ANALYZE")


async def _reads(row: Row, dsn: str, encoder: str, asked: Sequence[str], vectors: NDArray[np.float32]) -> None:
    reads, sight = Reads(dsn), Sight((_SPACE,))
    names: dict[int, str] = {}
    await reads.open()

    def policy(_: str) -> ExperiencePolicy:
        return POLICY

    async def why(at: int) -> object:
        return await reads.admission(sight, memory_id(_SPACE, f"e{at}"), ALL, policy)

    async def candidates(at: int) -> object:
        found, as_of = await reads.candidates(sight, Question(_SPACE, asked[at], {encoder: vectors[at]}), DEFAULTS)
        ranked = rank(found, {encoder: _COUNT}, as_of, Policy())
        names[at] = hops.second_query(one.candidate.hit.text for one in ranked[: hops.KEPT])
        return ranked

    async def second(at: int) -> object:
        return await reads.candidates(sight, Question(_SPACE, names[at], {encoder: vectors[at]}), DEFAULTS)

    async def elsewhere(at: int) -> object:
        question = Question(_OFFICE, asked[at], {encoder: vectors[at]}, Filters(experience=True, diffusion=True))
        forms = await reads.diffused(Sight((_OFFICE,)), question, encoder, POLICY)
        return await reads.given(Sight((_OFFICE,)), _OFFICE, [form.candidate.hit.memory_id for form in forms])

    try:
        _figures(row, "why of what was admitted", await _timed(why))
        with psycopg.connect(dsn, autocommit=True) as connection:
            connection.execute("UPDATE admission SET status = 'provisional', version = 0, weight_ppm = NULL")
            connection.execute("VACUUM ANALYZE admission")
        _figures(row, "why of what may be tried", await _timed(why))
        with psycopg.connect(dsn, autocommit=True) as connection:
            connection.execute("UPDATE admission SET status = 'admitted', version = 1, weight_ppm = 1000000")
            connection.execute("VACUUM ANALYZE admission")
        _figures(row, "candidates of a retrieval", await _timed(candidates, len(asked)))
        _figures(row, "candidates of its second step", await _timed(second, len(asked)))
        with psycopg.connect(dsn, autocommit=True) as connection:
            connection.execute(
                "UPDATE memory SET general_of = id, purposes = 'diffusion' WHERE tier <> %s", (FINISHED,)
            )
            connection.execute("VACUUM ANALYZE memory")
        _figures(row, "what of it another namespace is given", await _timed(elsewhere, len(asked)))
        with psycopg.connect(dsn, autocommit=True) as connection:
            connection.execute("UPDATE memory SET general_of = NULL, purposes = NULL WHERE tier <> %s", (FINISHED,))
            connection.execute("VACUUM ANALYZE memory")
    finally:
        await reads.close()


async def _timed(ask: Callable[[int], Awaitable[object]], count: int = _ASKED) -> list[float]:
    """Milliseconds of each, one after the other."""
    found = []
    for at in range(count):
        began = time.perf_counter()
        await ask(at)
        found.append(1000 * (time.perf_counter() - began))
    return found


def _rounds(row: Row, schedule: PostgresSchedule) -> None:
    """All rounds over a shard, one behind the other."""
    took, found, after = list[float](), 0, None
    while True:
        began = time.perf_counter()
        peers = schedule.twins(0, POLICY.merge_ppm, MOST, after)
        took.append(1000 * (time.perf_counter() - began))
        found, after = found + len(peers.found), peers.after
        if after is None or len(took) == _ASKED:
            break
    _figures(row, f"a round of what becomes one, {MOST} looked at", took)
    row.figure("memories that lie near another, in these rounds", found, "")


def _figures(row: Row, name: str, ms: Sequence[float]) -> None:
    row.figure(f"{name}: half within", median(ms), "ms")
    row.figure(f"{name}: slowest", max(ms), "ms")


ROWS: Mapping[str, Callable[[Material], Row]] = {"large": large}
