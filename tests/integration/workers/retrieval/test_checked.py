"""Texts near an answer that are kept from its reader, asked of Postgres: by the filters of the read alone, never by
what a subject's profile hides."""

from __future__ import annotations

import psycopg

from db.reads import Reads
from memquorum.core.retrieval.query import ALL, Filters
from tests.support.kept import ENCODER, SIGHT, SPACE, StoredMemory, put

TOLD = [
    StoredMemory("the tank of the pump leaks oil", agent="ann"),
    StoredMemory("the tank of the pump leaks much oil", agent="bob", sensitivity=0.9),
    StoredMemory("the tank of the pump leaks some oil", agent="eve", sensitivity=0.9),
    StoredMemory("entirely different words", agent="bob", sensitivity=0.9),
    StoredMemory("the tank of the pump leaks old oil", agent="bob", purposes="billing"),
    StoredMemory("the tank of the pump leaks oil again", agent="bob", tier="sealed", sensitivity=0.9),
]
LOW = Filters(sensitivity_max=300_000)


async def texts(reads: Reads, given: str, filters: Filters) -> list[str]:
    found = await reads.withheld_near(SIGHT, SPACE, ENCODER.name, [given], filters)
    near = found.pop(given, [])
    assert not found and all(0.3 <= cosine <= 1.001 for _, cosine in near)
    return [text for text, _ in near]


async def test_what_the_filters_keep_back_is_compared_and_what_a_profile_hides_is_not(
    reads: Reads, databases: tuple[str, str]
) -> None:
    ids = put(databases[0], TOLD)
    much, some, old = (TOLD[at].text for at in (1, 2, 4))
    assert {*await texts(reads, ids[0], LOW)} == {much, some, old}
    assert await texts(reads, ids[0], ALL) == [old], "for certain purposes only"
    assert await texts(reads, ids[0], Filters(purpose="billing")) == []
    assert await reads.withheld_near(SIGHT, SPACE, ENCODER.name, [], LOW) == {}
    assert await reads.withheld_near(SIGHT, "mill", ENCODER.name, [ids[0]], LOW) == {}
    with psycopg.connect(databases[0], autocommit=True) as connection:
        connection.execute(
            "INSERT INTO profile_now VALUES (%s, 'eve', 0, 1, gen_random_uuid(), true, %s, '{}', NULL, '{}', 1)",
            [SPACE, 2**52],
        )
    assert {*await texts(reads, ids[0], LOW)} == {much, old}, "a profile hides what is about eve"
