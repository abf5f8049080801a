"""A database that says something else than the journal is found out, table by table and column by column."""

from __future__ import annotations

import pytest

from memquorum.core.audit.findings import Kind
from memquorum.core.avro import Codec
from memquorum.core.reading.passages import LONG_BYTES
from tests.builders.altered import other
from tests.builders.published import GENESIS, Published, kinds, lively, publish
from tests.builders.shard import Shard, memory_id


@pytest.fixture(scope="module")
def shard(codec: Codec) -> Shard:
    return lively(Shard(codec, GENESIS))


@pytest.fixture
def public(shard: Shard) -> Published:
    return publish(shard)


KEYS = {
    "shard": ("shard",),
    "journal": ("seq",),
    "event": ("seq",),
    "used": ("seq", "memory_id"),
    "decision": ("epoch",),
    "outcome": ("epoch", "position", "memory_id"),
    "ballot": ("epoch", "position", "member"),
    "memory": ("id",),
    "strength": ("memory_id",),
    "content": ("memory_id",),
    "embedding": ("memory_id",),
    "dropped": ("memory_id",),
    "living": ("namespace",),
    "let_go": ("epoch", "namespace"),
    "reward": ("seq", "memory_id", "kind"),
}


@pytest.mark.parametrize("table", KEYS)
def test_every_altered_column_of_every_table_is_named(public: Published, table: str) -> None:
    rows = public.tables[table]
    for column in rows[0]:
        if column in KEYS[table]:
            continue
        whole = rows[0]
        rows[0] = whole | {column: other(whole[column])}
        findings = public.audit(store=True).findings
        rows[0] = whole
        assert len(findings) == 1, (column, findings)
        kind = {("memory", "tier"): Kind.EFFECT_UNDECIDED, ("shard", "seq"): Kind.ROWS_UNPUBLISHED}
        assert findings[0].kind == kind.get((table, column), Kind.ROW_ALTERED)
        if (table, column) != ("shard", "seq"):
            assert findings[0].where.startswith(f"table {table}, ") and findings[0].where.endswith(f"column {column}")


@pytest.mark.parametrize("table", [t for t in KEYS if t != "shard"])
def test_a_removed_row_is_named(public: Published, table: str) -> None:
    removed = public.tables[table].pop(0)
    findings = public.audit(store=True).findings
    assert [f.kind for f in findings] == [Kind.ROW_MISSING]
    assert findings[0].where == f"table {table}, " + ", ".join(f"{k} {removed[k]}" for k in KEYS[table])


@pytest.mark.parametrize("table", [t for t in KEYS if t not in ("shard", "dropped", "living", "reward")])
def test_a_cut_table_is_named(public: Published, table: str) -> None:
    del public.tables[table][-2:]
    findings = public.audit(store=True).findings
    assert [f.kind for f in findings] == [Kind.ROWS_CUT] and "2 rows" in findings[0].expected


def test_a_journal_cut_by_its_last_row_is_named(public: Published) -> None:
    public.tables["journal"].pop()
    assert kinds(public.audit(store=True)) == [Kind.ROWS_CUT]


@pytest.mark.parametrize("table", [t for t in KEYS if t != "shard"])
@pytest.mark.parametrize("at", [0, -1])
def test_an_added_row_is_named(public: Published, table: str, at: int) -> None:
    rows = public.tables[table]
    key = KEYS[table][-1]
    value = rows[at][key]
    step = -1 if at == 0 else 1
    extra = value + step if isinstance(value, int) else (f"0{value}"[:36] if at == 0 else f"{value}f")
    rows.insert(0 if at == 0 else len(rows), rows[at] | {key: extra})
    findings = public.audit(store=True).findings
    assert [f.kind for f in findings] == [Kind.ROW_ADDED] and f"table {table}, " in findings[0].where


def test_vectors_of_passages_are_those_of_a_long_text_that_is_there(codec: Codec) -> None:
    """A text is long by its bytes, and the chain only knows its characters."""
    shard = Shard(codec, GENESIS)
    shard.episode("long", characters=2_000)
    shard.episode("perhaps", characters=LONG_BYTES // 4 + 1)
    shard.episode("short", characters=LONG_BYTES // 4)
    public = publish(shard)
    rows = public.tables["sentence"]
    assert not public.audit(store=True).findings, "an earlier release kept none"
    for name, findings in (("long", []), ("perhaps", []), ("short", [Kind.ROW_ADDED])):
        rows[:] = [{"memory_id": memory_id(name), "namespace": public.tables["memory"][0]["namespace"], "encoder": "e"}]
        rows[0]["encoder"] = public.tables["embedding"][0]["encoder"]
        assert kinds(public.audit(store=True)) == findings, name
    rows[0] |= {"memory_id": memory_id("long"), "encoder": "another"}
    assert kinds(public.audit(store=True)) == [Kind.ROW_ALTERED]


def test_a_cut_tail_with_the_shard_row_put_back_is_named(public: Published, shard: Shard) -> None:
    """The database is made to look as it did two entries earlier: the topic knows better."""
    earlier = Shard(shard.rules.codec, GENESIS)
    for change in shard.changes[:15]:
        earlier.work.absorb(change)
        earlier.changes.append(change)
    public.tables = publish(earlier).tables
    found = kinds(public.audit(store=True))
    assert found.count(Kind.ROWS_CUT) >= 1 and Kind.ROWS_UNPUBLISHED not in found


def test_a_missing_shard_row_is_named(public: Published) -> None:
    public.tables["shard"].clear()
    assert Kind.ROW_MISSING in kinds(public.audit(store=True))


def test_a_forged_row_beyond_the_journal_is_named(public: Published) -> None:
    last = public.tables["journal"][-1]
    public.tables["journal"].append(last | {"seq": 18})
    assert kinds(public.audit(store=True)) == [Kind.ROW_ADDED]
    public.tables["shard"][0]["seq"] = 18
    assert kinds(public.audit(store=True)) == [Kind.ROWS_UNPUBLISHED]


def test_where_the_chain_broke_the_database_is_compared_as_a_journal_only(public: Published) -> None:
    del public.entries[4]
    public.tables["memory"].clear()
    found = public.audit(store=True).findings
    assert [f.kind for f in found] == [Kind.ENTRY_MISSING, Kind.ROW_ADDED]
    assert found[1].where == "table journal, seq 5"  # the database still has what the topic lost
    public.tables["journal"].append(public.tables["journal"][-1] | {"seq": 18})
    assert [f.where for f in public.audit(store=True).findings[1:]] == ["table journal, seq 5", "table journal, seq 18"]
    del public.entries[10:], public.heads[11:]
    expected = [Kind.ENTRY_MISSING, Kind.ROW_ADDED, Kind.ROWS_UNPUBLISHED]
    assert kinds(public.audit(store=True)) == expected  # what lies beyond the topic's end is one finding
