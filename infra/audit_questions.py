"""Answers the ready questions of an audit in SQL, as a role that can only read (`db/questions.sql`)."""

from __future__ import annotations

import json
import re
from argparse import Namespace
from collections.abc import Mapping, Sequence
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import Any

from msgspec import Struct
from psycopg import errors, sql
from rich.table import Table
from rich.text import Text

import db
from db.connection import READER, Link
from db.queries import parse
from infra.operator_command import command
from infra.settings import Settings, SettingsError
from memquorum import terminal
from memquorum.commands import JSON, option
from memquorum.core.accounts.telling import moment
from memquorum.core.showing.escaping import escaped
from memquorum.core.showing.plurals import many
from memquorum.ports import StoreUnavailable

_FILE = Path(db.__file__).with_name("questions.sql")
_TOLD = re.compile(r"^-- :name (\w+)\n((?:-- .+\n)+)", re.MULTILINE)


class Question(Struct, frozen=True):
    """A question in words, what its answer means, if that is not plain, and its statement."""

    asks: str
    means: str
    statement: str


def questions() -> Mapping[str, Question]:
    """Returns the questions by name, in the order of the file."""
    text = _FILE.read_text(encoding="utf-8")
    statements, found = parse(text, _FILE.name), dict[str, Question]()
    for name, told in _TOLD.findall(text):
        asks, *means = (line.removeprefix("-- ") for line in told.splitlines())
        found[name] = Question(asks, " ".join(means), statements[name])
    return found


@command(
    "audit ask",
    option("question", nargs="?", metavar="QUESTION", help="its name; without one all are listed"),
    option("only", nargs="*", metavar="COLUMN=VALUE", help="only rows that have this value there"),
    JSON,
    failed="the question cannot be answered",
    example="audit ask erasures namespace=greenhouse",
)
def ask(settings: Settings, parsed: Namespace) -> int:
    """Answers a ready question about what was decided, ordered and done, from the store. No text of a memory is told.
    docs/operate/audit-questions.md shows each question with its SQL."""
    known = questions()
    if parsed.question is None:
        for name, one in known.items():
            print(json.dumps({"question": name, "asks": one.asks}) if parsed.json else f"{name:<14}{one.asks}")
        return 0
    if parsed.question not in known:
        raise SettingsError(f"no question {parsed.question!r}; there are: {', '.join(known)}")
    settings.require("memory_dsn")
    names, rows = answer(settings.memory_dsn, known[parsed.question].statement, _pairs(parsed.only))
    if parsed.json:
        for row in rows:
            print(json.dumps(dict(zip(names, row, strict=True)), default=_plain))
    else:
        _show(known[parsed.question], names, rows)
    return 0


def answer(dsn: str, statement: str, only: Mapping[str, str]) -> tuple[list[str], list[tuple[Any, ...]]]:
    """Returns the columns and rows of a question. `only`: values that columns have to have. Raises SettingsError for a
    column that is not there, and StoreUnavailable."""
    kept = [sql.SQL("answer.{}::text = {}").format(sql.Identifier(name), sql.Literal(only[name])) for name in only]
    whole = sql.SQL("SELECT * FROM ({}) AS answer{}").format(
        sql.SQL(statement),
        sql.SQL(" WHERE ") + sql.SQL(" AND ").join(kept) if kept else sql.SQL(""),
    )
    link = Link(dsn, READER, StoreUnavailable)
    with closing(link), link.use() as connection:
        try:
            found = connection.execute(whole)
        except errors.UndefinedColumn:
            names = [one.name for one in connection.execute(sql.SQL(statement)).description or ()]
            raise SettingsError(f"the answer has the columns {', '.join(names)}") from None
        return [one.name for one in found.description or ()], found.fetchall()


def _pairs(given: Sequence[str]) -> dict[str, str]:
    """Raises SettingsError for a word that is no pair."""
    for one in given:
        if "=" not in one:
            raise SettingsError(f"{one!r} is not COLUMN=VALUE")
    return {name: value for name, _, value in (one.partition("=") for one in given)}


def _show(question: Question, names: list[str], rows: list[tuple[Any, ...]]) -> None:
    console = terminal.console(soft_wrap=True)
    console.print(Text(f"{question.asks} {question.means}".strip()), style="dim")
    table = Table(box=None, pad_edge=False)
    for name in names:
        table.add_column(name, overflow="fold", no_wrap=True)
    for row in rows:
        table.add_row(*(Text(escaped(_word(value))) for value in row))
    if rows:
        console.print(table)
    console.print(many(len(rows), "row"), style="dim")


def _word(value: Any) -> str:
    if isinstance(value, datetime):
        return moment(round(value.timestamp() * 1000)).removesuffix(" UTC")
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return json.dumps(value) if isinstance(value, dict) else "" if value is None else str(value)


def _plain(value: Any) -> str:
    return value.isoformat() if isinstance(value, datetime) else str(value)
