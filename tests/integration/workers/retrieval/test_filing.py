"""Path and attributes, asked of Postgres: the store finds what `filing.passes` lets through, and nothing else."""

from __future__ import annotations

import json
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from db import audit_rows
from db.reads import Reads
from memquorum.core.access import Sight
from memquorum.core.retrieval import filing
from memquorum.core.retrieval.listing import Branch, Listing, Slot, read_list, read_slot
from memquorum.core.retrieval.query import Filters
from tests.builders.filed import CASES, RED
from tests.support.kept import ENCODER, SIGHT, SPACE, StoredMemory, ask, put, question

PATHS = (None, "users", "users/ada", "users/ada/notes", "users/ada notes", "users/adam", "users/ada0", "users/ad\u00e4")


def filed(dsn: str, ids: list[str], told: list[tuple[str | None, dict[str, Any] | None]]) -> None:
    with psycopg.connect(dsn) as connection:
        for memory_id, (path, attributes) in zip(ids, told, strict=True):
            connection.execute(
                "UPDATE content SET path = %s, attributes = %s WHERE memory_id = %s",
                [path, None if attributes is None else Jsonb(attributes), memory_id],
            )


async def listed(reads: Reads, filters: Filters) -> list[str]:
    return [one["memory_id"] for one in await reads.memories(SIGHT, Listing(namespace=SPACE, gates=filters, limit=100))]


async def test_the_store_says_of_attributes_what_is_said_here(reads: Reads, databases: tuple[str, str]) -> None:
    others: list[dict[str, Any] | None] = [RED, None, {}, {"colour": "blue", "size": 10}, {"size": {"$gt": 3}}]
    ids = put(databases[0], [StoredMemory(f"note {at}") for at in range(len(others))])
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
    ids = put(databases[0], [StoredMemory("the valve opens") for _ in PATHS])
    filed(databases[0], ids, [(one, None) for one in PATHS])
    expected = [memory_id for memory_id, one in zip(ids, PATHS, strict=True) if filing.below(path, one)]
    only = Filters(path=path)
    assert await listed(reads, only) == expected
    assert sorted(await ask(reads, "valve", only)) == sorted(expected)
    (vector,) = ENCODER.encode(["valve"])
    hits = await reads.search(SIGHT, SPACE, ENCODER.name, vector, 100, filters=only)
    assert sorted(hit.memory_id for hit in hits) == sorted(expected)
    assert {hit.path for hit in hits} <= set(PATHS)


@pytest.mark.parametrize("said", ["Zo\u00eb", "Zoe\u0308"])
async def test_what_was_stored_under_another_spelling_is_found_by_either(
    reads: Reads, databases: tuple[str, str], said: str
) -> None:
    """Earlier releases stored names as they came."""
    both = ("Zo\u00eb", "Zoe\u0308")
    ids = put(databases[0], [StoredMemory("the valve opens", session=one) for one in (*both, "Zoe")])
    filed(databases[0], ids, [(f"users/{one}/notes", {"name": one}) for one in (*both, "Zoe")])
    with psycopg.connect(databases[0]) as connection:
        for memory_id, one in zip(ids, both, strict=False):
            connection.execute("UPDATE content SET key = %s WHERE memory_id = %s", [one, memory_id])
            connection.execute("UPDATE memory SET subject = %s WHERE id = %s", [one, memory_id])
    for asked in ({"subjects": [said]}, {"sessions": [said]}, {"keys": [said]}, {"path": f"users/{said}"},
                  {"where": {"name": said}}):  # fmt: skip
        filters = read_list(json.dumps(asked).encode()).gates
        assert await listed(reads, filters) == ids[:2], asked
        assert sorted(await ask(reads, "valve", filters)) == sorted(ids[:2]), asked
    gates = read_list(json.dumps({"path": f"users/{said}"}).encode()).gates
    branch = Branch(namespace=SPACE, gates=gates, limit=9)
    assert await reads.paths(SIGHT, branch) == sorted(f"users/{one}/notes" for one in both)
    slot = read_slot(json.dumps({"namespace": SPACE, "key": said, "path": f"users/{said}/notes"}).encode())
    found = await reads.slot(SIGHT, slot)
    assert found is not None and found["memory_id"] in ids[:2]


async def test_a_key_is_found_below_a_path_by_its_name_alone(reads: Reads, databases: tuple[str, str]) -> None:
    ids = put(databases[0], [StoredMemory(f"note {at}") for at in range(4)])
    filed(databases[0], ids, [("a", None), ("b", None), ("a", None), (None, None)])
    with psycopg.connect(databases[0]) as connection:
        connection.execute("UPDATE content SET key = 'k' WHERE memory_id = ANY(%s)", [[*ids[:2], ids[3]]])
    assert await listed(reads, Filters(keys=("k", "no"))) == [ids[0], ids[1], ids[3]]
    assert await listed(reads, Filters(keys=("k",), path="a")) == ids[:1]
    _, kept = await reads.passed(SIGHT, question("note", Filters(keys=("k",), path="a")))
    assert kept == {"key": 1, "path": 2}


