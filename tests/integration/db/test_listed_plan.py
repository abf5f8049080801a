"""Pages for people read what they show, and not all that there is, or what other namespaces of the shard did since."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from db import found_rows
from db.queries import QUERIES
from memquorum.core.accounts.pages import Contradicted, Talked

STORED, QUIET, SAID = 20_000, 40, 10
MEMORY = "00000000-0000-5000-8000-000000000001"
PAGE = {
    "shard": 0, "namespace": "quiet", "before": 2**62, "after": -1, "effects": None, "decisions": True,
    "memory_id": None, "since": None, "until": None, "limit": 51,
}  # fmt: skip


@pytest.fixture
def store(databases: tuple[str, str]) -> Iterator[psycopg.Connection[Any]]:
    """A shard in which a busy namespace did much after a quiet one did something: entries, and votes."""
    with psycopg.connect(databases[0], autocommit=True) as connection:
        connection.execute(
            f"""INSERT INTO journal (shard, seq, as_of, effect, event_id, namespace, memory_id, source_topic,
                    source_partition, source_offset, entry, previous_hash, hash)
                SELECT 0, i, i, 'stored', 'e' || i, CASE WHEN i <= {QUIET} THEN 'quiet' ELSE 'busy' END,
                    CASE WHEN i <= 3 THEN '{MEMORY}' ELSE md5(i::text) END::uuid, 't', 0, i, '', '', ''
                FROM generate_series(1, {STORED}) i;
                INSERT INTO decision (shard, epoch, seq, view, config, as_of, trigger, digest, pre_prepare, commits,
                    journal_seq, nomination, accepted_offset)
                SELECT 0, i, i, 0, 0, i, 'interval', '', '', '{{}}', i, '', 0 FROM generate_series(1, {STORED}) i;
                INSERT INTO outcome (shard, epoch, position, memory_id, kind, outcome, reason, yes, weight_ppm,
                    needed_ppm, as_of, namespace)
                SELECT 0, i, 0, CASE WHEN i = 1 THEN '{MEMORY}' ELSE md5(i::text) END::uuid, 'forget', 'kept', 'x',
                    0, 0, 0, i, CASE WHEN i <= 5 THEN 'quiet' ELSE 'busy' END
                FROM generate_series(1, {STORED}) i;
                INSERT INTO used (memory_id, shard, seq, namespace, applied)
                SELECT '{MEMORY}', 0, 7, 'quiet', true;
                ANALYZE"""
        )
        yield connection


@pytest.fixture
def marked(databases: tuple[str, str]) -> Iterator[psycopg.Connection[Any]]:
    """A namespace in which each memory contradicts the one before it; so many make a session."""
    with psycopg.connect(databases[0], autocommit=True) as connection:
        connection.execute(
            f"""INSERT INTO memory (id, shard, namespace, agent, subject, event_id, tier, created, characters,
                    commitment, encoder, early, changed, seq, said, session)
                SELECT md5(i::text)::uuid, 0, 'busy', 'ann', 'ann', 'e' || i, 'short-term', i, 9, '', 'e', false, i,
                    i, i, 's' || ceil(i / {SAID}.0)
                FROM generate_series(0, {STORED}) i;
                INSERT INTO conflict (shard, seq, namespace, newer, older)
                SELECT 0, i, 'busy', md5(i::text)::uuid, md5((i - 1)::text)::uuid FROM generate_series(1, {STORED}) i;
                ANALYZE"""
        )
        yield connection


def scans(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The parts of a plan that read a table."""
    if plan.keys() & {"Relation Name", "Index Name"}:
        yield plan
    for part in plan.get("Plans", ()):
        yield from scans(part)


@pytest.mark.parametrize(
    ("name", "asked", "index", "rows"),
    [
        ("journal_listed", {}, "journal_listed", QUIET + 5),
        ("journal_listed", {"after": 30}, "journal_listed", QUIET - 30),
        ("journal_listed", {"memory_id": MEMORY}, "journal_memory", 5),
        ("journal_latest", {}, "journal_listed", 1),
    ],
)
def test_a_page_of_a_quiet_namespace_reads_nothing_of_a_busy_one(
    store: psycopg.Connection[Any], name: str, asked: dict[str, Any], index: str, rows: int
) -> None:
    (told,) = store.execute("EXPLAIN (ANALYZE, FORMAT JSON) " + QUERIES[name], PAGE | asked).fetchone() or ({},)
    assert index in {one.get("Index Name") for one in scans(told[0]["Plan"])}, told
    assert looked(told[0]["Plan"]) < 1_000, told
    assert len(store.execute(QUERIES[name], PAGE | asked).fetchall()) == rows


@pytest.mark.parametrize("behind", [None, (STORED // 2, MEMORY)])
def test_a_page_of_contradictions_reads_those_that_it_shows(
    marked: psycopg.Connection[Any], behind: tuple[int, str] | None
) -> None:
    page = Contradicted(namespace="busy", limit=50, behind=behind)
    before, older = page.behind or (None, None)
    asked = found_rows.page_of(page) | {"before": before, "before_older": older}
    explained = "EXPLAIN (ANALYZE, FORMAT JSON) " + QUERIES["conflicts_listed"]
    (told,) = marked.execute(explained, asked).fetchone() or ({},)
    assert "conflict_listed" in {one.get("Index Name") for one in scans(told[0]["Plan"])}, told
    assert looked(told[0]["Plan"]) < 3_000, told
    found = [seq for seq, *_ in marked.execute(QUERIES["conflicts_listed"], asked).fetchall()]
    last = STORED if behind is None else behind[0] - 1
    assert found == list(range(last, last - 51, -1))


@pytest.mark.parametrize("behind", [None, (STORED // 2, 0)])
def test_a_page_of_sessions_reads_those_that_it_shows(
    marked: psycopg.Connection[Any], behind: tuple[int, int] | None
) -> None:
    page = Talked(namespace="busy", limit=50, behind=behind)
    before, offset = page.behind or (None, None)
    asked = found_rows.page_of(page) | {"before": before, "before_offset": offset, "agents_most": 20}
    (told,) = marked.execute("EXPLAIN (ANALYZE, FORMAT JSON) " + QUERIES["sessions_listed"], asked).fetchone() or ({},)
    assert {"memory_said", "memory_of_session"} <= {one.get("Index Name") for one in scans(told[0]["Plan"])}, told
    assert looked(told[0]["Plan"]) < 5_000, told
    found = [said for said, *_ in marked.execute(QUERIES["sessions_listed"], asked).fetchall()]
    last = STORED if behind is None else behind[0] - SAID
    assert found == [*range(last, last - 51 * SAID, -SAID)]


def looked(plan: dict[str, Any]) -> int:
    """The number of rows that a plan read."""
    return sum(
        int((one["Actual Rows"] + one.get("Rows Removed by Filter", 0)) * one["Actual Loops"]) for one in scans(plan)
    )
