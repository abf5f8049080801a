"""SQL decodes records as the codec does, from the bytes that the journal's chain hashes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
import psycopg
import pytest
from psycopg import errors

from db.migrate import migrate, shape
from db.store import PostgresStore
from memquorum.core.avro import Codec, DecodeError
from memquorum.core.journal.rows import RowKeys
from memquorum.core.records import (
    APPLIED,
    Accessed,
    EpisodeRecorded,
    JournalEntry,
    MemoryUsed,
    QueryRecorded,
    Stored,
    TaskFinished,
)
from tests.builders import votes
from tests.builders.genesis import make
from tests.builders.shard import Shard
from tests.schema.samples import RECORDS

# Fractions come from outside, with content, and are millionths in what the journal holds.
DECODED = tuple(r for r in RECORDS if not isinstance(r, EpisodeRecorded | QueryRecorded | TaskFinished))


@pytest.fixture
def reader(databases: tuple[str, str]) -> Iterator[psycopg.Connection[Any]]:
    with psycopg.connect(databases[0], autocommit=True, options="-c role=memquorum_reader") as connection:
        yield connection


def plain(codec: Codec, value: Any, *, nested: bool = True) -> Any:
    """A record as SQL tells it."""
    if isinstance(value, bytes):
        try:
            return plain(codec, codec.decode(value)) if nested else value.hex()
        except DecodeError:
            return value.hex()
    if isinstance(value, msgspec.Struct):
        fields = {name: plain(codec, getattr(value, name), nested=nested) for name in value.__struct_fields__}
        return {"record": type(value).__name__} | fields
    return [plain(codec, one, nested=nested) for one in value] if isinstance(value, tuple) else value


@pytest.mark.parametrize("nested", [True, False])
def test_sql_tells_of_every_record_what_the_codec_tells(
    reader: psycopg.Connection[Any], codec: Codec, nested: bool
) -> None:
    for record in (*DECODED, *(JournalEntry(0, 1, 2, "x", "e", "t", 0, 3, codec.encode(one)) for one in DECODED)):
        asked = reader.execute("SELECT record_json(%s, %s)", [codec.encode(record), nested]).fetchone()
        assert asked == (plain(codec, record, nested=nested),)


@pytest.mark.parametrize("number", [0, -1, 1, 63, 64, -64, -65, 2**31 - 1, -(2**31), 2**53 + 1, 2**63 - 1, -(2**63)])
def test_numbers_of_any_size_and_any_text_are_told(reader: psycopg.Connection[Any], codec: Codec, number: int) -> None:
    text = 'ß "quoted" \\ \n\t ' + "€" * 100
    record = Accessed(text, number, (MemoryUsed("m", APPLIED),) * 70)
    assert reader.execute("SELECT record_json(%s)", [codec.encode(record)]).fetchone() == (plain(codec, record),)


def test_a_list_in_sized_blocks_is_read_as_other_writers_write_it(databases: tuple[str, str]) -> None:
    """Avro lets a writer give a block's count as negative, with its length in bytes."""
    listed = '["record", ["\\"numbers\\":", ["array", ["", "long"]]]]'
    odd = bytes.fromhex("c3010000000000000000" + "03" + "04" + "0204" + "02" + "06" + "00")
    with psycopg.connect(databases[0]) as connection:
        connection.execute("INSERT INTO record_schema VALUES ('\\xc3010000000000000000', 'Odd', %s)", [listed])
        assert connection.execute("SELECT record_json(%s)", [odd]).fetchone() == ({"numbers": [1, 2, 3]},)


def test_what_is_no_record_is_null_and_what_is_cut_is_said(reader: psycopg.Connection[Any], codec: Codec) -> None:
    whole = codec.encode(Accessed("planner", 5, ()))
    for strange in (b"", b"\xc3", b"no record", b"\xc3\x01" + bytes(8) + b"x"):
        assert reader.execute("SELECT record_json(%s)", [strange]).fetchone() == (None,)
    for broken in (*(whole[:at] for at in range(10, len(whole))), whole + b"\0"):
        with pytest.raises((errors.DataCorrupted, errors.ArraySubscriptError)):
            reader.execute("SELECT record_json(%s)", [broken])


def test_the_store_knows_every_schema_that_the_codec_reads(databases: tuple[str, str], codec: Codec) -> None:
    names = {type(record).__name__ for record in DECODED}
    wanted = {(mark, schema["name"]) for mark, schema in codec.released() if schema["name"] in names}
    assert {name for _, name in wanted} == names
    with psycopg.connect(databases[0], autocommit=True) as connection:
        asked = "SELECT mark, name FROM record_schema"
        assert set(connection.execute(asked)) == wanted
        # A store of an earlier release lacks some: the next migration adds them.
        connection.execute("DELETE FROM record_schema WHERE name IN ('Stored', 'Signed')")
        migrate(databases[0], "memory")
        assert set(connection.execute(asked)) == wanted


def test_a_schema_is_reduced_to_what_sql_needs() -> None:
    at = {"name": "at", "type": ["null", "long", "string"]}
    fields = [{"name": "to", "type": ["null", "int"], "doc": "Where."}, at]
    links = {"type": "array", "items": {"type": "record", "name": "Link", "fields": fields}}
    told = {"type": "record", "name": "All", "fields": [{"name": "links", "type": links}]}
    link = ["record", ['"record":"Link","to":', "?long", '"at":', ["union", "null", "long", "string"]]]
    assert shape(told) == ["record", ['"record":"All","links":', ["array", ["", link]]]]


def test_the_journal_is_told_beside_its_bytes(
    reader: psycopg.Connection[Any], databases: tuple[str, str], codec: Codec
) -> None:
    shard = Shard(codec, make())
    shard.episode("a")
    shard.tick(100_000)
    shard.decide([votes.proposal(shard.changes[0].entry.memory_id or "", "forget")])
    store, net = PostgresStore(databases[0]), shard.work.net()
    store.start(make().cluster, make().shards)
    with store.transaction({net.before: RowKeys()}) as transaction:
        transaction.write([net], {}, {})
    store.close()
    found = reader.execute("SELECT seq, effect, decoded, entry FROM audit_journal ORDER BY seq").fetchall()
    assert [effect for _, effect, *_ in found] == ["stored", "ticked", "decided"]
    for seq, effect, decoded, entry in found:
        assert decoded == plain(codec, codec.decode(entry))
        assert (decoded["record"], decoded["seq"], decoded["effect"]) == ("JournalEntry", seq, effect)
    assert isinstance(codec.decode(codec.decode(found[0][3]).detail), Stored)
    proposed = "decoded #>> '{detail,pre_prepare,body,nomination,body,proposals,0,kind}'"
    asked = reader.execute(f"SELECT {proposed} FROM audit_journal WHERE effect = 'decided'").fetchone()
    assert asked == ("forget",)
