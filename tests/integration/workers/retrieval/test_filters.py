"""Permitted uses of memories, asked of Postgres: which pass, which are withheld and why, and their sources."""

from __future__ import annotations

from collections.abc import Sequence

import psycopg
import pytest

from db import copying
from db.reads import Reads
from memquorum.core.ids import memory_id
from memquorum.core.journal.rows import Provenance
from memquorum.core.retrieval.query import ALL, Filters
from memquorum.core.retrieval.recall import Reach
from memquorum.schema_files import load_codec
from tests.support.kept import ENCODER, SIGHT, SPACE, StoredMemory, ask, put, question

CODEC = load_codec()
TOLD = [
    StoredMemory("tank"),
    StoredMemory("tank", type="task"),
    StoredMemory("tank", sensitivity=0.3),
    StoredMemory("tank", sensitivity=0.300001, agent="bob"),
    StoredMemory("tank", purposes="billing,support"),
    StoredMemory("tank", purposes=""),
    StoredMemory("tank", jurisdictions="DE"),
    StoredMemory("tank", jurisdictions="DE,US-CA", purposes="billing", sensitivity=0.9),
]
OPEN = [0, 1, 2, 3, 6]  # given to who names no purpose


@pytest.mark.parametrize(
    ("filters", "passing", "kept"),
    [
        (ALL, OPEN, {"purpose": 3}),
        (Filters(types=("task", "social")), [1], {"type": 7}),
        (Filters(sensitivity_max=300_000), [0, 1, 2, 6], {"sensitivity": 2, "purpose": 2}),
        (Filters(sensitivity_max=0), [0, 1, 6], {"sensitivity": 3, "purpose": 2}),
        (Filters(purpose="billing"), [*OPEN[:4], 4, 6, 7], {"purpose": 1}),
        (Filters(purpose="support"), [*OPEN[:4], 4, 6], {"purpose": 2}),
        (Filters(purpose="bill"), OPEN, {"purpose": 3}),
        (Filters(jurisdictions=("DE",)), OPEN, {"purpose": 3}),
        (Filters(jurisdictions=("FR",)), [0, 1, 2, 3], {"purpose": 3, "jurisdiction": 1}),
        (Filters(jurisdictions=("DE", "FR"), purpose="billing"), [0, 1, 2, 3, 4, 6], {"purpose": 1, "jurisdiction": 1}),
        (Filters(jurisdictions=("US-CA", "DE"), purpose="billing"), [0, 1, 2, 3, 4, 6, 7], {"purpose": 1}),
        (Filters(agents=("bob",), sensitivity_max=300_000), [], {"agent": 7, "sensitivity": 1}),
        (Filters(subjects=("bob", "eve")), [3], {"subject": 7}),
    ],
)
async def test_what_passes_is_ranked_and_what_does_not_is_counted(
    reads: Reads, databases: tuple[str, str], filters: Filters, passing: list[int], kept: dict[str, int]
) -> None:
    ids = put(databases[0], TOLD)
    found = await ask(reads, "tank", filters)
    assert sorted(ids.index(i) for i in found) == passing
    through, left = await reads.passed(SIGHT, question("tank", filters))
    assert (sum(through.values()), left) == (len(passing), kept)
    vector = ENCODER.encode(["tank"])[0]
    hits = await reads.search(SIGHT, SPACE, ENCODER.name, vector, 10, filters=filters)
    assert sorted(ids.index(hit.memory_id) for hit in hits) == passing
    if filters.agents is filters.types is filters.subjects is None:  # by id nothing but the gates is asked for
        shown = [await reads.memory(SIGHT, memory_id, filters) for memory_id in ids]
        told = [await reads.facts(SIGHT, CODEC, memory_id, filters) for memory_id in ids]
        for found in (shown, told):
            assert [at for at, one in enumerate(found) if one] == passing
    around = await reads.around(SIGHT, SPACE, [ids[0]], Reach(10, 0), filters)
    assert sorted({0, *passing}) == sorted(ids.index(one.candidate.hit.memory_id) for one in around)


async def test_a_named_memory_that_may_not_be_read_leads_nowhere(reads: Reads, databases: tuple[str, str]) -> None:
    ids = put(databases[0], TOLD)
    for at, filters in ((3, Filters(sensitivity_max=1)), (4, ALL), (5, Filters(purpose="billing")),
                        (6, Filters(jurisdictions=("FR",)))):  # fmt: skip
        assert await reads.around(SIGHT, SPACE, [ids[at]], Reach(10, 9_000), filters) == []
    # A memory that only the filter leaves out may still be the start.
    found = await reads.around(SIGHT, SPACE, [ids[3]], Reach(1, 0), Filters(agents=("ann",)))
    assert sorted(one.way for one in found) == ["anchor", "session", "session"]


