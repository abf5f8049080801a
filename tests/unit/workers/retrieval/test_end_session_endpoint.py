"""The end of a session over HTTP: published as an agent would, where the key may publish; else refused as by intake."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from memquorum.core.avro import Codec
from memquorum.core.intake import EndIntent
from tests.builders.served import bearer, client_of, make, stored
from workers.retrieval.door import Door

ENDED = {"agent": "ann", "session": "s1", "namespace": "greenhouse"}


def test_a_session_is_ended_as_an_agent_would(codec: Codec) -> None:
    service = make(codec, Door(None))
    answer = client_of(service).post("/sessions/end", json=ENDED)
    ((intent, data),) = service.ended
    assert (answer.status_code, answer.json()["event_id"]) == (202, intent.event_id)
    assert (intent.namespace, intent.agent, intent.session) == ("greenhouse", "ann", "s1")
    assert json.loads(data) == ENDED | {"event_id": intent.event_id}
    client_of(service).post("/sessions/end", json=ENDED | {"event_id": "x1"})
    again, _ = service.ended[1]
    assert isinstance(again, EndIntent) and again.event_id == "x1"


def test_without_an_agent_it_ends_for_all(codec: Codec) -> None:
    service = make(codec, Door(None))
    answer = client_of(service).post("/sessions/end", json={"session": "s1", "namespace": "greenhouse"})
    ((intent, _),) = service.ended
    assert (answer.status_code, answer.json()["agent"], intent.agent) == (202, None, None)


def test_what_comes_of_a_session_is_told_to_who_may_read_or_publish_there(codec: Codec, tmp_path: Path) -> None:
    file = tmp_path / "api-keys.json"
    stored(file, (1, ("read",), ("greenhouse",)), (2, ("publish",), ("mill",)))
    client = client_of(make(codec, Door(file)))
    told = client.get("/sessions/greenhouse/shift", headers=bearer(1)).json()
    (part,) = told["parts"]
    assert (told["epoch"], told["opens_at"] > told["as_of"], part["memories"]) == (4, True, 2)
    assert (part["staying"], [one["memories"] for one in part["waiting"]]) == ({"wanted": 1}, [1])
    assert client.get("/sessions/greenhouse/shift", headers=bearer(2, "publish")).status_code == 403
    missing = client.get("/sessions/greenhouse/unknown", headers=bearer(1))
    assert (missing.status_code, missing.json()["field"]) == (404, "session")


@pytest.mark.parametrize(
    ("changed", "code", "field"),
    [
        ({"session": None}, "missing_field", "session"),
        ({"session": ""}, "bad_name", "session"),
        ({"agent": " ann"}, "bad_name", "agent"),
        ({"ended_at": 1}, "out_of_range", "ended_at"),
        ({"content": "c"}, "unknown_field", "content"),
    ],
)
def test_what_intake_would_refuse_is_refused_here(codec: Codec, changed: dict[str, Any], code: str, field: str) -> None:
    service = make(codec, Door(None))
    answer = client_of(service).post("/sessions/end", json=ENDED | changed)
    assert (answer.status_code, answer.json()["error"], answer.json()["field"]) == (400, code, field)
    assert not service.ended


def test_nobody_ends_a_session_with_a_key_that_may_only_read_or_elsewhere(codec: Codec, tmp_path: Path) -> None:
    file = tmp_path / "api-keys.json"
    stored(file, (1, ("read", "audit"), ("*",)), (2, ("publish",), ("mill",)), (3, ("publish",), ("greenhouse",)))
    service = make(codec, Door(file))
    client = client_of(service)
    assert client.post("/sessions/end", json=ENDED).status_code == 401
    for number, right in ((1, "read"), (2, "publish")):
        assert client.post("/sessions/end", json=ENDED, headers=bearer(number, right)).status_code == 403
    assert not service.ended
    assert client.post("/sessions/end", json=ENDED, headers=bearer(3, "publish")).status_code == 202
