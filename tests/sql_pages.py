"""Writes the pages that tell of the store in SQL: `python -m tests.sql_pages`.

docs/operate/audit-questions.md follows from db/questions.sql.
"""

from __future__ import annotations

from infra.audit_questions import questions
from tests import ROOT

QUESTIONS = ROOT / "docs" / "operate" / "audit-questions.md"
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


def main() -> None:
    """Writes the pages and names them."""
    QUESTIONS.write_text(audit_questions(), encoding="utf-8")
    print(QUESTIONS.relative_to(ROOT))


if __name__ == "__main__":
    main()