def test_what_a_memory_is_filed_under_is_in_the_digest_of_the_store(databases: tuple[str, str]) -> None:
    ids = put(databases[0], [StoredMemory("note")])
    digests = list[bytes]()
    for labels in ((None, None), ("users/ada", None), ("users/adam", None), ("users/ada", RED)):
        filed(databases[0], ids, [labels])
        with audit_rows.snapshot(databases[0]) as kept:
            digests.append(kept.digest().digest)
    assert len({*digests}) == len(digests)


async def test_a_memory_tells_what_it_is_filed_under_while_it_is_there(
    reads: Reads, databases: tuple[str, str]
) -> None:
    ids = put(databases[0], [StoredMemory("note"), StoredMemory("gone", tier="sealed")])
    filed(databases[0], ids, [("users/ada", RED), (None, None)])
    found = await reads.memory(SIGHT, ids[0])
    assert found is not None and (found["path"], found["attributes"], found["key"]) == ("users/ada", RED, None)
    rests = await reads.memory(SIGHT, ids[1])
    assert rests is not None and (rests["path"], rests["attributes"], rests["key"]) == (None, None, None)


def keyed(dsn: str, told: list[tuple[str, str | None, str | None]], **more: Any) -> list[str]:
    """Memories of (text, path, key), each later than the one before."""
    ids = put(dsn, [StoredMemory(text, **more) for text, *_ in told])
    with psycopg.connect(dsn) as connection:
        for at, (memory_id, (_, path, key)) in enumerate(zip(ids, told, strict=True)):
            connection.execute("UPDATE content SET path = %s, key = %s WHERE memory_id = %s", [path, key, memory_id])
            connection.execute("UPDATE memory SET created = %s WHERE id = %s", [1_000 + at, memory_id])
    return ids


async def test_a_slot_shows_the_latest_that_fills_it_there_and_not_below(
    reads: Reads, databases: tuple[str, str]
) -> None:
    told = [("old", "users/ada", "diet"), ("new", "users/ada", "diet"), ("other", "users/ada/notes", "diet")]
    told += [("root", None, "diet"), ("else", "users/ada", "drink"), ("free", "users/ada", None)]  # type: ignore[list-item]
    keyed(databases[0], told)

    async def filled(path: str | None, key: str, sight: Sight = SIGHT, **gates: Any) -> str | None:
        found = await reads.slot(sight, Slot(SPACE, key, path, Filters(**gates)))
        return found and found["text"]

    assert [await filled(path, "diet") for path in ("users/ada", "users/ada/notes", None)] == ["new", "other", "root"]
    assert [await filled(path, "diet") for path in ("users", "users/ad")] == [None, None]
    assert await filled("users/ada", "drink") == "else"
    assert await filled("users/ada", "diet", Sight(("elsewhere",))) is None, "row security"
    with psycopg.connect(databases[0]) as connection:
        connection.execute("UPDATE memory SET sensitivity_ppm = 900000 WHERE created = 1001")
    assert await filled("users/ada", "diet", sensitivity_max=500_000) is None, "an earlier value holds no more"
    with psycopg.connect(databases[0]) as connection:
        connection.execute("UPDATE memory SET tier = 'superseded' WHERE created = 1001")
    assert await filled("users/ada", "diet") == "old"


async def test_paths_are_listed_once_in_order_and_page_by_page(reads: Reads, databases: tuple[str, str]) -> None:
    paths = ["b", "users", "users/ada", "users/ada", "users/ada/notes", "users/adam", "users ada", "z/1", "z/2"]
    ids = keyed(databases[0], [("note", path, None) for path in paths] + [("free", None, None)])

    async def listed_paths(path: str | None = None, sight: Sight = SIGHT, limit: int = 2, **gates: Any) -> list[str]:
        found, behind = list[str](), None
        while True:
            page = await reads.paths(
                sight, Branch(namespace=SPACE, gates=Filters(path=path, **gates), limit=limit, behind=behind)
            )
            found += page[:limit]
            if len(page) <= limit:
                return found
            behind = page[limit - 1]

    assert await listed_paths() == sorted(set(paths))
    assert await listed_paths("users") == ["users", "users/ada", "users/ada/notes", "users/adam"]
    assert await listed_paths("users/ada", limit=1) == ["users/ada", "users/ada/notes"]
    assert await listed_paths("user") == await listed_paths("users/ad") == []
    assert await listed_paths(sight=Sight(("elsewhere",))) == [], "row security"
    with psycopg.connect(databases[0]) as connection:
        connection.execute("UPDATE memory SET tier = 'superseded' WHERE id = %s", [ids[0]])
        connection.execute("UPDATE memory SET purposes = 'billing' WHERE id = %s", [ids[1]])
    assert await listed_paths() == sorted(set(paths) - {"b", "users"})
    assert "users" in await listed_paths(purpose="billing")
