"""The file of statements: every one named once, reached by name."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from db import queries
from db.audit_rows import audited
from db.queries import QUERIES, QueryError, parse
from memquorum.core.journal.tables import TABLES


def test_statements_are_found_without_their_comments() -> None:
    found = parse("-- head\n-- :name a\n-- 100% why\nSELECT 1\n  AS x\n\n-- :name b_2\nSELECT 2\n", "f.sql")
    assert dict(found) == {"a": "SELECT 1\n  AS x", "b_2": "SELECT 2"}


def test_an_unknown_name_says_what_there_is() -> None:
    with pytest.raises(QueryError, match=r"no statement 'c' in f\.sql; there are: a, b"):
        parse("-- :name a\nSELECT 1\n-- :name b\nSELECT 2", "f.sql")["c"]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("SELECT 1", "before the first"),
        ("-- :name a\nSELECT 1\n-- :name a\nSELECT 2", "given twice"),
        ("-- :name a\n-- only words\n-- :name b\nSELECT 2", "'a' is empty"),
        ("-- :name A-b\nSELECT 1", "no name"),
    ],
)
def test_a_bad_file_is_refused(text: str, complaint: str) -> None:
    with pytest.raises(QueryError, match=complaint):
        parse(text, "f.sql")


def test_every_statement_says_what_it_is_for_and_is_used() -> None:
    folder = Path(queries.__file__).parents[1]
    text = (folder / "db" / "queries.sql").read_text()
    heads = re.findall(r"^-- :name (\S+)\n(.)", text, re.MULTILINE)
    assert [name for name, first in heads if first != "-"] == []
    code = "\n".join(
        p.read_text() for room in ("db", "workers", "streams", "infra") for p in (folder / room).rglob("*.py")
    )
    verbs = ("copy", "update", "delete", "upsert")
    of_tables = {f"{table.name}_{verb}" for table in TABLES.values() for verb in verbs}
    of_tables |= {f"audit_{name}" for name in audited()}
    assert [name for name in QUERIES if f'"{name}"' not in code and name not in of_tables] == []
