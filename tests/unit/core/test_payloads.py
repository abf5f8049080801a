"""Payloads: what each type of memory may say in fields of its own, what is refused and in which words."""

from __future__ import annotations

import json
from typing import Any

import pytest

from memquorum import topics
from memquorum.core import intake, labelling, payloads
from memquorum.core.api.answers import Hit
from memquorum.core.payloads import PAYLOAD, Episodic, Semantic, Social, Task
from memquorum.core.reasons import Reason
from memquorum.schema_files import load_codec

CODEC = load_codec()
NOW, MAY = 1_760_000_000_000, 1_777_593_600_000
ORIGIN = intake.Origin(topics.EPISODES, 3, 42, NOW - 5)
GOOD = {"agent": "a", "content": "c"}
SOUND = [
    ("episodic", {"participants": ["ada", "jon"], "valence": -0.5}, Episodic(("ada", "jon"), -0.5)),
    (
        "episodic",
        {"reasoning": "The gate is narrow, so the lorry has to reverse.", "output": "reverse(2)"},
        Episodic(reasoning="The gate is narrow, so the lorry has to reverse.", output="reverse(2)"),
    ),
    ("semantic", {"concept": "bridge", "generality": 1}, Semantic("bridge", 1.0)),
    (
        "social",
        {"entity": "ada", "relation": "mentor", "history": ["They met."]},
        Social("ada", "mentor", ("They met.",)),
    ),
    (
        "task",
        {"status": "open", "dependencies": ["steel"], "priority": 0.8, "deadline": MAY},
        Task("open", ("steel",), 0.8, MAY),
    ),
    ("task", {}, Task()),
]
WRONG = [
    ("episodic", {"valence": 2}, "wrong_type", "at `valence"),
    ("episodic", {"participants": "secretname"}, "wrong_type", "at `participants"),
    ("episodic", {"participants": ["a"] * 33}, "wrong_type", "at `participants"),
    ("episodic", {"reasoning": "a" * 3073}, "wrong_type", "at `reasoning"),
    ("episodic", {"output": ["step", "step"]}, "wrong_type", "at `output"),
    ("semantic", {"generality": True}, "wrong_type", "at `generality"),
    ("social", {"relation": ""}, "wrong_type", "at `relation"),
    ("social", {"history": ["They met.", 7]}, "wrong_type", "at `history"),
    ("task", {"status": "secretname"}, "wrong_type", "at `status"),
    ("task", {"status": "open - at secretname"}, "wrong_type", "not one of its values - at `status`"),
    ("task", {"status": "unknown field `secretname`"}, "wrong_type", "not one of its values - at `status`"),
    ("task", {"priority": "high"}, "wrong_type", "at `priority"),
    ("task", {"deadline": 7}, "wrong_type", "at `deadline"),
    ("task", {"valence": 0.5}, "unknown_field", "'valence' is unknown; allowed are status, dependencies, priority"),
    ("task", {"secretname 7": 0.5}, "unknown_field", "a field is unknown"),
    ("task", ["open"], "wrong_type", "Expected `object`, got `array`"),
]


def accept(value: dict[str, Any]) -> object:
    return intake.accept(CODEC, json.dumps(value).encode(), ORIGIN, NOW, driven=False)


def published(kind: str, payload: Any) -> dict[str, Any]:
    return GOOD | {"type": kind, "attributes": {PAYLOAD: payload, "colour": "red"}}


@pytest.mark.parametrize(("kind", "said", "meant"), SOUND)
def test_a_payload_comes_back_from_its_seal_as_the_type_has_it(kind: str, said: Any, meant: Any) -> None:
    intent = accept(published(kind, said))
    assert isinstance(intent, intake.EpisodeIntent)
    record = intake.seal_episode(intent, ORIGIN, b"k" * 32, (b"n" * 12, b"o" * 12, b"p" * 12), b"s" * 32)
    assert not any(word in CODEC.encode(record) for word in (b"ada", b"bridge", b"steel", b"mentor", b"payload"))
    attributes = labelling.read(labelling.opened(record, b"k" * 32).attributes)
    hit = Hit("m", "t", "short-term", "a", 1, 1, 0, 0.5, 0.5, type=kind, attributes=attributes)
    assert hit.payload == meant


@pytest.mark.parametrize(("kind", "said", "code", "words"), WRONG)
def test_what_a_type_does_not_say_is_refused_with_the_field_and_without_the_value(
    kind: str, said: Any, code: str, words: str
) -> None:
    refused = accept(published(kind, said))
    assert isinstance(refused, intake.Refusal)
    assert (refused.reason, refused.field) == (Reason(code), "attributes")
    assert words in refused.detail and f"of type {kind}" in refused.detail
    assert "secretname" not in refused.detail


def test_without_a_payload_all_attributes_are_free_and_one_of_another_type_is_not_read() -> None:
    assert isinstance(accept(GOOD | {"attributes": {"status": 7, "payload": [1]}}), intake.EpisodeIntent)
    assert payloads.read("task", {"status": "open"}) is None is payloads.read("task", None)
    assert payloads.read("task", {PAYLOAD: {"valence": 0.5}}) is None
    assert payloads.fault("nothing known", {PAYLOAD: json.loads("7")}) is None


def test_a_task_tells_its_deadline_until_it_is_over() -> None:
    at = 1_790_000_000_000
    said = {PAYLOAD: {"status": "open", "deadline": at, "outcome": "not yet"}}
    assert payloads.standing("task", said) == (at, False)
    for status in ("done", "cancelled"):
        ended = {PAYLOAD: {"status": status, "deadline": at, "outcome": "Shipped on Friday."}}
        assert payloads.standing("task", ended) == (None, True)
    assert payloads.standing("episodic", {PAYLOAD: {"valence": 1}}) == (None, False) == payloads.standing("task", None)
    intent = accept(GOOD | {"type": "task", "attributes": said})
    assert isinstance(intent, intake.EpisodeIntent) and (intent.deadline, intent.over) == (at, False)
