"""`python -m tests.asyncapi` writes the JSON schemas of `schemas/json` anew; a test compares them with the code."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec

from memquorum.core.accounts.mirrored import JournalMirrored
from tests import ROOT
from workers.events.undelivered import WebhookUndelivered

FOLDER = ROOT / "schemas" / "json"
JSON_RECORDS: dict[str, type[msgspec.Struct]] = {one.__name__: one for one in (JournalMirrored, WebhookUndelivered)}
"""The records that are JSON, by name: those that other people's tools read."""


def json_schema(kind: type[msgspec.Struct]) -> dict[str, Any]:
    """Returns the JSON schema of a record, with everything that it refers to within it."""
    found = msgspec.json.schema(kind)
    name = found.pop("$ref").rpartition("/")[2]
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **found["$defs"].pop(name), **found}


def files() -> dict[Path, str]:
    """Returns every generated file with its content."""
    return {
        FOLDER / f"{name}.json": json.dumps(json_schema(kind), indent=2, ensure_ascii=False) + "\n"
        for name, kind in JSON_RECORDS.items()
    }


if __name__ == "__main__":
    for file, content in files().items():
        file.parent.mkdir(exist_ok=True)
        file.write_text(content, encoding="utf-8")
        print(file.relative_to(ROOT))
