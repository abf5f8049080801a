"""Every table, view and column of the databases says in the catalogue what it is, and the page of tables shows it."""

from __future__ import annotations

import psycopg

from tests.sql_pages import TABLES, tables, undescribed


def test_every_table_and_column_has_a_comment(databases: tuple[str, str]) -> None:
    assert [undescribed(dsn) for dsn in databases] == [[], []], "comment on it in the migration that makes it"


def test_what_has_no_comment_is_found(databases: tuple[str, str]) -> None:
    with psycopg.connect(databases[0], autocommit=True) as connection:
        connection.execute("CREATE TABLE strange (odd integer)")
        connection.execute("COMMENT ON COLUMN memory.agent IS NULL")
    assert undescribed(databases[0]) == ["memory.agent", "strange.odd"]


def test_the_page_shows_the_tables(databases: tuple[str, str]) -> None:
    made = tables(dict(zip(("memory", "vault"), databases, strict=True)))
    assert TABLES.read_text(encoding="utf-8") == made, "run python -m tests.sql_pages"
