"""What statements select and write, by declaration: `queries` fills these lists in where a statement names them.

- `$row(TABLE)`: the columns of a table's rows, qualified by its name, as its class takes them (`Table.row`).
- `$columns(TABLE)`: their bare names, for COPY.
- `$remembered`, `$shown`: what a client sees of a living memory, and of any: of `memory m`, `content c` and
  `strength s`.
"""

from __future__ import annotations

import re

from memquorum.core.api.answers import Remembered, Shown
from memquorum.core.journal.tables import TABLES, types

REMEMBERED = Remembered.__struct_fields__
SHOWN = tuple(name for name in Shown.__struct_fields__ if name != "due_at")  # due_at is computed of the others
SHARES = frozenset({"salience", "sensitivity", "confidence"})
"""What a client sees in [0, 1] and the store keeps in millionths."""

_ELSEWHERE = {
    "memory_id": "m.id::text", "text": "c.body", "occurred_at": "m.created", "salience": "s.salience_ppm",
    "sensitivity": "m.sensitivity_ppm", "confidence": "m.confidence_ppm",
    **{name: f"s.{name}" for name in ("last_access", "accesses", "reinforced")},
}  # fmt: skip
_TABLES = {table.name: table for table in TABLES.values()}
_NAMED = re.compile(r"\$(?:(row|columns)\((\w+)\)|(remembered|shown)\b)")


def filled(statement: str) -> str:
    """Fills in the lists that a statement names."""
    return _NAMED.sub(_list, statement)


def _list(named: re.Match[str]) -> str:
    how, name, seen = named.groups()
    if seen:
        return ", ".join(_ELSEWHERE.get(one, f"m.{one}") for one in (REMEMBERED if seen == "remembered" else SHOWN))
    table = _TABLES[name]
    if how == "columns":
        return ", ".join(table.columns)
    of = types(table.rows)
    return ", ".join(f"{name}.{one}" + ("::text" if of[one] == "uuid" else "") for one in table.columns)
