"""Path and attributes, asked of Postgres: the store finds what `filing.passes` lets through, and nothing else."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from db import audit_rows
from db.reads import Reads
from memquorum.core.retrieval import filing
from memquorum.core.retrieval.listing import Listing
from memquorum.core.retrieval.query import Filters
from tests.builders.filed import CASES, RED
from tests.support.kept import ENCODER, SIGHT, SPACE, Told, ask, put, question

PATHS = (None, "users", "users/ada", "users/ada/notes", "users/ada notes", "users/adam", "users/ada0", "users/ad\u00e4")


def filed(dsn: str, ids: list[str], told: list[tuple[str | None, dict[str, Any] | None]]) -> None:
    with psycopg.connect(dsn) as connection:
        for memory_id, (path, attributes) in zip(ids, told, strict=True):
            connection.execute(
                "UPDATE content SET path = %s, attributes = %s WHERE memory_id = %s",
                [path, None if attributes is None else Jsonb(attributes), memory_id],
            )


async def listed(reads: Reads, filters: Filters) -> list[str]:
    return [one["memory_id"] for one in await reads.memories(SIGHT, Listing(SPACE, filters, 100))]


async def test_the_store_says_of_attributes_what_is_said_here(reads: Reads, databases: tuple[str, str]) -> None:
    others: list[dict[str, Any] | None] = [RED, None, {}, {"colour": "blue", "size": 10}, {"size": {"$gt": 3}}]
    ids = put(databases[0], [Told(f"note {at}") for at in range(len(others))])
    filed(databases[0], ids, [(None, one) for one in others])
    for where, _ in CASES:
        conditions = filing.read(where)
        expected = [
            memory_id
            for memory_id, one in zip(ids, others, strict=True)
            if filing.passes(None, conditions, filed=None, attributes=one)
        ]
        assert await listed(reads, Filters(where=conditions)) == expected, where


@pytest.mark.parametrize("path", ["users", "users/ad", "users/ada", "users/ada/notes", "user", "users/ada/notes/more"])
async def test_a_path_ends_at_a_segment(reads: Reads, databases: tuple[str, str], path: str) -> None:
    ids = put(databases[0], [Told("the valve opens") for _ in PATHS])
    filed(databases[0], ids, [(one, None) for one in PATHS])
    expected = [memory_id for memory_id, one in zip(ids, PATHS, strict=True) if filing.below(path, one)]
    only = Filters(path=path)
    assert await listed(reads, only) == expected
    assert sorted(await ask(reads, "valve", only)) == sorted(expected)
    (vector,) = ENCODER.encode(["valve"])
    hits = await reads.search(SIGHT, SPACE, ENCODER.name, vector, 100, filters=only)
    assert sorted(hit.memory_id for hit in hits) == sorted(expected)
    assert {hit.path for hit in hits} <= set(PATHS)


async def test_a_key_is_found_below_a_path_by_its_name_alone(reads: Reads, databases: tuple[str, str]) -> None:
    ids = put(databases[0], [Told(f"note {at}") for at in range(4)])
    filed(databases[0], ids, [("a", None), ("b", None), ("a", None), (None, None)])
    with psycopg.connect(databases[0]) as connection:
        connection.execute("UPDATE content SET key = 'k' WHERE memory_id = ANY(%s)", [[*ids[:2], ids[3]]])
    assert await listed(reads, Filters(keys=("k", "no"))) == [ids[0], ids[1], ids[3]]
    assert await listed(reads, Filters(keys=("k",), path="a")) == ids[:1]
    _, kept = await reads.passed(SIGHT, question("note", Filters(keys=("k",), path="a")))
    assert kept == {"key": 1, "path": 2}


def test_what_a_memory_is_filed_under_is_in_the_digest_of_the_store(databases: tuple[str, str]) -> None:
    ids = put(databases[0], [Told("note")])
    digests = list[bytes]()
    for labels in ((None, None), ("users/ada", None), ("users/adam", None), ("users/ada", RED)):
        filed(databases[0], ids, [labels])
        with audit_rows.snapshot(databases[0]) as kept:
            digests.append(kept.digest().digest)
    assert len({*digests}) == len(digests)


async def test_a_memory_tells_what_it_is_filed_under_while_it_is_there(
    reads: Reads, databases: tuple[str, str]
) -> None:
    ids = put(databases[0], [Told("note"), Told("gone", tier="sealed")])
    filed(databases[0], ids, [("users/ada", RED), (None, None)])
    found = await reads.memory(SIGHT, ids[0])
    assert found is not None and (found["path"], found["attributes"], found["key"]) == ("users/ada", RED, None)
    rests = await reads.memory(SIGHT, ids[1])
    assert rests is not None and (rests["path"], rests["attributes"], rests["key"]) == (None, None, None)
