"""The end of a session over HTTP: published as an agent would, where the key may publish; else refused as by intake."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

import pytest

from memquorum import topics
from memquorum.core.avro import Codec
from memquorum.core.experience import ended
from memquorum.core.experience.texts import read
from memquorum.core.intake import EndIntent, EpisodeIntent
from tests.builders.served import HERS, THEIRS, Journal, Store, bearer, client_of, make, stored
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


def test_a_session_that_ended_with_an_outcome_is_a_finished_task_too(codec: Codec) -> None:
    service = make(codec, Door(None))
    came = {"outcome": "succeeded", "outputs": "It is open.", "said_by": "eve", "retrieved": [THEIRS]}
    told = client_of(service).post("/sessions/end", json=ENDED | came).json()
    ((end, data),) = service.ended
    assert json.loads(data) == ENDED | {"event_id": end.event_id}, "the end says no more than it did"
    ((topic, kind, task, _),) = service.relayed
    assert (topic, kind) == (topics.TASKS, "TaskFinished") and isinstance(task, EpisodeIntent)
    assert task.task is not None and (task.task.outcome, task.task.said_by) == ("succeeded", "eve")
    assert (read(task.content).goal, task.derives_from) == ("t", (THEIRS, HERS))
    assert task.event_id == ended.event_id("ann", "greenhouse", "ann", "s1")
    assert told["task"]["memory_id"] == task.memory_id and told["task"]["token"] == f"greenhouse/{task.event_id}"
    (listing,) = service.reads.listings
    assert (listing.gates.sessions, listing.gates.agents) == (("s1",), ("ann",))


def test_what_was_asked_is_looked_for_after_the_write_that_is_named(codec: Codec, tmp_path: Path) -> None:
    stored(tmp_path / "keys", (1, ("publish", "read"), ("greenhouse",)))
    service = make(codec, Door(tmp_path / "keys"))
    service.outcomes = journal = cast(Any, Journal(("greenhouse", "e1")))
    client, came = client_of(service), ENDED | {"outcome": "succeeded"}
    listed = list[int]()
    waits = journal.wait

    async def wait(*asked: Any) -> Any:
        listed.append(len(cast(Store, service.reads).listings))
        return await waits(*asked)

    journal.wait = wait
    end = "/sessions/end?after=greenhouse/"
    assert client.post(f"{end}e1", json=came, headers=bearer(1, "publish")).status_code == 202
    assert (listed, len(cast(Store, service.reads).listings), len(service.relayed)) == ([0], 1, 1)
    late = client.post(f"{end}e2", json=came, headers=bearer(1, "publish"))
    assert (late.status_code, late.json()["field"]) == (504, "after")
    elsewhere = client.post("/sessions/end?after=mill/e1", json=came, headers=bearer(1, "publish"))
    assert elsewhere.status_code == 403
    assert (len(service.ended), len(service.relayed)) == (1, 1)


def test_where_nobody_can_tell_what_was_asked_the_goal_has_to_be_said(codec: Codec, tmp_path: Path) -> None:
    file = tmp_path / "api-keys.json"
    stored(file, (1, ("publish",), ("greenhouse",)), (2, ("publish", "read"), ("empty",)))
    service = make(codec, Door(file))
    client = client_of(service)
    for key, more in ((bearer(1, "publish"), {}), (bearer(2), {"namespace": "empty"})):
        answer = client.post("/sessions/end", json=ENDED | {"outcome": "failed"} | more, headers=key)
        assert (answer.status_code, answer.json()["field"]) == (400, "goal"), answer.json()
    assert not service.ended and not service.relayed
    said = ENDED | {"outcome": "failed", "goal": "Open it."}
    assert client.post("/sessions/end", json=said, headers=bearer(1, "publish")).status_code == 202
    assert len(service.relayed) == 1


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
        ({"goal": "g"}, "missing_field", "outcome"),
        ({"outcome": "won", "goal": "g"}, "out_of_range", "outcome"),
        ({"outcome": "failed", "goal": "g", "agent": None}, "missing_field", "agent"),
        ({"outcome": "failed", "goal": " "}, "empty_value", "goal"),
        ({"outcome": "unknown", "goal": "g", "said_by": "eve"}, "out_of_range", "said_by"),
        ({"outcome": "failed", "goal": "g", "retrieved": ["x"]}, "bad_id", "retrieved"),
        ({"outcome": "failed", "goal": "g", "content": "c"}, "unknown_field", "content"),
        ({"success": True}, "unknown_field", "success"),
        ({"outcome": 3, "goal": "g"}, "wrong_type", "outcome"),
    ],
)
def test_what_intake_would_refuse_is_refused_here(codec: Codec, changed: dict[str, Any], code: str, field: str) -> None:
    service = make(codec, Door(None))
    answer = client_of(service).post("/sessions/end", json=ENDED | changed)
    assert (answer.status_code, answer.json()["error"], answer.json()["field"]) == (400, code, field)
    assert not service.ended and not service.relayed


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
