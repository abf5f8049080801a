"""Values in an envelope, or in a registry's framing: how they are read, and limits on a schema."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from memquorum import topics
from memquorum.core import framing, ids, intake
from memquorum.core.avro import Codec, DecodeError, writer_of
from memquorum.core.framing import Written
from memquorum.core.intake import EpisodeIntent, Intent, Origin, Refusal
from memquorum.core.reasons import Reason
from memquorum.core.records import AccessAccepted, EpisodeRecorded, SessionEnded
from tests import ROOT
from tests.builders import genesis as cluster

NOW = 1_760_000_000_000
ORIGIN = Origin(topics.EPISODES, 3, 42, NOW - 5)
SAID = {"agent": "planner", "content": "the build is red"}
EVENT: dict[str, Any] = {"specversion": "1.0", "type": "com.acme.build", "source": "/ci", "id": "7", "data": SAID}
SCHEMA = json.loads((ROOT / "schemas/avro/EpisodeRecorded.avsc").read_text())


def accept(codec: Codec, value: object, origin: Origin = ORIGIN, **more: Any) -> Intent | Refusal:
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    return intake.accept(codec, data, origin, NOW, False, **more)


def episode(answer: Intent | Refusal) -> EpisodeIntent:
    assert isinstance(answer, EpisodeIntent), answer
    return answer


def refused(answer: Intent | Refusal) -> tuple[Reason, str | None]:
    assert isinstance(answer, Refusal), answer
    return answer.reason, answer.field


# CloudEvents -------------------------------------------------------------------------------------------------------


def test_a_cloud_event_in_structured_mode_is_the_record_that_it_carries(codec: Codec) -> None:
    found = episode(accept(codec, EVENT | {"datacontenttype": "application/json", "subject": "x", "priority": 3}))
    assert (found.agent, found.subject, found.content) == ("planner", "planner", "the build is red")
    assert found.occurred_at == ORIGIN.timestamp_ms


def test_its_source_and_id_know_it_again_and_its_time_is_when_it_happened(codec: Codec) -> None:
    timed = EVENT | {"time": "2025-10-09T08:53:19.5+00:00"}
    found = episode(accept(codec, timed))
    assert found.event_id == ids.cloud_event_id("planner", "/ci", "7")
    assert found.occurred_at == NOW - 500
    elsewhere = Origin(topics.EPISODES, 0, 0, NOW)
    assert episode(accept(codec, timed, elsewhere)).memory_id == found.memory_id
    assert episode(accept(codec, EVENT | {"source": "/cd"})).event_id != found.event_id
    assert ids.cloud_event_id("x", "a:b", "c") != ids.cloud_event_id("x", "a", "b:c")
    zulu = episode(accept(codec, EVENT | {"time": "2025-10-09t08:53:20z"}))
    assert zulu.occurred_at == NOW


def test_what_the_record_says_itself_counts(codec: Codec) -> None:
    said = SAID | {"event_id": "e-1", "occurred_at": NOW - 9}
    found = episode(accept(codec, EVENT | {"data": said, "time": "2025-10-01T00:00:00Z"}))
    assert (found.event_id, found.occurred_at) == ("e-1", NOW - 9)


def test_bytes_go_as_base64_as_json_or_avro(codec: Codec) -> None:
    bare = {name: value for name, value in EVENT.items() if name != "data"}
    for packed in (json.dumps(SAID).encode(), codec.encode(EpisodeRecorded(**SAID))):
        found = episode(accept(codec, bare | {"data_base64": base64.b64encode(packed).decode()}))
        assert (found.content, found.event_id) == ("the build is red", ids.cloud_event_id("planner", "/ci", "7"))
    nested = base64.b64encode(json.dumps(EVENT).encode()).decode()
    assert refused(accept(codec, bare | {"data_base64": nested})) == (Reason.UNKNOWN_FIELD, "specversion")
    assert refused(accept(codec, bare | {"data_base64": ""})) == (Reason.UNKNOWN_FRAMING, "data_base64")
    framed = base64.b64encode(b"\0\0\0\0\7abc").decode()
    assert refused(accept(codec, bare | {"data_base64": framed})) == (Reason.UNKNOWN_FRAMING, "data_base64")


def test_every_outside_record_may_come_so(codec: Codec) -> None:
    used = {"agent": "a", "memory_ids": [ids.memory_id("n", "e")]}
    told = EVENT | {"data": used, "type": "memquorum.AccessRecorded", "time": "2025-10-09T08:53:20Z"}
    answer = accept(codec, told, Origin(topics.ACCESSES, 0, 0, NOW - 5))
    assert isinstance(answer, AccessAccepted)
    assert (answer.event_id, answer.accessed_at) == (ids.cloud_event_id("a", "/ci", "7"), NOW)
    orders = Origin(topics.ERASURES, 0, 0, NOW)
    assert refused(accept(codec, EVENT, orders)) == (Reason.UNSIGNED, None)


@pytest.mark.parametrize(
    ("changed", "reason", "field"),
    [
        ({"specversion": "0.3"}, Reason.OUT_OF_RANGE, "specversion"),
        ({"specversion": None}, Reason.OUT_OF_RANGE, "specversion"),
        ({"id": ""}, Reason.MISSING_FIELD, "id"),
        ({"id": 7}, Reason.WRONG_TYPE, "id"),
        ({"source": None}, Reason.MISSING_FIELD, "source"),
        ({"source": "\ud800"}, Reason.FORBIDDEN_CHARACTER, "source"),
        ({"type": None}, Reason.MISSING_FIELD, "type"),
        ({"type": "memquorum.AccessRecorded"}, Reason.WRONG_RECORD, "type"),
        ({"time": "yesterday"}, Reason.WRONG_TYPE, "time"),
        ({"time": "2025-10-09T08:53:20"}, Reason.WRONG_TYPE, "time"),
        ({"time": "2025-10-09"}, Reason.WRONG_TYPE, "time"),
        ({"time": 1_760_000_000}, Reason.WRONG_TYPE, "time"),
        ({"time": "1999-10-09T08:53:20Z"}, Reason.OUT_OF_RANGE, "occurred_at"),
        ({"data": None}, Reason.MISSING_FIELD, "data"),
        ({"data": "text"}, Reason.WRONG_TYPE, "data"),
        ({"data_base64": "e30="}, Reason.TOO_MANY, "data"),
        ({"data": None, "data_base64": "%%%"}, Reason.WRONG_TYPE, "data_base64"),
        ({"data": None, "data_base64": {}}, Reason.WRONG_TYPE, "data_base64"),
        ({"data": {"agent": "a", "contents": "c"}}, Reason.UNKNOWN_FIELD, "contents"),
    ],
)
def test_what_is_no_sound_event_stays_outside(
    codec: Codec, changed: dict[str, Any], reason: Reason, field: str
) -> None:
    assert refused(accept(codec, EVENT | changed)) == (reason, field)


def test_a_batch_is_refused_with_what_to_do(codec: Codec) -> None:
    answer = accept(codec, [EVENT])
    assert isinstance(answer, Refusal) and answer.reason is Reason.UNKNOWN_FRAMING
    assert "each event is a record of its own" in answer.detail


def test_a_signed_cloud_event_is_read_by_who_checks_the_signature(codec: Codec) -> None:
    data = json.dumps(EVENT).encode()
    assert isinstance(intake.recorded(codec, data), EpisodeRecorded)
    # Earlier releases gave it the second one: what they stored is read by the same rule.
    assert intake.signed_ids(codec, data) == (ids.cloud_event_id("planner", "/ci", "7"), ids.cloud_uuid("/ci", "7"))


# A registry's framing ----------------------------------------------------------------------------------------------


def framed(codec: Codec, record: object = None, head: bytes = b"\0\0\0\0\7") -> bytes:
    return head + codec.encode(record or EpisodeRecorded(**SAID, event_id="e-1"))[10:]


def test_a_framed_record_is_read_with_the_schema_of_the_registry(codec: Codec) -> None:
    written = framing.understood("AVRO", json.dumps(SCHEMA), False)
    plain = accept(codec, SAID | {"event_id": "e-1"})
    assert accept(codec, framed(codec), written=written) == plain
    assert accept(codec, framed(codec, head=b"\1" + bytes(16)), written=written) == plain


def test_a_schema_of_fewer_fields_and_others_is_resolved_against_ours(codec: Codec) -> None:
    fields = [
        {"name": "build", "type": {"type": "record", "name": "Build", "fields": [{"name": "n", "type": "int"}]}},
        {"name": "content", "type": "string"},
        {"name": "occurred_at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
        {"name": "agent", "type": "string"},
    ]
    schema = {"type": "record", "name": "EpisodeRecorded", "namespace": "com.acme", "fields": fields}
    value = b"\x0e" + b"\x06red" + _long(NOW) + b"\x08anna"
    found = episode(accept(codec, b"\0\0\0\0\1" + value, written=framing.understood("AVRO", json.dumps(schema), False)))
    assert (found.agent, found.content, found.occurred_at) == ("anna", "red", NOW)


def _long(value: int) -> bytes:
    left, out = value << 1, bytearray()
    while left > 127:
        out.append(left & 127 | 128)
        left >>= 7
    return bytes([*out, left])


def test_json_of_a_registrys_schema_is_json(codec: Codec) -> None:
    data = b"\0\0\0\0\7" + json.dumps(SAID | {"event_id": "e-1"}).encode()
    assert episode(accept(codec, data, written=framing.understood("JSON", "{}", False))).event_id == "e-1"


def test_without_a_registry_the_refusal_names_the_setting(codec: Codec) -> None:
    for head in (b"\0\0\0\0\7", b"\1" + bytes(16)):
        answer = accept(codec, framed(codec, head=head))
        assert isinstance(answer, Refusal) and answer.reason is Reason.UNKNOWN_FRAMING
        assert "registry_url" in answer.detail


@pytest.mark.parametrize(
    ("written", "reason"),
    [
        (Written(code="registry_away", fault="it did not answer"), Reason.REGISTRY_AWAY),
        (framing.understood("PROTOBUF", "", False), Reason.UNKNOWN_FRAMING),
        (framing.understood("AVRO", json.dumps(SCHEMA), True), Reason.BAD_AVRO),
        (framing.understood("AVRO", "{", False), Reason.BAD_AVRO),
        (framing.understood("AVRO", '"string"', False), Reason.BAD_AVRO),
        (framing.understood("AVRO", json.dumps(SCHEMA | {"name": "Build"}), False), Reason.WRONG_RECORD),
        (framing.understood("AVRO", json.dumps(SCHEMA | {"fields": SCHEMA["fields"][1:]}), False), Reason.BAD_AVRO),
    ],
)
def test_what_cannot_be_read_with_it_stays_outside(codec: Codec, written: Written, reason: Reason) -> None:
    answer = accept(codec, framed(codec), written=written)
    assert isinstance(answer, Refusal) and answer.reason is reason and answer.detail


def test_what_ends_within_its_framing_or_behind_the_record_stays_outside(codec: Codec) -> None:
    written = framing.understood("AVRO", json.dumps(SCHEMA), False)
    assert refused(accept(codec, b"\0\0\0", written=written)) == (Reason.BAD_AVRO, None)
    assert refused(accept(codec, b"\1\0\0", written=written)) == (Reason.BAD_AVRO, None)
    assert refused(accept(codec, framed(codec) + b"x", written=written)) == (Reason.BAD_AVRO, None)
    other = framed(codec, SessionEnded("s1", "planner"))
    assert isinstance(accept(codec, other, written=written), Refusal)


def test_what_is_signed_asks_no_registry(codec: Codec) -> None:
    written = framing.understood("AVRO", json.dumps(SCHEMA), False)
    answer = accept(codec, framed(codec), written=written, genesis=cluster.make(), signature=b"s" * 64)
    assert refused(answer) == (Reason.UNKNOWN_FRAMING, "signature")
    assert refused(accept(codec, framed(codec), Origin(topics.ERASURES, 0, 0, NOW), written=written)) == (
        Reason.UNSIGNED, None
    )  # fmt: skip


def _of(*types: object) -> dict[str, Any]:
    return {"type": "record", "name": "A", "fields": [{"name": f"f{i}", "type": one} for i, one in enumerate(types)]}


@pytest.mark.parametrize(
    "schema",
    [
        _of(), _of("string", "null"), _of({"type": "array", "items": "null"}), _of({"type": "map", "values": "null"}),
        _of({"type": "array", "items": {"type": "fixed", "name": "F", "size": 0}}),
        _of({"type": "array", "items": _of() | {"name": "B"}}), _of("A"), _of(["null", "A"]),
        _of({"type": "array", "items": "A"}), _of({"type": "map", "values": ["int", "A"]}),
        _of(_of(["null", "A"]) | {"name": "B"}), _of() | {"__fastavro_parsed__": True},
    ],
)  # fmt: skip
def test_no_schema_keeps_its_reader_busy_for_ever(schema: dict[str, Any]) -> None:
    with pytest.raises(DecodeError, match=r"take no bytes|within itself"):
        writer_of(schema)


@pytest.mark.parametrize("schema", [7, None, [], "string", {"type": "map", "values": "int"}, _of("nothing"), _of(7)])
def test_what_is_no_record_is_no_schema(schema: Any) -> None:
    with pytest.raises(DecodeError, match=r"no schema|no record"):
        writer_of(schema)


def test_every_schema_of_ours_may_stand_in_a_registry() -> None:
    for file in (ROOT / "schemas/avro").glob("*.avsc"):
        writer_of(json.loads(file.read_text()))
    twice = _of(_of("int") | {"name": "B"}, "B", {"type": "enum", "name": "E", "symbols": ["a"]})
    assert writer_of(twice)["name"] == "A"
