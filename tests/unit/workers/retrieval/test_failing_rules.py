"""A rule that raises while something is read: the rest is answered, what failed is counted, and nobody gets a 5xx."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from starlette.testclient import TestClient

from db import rollup_rows
from memquorum.core.avro import Codec
from memquorum.core.contained import Failed, Failures
from tests.builders.served import Served, client_of, make
from tests.support.poison import poison
from workers.retrieval.app import LOOPBACK, around
from workers.retrieval.door import Door

ADA = {"filters": {"user_id": "ada"}}


@pytest.fixture
def service(codec: Codec) -> Served:
    return make(codec, Door(None))


@pytest.fixture
def http(service: Served) -> TestClient:
    return TestClient(around(service, LOOPBACK, service.meters), base_url="http://127.0.0.1")


def failed(service: Served) -> Mapping[str, tuple[str, ...]]:
    """The rules that failed, and on which memories."""
    return {one.rule: one.memory_ids for one in service.failures.told()}


def test_a_roll_up_whose_name_a_rule_fails_on_is_left_out(service: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = client_of(service).get("/rollups/greenhouse").json()
    assert [one["topic"] for one in whole["topics"]] == ["Valve 3"]
    poison(monkeypatch, ("memquorum.core.retrieval.rollups:key",), "alve")
    answer = client_of(service).get("/rollups/greenhouse")
    assert (answer.status_code, answer.json()["topics"]) == (200, [])
    assert "topics" in failed(service)
    assert client_of(service).get("/rollups/greenhouse/valve%203").status_code == 404
    assert "topics" in failed(service)


def test_a_summary_that_cannot_be_read_back_quotes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    row = ("boom", "Ada left.", "m1", 0, 9, "facts", 1, "ada", "ada")
    other = ("fine", "Bob left.", "m2", 0, 9, "facts", 1, "bob", "bob")
    assert set(rollup_rows.quoted([row, other])) == {("m1", 0, 9), ("m2", 0, 9)}
    poison(monkeypatch, ("db.rollup_rows:read_back",), "Ada")
    failures = Failures()
    assert set(rollup_rows.quoted([row, other], failures)) == {("m2", 0, 9)}
    assert failures.told() == {Failed("summary", ("boom",), "ValueError"): 1}


def test_a_call_of_mem0_on_which_a_rule_fails_is_refused(
    service: Served, http: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    poison(monkeypatch, ("memquorum.mem0.calls:says_nothing",), "boom")
    said = {"messages": [{"role": "user", "content": "boom"}], "user_id": "ada"}
    answer = http.post("/mem0/greenhouse/v3/memories/add/", json=said)
    assert answer.status_code == 422 and set(answer.json()) == {"detail"}, answer.text
    assert "boom" not in answer.text
    assert list(failed(service)) == ["mem0_add"]


def test_a_search_of_mem0_and_of_mcp_in_which_a_rule_fails_is_refused(
    service: Served, http: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fails(*_: Any, **__: Any) -> Any:
        raise ZeroDivisionError("boom")

    monkeypatch.setattr(service.reads, "search", fails)
    monkeypatch.setattr(service.reads, "candidates", fails)
    answer = http.post("/mem0/greenhouse/v3/memories/search/", json={"query": "q", **ADA})
    assert answer.status_code == 422 and "boom" not in answer.text, answer.text
    assert list(failed(service)) == ["mem0_search"]
