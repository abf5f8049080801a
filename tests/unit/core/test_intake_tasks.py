"""Finished tasks and feedback at the wall: what is sound comes in, what is not is refused by the field's name."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest

from memquorum import topics
from memquorum.core import letters, sealing
from memquorum.core.avro import Codec
from memquorum.core.experience import texts
from memquorum.core.intake import (
    CONTENT_BYTES_MAX,
    TOOL_BYTES_MAX,
    EpisodeIntent,
    Origin,
    Refusal,
    accept,
    seal_episode,
    suggesting,
)
from memquorum.core.privacy.sensitivity import SHIPPED
from memquorum.core.records import FeedbackAccepted, FeedbackGiven, Task, TaskFinished
from tests.builders.shard import memory_id

NOW = 1_750_000_000_000
A, B = memory_id("a"), memory_id("b")
TASK = {"agent": "ann", "goal": "Open valve 3.", "outcome": "succeeded"}
GIVEN = {"agent": "ann", "task": A, "helped": [B]}
KEY = bytes(32)


def taken(codec: Codec, value: dict[str, Any], topic: str = topics.TASKS) -> Any:
    return accept(codec, json.dumps(value).encode(), Origin(topic, 0, 7, NOW), NOW, driven=False)


def test_a_task_comes_in_as_an_episode_of_its_own_kind(codec: Codec) -> None:
    said = TASK | {
        "event_id": "t1", "namespace": "plant", "inputs": "4 bar", "outputs": "open", "tools": ["valve: opened"],
        "retrieved": [B, A.upper(), B], "configuration": "ab" * 32, "seed": 3, "finished_at": NOW - 5, "said_by": "eve",
        "subject": "ada", "purposes": ["ops"], "jurisdiction": "DE", "sensitivity": 0.5,
    }  # fmt: skip
    found = taken(codec, said)
    assert isinstance(found, EpisodeIntent)
    assert found.task == Task("succeeded", "eve", b"\xab" * 32, 3)
    assert (found.derives_from, found.type, found.occurred_at, found.subject) == ((B, A), "task", NOW - 5, "ada")
    assert (found.sensitivity_ppm, found.purposes, found.jurisdiction) == (500_000, ("ops",), "DE")
    assert texts.read(found.content) == texts.Texts("Open valve 3.", "4 bar", "open", ("valve: opened",))
    assert (found.memory_id, found.counts, found.explicit) == (memory_id("t1", "plant"), False, False)


def test_what_is_not_said_of_a_task(codec: Codec) -> None:
    found = taken(codec, TASK)
    assert isinstance(found, EpisodeIntent)
    assert found.task == Task("succeeded", "ann", hashlib.sha256(b"").digest(), 0)
    unknown = taken(codec, TASK | {"outcome": "unknown"})
    assert unknown.task == Task("unknown", "", hashlib.sha256(b"").digest(), 0)
    assert found.event_id == unknown.event_id, "its place is its id"


def test_avro_is_the_same_as_json(codec: Codec) -> None:
    record = TaskFinished("ann", "Open valve 3.", "failed", retrieved=(A,), event_id="t")
    origin = Origin(topics.TASKS, 0, 7, NOW)
    json_said = {"agent": "ann", "goal": "Open valve 3.", "outcome": "failed", "retrieved": [A], "event_id": "t"}
    assert accept(codec, codec.encode(record), origin, NOW, driven=False) == taken(codec, json_said)
    other = accept(codec, codec.encode(FeedbackGiven("ann", A, (B,))), origin, NOW, driven=False)
    assert isinstance(other, Refusal) and other.reason == "wrong_record"


@pytest.mark.parametrize(("more", "reason", "field"), [
    ({"outcome": None}, "missing_field", "outcome"),
    ({"outcome": "won"}, "out_of_range", "outcome"),
    ({"outcome": "unknown", "said_by": "eve"}, "out_of_range", "said_by"),
    ({"goal": " \n"}, "empty_value", "goal"),
    ({"goal": None}, "missing_field", "goal"),
    ({"inputs": "x" * (CONTENT_BYTES_MAX + 1)}, "too_long", "inputs"),
    ({"outputs": "a\0"}, "forbidden_character", "outputs"),
    ({"tools": ["x" * (TOOL_BYTES_MAX + 1)]}, "too_long", "tools"),
    ({"tools": ["x"] * 65}, "too_many", "tools"),
    ({"tools": [" "]}, "empty_value", "tools"),
    ({"retrieved": ["memory 1"]}, "bad_id", "retrieved"),
    ({"retrieved": [A] * 1_001}, "too_many", "retrieved"),
    ({"configuration": "gpt"}, "bad_id", "configuration"),
    ({"seed": -1}, "out_of_range", "seed"),
    ({"finished_at": NOW * 2}, "out_of_range", "finished_at"),
    ({"purposes": ["no, comma"]}, "bad_name", "purposes"),
    ({"agent": "consolidator"}, "not_entitled", "agent"),
    ({"succes": True}, "unknown_field", "succes"),
])  # fmt: skip
def test_a_bad_task_is_refused_by_its_field(codec: Codec, more: dict[str, Any], reason: str, field: str) -> None:
    found = taken(codec, TASK | more)
    assert isinstance(found, Refusal) and (found.reason, found.field) == (reason, field)
    assert "Open valve" not in found.detail


def test_what_just_fits_comes_in(codec: Codec) -> None:
    said = TASK | {"inputs": "x" * CONTENT_BYTES_MAX, "outputs": "", "tools": ["x" * TOOL_BYTES_MAX] * 64}
    assert isinstance(taken(codec, said), EpisodeIntent)


def test_feedback_comes_in(codec: Codec) -> None:
    found = taken(codec, GIVEN | {"did_not_help": [A], "namespace": "plant", "event_id": "f"}, topics.FEEDBACK)
    assert found == FeedbackAccepted("f", A, "plant", "ann", (B,), (A,), NOW)


@pytest.mark.parametrize(("more", "reason", "field"), [
    ({"helped": []}, "missing_field", "helped"),
    ({"did_not_help": [B]}, "out_of_range", "did_not_help"),
    ({"task": "t1"}, "bad_id", "task"),
    ({"helped": ["x"]}, "bad_id", "helped"),
    ({"task": None}, "missing_field", "task"),
])  # fmt: skip
def test_bad_feedback_is_refused_by_its_field(codec: Codec, more: dict[str, Any], reason: str, field: str) -> None:
    found = taken(codec, GIVEN | more, topics.FEEDBACK)
    assert isinstance(found, Refusal) and (found.reason, found.field) == (reason, field)


def test_what_a_task_says_of_persons_makes_it_sensitive(codec: Codec) -> None:
    found = suggesting(taken(codec, TASK | {"inputs": "call Ada at +49 170 1234567"}), SHIPPED)
    assert isinstance(found, EpisodeIntent) and (found.sensitivity_ppm or 0) > 0


def test_a_task_is_sealed_as_any_memory_and_its_letter_brings_it_back(codec: Codec) -> None:
    said = TASK | {"event_id": "t1", "inputs": "4 bar", "tools": ["valve: opened"], "retrieved": [A], "seed": 3}
    intent, origin = taken(codec, said), Origin(topics.TASKS, 0, 7, NOW)
    sealed = seal_episode(intent, origin, KEY, (bytes(12), b"1" * 12, b"2" * 12))
    assert b"valve" not in codec.encode(sealed).lower()
    assert sealing.open_text(KEY, sealed.sealed_content, sealed.memory_id) == intent.content
    letter = letters.of_failed(sealed, intent.content, KEY, b"3" * 12, why="none", at=NOW)
    payload = letters.open_payload(letter.key_id, KEY, letter.sealed_payload)
    assert letter.origin_topic == topics.TASKS
    again = accept(codec, payload, origin, NOW, driven=False)
    assert again == intent
