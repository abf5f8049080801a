"""A store's memories that are too old for a rule, asked of Postgres: by namespace and type, without held ones."""

from __future__ import annotations

from collections.abc import Awaitable

import psycopg
import pytest

from db import copying
from db.erasure_rows import Old
from db.preview_rows import moment
from db.reads import Reads
from memquorum.core.ids import memory_id
from memquorum.core.journal.rows import Protection, Provenance
from memquorum.core.policy import TYPES
from tests.support.kept import NOW, SIGHT, SPACE, StoredMemory, put


def old(reads: Reads, before: int, *spaces: str) -> Awaitable[dict[tuple[str, str], int]]:
    return reads.old(SIGHT, 0, [(name, type_, before) for name in spaces or (SPACE, "mill") for type_ in TYPES])


async def test_the_oldest_of_each_type_is_told(reads: Reads, databases: tuple[str, str]) -> None:
    put(
        databases[0],
        [
            StoredMemory("a", tier="gone"), StoredMemory("b"), StoredMemory("c", tier="sealed", type="task"),
            StoredMemory("d", namespace="mill"),
            StoredMemory("e", tier="long-term"), StoredMemory("f", type="social"),
        ],
    )  # fmt: skip
    assert await reads.times([0, 7]) == {0: NOW}
    assert await reads.namespaces(SIGHT) == [SPACE, "mill"]
    found = {(SPACE, "episodic"): 1_000, (SPACE, "task"): 2_000, ("mill", "episodic"): 3_000}
    assert await old(reads, 5_000) == found
    assert await old(reads, 5_000, "mill") == {("mill", "episodic"): 3_000}
    assert await old(reads, 1_000) == {} == await reads.old(SIGHT, 0, [])
    with moment(databases[0]) as store:
        told = store.old(0, [(SPACE, "episodic", 5_001), (SPACE, "task", 2_000), ("mill", "episodic", 9_000)])
    assert told == [Old(SPACE, "episodic", 2, 1_000), Old("mill", "episodic", 1, 3_000)]


@pytest.mark.parametrize("held", [0, 1, 2])
async def test_what_something_was_made_of_counts_as_long_as_that_is_there(
    reads: Reads, databases: tuple[str, str], held: int
) -> None:
    """The first is gone; a summary was made of it, of that another one, and nothing of the last."""
    told = put(
        databases[0],
        [
            StoredMemory("a", tier="gone"),
            StoredMemory("b", tier="gone"),
            StoredMemory("c"),
            StoredMemory("d", tier="gone"),
        ],
    )
    order = memory_id(SPACE, "order")
    with psycopg.connect(databases[0]) as connection:
        connection.execute("UPDATE memory SET made_by = 'extractive/1' WHERE id = ANY(%s)", [told[1:3]])
        copying.copy(connection, "provenance_copy", (
            copying.raw(Provenance(0, 9, SPACE, told[at + 1], told[at], False, True, "ann")) for at in (0, 1)
        ))  # fmt: skip
    assert await old(reads, 10_000) == {(SPACE, "episodic"): 0}
    with psycopg.connect(databases[0]) as connection:
        copying.copy(connection, "protection_copy", (
            [copying.raw(Protection(told[held], "hold", 0, 9, SPACE, order, "ann", "ann", None, 5))]
        ))  # fmt: skip
    assert await old(reads, 10_000) == {}
