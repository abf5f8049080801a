"""Rollbacks of weights over HTTP: who may ask, what stands in the way, and what the members made of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from starlette.testclient import TestClient

from memquorum import topics
from memquorum.core import access
from memquorum.core.accounts.restoring import decided
from memquorum.core.avro import Codec
from memquorum.core.orders.restore import REQUEST
from tests.builders.served import GENESIS, HERS, THEIRS, Served, bearer, client_of, make, stored
from workers.retrieval.door import Door


@pytest.fixture
def service(codec: Codec) -> Served:
    return make(codec, Door(None))


@pytest.fixture
def client(service: Served) -> TestClient:
    return client_of(service)


def rollback_body(memory_id: str = HERS, to: int = 1, **more: Any) -> dict[str, Any]:
    return {"namespace": "greenhouse", "memory_id": memory_id, "to": to, **more}


def test_an_older_version_is_asked_for_and_the_vote_waited_for(
    client: TestClient, service: Served, codec: Codec
) -> None:
    answer = client.post("/orders/rollback", json=rollback_body(reference="ticket-7"))
    told = answer.json()
    assert (answer.status_code, told["status"], told["epoch"], told["journal_seq"]) == (200, "rolled back", 7, 9)
    assert (told["to"], told["version"], told["weight"]) == (1, 3, 0.85)
    ((topic, _, data),) = service.sent
    signed, order = REQUEST.opened(codec, GENESIS, data)
    assert (topic, signed.signer, order.action) == (topics.RESTORES, "service:erasure", "rollback")
    assert (order.memory_ids, order.version, order.reference) == ((HERS,), 1, "ticket-7")
    after = client.get(f"/orders/{order.order_id}").json()
    assert (after["status"], [one["status"] for one in after["memories"]]) == ("decided", ["rolled back"])


def test_what_is_not_decided_in_time_is_said_so(client: TestClient, service: Served) -> None:
    service.carries_out = False
    answer = client.post("/orders/rollback?wait_ms=0", json=rollback_body())
    assert (answer.status_code, answer.json()["status"]) == (202, "asked")
    assert answer.json()["order_id"] is not None


@pytest.mark.parametrize(
    ("changed", "to", "why"),
    [
        ({}, 3, "that version is not older than the one in force: that is version 3"),
        ({}, 9, "not older than the one in force"),
        ({"versions": (1, 3)}, 2, "its weight never had that version"),
        ({"status": "provisional", "version": 0}, 1, "not in experience: it has no weight (provisional)"),
        ({"status": None, "version": None}, 1, "(nobody has tried it)"),
        ({"tier": "sealed"}, 1, "it is not alive"),
    ],
)
def test_where_there_is_nothing_to_vote_on_nobody_is_asked(
    client: TestClient, service: Served, changed: dict[str, Any], to: int, why: str
) -> None:
    rows = service.reads.weights_of  # type: ignore[attr-defined]
    rows[HERS] = replace(rows[HERS], **changed)
    answer = client.post("/orders/rollback", json=rollback_body(to=to))
    told = answer.json()
    assert (answer.status_code, told["status"], told["order_id"], service.sent) == (
        200,
        "nothing to roll back",
        None,
        [],
    )
    assert why in told["detail"]


def test_what_is_demoted_or_removed_may_be_rolled_back(client: TestClient, service: Served) -> None:
    rows = service.reads.weights_of  # type: ignore[attr-defined]
    for status in ("demoted", "removed"):
        rows[HERS] = replace(rows[HERS], status=status)
        assert client.post("/orders/rollback", json=rollback_body()).json()["status"] == "rolled back"


def test_another_namespaces_memory_is_one_that_there_is_not(client: TestClient, service: Served) -> None:
    service.reads.weights_of[THEIRS] = service.reads.weights_of[HERS]  # type: ignore[attr-defined]
    answer = client.post("/orders/rollback", json=rollback_body(THEIRS))
    assert (answer.status_code, answer.json()["field"], service.sent) == (404, "memory_id", [])


@pytest.mark.parametrize(
    ("body", "field"),
    [
        (rollback_body("7"), "memory_id"),
        (rollback_body(to=0), "to"),
        (rollback_body(to=-1), "to"),
        (rollback_body(to=2**31), "to"),
        (rollback_body(to="1"), "to"),
        (rollback_body(namespace="a/b"), "namespace"),
        (rollback_body(reference=" "), "reference"),
        (rollback_body() | {"version": 1}, "version"),
        ({"namespace": "greenhouse", "memory_id": HERS}, "to"),
    ],
)
def test_what_no_request_may_say_is_refused(
    client: TestClient, service: Served, body: dict[str, Any], field: str
) -> None:
    answer = client.post("/orders/rollback", json=body)
    assert (answer.status_code, answer.json()["field"], service.sent) == (400, field, [])


def test_it_takes_the_right_to_forget(tmp_path: Path, codec: Codec) -> None:
    file = tmp_path / "keys.json"
    stored(file, (1, (access.FORGET,), ("greenhouse",)), (2, (access.ERASE, access.READ), ("*",)))
    service = make(codec, Door(file))
    client, may, may_not = client_of(service), bearer(1, "forget"), bearer(2, "erase")
    assert client.post("/orders/rollback", json=rollback_body()).status_code == 401
    assert client.post("/orders/rollback", json=rollback_body(), headers=may_not).status_code == 403
    assert client.post("/orders/rollback", json=rollback_body(namespace="mill"), headers=may).status_code == 403
    assert client.post("/orders/rollback", json=rollback_body(), headers=may).status_code == 200
    ((_, _, data),) = service.sent
    assert REQUEST.opened(codec, GENESIS, data)[1].ordered_by.startswith("key ")


@pytest.mark.parametrize(
    ("outcome", "reason", "status", "why"),
    [
        ("rolled back", "quorum", "rolled back", "it weighs what it did"),
        ("kept", "too_few_votes", "kept", "did not agree"),
        ("voided", "not in experience", "kept", "has no weight"),
        ("voided", "not an older version", "kept", "not older"),
        ("voided", "unknown memory", "kept", "does not know it"),
        ("", "", "unknown", "no such memory"),
    ],
)
def test_every_end_is_told(outcome: str, reason: str, status: str, why: str) -> None:
    told = decided(HERS, outcome, reason, action="rollback")
    assert told.status == status and why in told.detail
