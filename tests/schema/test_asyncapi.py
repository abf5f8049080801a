"""The descriptions of our topics and records for other people's tools are those of the code, and well formed.

The rules of structure are those of AsyncAPI 3.0 for the objects that the document has; the published schema of AsyncAPI
says the same, and is too large to be kept here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import avro.schema
import jsonschema
import pytest
import yaml

from memquorum import topics
from tests import ROOT, asyncapi

KEPT: dict[str, Any] = yaml.safe_load(asyncapi.DOCUMENT.read_text())
# Object → its fields, and those of them that it must have.
FIELDS: dict[str, tuple[set[str], set[str]]] = {
    "document": ({"asyncapi", "info", "channels", "operations", "components"}, {"asyncapi", "info"}),
    "info": ({"title", "version", "description", "license"}, {"title", "version"}),
    "channel": ({"address", "description", "messages", "bindings"}, set()),
    "operation": ({"action", "channel", "messages"}, {"action", "channel"}),
    "message": ({"name", "contentType", "payload", "bindings", "summary"}, set()),
    "payload": ({"schemaFormat", "schema"}, {"schemaFormat", "schema"}),
    "topicConfiguration": ({"cleanup.policy", "retention.ms", "max.message.bytes"}, set()),
}


def objects(document: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Every object of the document with its kind."""
    yield "document", document
    yield "info", document["info"]
    parts = document["components"]
    for kind, found in (
        ("channel", document["channels"]), ("operation", document["operations"]), ("message", parts["messages"]),
        ("payload", parts["schemas"]),
    ):  # fmt: skip
        yield from ((kind, one) for one in found.values())
    for one in document["channels"].values():
        yield "topicConfiguration", one["bindings"]["kafka"]["topicConfiguration"]


def refs(value: Any) -> Iterator[str]:
    """Every reference in a value."""
    if isinstance(value, dict):
        yield from [value["$ref"]] if "$ref" in value else []
        value = list(value.values())
    if isinstance(value, list):
        for one in value:
            yield from refs(one)


def resolved(document: dict[str, Any], ref: str) -> Any:
    """The value that a reference leads to. Raises KeyError."""
    found: Any = document
    for part in ref.removeprefix("#/").split("/"):
        found = found[part]
    return resolved(document, found["$ref"]) if isinstance(found, dict) and "$ref" in found else found


def faults(document: dict[str, Any]) -> list[str]:
    """Returns the faults in a document's structure."""
    found = [] if document["asyncapi"] == "3.0.0" else ["another version"]
    for kind, one in objects(document):
        may, must = FIELDS[kind]
        found += [f"{kind}: {name}" for name in (set(one) - may) | (must - set(one))]
    for ref in refs(document):
        try:
            resolved(document, ref)
        except (KeyError, TypeError):
            found.append(f"{ref} leads nowhere")
    names = {**document["components"]["messages"], **document["components"]["schemas"]}
    found += [name for name in names if not re.fullmatch(r"[a-zA-Z0-9.\-_]+", name)]
    for name, one in document["operations"].items():
        channel = one["channel"]["$ref"]
        found += [] if one["action"] in ("send", "receive") else [f"{name}: {one['action']}"]
        found += [f"{name}: a message of another channel" for ref in refs(one["messages"]) if channel not in ref]
    return found


@pytest.mark.parametrize("file", asyncapi.files(), ids=lambda file: file.name)
def test_what_is_generated_is_up_to_date(file: Path) -> None:
    assert file.read_text() == asyncapi.files()[file], "run `python -m tests.asyncapi`"


def test_the_document_is_well_formed() -> None:
    assert faults(KEPT) == []


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("asyncapi",), "2.6.0"),
        (("colour",), "red"),
        (("operations", "sendJournalMirrored", "action"), "publish"),
        (("operations", "sendJournalMirrored", "channel"), {"$ref": "#/channels/none"}),
        (("components", "messages", "a b"), {}),
        (("components", "messages", "EpisodeRecorded", "payload"), {"$ref": "#/components/schemas/Other"}),
        (("components", "schemas", "EpisodeRecorded"), {"schema": {}}),
    ],
)
def test_a_document_that_is_not_is_seen(place: tuple[str, ...], value: Any) -> None:
    document = deepcopy(KEPT)
    at = document
    for part in place[:-1]:
        at = at[part]
    at[place[-1]] = value
    assert faults(document)


def test_it_has_each_topic_that_users_write_or_read_and_no_other() -> None:
    declared = {p.stem: yaml.safe_load(p.read_text()) for p in (ROOT / "schemas" / "topics").glob("*.yaml")}
    by_users = {name for name, one in declared.items() if "agents" in one["producers"]}
    assert set(KEPT["channels"]) == by_users | {topics.MIRROR, topics.UNDELIVERED}
    assert {topics.EPISODES, topics.ACCESSES, topics.ERASURES} <= by_users and topics.JOURNAL not in by_users
    actions = {one["channel"]["$ref"].removeprefix("#/channels/"): one["action"] for one in KEPT["operations"].values()}
    assert actions == {name: "receive" if name in by_users else "send" for name in KEPT["channels"]}


@pytest.mark.parametrize("name", KEPT["components"]["schemas"])
def test_a_payload_is_a_schema_of_its_format(name: str) -> None:
    payload = KEPT["components"]["schemas"][name]
    if "avro" in payload["schemaFormat"]:
        assert avro.schema.parse(json.dumps(payload["schema"])).name == name
    else:
        jsonschema.Draft7Validator.check_schema(payload["schema"])
        assert not list(refs(payload["schema"])), "a tool would look for it from the document's root"


@pytest.mark.parametrize("name", asyncapi.JSON_RECORDS)
def test_a_schema_is_one_and_stands_alone(name: str) -> None:
    schema = asyncapi.json_schema(asyncapi.JSON_RECORDS[name])
    jsonschema.Draft202012Validator.check_schema(schema)
    assert set(schema["required"]) == set(schema["properties"]), "a field that is left out makes a table ragged"
    assert {one.stem for one in (ROOT / "schemas" / "json").iterdir()} == set(asyncapi.JSON_RECORDS)
