"""Writes the pages that tell of the store in SQL: `python -m tests.sql_pages`.

docs/operate/audit-questions.md follows from db/questions.sql, and docs/operate/tables.md from the comments of the
migrated databases.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from itertools import groupby
from pathlib import Path

import psycopg

from infra.audit_questions import questions
from tests import ROOT
from tests.support import lent

QUESTIONS = ROOT / "docs" / "operate" / "audit-questions.md"
TABLES = ROOT / "docs" / "operate" / "tables.md"
_COLUMNS = """
SELECT c.relname, obj_description(c.oid, 'pg_class'), a.attname, format_type(a.atttypid, a.atttypmod),
       col_description(c.oid, a.attnum)
FROM pg_class c
JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'v')
ORDER BY c.relkind, c.relname, a.attnum
"""
_TABLES_HEAD = """# Tables and views

Every table, view and column of both databases, as the catalogue of Postgres tells them (`\\d+` in `make psql` does,
too). Times are milliseconds since the epoch, scores millionths (`_ppm`), unless a view says otherwise. The rights on
them are in [`db/rights`](../../db/rights). The [views](auditing.md#ask) `audit_…` answer without joins.

`python -m tests.sql_pages` writes this page from a migrated database.
"""
_HEAD = """# Questions of an audit

Ready questions in SQL, about what was decided, ordered and done. The command lists and answers them from the store, as
a role that can only read:

```
memquorum admin audit ask
memquorum admin audit ask erasures namespace=greenhouse
memquorum admin audit ask votes memory_id=c95c0220-774d-5bb8-83a6-69f833f3b8d6 --json
```

`COLUMN=VALUE` keeps the rows that have this value there. The statements have no parameters, so they can also be copied
into `make psql` or a dashboard, with a login of `memquorum_reader` ([security](security.md)). They ask the
[views](auditing.md#ask) and tell ids, numbers, names and times, and no text of a memory. A person's own data with its
texts is what [`memquorum export`](../use/reading.md#lists) gives.

`python -m tests.sql_pages` writes this page from [`db/questions.sql`](../../db/questions.sql). A test runs each of them
on a store with a known history.
"""


def audit_questions() -> str:
    """Returns the page of the questions."""
    parts = [_HEAD, "| name | question |\n|---|---|"]
    known = questions()
    parts[1:] = [
        "\n".join([parts[1], *(f"| [`{name}`](#{name}) | {one.asks} |" for name, one in known.items())]) + "\n"
    ]
    for name, one in known.items():
        means = f" {one.means}" if one.means else ""
        parts.append(f"## {name}\n\n{one.asks}{means}\n\n```sql\n{one.statement}\n```\n")
    return "\n".join(parts)


def tables(dsns: Mapping[str, str]) -> str:
    """Returns the page of the tables. `dsns`: the migrated databases, by name."""
    parts = [_TABLES_HEAD]
    for database, dsn in dsns.items():
        parts.append(f"## The database {database}\n")
        with psycopg.connect(dsn) as connection:
            found = connection.execute(_COLUMNS).fetchall()
        for (name, told), columns in groupby(found, lambda row: row[:2]):
            rows = "\n".join(f"| `{column}` | {kind} | {words} |" for *_, column, kind, words in columns)
            parts.append(f"### {name}\n\n{told}\n\n| column | type | meaning |\n|---|---|---|\n{rows}\n")
    return "\n".join(parts)


def undescribed(dsn: str) -> list[str]:
    """Returns the tables, views and columns of a database that have no comment."""
    with psycopg.connect(dsn) as connection:
        found = connection.execute(_COLUMNS).fetchall()
    return [f"{name}.{column}" for name, told, column, _, words in found if not told or not words]


def main() -> None:
    """Writes the pages and names them."""
    QUESTIONS.write_text(audit_questions(), encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder, lent.started(Path(folder) / "postgres") as server:
        TABLES.write_text(tables({one: server.dsn(f"template_{one}") for one in lent.TEMPLATES}), encoding="utf-8")
    print(QUESTIONS.relative_to(ROOT), TABLES.relative_to(ROOT))


if __name__ == "__main__":
    main()
