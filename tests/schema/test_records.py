"""The schemas are the source: dataclasses mirror them, topics name them, released versions stay readable."""

from __future__ import annotations

import json
import types
import typing
from pathlib import Path

import avro.compatibility
import avro.schema
import pytest
import yaml
from msgspec import Struct, StructMeta, structs

from memquorum import topics
from memquorum.core import records
from memquorum.core.avro import Codec
from tests import asyncapi
from tests.schema.samples import CURRENT, RECORDS, SCHEMAS

GOLDEN = sorted((SCHEMAS / "golden").glob("*/*.avsc"))
PRIMITIVES = {"string": str, "bytes": bytes, "int": int, "long": int, "float": float, "double": float, "boolean": bool}


def python_type(schema: object) -> object:
    """Returns the annotation of a dataclass field of this Avro type."""
    if isinstance(schema, list):
        assert schema[0] == "null", "an optional field is a union of null and one type"
        return typing.Optional[python_type(schema[1])]  # noqa: UP045
    if isinstance(schema, dict):
        if schema["type"] == "array":
            return tuple[python_type(schema["items"]), ...]
        check_record(schema)
        return getattr(records, schema["name"])
    return PRIMITIVES[schema]


def check_record(schema: dict) -> None:
    kind = getattr(records, schema["name"])
    hints = typing.get_type_hints(kind)
    assert list(kind.__struct_fields__) == [f["name"] for f in schema["fields"]]
    for field in schema["fields"]:
        expected, found = python_type(field["type"]), hints[field["name"]]
        if isinstance(found, types.UnionType):
            found = typing.Union[found.__args__]  # noqa: UP007
        assert found == expected, f"{schema['name']}.{field['name']}"
        assert field["doc"], f"{schema['name']}.{field['name']} says nothing of itself"


@pytest.mark.parametrize("name", CURRENT)
def test_a_record_is_its_schema(name: str) -> None:
    assert CURRENT[name]["name"] == name
    check_record(CURRENT[name])


def test_every_record_class_has_a_schema() -> None:
    classes = {n for n, v in vars(records).items() if isinstance(v, StructMeta)}
    nested = {
        "Comparison",
        "Crossing",
        "MemoryUsed",
        "Patch",
        "Standing",
        "Proposal",
        "Quote",
        "Result",
        "ErasedEpisode",
        "Link",
        "Reclassed",
        "Restored",
        "Summary",
        "Task",
        "Weighed",
        "Lot",
    }
    assert classes - nested == set(CURRENT)


@pytest.mark.parametrize("record", RECORDS, ids=lambda r: type(r).__name__)
def test_a_record_survives_its_encoding(record: object) -> None:
    codec = Codec(CURRENT.values())
    assert codec.decode(codec.encode(record)) == record


def test_samples_cover_every_record() -> None:
    assert {type(r).__name__ for r in RECORDS} == set(CURRENT)


def test_every_record_has_a_golden_version() -> None:
    assert {p.stem for p in GOLDEN} == set(CURRENT)


@pytest.mark.parametrize("path", GOLDEN, ids=lambda p: f"{p.parent.name}/{p.stem}")
def test_released_schemas_resolve_both_ways(path: Path) -> None:
    released = avro.schema.parse(path.read_text())
    current = avro.schema.parse(json.dumps(CURRENT[path.stem]))
    for reader, writer in ((current, released), (released, current)):
        result = avro.compatibility.ReaderWriterCompatibilityChecker().get_compatibility(reader, writer)
        assert result.compatibility is avro.compatibility.SchemaCompatibilityType.compatible, result.messages


@pytest.mark.parametrize("path", GOLDEN, ids=lambda p: f"{p.parent.name}/{p.stem}")
def test_released_bytes_are_still_read(path: Path) -> None:
    codec = Codec(CURRENT.values(), older=(json.loads(p.read_text()) for p in GOLDEN))
    sample: typing.Any = next(r for r in RECORDS if type(r).__name__ == path.stem)
    assert codec.decode(path.with_suffix(".bin").read_bytes()) == as_written(sample, json.loads(path.read_text()))


def as_written(value: typing.Any, schema: typing.Any) -> typing.Any:
    """The value by a released schema: what that does not have yet has its default."""
    for kind in schema if isinstance(schema, list) else [schema]:
        if isinstance(kind, dict) and kind["type"] == "record" and isinstance(value, Struct):
            types_ = {field["name"]: field["type"] for field in kind["fields"]}
            told = {
                field.name: as_written(getattr(value, field.name), types_[field.name])
                if field.name in types_
                else field.default
                for field in structs.fields(value)
            }
            return structs.replace(value, **told)
        if isinstance(kind, dict) and kind["type"] == "array" and isinstance(value, tuple):
            return tuple(as_written(one, kind["items"]) for one in value)
    return value


def test_an_older_writer_is_resolved_to_the_current_record() -> None:
    older = json.loads(json.dumps(CURRENT["ClockTicked"]))
    older["fields"].append({"name": "retired", "type": ["null", "string"], "default": None, "doc": "gone since"})
    then = Codec([older | {"name": "ClockTicked"}])
    written = then._prefix["ClockTicked"] + b"\x04c1" + b"\x02" + b"\x02\x02x"
    assert Codec([CURRENT["ClockTicked"]], older=[older]).decode(written) == records.ClockTicked("c1", 1)


TOPICS = {p.stem: yaml.safe_load(p.read_text()) for p in sorted((SCHEMAS / "topics").glob("*.yaml"))}


def test_topics_by_name_are_the_files() -> None:
    assert sorted(topics.ALL) == sorted(TOPICS)
    assert {t for t, spec in TOPICS.items() if spec["outside"]} == set(topics.OUTSIDE)


@pytest.mark.parametrize("name", TOPICS)
def test_a_topic_says_all_of_itself(name: str) -> None:
    spec = TOPICS[name]
    assert spec["topic"] == name
    assert spec["description"] and spec["producers"] and spec["consumers"]
    assert set(spec["schemas"]) <= {*CURRENT, *asyncapi.JSON_RECORDS}
    assert spec["config"]["cleanup.policy"] == "delete"


def test_what_feeds_a_rebuild_never_expires() -> None:
    feeding = [n for n, spec in TOPICS.items() if {"rebuild", "verify"} & set(spec["consumers"])]
    assert len(feeding) == 6
    assert all(TOPICS[n]["config"]["retention.ms"] == -1 for n in feeding)


def test_dead_letters_live_no_longer_than_what_they_came_from() -> None:
    refused = TOPICS[topics.REFUSED]["config"]["retention.ms"]
    assert refused <= min(TOPICS[t]["config"]["retention.ms"] for t in (topics.EPISODES, topics.ACCESSES))