async def test_a_hit_says_what_it_may_be_used_for(reads: Reads, databases: tuple[str, str]) -> None:
    ids = put(databases[0], TOLD)
    hit = (await ask(reads, "tank", Filters(purpose="billing")))[ids[7]].hit
    assert (hit.type, hit.sensitivity, hit.purposes, hit.jurisdictions) == (
        "episodic",
        0.9,
        ("billing",),
        ("DE", "US-CA"),
    )
    plain = (await reads.search(SIGHT, SPACE, ENCODER.name, ENCODER.encode(["tank"])[0], 10))[0]
    assert (plain.type, plain.sensitivity, plain.purposes, plain.jurisdictions) == ("episodic", 0.0, None, ())
    shown = await reads.memory(SIGHT, ids[5])
    assert shown is not None and (shown["purposes"], shown["sensitivity"]) == ((), 0.0)


def made_of(dsn: str, *links: tuple[str, str, bool]) -> None:
    """(child, parent, whether it only repeats it), by name or event id."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        rows = [
            Provenance(0, at, SPACE, memory_id(SPACE, c), memory_id(SPACE, p), e, True, "mira")
            for at, (c, p, e) in enumerate(links)
        ]
        copying.copy(connection, "provenance_copy", map(copying.raw, rows))


async def test_what_a_memory_was_made_of_and_what_was_made_of_it(reads: Reads, databases: tuple[str, str]) -> None:
    told = [StoredMemory(f"tank {n}", session=None, sensitivity=0.9 if n == 1 else 0) for n in range(8)]
    ids = put(databases[0], [*told, StoredMemory("gone", session=None, tier="sealed")])
    # 0 -> 1 -> 2 -> 3, 8 (sealed) -> 4 -> 0; 5 was made of an echo of 2, 6 of itself; 7 of nobody.
    made_of(
        databases[0], ("e1", "e0", False), ("e2", "e1", False), ("e3", "e2", False), ("e4", "e8", False),
        ("e0", "e4", False), ("e8", "e7", False), ("echo", "e2", True), ("e5", "echo", False), ("e6", "e6", False),
    )  # fmt: skip

    async def ways(at: int, links: int, filters: Filters = ALL) -> list[tuple[str, int, int]]:
        found = await reads.around(SIGHT, SPACE, [ids[at]], Reach(0, 0, links), filters)
        return sorted((n.way, ids.index(n.candidate.hit.memory_id), n.apart) for n in found if n.way != "anchor")

    assert await ways(2, 0) == []
    assert await ways(2, 1) == [("derived", 3, 1), ("derived", 5, 1), ("source", 1, -1)]
    assert await ways(2, 2) == [("derived", 3, 1), ("derived", 5, 1), ("source", 0, -2), ("source", 1, -1)]
    # Through what is sealed, and not to it.
    assert await ways(4, 2) == [("derived", 0, 1), ("derived", 1, 2), ("source", 7, -2)]
    # A memory that may not be read ends the way.
    assert await ways(2, 2, Filters(sensitivity_max=0)) == [("derived", 3, 1), ("derived", 5, 1)]
    assert await ways(0, 2, Filters(sensitivity_max=0)) == [("source", 4, -1)]
    assert await ways(5, 1) == [("source", 2, -1)]
    # A ring ends, and leads to nobody but himself.
    assert {(at, apart) for _, at, apart in await ways(6, 10)} <= {(6, -1), (6, 1)}


async def test_of_what_was_made_of_it_the_nearest_come_in(reads: Reads, databases: tuple[str, str]) -> None:
    put(databases[0], [StoredMemory(f"tank {n}", session=None) for n in range(9)])
    made_of(databases[0], *((f"e{n}", f"e{(n - 1) // 2}", False) for n in range(1, 9)))
    anchor = memory_id(SPACE, "e0")
    found = await reads.around(SIGHT, SPACE, [anchor], Reach(0, 0, 10, related=6))
    assert sorted(one.apart for one in found) == [0, 1, 1, 2, 2, 2, 2]


@pytest.mark.parametrize("name", ["search_filtered", "around"])
async def test_filters_are_planned_for(reads: Reads, databases: tuple[str, str], name: str) -> None:
    put(databases[0], TOLD)
    vector = ENCODER.encode(["tank"])[0]

    async def asks() -> Sequence[object]:
        if name == "around":
            return await reads.around(SIGHT, SPACE, [memory_id(SPACE, "e0")], Reach(1, 0))
        return await reads.search(SIGHT, SPACE, ENCODER.name, vector, 1, filters=Filters(purpose="billing"))

    for _ in range(8):
        assert await asks()
    async with reads._pool.connections.connection() as connection:
        held = await (await connection.execute("SELECT statement FROM pg_prepared_statements")).fetchall()
    assert not any("string_to_array" in statement for (statement,) in held)
