"""The times of what is published over HTTP, held against the service's own clock where time follows the wall clock."""

from __future__ import annotations

from typing import Any

import pytest

from memquorum.core.avro import Codec
from memquorum.core.intake import AHEAD_MS
from tests.builders.served import HERS, THEIRS, Served, client_of, make
from workers.kafka.own_clock import OwnClock
from workers.retrieval.door import Door

NOW, APART = 1_750_000_000_000, 60_000
LATEST = NOW + APART + AHEAD_MS
OF = {"agent": "ann", "namespace": "greenhouse"}
EACH = pytest.mark.parametrize(
    ("path", "said", "field"),
    [
        ("/memories", OF | {"content": "Tank level 61 percent."}, "occurred_at"),
        ("/memories/clear", OF | {"key": "k"}, "occurred_at"),
        ("/sessions/end", OF | {"session": "s1"}, "ended_at"),
        ("/sessions/end", OF | {"session": "s1", "outcome": "failed", "goal": "Open it."}, "ended_at"),
        ("/tasks", OF | {"goal": "Open valve 3.", "outcome": "failed"}, "finished_at"),
        ("/tasks/feedback", OF | {"task": THEIRS, "helped": [HERS]}, "given_at"),
    ],
)


def sent(service: Served) -> int:
    return len(service.published) + len(service.ended) + len(service.relayed)


@EACH
def test_what_is_sure_to_be_refused_by_its_time_is_refused_here(
    codec: Codec, path: str, said: dict[str, Any], field: str
) -> None:
    service = make(codec, Door(None))
    service.own_clock = OwnClock(APART, lambda: NOW)
    answer = client_of(service).post(path, json=said | {field: LATEST + 1})
    told = answer.json()
    assert (answer.status_code, told["error"], told["field"]) == (400, "out_of_range", field)
    assert "more than a day ahead" in told["detail"] and "milliseconds" in told["detail"]
    assert sent(service) == 0
    for right in ({field: LATEST}, {}):  # without a time it gets the one that Kafka gives it
        assert client_of(service).post(path, json=said | right).status_code == 202


@EACH
def test_where_time_is_driven_only_intake_can_tell(codec: Codec, path: str, said: dict[str, Any], field: str) -> None:
    service = make(codec, Door(None))
    assert client_of(service).post(path, json=said | {field: 4_000_000_000_000}).status_code == 202
