"""The named statements of `queries.sql`: all the SQL that Python runs is there, none in Python.

Columns, and what a caller may read, follow from declarations and are filled in by name (`columns`)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from db.sql_fragments import filled

_HEAD = re.compile(r"^-- :name[ \t]+(\S+)[ \t]*$", re.MULTILINE)
_NAME = re.compile(r"[a-z][a-z0-9_]*")


class QueryError(LookupError):
    """A statement that is not there, or a file of statements that cannot be read; the message names it."""


class Queries(Mapping[str, str]):
    """Statement by name. An unknown name raises QueryError and says what there is like it."""

    def __init__(self, statements: Mapping[str, str], where: str) -> None:
        self._statements = dict(statements)
        self._where = where

    def __getitem__(self, name: str) -> str:
        try:
            return self._statements[name]
        except KeyError:
            raise QueryError(f"no statement {name!r} in {self._where}; there are: {', '.join(self)}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._statements))

    def __len__(self) -> int:
        return len(self._statements)


def parse(text: str, where: str) -> Queries:
    """The statements of a file's text. `where` names it in errors.

    Raises QueryError for a name that is given twice or badly, a statement without text, and text outside a statement.
    """
    parts = _HEAD.split(text)
    if _code(parts[0]):
        raise QueryError(f"{where}: text before the first '-- :name'")
    statements: dict[str, str] = {}
    for name, body in zip(parts[1::2], parts[2::2], strict=True):
        if not _NAME.fullmatch(name):
            raise QueryError(f"{where}: {name!r} is no name for a statement (a-z, 0-9, _)")
        if name in statements:
            raise QueryError(f"{where}: statement {name!r} is given twice")
        statement = _code(body)
        if not statement:
            raise QueryError(f"{where}: statement {name!r} is empty")
        statements[name] = statement
    return Queries(statements, where)


def _code(body: str) -> str:
    """The text without its comment lines, which are for readers: psycopg would take their '%' for parameters."""
    lines = [line for line in body.splitlines() if not line.lstrip().startswith("--")]
    return "\n".join(lines).strip()


_FILE = Path(__file__).with_name("queries.sql")
QUERIES = parse(filled(_FILE.read_text(encoding="utf-8")), _FILE.name)
