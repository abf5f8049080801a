"""Due memories are found without reading the others, however much of another tier went unused for as long."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import psycopg
from msgspec.structs import asdict
from psycopg.types.json import Json

from db.queries import QUERIES
from db.schedule import PostgresSchedule
from memquorum.core.policy import Policy
from memquorum.core.tiers import LONG_TERM, SHORT_TERM
from memquorum.core.triage import HOUR_MS, expiring, falling
from memquorum.core.vote.kinds import LETS_GO
from memquorum.ports import Grade

STORED = 20_000


def scans(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The parts of a plan that read the strengths."""
    if plan.get("Relation Name") == "strength":
        yield plan
    for part in plan.get("Plans", ()):
        yield from scans(part)


def test_what_is_due_in_a_tier_does_not_read_another_tier(databases: tuple[str, str]) -> None:
    # Unused for longer than short-term memory bears, and for less than long-term memory does: nothing of it is due.
    since = {SHORT_TERM: 2 * STORED, LONG_TERM: 0}
    wanted = {"shard": 0, "unused_since": Json(since), "limit": 256, "without": [], "kinds": Json(LETS_GO)}
    with psycopg.connect(databases[0], autocommit=True) as connection:
        connection.execute(
            f"""INSERT INTO memory (id, shard, namespace, agent, subject, event_id, tier, created, characters,
                    commitment, encoder, early, changed, seq)
                SELECT md5(i::text)::uuid, 0, 'n', 'a', 'a', 'e' || i, CASE WHEN i % 1000 = 0 THEN 'short-term'
                ELSE 'long-term' END, 0, 1, 'x', 'h', false, 0, i FROM generate_series(1, {STORED}) i;
                INSERT INTO strength SELECT id, 0, tier, 1, 0, seq, 0, 0 FROM memory;
                INSERT INTO shard (shard, hash) VALUES (0, 'h');
                ANALYZE"""
        )
        asked = "EXPLAIN (ANALYZE, FORMAT JSON) " + QUERIES["schedule_due"]
        (told,) = connection.execute(asked, wanted).fetchone() or ({},)
        found = connection.execute(QUERIES["schedule_due"], wanted).fetchall()
    assert [tier for *_, tier in found] == [SHORT_TERM] * (STORED // 1000)
    read = list(scans(told[0]["Plan"]))
    assert read and all(scan.get("Index Name") == "strength_unused" for scan in read), told
    assert sum(scan.get("Rows Removed by Filter", 0) for scan in read) == 0, told


def test_what_expires_is_found_without_reading_what_does_not(databases: tuple[str, str]) -> None:
    """The grades cost one look at the index each, and what is due what is due."""
    wanted: dict[str, Any] = {
        "shard": 0, "as_of": 50 * HOUR_MS, "each": 256, "without": [], "kinds": Json(LETS_GO),
    }  # fmt: skip
    with psycopg.connect(databases[0], autocommit=True) as connection:
        connection.execute(
            f"""INSERT INTO memory (id, shard, namespace, agent, subject, event_id, tier, created, characters,
                    commitment, encoder, early, changed, seq)
                SELECT md5(i::text)::uuid, 0, 'n', 'a', 'a', 'e' || i, 'short-term', 0, 1, 'x', 'h', false, 0, i
                FROM generate_series(1, {STORED}) i;
                INSERT INTO strength
                SELECT id, 0, tier, 400000 + 10000 * (seq % 40), 0,
                    CASE WHEN seq % 1000 = 0 THEN 0 ELSE {49 * HOUR_MS} END, 0
                FROM memory;
                INSERT INTO shard (shard, hash) VALUES (0, 'h');
                ANALYZE"""
        )
        read, answers = list[dict[str, Any]](), list[list[Any]]()
        for name in ("schedule_grades", "schedule_fading"):
            (told,) = connection.execute("EXPLAIN (ANALYZE, FORMAT JSON) " + QUERIES[name], wanted).fetchone() or ({},)
            read += scans(told[0]["Plan"])
            answers.append(connection.execute(QUERIES[name], wanted).fetchall())
            grades = [Grade(*row) for row in answers[0]]
            asked = ({**asdict(one), **asdict(one.grade)} for one in expiring(grades, 50 * HOUR_MS, Policy()))
            wanted["asked"] = Json([{k: v for k, v in one.items() if k != "grade"} for one in asked])
    assert len(answers[0]) == 40
    assert len(answers[1]) == STORED // 1000
    assert read and all(scan.get("Index Name") == "strength_fading" for scan in read), read
    assert sum(scan["Actual Rows"] * scan["Actual Loops"] for scan in read) < 200
    assert sum(scan.get("Rows Removed by Filter", 0) for scan in read) == 0


def test_idle_sessions_are_found_without_reading_what_no_summary_is_made_of(databases: tuple[str, str]) -> None:
    begin = dict.fromkeys(("latest", "namespace", "agent", "session"))
    wanted = {**begin, "shard": 0, "until": STORED, "least": 3, "limit": 64}
    with psycopg.connect(databases[0], autocommit=True) as connection:
        connection.execute(
            f"""INSERT INTO memory (id, shard, namespace, agent, subject, event_id, tier, created, characters,
                    commitment, encoder, early, changed, seq, session)
                SELECT md5(i::text)::uuid, 0, 'n', 'a', 'a', 'e' || i, CASE WHEN i % 100 = 0 THEN 'short-term'
                ELSE 'long-term' END, i, 1, 'x', 'h', false, 0, i, 's' || i / 400 FROM generate_series(1, {STORED}) i;
                ANALYZE"""
        )
        asked = "EXPLAIN (ANALYZE, FORMAT JSON) " + QUERIES["schedule_idle_sessions"]
        (told,) = connection.execute(asked, wanted).fetchone() or ({},)
        found = connection.execute(QUERIES["schedule_idle_sessions"], wanted).fetchall()
    assert [count for *_, count in found] == [3] + [4] * (STORED // 400 - 1)
    assert '"memory_session_short"' in json.dumps(told), told


def test_what_falls_lowest_is_found_without_reading_as_much_of_each_grade(databases: tuple[str, str]) -> None:
    with psycopg.connect(databases[0], autocommit=True) as connection:
        connection.execute(
            """INSERT INTO memory (id, shard, namespace, agent, subject, event_id, tier, created, characters,
                    commitment, encoder, early, changed, seq)
                SELECT md5(i::text)::uuid, 0, 'n', 'a', 'a', 'e' || i, 'short-term', 0, 1, 'x', 'h', false, 0, i
                FROM generate_series(1, 6000) i;
                INSERT INTO strength
                SELECT id, 0, 'short-term', 400000 + 10000 * (seq % 40), 0, 1000000 * (seq * 7919 % 6000), 0
                FROM memory;
                INSERT INTO shard (shard, hash) VALUES (0, 'h');
                ANALYZE"""
        )
    with closing(PostgresSchedule(databases[0])) as schedule:
        asked = falling(schedule.grades(0), Policy())
        every = schedule.fading(0, asked, 6 * 10**9, 6_000)
        for limit in (1, 7, 100, 256, 2_000):
            assert schedule.fading(0, asked, 6 * 10**9, limit) == every[:limit]
    assert len(every) == 6_000
