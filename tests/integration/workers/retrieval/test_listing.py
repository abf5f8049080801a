"""Lists of memories, asked of Postgres: the order, the pages, the filters, and links that are shown or are not."""

from __future__ import annotations

import psycopg
from msgspec.structs import replace

from db import copying
from db.reads import Reads
from memquorum.core.access import EVERYONE, READ, Sight
from memquorum.core.ids import memory_id
from memquorum.core.journal.rows import Conflict, LinkRow, Protection, Provenance
from memquorum.core.records import Link
from memquorum.core.retrieval.listing import KEPT, Listing
from memquorum.core.retrieval.query import Filters
from tests.support.kept import SIGHT, SPACE, StoredMemory, put

EVERY = Filters(tiers=KEPT)


def listing(**more: object) -> Listing:
    return replace(Listing(namespace=SPACE, gates=EVERY, limit=100), **more)


async def ids(reads: Reads, wanted: Listing) -> list[str]:
    return [one["memory_id"] for one in await reads.memories(SIGHT, wanted)]


async def test_each_is_listed_once_in_the_order_of_time(reads: Reads, databases: tuple[str, str]) -> None:
    told = put(databases[0], [StoredMemory(f"note {at}") for at in range(7)])
    with psycopg.connect(databases[0]) as connection:  # three at one moment: as they came in; one is said again
        connection.execute("UPDATE memory SET said = 3000 WHERE id = ANY(%s)", [told[3:6]])
        connection.execute("UPDATE memory SET said = 9000, said_offset = 9 WHERE id = %s", [told[1]])
    expected = [told[0], *told[2:], told[1]]
    assert await ids(reads, listing()) == expected
    found: list[str] = []
    behind = None
    while page := (await reads.memories(SIGHT, listing(limit=2, behind=behind)))[:2]:
        found += [one["memory_id"] for one in page]
        behind = (page[-1]["occurred_at"], page[-1]["memory_id"])
    assert found == expected


async def test_what_is_gone_or_to_be_voted_on_is_in_no_list(reads: Reads, databases: tuple[str, str]) -> None:
    told = put(
        databases[0],
        [StoredMemory("a"), *(StoredMemory("b", tier=one) for one in ("sealed", "superseded", "draft", "gone"))],
    )
    found = await reads.memories(SIGHT, listing())
    assert [(one["memory_id"], one["text"]) for one in found] == [(told[0], "a"), (told[1], None), (told[2], None)]
    assert await ids(reads, listing(gates=Filters())) == told[:1]
    assert await ids(reads, listing(gates=Filters(tiers=KEPT, subjects=("nobody",)))) == []
    assert await ids(reads, listing(gates=Filters(tiers=KEPT, subjects=("nobody", "ann")))) == told[:3]
    assert await ids(reads, listing(namespace="mill")) == []


async def test_links_that_a_reader_may_see(reads: Reads, databases: tuple[str, str]) -> None:
    told = put(
        databases[0],
        [
            StoredMemory("first"), StoredMemory("secret", sensitivity=0.9), StoredMemory("gone", tier="gone"),
            StoredMemory("ben's", agent="ben"), StoredMemory("last"),
        ],
    )  # fmt: skip
    first, secret, gone, _, last = told
    order = memory_id(SPACE, "order")
    with psycopg.connect(databases[0]) as connection:
        copying.copy(connection, "provenance_copy", (
            copying.raw(Provenance(0, 9, SPACE, last, parent, False, True, "ann")) for parent in (first, secret, gone)
        ))  # fmt: skip
        copying.copy(connection, "conflict_copy", (
            copying.raw(Conflict(0, 9, SPACE, last, older)) for older in (first, secret, gone)
        ))  # fmt: skip
        copying.copy(connection, "link_copy", (
            copying.raw(LinkRow(0, 9, SPACE, last, "requires", target)) for target in (first, secret, gone)
        ))  # fmt: skip
        connection.execute("UPDATE content SET named = ARRAY['isA pump 7'] WHERE memory_id = %s", [last])
        copying.copy(connection, "protection_copy", (
            copying.raw(Protection(last, kind, 0, 9, SPACE, order, "ann", "ann", None, 5))
            for kind in ("pin", "goal:water")
        ))  # fmt: skip
    (_, _, ben, whole) = await reads.memories(SIGHT, listing())
    assert (whole["derives_from"], whole["contradicts"]) == ((*sorted([first, secret]),), (*sorted([first, secret]),))
    assert (whole["goals"], whole["follows"], ben["follows"]) == (("water",), secret, None)
    said = Link("isA", name="pump 7")
    assert whole["links"] == (*(Link("requires", one) for one in sorted([first, secret])), said)
    one = await reads.memory(SIGHT, last, Filters())
    assert one is not None and one["links"] == whole["links"]
    gated = await reads.memories(SIGHT, listing(gates=replace(EVERY, sensitivity_max=500_000)))
    assert [one["memory_id"] for one in gated] == [first, told[3], last]
    assert (gated[-1]["derives_from"], gated[-1]["contradicts"], gated[-1]["follows"]) == ((first,), (first,), first)
    assert gated[-1]["links"] == (Link("requires", first), said)
    one = await reads.memory(SIGHT, last, Filters(sensitivity_max=500_000))
    assert one is not None and one["links"] == gated[-1]["links"]


async def test_another_tenant_sees_nothing(reads: Reads, databases: tuple[str, str]) -> None:
    put(databases[0], [StoredMemory("a")])
    theirs = Sight(("mill",))
    assert await reads.memories(theirs, listing()) == [] and await reads.memories(EVERYONE.sight(READ), listing())


async def test_who_reads_on_behind_what_was_said_again_since_misses_nothing(
    reads: Reads, databases: tuple[str, str]
) -> None:
    told = put(databases[0], [StoredMemory(f"note {at}") for at in range(4)])
    with psycopg.connect(databases[0]) as connection:
        connection.execute("UPDATE memory SET said = 1000")  # all of one moment
        behind = (1_000, told[1])
        connection.commit()
        assert await ids(reads, listing(behind=behind)) == told[2:]
        connection.execute("UPDATE memory SET said = 2000, said_offset = 9 WHERE id = %s", [told[1]])
        connection.commit()
    assert await ids(reads, listing(behind=behind)) == [told[0], *told[2:], told[1]]
