"""Remains of a deleted text: in tables, for queries, and in files, for those who can read them."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

import psycopg
from psycopg import sql

_TABLES = """
    SELECT schemaname, tablename FROM pg_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema') ORDER BY 2
"""


def tables(dsn: str, needle: str) -> list[str]:
    """The tables of a database that hold the text, in the clear or as bytes."""
    found = []
    with psycopg.connect(dsn, autocommit=True) as connection:
        for schema, table in connection.execute(_TABLES).fetchall():
            asked = sql.SQL("SELECT count(*) FROM {} AS t WHERE strpos(t::text, %s) > 0 OR strpos(t::text, %s) > 0")
            row = connection.execute(asked.format(sql.Identifier(schema, table)), [needle, needle.encode().hex()])
            (count,) = row.fetchone() or (0,)
            if count:
                found.append(f"{table} ({count} row{'s' if count > 1 else ''})")
    return found


def sqlite_tables(file: Path, needle: str) -> list[str]:
    """The tables of an SQLite file that hold the text."""
    found: dict[str, int] = {}
    with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as link:
        for (table,) in link.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
            rows = link.execute(f'SELECT * FROM "{table}"').fetchall()
            if count := sum(needle in repr(row) for row in rows):
                found[table] = count
    return [f"{table} of {file.name} ({count} row{'s' if count > 1 else ''})" for table, count in found.items()]


def files(folder: Path, needles: Mapping[str, str]) -> dict[str, list[str]]:
    """Name → the places below the folder whose files hold its needle, byte by byte."""
    found: dict[str, set[str]] = {name: set() for name in needles}
    for file in sorted(folder.rglob("*")):
        try:
            data = file.read_bytes() if file.is_file() else b""
        except (FileNotFoundError, PermissionError):
            continue
        for name, needle in needles.items():
            if needle.encode() in data:
                found[name].add(place(file.relative_to(folder)))
    return {name: sorted(places) for name, places in found.items()}


def place(file: Path) -> str:
    """A file below an installation's folder as a kind of place."""
    text = file.as_posix()
    if "/pg_wal/" in text:
        return "Postgres' write-ahead log"
    if text.startswith("postgres/data/"):
        return "Postgres' table files"
    if text.startswith("kafka/") and file.suffix in (".log", ".index", ".timeindex"):
        return f"topic {file.parent.name.rsplit('-', 1)[0]}"
    return file.name if text.startswith("peers/") else text
