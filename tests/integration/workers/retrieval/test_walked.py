"""The relations that a walk follows, asked of Postgres: each way, and none from or to what is out of sight."""

from __future__ import annotations

import psycopg
import pytest

from db import copying
from db.reads import Reads
from memquorum.core.journal.rows import Provenance
from memquorum.core.retrieval.query import ALL, Filters
from memquorum.core.retrieval.walking import EACH
from tests.support.kept import SIGHT, SPACE, StoredMemory, linked, put


async def told(
    reads: Reads, ids: list[str], *at: int, filters: Filters = ALL, within_ms: int = 0, first: bool = True
) -> list[tuple[int, str, bool, int]]:
    found = await reads.related(SIGHT, SPACE, [ids[one] for one in at], within_ms, filters, first=first)
    return sorted((ids.index(one.at), one.kind, one.forth, ids.index(one.other)) for one in found)


async def test_links_and_derivations_lead_both_ways(reads: Reads, databases: tuple[str, str]) -> None:
    ids = put(databases[0], [StoredMemory(f"tank {n}", session=None) for n in range(4)])
    linked(databases[0], ids, (1, "requires", 0), (2, "colleagueOf", 1))
    with psycopg.connect(databases[0], autocommit=True) as connection:
        row = Provenance(0, 9, SPACE, ids[3], ids[1], False, True, "mira")
        copying.copy(connection, "provenance_copy", [copying.raw(row)])
    assert await told(reads, ids, 1) == [
        (1, "colleagueOf", False, 2), (1, "derivesFrom", False, 3), (1, "requires", True, 0),
    ]  # fmt: skip
    assert await told(reads, ids, 0, 3) == [(0, "requires", False, 1), (3, "derivesFrom", True, 1)]
    assert await reads.related(SIGHT, "elsewhere", ids) == []


@pytest.mark.parametrize(
    ("hidden", "filters"),
    [
        (StoredMemory("tank", sensitivity=0.9), Filters(sensitivity_max=100_000)),
        (StoredMemory("tank", purposes="billing"), ALL),
        (StoredMemory("tank", jurisdictions="DE"), Filters(jurisdictions=("FR",))),
        (StoredMemory("tank", tier="sealed"), ALL),
        (StoredMemory("tank", agent="bob"), Filters(agents=("ann",))),
    ],
)
async def test_what_is_out_of_sight_ends_the_path(
    reads: Reads, databases: tuple[str, str], hidden: StoredMemory, filters: Filters
) -> None:
    ids = put(databases[0], [StoredMemory("tank", session="a"), hidden, StoredMemory("tank", session="b")])
    linked(databases[0], ids, (0, "requires", 1), (1, "requires", 2))
    assert await told(reads, ids, 0, 2, filters=filters, within_ms=9_000, first=False) == (
        [(0, "sameTime", True, 2), (2, "sameTime", True, 0)]
    )
    if filters.agents is None:  # one that only the filter leaves out may still be where a recall begins
        assert await told(reads, ids, 1, filters=filters, within_ms=9_000, first=False) == []


async def test_sessions_and_times_are_walked_behind_the_first_round(reads: Reads, databases: tuple[str, str]) -> None:
    ids = put(databases[0], [StoredMemory(f"tank {n}", session="s2" if n == 2 else "s1") for n in range(4)])
    assert await told(reads, ids, 1, within_ms=1_500) == []
    assert await told(reads, ids, 1, within_ms=1_500, first=False) == [
        (1, "sameTime", True, 2), (1, "temporalNext", False, 0), (1, "temporalNext", True, 3),
    ]  # fmt: skip
    assert (1, "sameTime", True, 2) not in await told(reads, ids, 1, first=False)


async def test_memories_that_one_goal_needs_are_joined(reads: Reads, databases: tuple[str, str]) -> None:
    ids = put(databases[0], [StoredMemory(f"tank {n}", session=None) for n in range(3)])
    with psycopg.connect(databases[0], autocommit=True) as connection:
        for seq, (memory_id, kind) in enumerate(((ids[0], "goal:ship"), (ids[1], "goal:ship"), (ids[2], "pin"))):
            connection.execute(
                "INSERT INTO protection VALUES (%s, %s, 0, %s, %s, gen_random_uuid(), 'k', 'k', NULL, 1)",
                (memory_id, kind, seq, SPACE),
            )
    assert await told(reads, ids, 0, 2) == [(0, "attachesToGoal", True, 1)]


async def test_of_many_links_of_a_kind_the_latest_memories_are_told(reads: Reads, databases: tuple[str, str]) -> None:
    ids = put(databases[0], [StoredMemory(f"tank {n}", session=None) for n in range(EACH + 3)])
    linked(databases[0], ids, *((at, "isA", 0) for at in range(1, EACH + 3)))
    assert await told(reads, ids, 0) == [(0, "isA", False, at) for at in range(3, EACH + 3)]
