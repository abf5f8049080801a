"""Agents' queries are sealed under a key of theirs, one a day."""

from __future__ import annotations

import json

import numpy as np
import pytest

from memquorum import topics
from memquorum.core import asked, sealing
from memquorum.core.asked import DAY_MS, QueryIntent
from memquorum.core.intake import Origin, Refusal, accept
from memquorum.core.reasons import Reason
from memquorum.core.records import QueryRecorded
from memquorum.schema_files import load_codec

CODEC = load_codec()
NOW = 1_750_000_000_000
KEY, NONCES = bytes(range(32)), (b"n" * 12, b"m" * 12)
MEMORY = "0b8f6f2e-64b2-5c3a-9d2f-0d5c0f6f1a11"
SAID = {"agent": "planner", "query": "When does valve 3 open?", "namespace": "greenhouse", "event_id": "q1"}


def taken(value: dict[str, object] | bytes) -> QueryIntent | Refusal:
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    answer = accept(CODEC, data, Origin(topics.QUERIES, 0, 7, NOW), NOW, driven=False)
    assert isinstance(answer, QueryIntent | Refusal)
    return answer


def test_a_query_comes_in_and_opens_with_its_key_alone() -> None:
    said = QueryRecorded("planner", SAID["query"], "greenhouse", "q1", None, (MEMORY.upper(),), "minilm", (0.6, -0.8))
    intent = taken(CODEC.encode(said))
    assert isinstance(intent, QueryIntent)
    assert (intent.asked_at, intent.memory_ids) == (NOW, (MEMORY,))
    sealed = asked.seal(intent, KEY, NONCES)
    assert b"valve" not in CODEC.encode(sealed) and sealed.key_id == intent.key_id
    text, vector = asked.opened(sealed, KEY)
    assert text == SAID["query"]
    assert vector is not None and vector == pytest.approx(np.array([0.6, -0.8]), abs=1e-3)
    with pytest.raises(sealing.SealError):
        asked.opened(sealed, bytes(32))


def test_a_query_without_a_vector_has_none() -> None:
    intent = taken(SAID)
    assert isinstance(intent, QueryIntent)
    sealed = asked.seal(intent, KEY, NONCES)
    assert (sealed.encoder, sealed.sealed_vector, asked.opened(sealed, KEY)[1]) == (None, None, None)


def test_one_key_is_of_one_agent_in_one_namespace_on_one_day() -> None:
    day = NOW // DAY_MS * DAY_MS
    key = asked.key_id("n", "ann", day)
    assert asked.key_id("n", "ann", day + DAY_MS - 1) == key
    others = {asked.key_id("n", "ann", day + DAY_MS), asked.key_id("n", "bob", day), asked.key_id("m", "ann", day)}
    assert len(others) == 3 and key not in others


@pytest.mark.parametrize(
    ("changed", "reason", "field"),
    [
        ({"query": " "}, Reason.EMPTY_VALUE, "query"),
        ({"query": "a\0"}, Reason.FORBIDDEN_CHARACTER, "query"),
        ({"query": "é" * 32_769}, Reason.TOO_LONG, "query"),
        ({"agent": ""}, Reason.BAD_NAME, "agent"),
        ({"namespace": "!asked"}, Reason.BAD_NAME, "namespace"),
        ({"asked_at": 1}, Reason.OUT_OF_RANGE, "asked_at"),
        ({"memory_ids": ["valve"]}, Reason.BAD_ID, "memory_ids"),
        ({"memory_ids": [MEMORY] * 1_001}, Reason.TOO_MANY, "memory_ids"),
        ({"encoder": " "}, Reason.BAD_NAME, "encoder"),
        ({"vector": [1.1]}, Reason.OUT_OF_RANGE, "vector"),
        ({"vector": [0.0] * 8_193}, Reason.OUT_OF_RANGE, "vector"),
        ({"vector": ["0.1"]}, Reason.WRONG_TYPE, "vector"),
        ({"text": "?"}, Reason.UNKNOWN_FIELD, "text"),
    ],
)
def test_what_is_no_query_stays_outside(changed: dict[str, object], reason: Reason, field: str) -> None:
    answer = taken(SAID | changed)
    assert isinstance(answer, Refusal)
    assert (answer.reason, answer.field) == (reason, field)


def test_numbers_that_are_none_stay_outside() -> None:
    for number in (float("nan"), float("inf")):
        answer = taken(CODEC.encode(QueryRecorded("planner", "?", vector=(number,))))
        assert isinstance(answer, Refusal) and answer.field == "vector"
