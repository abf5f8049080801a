"""Lists everything that users can name, one line an item, and compares it with the frozen list."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import psycopg
import yaml
from msgspec import structs

from infra import admin_commands
from infra.settings import FOREIGN, PREFIX, Settings
from memquorum import cli
from memquorum.core.api.endpoints import ENDPOINTS
from memquorum.core.policy import Policy
from memquorum.mcp.server import _told
from memquorum.mcp.tools import TOOLS
from memquorum.schema_files import schema_folder
from memquorum.telemetry import metrics
from workers.retrieval.openapi import describe

FILE = Path(__file__).with_name("inventory.txt")
PROGRAMS = {"memquorum": cli.parser, "memquorum admin": admin_commands.parser}
SQL = "sql "
"""The start of the lines that only a database can list."""
_VIEWS = """
SELECT c.relname, a.attname, format_type(a.atttypid, a.atttypmod)
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_attribute a ON a.attrelid = c.oid
WHERE c.relkind IN ('v', 'm') AND n.nspname = 'public' AND a.attnum > 0
"""


def items() -> set[str]:
    """The items that no server is needed for."""
    return {*http(), *programs(), *tools(), *settings(), *policy(), *counted(), *declared()}


def http() -> Iterator[str]:
    """Methods and paths, their parameters, and the fields of bodies and answers."""
    told = describe(ENDPOINTS)
    for path, methods in told["paths"].items():
        for method, one in methods.items():
            place = f"http {method.upper()} {path}"
            yield f"{place} operation {one['operationId']}, body {_body(one)}, status {min(one['responses'])}"
            for each in one.get("parameters", ()):
                yield f"{place} {each['in']} {each['name']}: {_kind(each['schema'])}"
    for name, shape in told["components"]["schemas"].items():
        for field, schema in shape.get("properties", {}).items():
            yield f"http schema {name}.{field}: {_kind(schema)}{_required(shape, field)}"


def _body(operation: dict[str, Any]) -> str:
    body = operation.get("requestBody")
    return _kind(body["content"]["application/json"]["schema"]) if body else "none"


def _required(shape: dict[str, Any], field: str) -> str:
    return ", required" if field in shape.get("required", ()) else ""


def _kind(schema: dict[str, Any]) -> str:
    """A type in a word or two."""
    if "$ref" in schema:
        return str(schema["$ref"].rpartition("/")[2])
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(_kind(one) for one in schema["anyOf"]))
    if "enum" in schema:
        return "one of " + " ".join(map(str, schema["enum"]))
    kind = schema.get("type", "any")
    return f"{kind} of {_kind(schema['items'])}" if isinstance(schema.get("items"), dict) else str(kind)


def programs() -> Iterator[str]:
    """The commands of the programs, as their `--help` shows them, with their options and arguments."""
    for name, parser in PROGRAMS.items():
        yield from _commands(name, parser())
    for old, now in admin_commands.FORMER.items():
        yield f"command former python -m infra {old}: memquorum admin {now}"


def _commands(name: str, parser: argparse.ArgumentParser) -> Iterator[str]:
    yield f"command {name}"
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for step, below in action.choices.items():
                yield from _commands(f"{name} {step}", below)
        elif action.help is not argparse.SUPPRESS and "--help" not in action.option_strings:
            names = ", ".join(action.option_strings) or str(action.metavar or action.dest)
            value = "" if action.nargs == 0 else " VALUE" if action.option_strings else ""
            choices = f" of {' '.join(map(str, action.choices))}" if action.choices is not None else ""
            yield f"command {name} {names}{value}{choices}"


def tools() -> Iterator[str]:
    """The tools of the MCP server, with their arguments."""
    for one in TOOLS:
        yield f"mcp {one.name}"
        schema = _told(one).input_schema
        for name, field in schema["properties"].items():
            yield f"mcp {one.name} {name}: {_kind(field)}{_required(schema, name)}"
            for within, inner in field.get("properties", {}).items():
                yield f"mcp {one.name} {name}.{within}: {_kind(inner)}"


def settings() -> Iterator[str]:
    """The names of settings in the environment."""
    for name in {PREFIX + one.name.upper() for one in fields(Settings)} | FOREIGN:
        yield f"setting {name}"


def policy() -> Iterator[str]:
    """The numbers of the policy."""
    for section, value in structs.asdict(Policy()).items():
        for one in structs.fields(value):
            yield f"policy {section}.{one.name}"


def counted() -> Iterator[str]:
    """The metrics, with their labels."""
    for one in metrics.ALL:
        yield f"metric {one.name} ({one.kind}) by {', '.join(one.labels) or 'nothing'}"


def declared() -> Iterator[str]:
    """The topics, with the types of their records."""
    for file in (schema_folder() / "topics").glob("*.yaml"):
        one = yaml.safe_load(file.read_text(encoding="utf-8"))
        yield f"topic {one['topic']} of {', '.join(one['schemas'])}"


def views(dsns: Iterable[str]) -> set[str]:
    """The views of migrated databases, with their columns."""
    found = set()
    for dsn in dsns:
        with psycopg.connect(dsn) as connection:
            found |= {f"{SQL}{view}.{column}: {kind}" for view, column, kind in connection.execute(_VIEWS)}
    return found


def frozen() -> set[str]:
    """The items of the file."""
    return set(FILE.read_text(encoding="utf-8").splitlines())


def write(found: Iterable[str]) -> None:
    """Writes the file: sorted, one line an item."""
    FILE.write_text("".join(f"{one}\n" for one in sorted(found)), encoding="utf-8")


def differences(before: set[str], now: set[str]) -> str:
    """Every item that is gone or new, a line each; empty if there is none."""
    return "\n".join([f"gone: {one}" for one in sorted(before - now)] + [f"new: {one}" for one in sorted(now - before)])
