"""Finished tasks over HTTP: published as an agent would, refused as by intake, read by who may, masked where asked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

import pytest

from memquorum import topics
from memquorum.core.avro import Codec
from memquorum.core.intake import EpisodeIntent
from memquorum.core.records import FeedbackAccepted
from memquorum.core.retrieval.query import Filters
from memquorum.core.retrieval.redaction import Redaction
from tests.builders.served import HERS, ORDER, THEIRS, Store, bearer, client_of, make, stored
from workers.retrieval.door import Door

TASK = {
    "agent": "ann", "goal": "Open valve 3.", "outcome": "failed", "namespace": "greenhouse", "retrieved": [HERS],
    "tools": ["valve: jammed"],
}  # fmt: skip
FEEDBACK = {"agent": "ann", "task": THEIRS, "helped": [HERS], "namespace": "greenhouse"}


def test_a_task_is_published_as_an_agent_would(codec: Codec) -> None:
    service = make(codec, Door(None))
    answer = client_of(service).post("/tasks", json=TASK | {"event_id": "t1"})
    ((topic, kind, intent, data),) = service.relayed
    assert (topic, kind, answer.status_code) == (topics.TASKS, "TaskFinished", 202)
    assert isinstance(intent, EpisodeIntent) and intent.task is not None and intent.task.said_by == "ann"
    assert answer.json()["memory_id"] == intent.memory_id and answer.json()["token"] == "greenhouse/t1"
    assert json.loads(data) == TASK | {"event_id": "t1"}


def test_feedback_is_published_and_names_its_task(codec: Codec) -> None:
    service = make(codec, Door(None))
    answer = client_of(service).post("/tasks/feedback", json=FEEDBACK)
    ((topic, kind, given, _),) = service.relayed
    assert (topic, kind) == (topics.FEEDBACK, "FeedbackGiven")
    assert isinstance(given, FeedbackAccepted) and (given.memory_id, given.helped) == (THEIRS, (HERS,))
    assert (answer.status_code, answer.json()["memory_id"]) == (202, THEIRS)


@pytest.mark.parametrize(("path", "sent", "code", "field"), [
    ("/tasks", TASK | {"outcome": None}, "missing_field", "outcome"),
    ("/tasks", TASK | {"outcome": "won"}, "out_of_range", "outcome"),
    ("/tasks", TASK | {"goal": " "}, "empty_value", "goal"),
    ("/tasks", TASK | {"retrieved": ["x"]}, "bad_id", "retrieved"),
    ("/tasks/feedback", FEEDBACK | {"helped": []}, "missing_field", "helped"),
    ("/tasks/feedback", FEEDBACK | {"task": "t1"}, "bad_id", "task"),
])  # fmt: skip
def test_what_intake_would_refuse_is_refused_here(
    codec: Codec, path: str, sent: dict[str, Any], code: str, field: str
) -> None:
    service = make(codec, Door(None))
    answer = client_of(service).post(path, json=sent)
    assert (answer.status_code, answer.json()["error"], answer.json()["field"]) == (400, code, field)
    assert service.relayed == []


def test_tasks_are_told_page_by_page_to_who_may_read(codec: Codec, tmp_path: Path) -> None:
    file = tmp_path / "api-keys.json"
    stored(file, (1, ("read",), ("greenhouse",)), (2, ("publish",), ("greenhouse",)))
    service = make(codec, Door(file))
    client = client_of(service)
    first = client.post("/tasks/list", json={"namespace": "greenhouse", "limit": 1}, headers=bearer(1)).json()
    assert [one["task"] for one in first["tasks"]] == [ORDER]
    rest = {"namespace": "greenhouse", "limit": 1, "cursor": first["next"], "sensitivity_max": 0.3}
    second = client.post("/tasks/list", json=rest, headers=bearer(1)).json()
    assert [one["task"] for one in second["tasks"]] == [THEIRS] and "next" not in second
    assert cast(Store, service.reads).filters == [Filters(), Filters(sensitivity_max=300_000)]
    failed = client.post("/tasks/list", json={"namespace": "greenhouse", "outcomes": ["failed"]}, headers=bearer(1))
    assert [one["outcome"] for one in failed.json()["tasks"]] == ["failed"]
    for path in ("/tasks/list", "/tasks"):
        body = {"namespace": "greenhouse"} if path == "/tasks/list" else TASK
        who = bearer(2, "publish") if path == "/tasks/list" else bearer(1)
        assert client.post(path, json=body, headers=who).status_code == 403
    bad = client.post("/tasks/list", json={"outcomes": ["won"]}, headers=bearer(1))
    assert (bad.status_code, bad.json()["field"]) == (400, "outcomes")


def test_a_task_is_shown_whole(codec: Codec) -> None:
    client = client_of(make(codec, Door(None)))
    told = client.get(f"/tasks/{HERS}").json()
    assert (told["inputs"], told["tools"], told["feedback"][0]["helped"]) == (
        "Call +49 170 1234567.", ["valve: opened"], True,
    )  # fmt: skip
    for path in (f"/tasks/{ORDER}", f"/tasks/{HERS}?namespace=mill"):
        missing = client.get(path)
        assert (missing.status_code, missing.json()["field"]) == (404, "task_id")


@pytest.mark.parametrize("alone", [False, True])
def test_what_is_found_of_persons_is_masked_where_that_is_asked_or_ruled(codec: Codec, alone: bool) -> None:
    service = make(codec, Door(None))
    service.redaction = Redaction(("greenhouse",) if alone else ())
    client = client_of(service)
    asked = {} if alone else {"redact": True}
    listed = client.post("/tasks/list", json={"namespace": "greenhouse", **asked}).json()["tasks"]
    assert [one["goal"] for one in listed] == ["Open valve 3 and call [phone]."] * 2
    shown = client.get(f"/tasks/{HERS}", params={} if alone else {"redact": "true"}).json()
    assert (shown["goal"], shown["inputs"]) == ("Open valve 3 and call [phone].", "Call [phone].")
