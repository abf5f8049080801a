"""Memories are found by a name in their texts, in what the reader may see, through an index where there is one."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import psycopg
import pytest

from db import crowds
from db.reads import Reads
from memquorum.core.access import Sight
from memquorum.core.retrieval.entities import SHARED, entity
from memquorum.core.retrieval.query import ALL, Filters
from tests.support.kept import SPACE, StoredMemory, put

OURS = Sight((SPACE,))


def said(text: str, **more: Any) -> StoredMemory:
    return StoredMemory(text, session=None, **more)


def asked(dsn: str, ask: Callable[[Reads], Coroutine[Any, Any, Any]]) -> Any:
    async def run() -> Any:
        reads = Reads(dsn)
        await reads.open()
        try:
            return await ask(reads)
        finally:
            await reads.close()

    return asyncio.run(run())


def holders(
    dsn: str, *names: str, sight: Sight = OURS, filters: Filters = ALL, each: int = 99, most: int | None = None
) -> list[list[str]]:
    """The ids of the memories that have each of some names."""
    looked = [entity(one) for one in names]
    found = asked(dsn, lambda r: r.holders(sight, SPACE, looked, filters, each=each, most=most))
    return [[one.memory_id for one in found if one.entity == own] for own in looked]


@pytest.mark.parametrize(
    ("name", "at"),
    [
        ("Grace Hopper", [4, 1, 0]),
        ("grace hopper", [4, 1, 0]),
        ("Rose", [2]),
        ("rose", [3, 2]),
        ("Will", [5]),
        ("山田太郎", [6]),
        ("Grete Hermann", [7]),
        ("Acme Works", [8]),
        ("Valve 3", [9]),
        ("Hopper Grace", []),
        ("%", []),
    ],
)
def test_a_name_is_found_where_it_stands_the_latest_first(databases: tuple[str, str], name: str, at: list[int]) -> None:
    ids = put(databases[0], [
        said("Grace Hopper wrote a compiler."), said("We met GRACE HOPPER's brother."), said("Rose is ill."),
        said("A rose fades."), said("It was Grace\nHopper."), said("Ask Will."), said("昨日山田太郎に会った。"),
        said("Das ist Grete Hermanns Buch."), said("She left."), said("The valve 3 leaks, valve 30 does not."),
        said("We met Grace Hopper.", namespace="elsewhere"),
    ])  # fmt: skip
    with psycopg.connect(databases[0], autocommit=True) as connection:
        connection.execute("UPDATE content SET named = '{worksAt acme works}' WHERE memory_id = %s", [ids[8]])
    assert holders(databases[0], name) == [[ids[one] for one in at]]


def test_who_may_not_read_a_memory_is_not_told_that_it_has_a_name(databases: tuple[str, str]) -> None:
    ids = put(databases[0], [
        said("Grace Hopper sails."), said("Grace Hopper is ill.", sensitivity=0.9),
        said("Grace Hopper owes rent.", purposes="billing"),
    ])  # fmt: skip
    assert holders(databases[0], "Grace Hopper") == [[ids[1], ids[0]]]
    assert holders(databases[0], "Grace Hopper", filters=Filters(sensitivity_max=500_000)) == [[ids[0]]]
    assert holders(databases[0], "Grace Hopper", sight=Sight(("elsewhere",))) == [[]]
    # Memories that may not be read do not make a name common either.
    assert holders(databases[0], "Grace Hopper", filters=Filters(sensitivity_max=500_000), most=1) == [[ids[0]]]
    with psycopg.connect(databases[0]) as link:
        link.execute("SET LOCAL ROLE memquorum_tenant")
        for seen, count in (("elsewhere", 0), ("", 0), (SPACE, 3)):
            link.execute("SELECT set_config('memquorum.namespaces', %s, true)", [seen])
            found = link.execute(
                "SELECT count(*) FROM name_holders(%s, '{Grace Hopper}', '{Grace Hopper}', '{t}', 9)", [SPACE]
            ).fetchone()
            assert found == (count,)


def test_what_is_gone_has_no_name_any_more(databases: tuple[str, str]) -> None:
    ids = put(databases[0], [said("Grace Hopper sails."), said("Grace Hopper sleeps.")])
    with psycopg.connect(databases[0], autocommit=True) as connection:
        connection.execute("DELETE FROM content WHERE memory_id = %s", [ids[0]])
    assert holders(databases[0], "Grace Hopper") == [[ids[1]]]


def test_a_name_that_many_have_joins_none_and_a_large_namespace_has_an_index(databases: tuple[str, str]) -> None:
    dsn, count = databases[0], crowds.LEAST
    put(dsn, [said(f"Ada saw pump {at % 1_000} of plant {at}.") for at in range(count)])
    few = holders(dsn, "Ada", "pump 7", most=SHARED)
    assert [len(one) for one in few] == [0, count // 1_000]
    assert len(list(crowds.keep(dsn, count))) == 2
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("ANALYZE")
        assert holders(dsn, "Ada", "pump 7", most=SHARED) == few
        # The statement of `name_holders`, which tells no plan itself.
        plan = connection.execute(
            "EXPLAIN SELECT c.memory_id FROM memory m"
            " JOIN content c ON c.memory_id = m.id AND c.namespace = 'greenhouse'"
            " WHERE m.namespace = 'greenhouse' AND c.words @@ phraseto_tsquery('english', 'plant 7')"
            " ORDER BY m.created DESC, m.id LIMIT 5000"
        ).fetchall()
    assert any(crowds.words(SPACE) in line for (line,) in plan), plan
