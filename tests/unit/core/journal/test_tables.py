"""A table is declared once: the schema and the statements say the same, and a new one needs no more than that."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
from msgspec import Struct

from db import copying
from db.migrate import MIGRATIONS
from db.queries import QUERIES
from memquorum.core.audit.findings import Findings, Kind
from memquorum.core.audit.witness import Store, Witness
from memquorum.core.avro import Codec
from memquorum.core.journal.replay import Replay
from memquorum.core.journal.rows import BallotRow, Int4, RowKeys, Uuid
from memquorum.core.journal.tables import TABLES, Table, types
from memquorum.core.journal.workset import Workset
from tests.builders.published import GENESIS
from tests.builders.shard import NAMESPACE, Shard, memory_id
from tests.inmemory.store import InMemoryStore

SCHEMA = "".join(file.read_text() for file in sorted((MIGRATIONS / "memory").glob("*.sql")))
_NAMES = {
    "uuid": "uuid", "integer": "int4", "bigint": "int8", "text": "text", "boolean": "bool", "bytea": "bytea",
    "bytea[]": "bytea[]", "bigint[]": "int8[]", "text[]": "text[]", "jsonb": "jsonb",
}  # fmt: skip


def columns(table: str) -> dict[str, str]:
    """A table's columns in the schema, with their types."""
    (body,) = re.findall(rf"^CREATE TABLE {table} \(\n(.*?)^\)", SCHEMA, re.MULTILINE | re.DOTALL)
    lines = re.findall(r"^    ([a-z_]+)\s+([a-z]+(?:\[\])?)", body, re.MULTILINE)
    for added in re.findall(rf"^ALTER TABLE {table} (ADD COLUMN .*?);$", SCHEMA, re.MULTILINE | re.DOTALL):
        lines += re.findall(r"ADD COLUMN ([a-z_]+) ([a-z]+(?:\[\])?)", added)
    return {name: _NAMES[kind] for name, kind in lines if kind in _NAMES}


@pytest.mark.parametrize("table", TABLES.values(), ids=lambda table: table.name)
def test_a_declaration_has_the_columns_of_the_schema(table: Table) -> None:
    assert {name: types(table.rows)[name] for name in table.columns} == columns(table.name)
    assert {*table.key, *table.order, *table.changes, *table.adds, *table.uncompared} <= set(table.columns)


@pytest.mark.parametrize("table", TABLES.values(), ids=lambda table: table.name)
def test_statements_have_the_columns_of_the_declaration(table: Table) -> None:
    def words_of(text: str) -> list[str]:
        return re.findall(r"[a-z_]+", re.sub(rf"::[a-z]+|\b{table.name}\.", "", text))

    if not table.adds:
        (told,) = re.findall(r"COPY \w+ \((.*?)\)", QUERIES[f"{table.name}_copy"], re.DOTALL)
        assert words_of(told) == list(table.columns)
    (told,) = re.findall(r"SELECT (.*?)\nFROM", QUERIES[f"audit_{table.name}"], re.DOTALL)
    assert words_of(told) == list(table.columns)
    wanted = {"update": table.changes, "delete": table.ends, "upsert": table.adds}
    there = {verb for verb in wanted if f"{table.name}_{verb}" in set(QUERIES)}
    assert there == {verb for verb, is_so in wanted.items() if is_so}


class Toy(Struct, frozen=True):
    """A row of a table that there is not."""

    shard: Int4
    seq: int
    namespace: str
    memory_id: Uuid
    words: tuple[bytes, ...]


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> Table:
    table = Table("toy", Toy, ("namespace", "memory_id"), ("seq",), "seq")
    monkeypatch.setitem(TABLES, Toy, table)
    return table


def test_a_new_table_needs_its_declaration_alone(toy: Table, codec: Codec) -> None:
    shard = Shard(codec, GENESIS)
    row = Toy(0, 1, NAMESPACE, memory_id("a"), (b"w",))
    before, change = shard.rows, shard.episode("a").plus(row)
    work = Workset(before)
    work.absorb(change)
    net = work.net()
    assert net.new[Toy] == (row,) and not net.changed[Toy] and not net.gone[Toy]
    assert copying.raw(row) == [0, 1, NAMESPACE, copying.raw_id(memory_id("a")), [b"w"]]
    store = InMemoryStore()
    store.start(GENESIS.cluster, GENESIS.shards)
    with store.transaction({net.before: RowKeys()}) as transaction:
        transaction.write([net], {}, {})
    assert store.rows[Toy] == {(NAMESPACE, memory_id("a")): row}
    replay = Replay(shard.rules, 0, "elsewhere")
    replay._keep(net)
    assert replay._narrowed(net).new[Toy] == ()


def test_an_audit_finds_what_is_wrong_with_a_new_table(toy: Table, codec: Codec) -> None:
    shard = Shard(codec, GENESIS)
    row = Toy(0, 1, NAMESPACE, memory_id("a"), (b"w",))
    change = shard.episode("a").plus(row)
    good = {name: getattr(row, name) for name in toy.columns} | {"words": [b"w"]}
    told = ([good], []), ([], [Kind.ROW_MISSING]), ([good | {"words": []}], [Kind.ROW_ALTERED])
    for rows, expected in told:
        findings = Findings(0)
        witness = Witness(Store(None, {"toy": rows}), findings)
        witness.change(change)
        witness.finish(True)
        assert [one.kind for one in findings.kept if "table toy" in one.where] == expected


def test_ballots_are_rows_of_their_own(codec: Codec) -> None:
    assert TABLES[BallotRow].columns == ("shard", "epoch", "position", "member", "yes", "score_ppm", "terms")


def test_the_store_in_memory_needs_no_postgres() -> None:
    told = "import sys; import tests.inmemory.store; assert 'psycopg' not in sys.modules"
    subprocess.run([sys.executable, "-c", told], check=True)
