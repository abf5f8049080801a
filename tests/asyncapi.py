"""`python -m tests.asyncapi` writes the descriptions of our topics for other people's tools anew; a test compares.

`schemas/asyncapi.yaml` is an AsyncAPI 3.0 document of the topics that users write or read, made of `schemas/topics` and
the schemas of their records. `schemas/json` has the schemas of the records that are JSON.
"""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import msgspec
import yaml

from memquorum.core.accounts.mirrored import JournalMirrored
from tests import ROOT
from workers.events.undelivered import WebhookUndelivered

_SCHEMAS = ROOT / "schemas"
FOLDER, DOCUMENT = _SCHEMAS / "json", _SCHEMAS / "asyncapi.yaml"
JSON_RECORDS: dict[str, type[msgspec.Struct]] = {one.__name__: one for one in (JournalMirrored, WebhookUndelivered)}
"""The records that are JSON, by name: those that other people's tools read."""
_AVRO, _JSON_SCHEMA = "application/vnd.apache.avro+json;version=1.9.0", "application/schema+json;version=draft-07"
_SIGNED = "Signed"
_KEPT = ("cleanup.policy", "retention.ms", "max.message.bytes")
_KEYS = {
    "any": "Any key, or none.",
    "namespace": "The namespace.",
    "shard": "The number of the shard, in decimal, or the target of a webhook.",
}


def json_schema(kind: type[msgspec.Struct]) -> dict[str, Any]:
    """Returns the JSON schema of a record, with everything that it refers to within it."""
    found = msgspec.json.schema(kind)
    name = found.pop("$ref").rpartition("/")[2]
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **found["$defs"].pop(name), **found}


def document() -> dict[str, Any]:
    """Returns the AsyncAPI document: what our side receives is what users write, and what it sends they read."""
    topics = [one for one in _topics() if _for_users(one)]
    names = sorted({name for one in topics for name in one["schemas"]})
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    return {
        "asyncapi": "3.0.0",
        "info": {
            "title": "memquorum",
            "version": version,
            "description": "The topics that agents write, and those that tools read (docs/use/kafka.md, "
            "docs/operate/events.md). A record in Avro is in single-object encoding; instead of it agents may write "
            "the same fields as one JSON object, but for orders, which are signed.",
            "license": {"name": "Apache-2.0"},
        },
        "channels": {one["topic"]: _channel(one) for one in topics},
        "operations": {name: operation for one in topics for name, operation in _operations(one).items()},
        "components": {
            "messages": {_message_name(one): _message(one) for one in topics},
            "schemas": {name: _payload(name) for name in names},
        },
    }


def files() -> dict[Path, str]:
    """Returns every generated file with its content."""
    told = yaml.safe_dump(document(), sort_keys=False, allow_unicode=True, width=120)
    return {
        DOCUMENT: "# Written by `python -m tests.asyncapi` from schemas/topics and the schemas of records.\n" + told,
        **{
            FOLDER / f"{name}.json": json.dumps(json_schema(kind), indent=2, ensure_ascii=False) + "\n"
            for name, kind in JSON_RECORDS.items()
        },
    }


def _topics() -> list[dict[str, Any]]:
    return [yaml.safe_load(file.read_text()) for file in sorted((_SCHEMAS / "topics").glob("*.yaml"))]


def _for_users(topic: dict[str, Any]) -> bool:
    return "agents" in topic["producers"] or bool(set(topic["schemas"]) & JSON_RECORDS.keys())


def _message_name(topic: dict[str, Any]) -> str:
    """The record that a topic is about: of a signed one the record within."""
    (name,) = [one for one in topic["schemas"] if one != _SIGNED]
    return str(name)


def _channel(topic: dict[str, Any]) -> dict[str, Any]:
    kept = {key: topic["config"][key] for key in _KEPT if key in topic["config"]}
    kept["cleanup.policy"] = [kept["cleanup.policy"]]
    name = _message_name(topic)
    return {
        "address": topic["topic"],
        "description": topic["description"],
        "messages": {name: {"$ref": f"#/components/messages/{name}"}},
        "bindings": {"kafka": {"topicConfiguration": kept, "bindingVersion": "0.5.0"}},
    }


def _message(topic: dict[str, Any]) -> dict[str, Any]:
    name, signed = _message_name(topic), _SIGNED in topic["schemas"]
    told = {
        "name": name,
        "contentType": "application/json" if name in JSON_RECORDS else "application/avro",
        "payload": {"$ref": f"#/components/schemas/{_SIGNED if signed else name}"},
        "bindings": {
            "kafka": {"key": {"type": "string", "description": _KEYS[topic["key"]]}, "bindingVersion": "0.5.0"}
        },
    }
    return told | ({"summary": f"The field `body` of the Signed holds a {name}, encoded."} if signed else {})


def _operations(topic: dict[str, Any]) -> dict[str, Any]:
    name, users = _message_name(topic), "agents" in topic["producers"]
    return {
        f"{'receive' if users else 'send'}{name}": {
            "action": "receive" if users else "send",
            "channel": {"$ref": f"#/channels/{topic['topic']}"},
            "messages": [{"$ref": f"#/channels/{topic['topic']}/messages/{name}"}],
        }
    }


def _payload(name: str) -> dict[str, Any]:
    if name in JSON_RECORDS:
        return {"schemaFormat": _JSON_SCHEMA, "schema": _inlined(json_schema(JSON_RECORDS[name]))}
    return {"schemaFormat": _AVRO, "schema": json.loads((_SCHEMAS / "avro" / f"{name}.avsc").read_text())}


def _inlined(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema with its definitions in the places where it refers to them: a document's references count from its
    root."""
    parts = schema.pop("$defs", {})
    schema.pop("$schema")

    def put(value: Any) -> Any:
        if isinstance(value, dict):
            ref = value.get("$ref")
            return put(parts[ref.rpartition("/")[2]]) if ref else {key: put(one) for key, one in value.items()}
        return [put(one) for one in value] if isinstance(value, list) else value

    found: dict[str, Any] = put(schema)
    return found


if __name__ == "__main__":
    for file, content in files().items():
        file.parent.mkdir(exist_ok=True)
        file.write_text(content, encoding="utf-8")
        print(file.relative_to(ROOT))
