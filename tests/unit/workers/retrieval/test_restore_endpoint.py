"""Restores over HTTP: who may ask, what is told of memories that cannot come back, and what the members made of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from memquorum import topics
from memquorum.core import access
from memquorum.core.accounts.restoring import Resting, decided
from memquorum.core.avro import Codec
from memquorum.core.orders.restore import REQUEST
from tests.builders.served import GENESIS, REQUESTED, THEIRS, Served, bearer, client_of, make, stored
from workers.retrieval.door import Door

DAY = 86_400_000
IDS = tuple(f"5f0c8f0e-0000-5000-8000-00000000010{n}" for n in range(7))
SEALED, ALSO, ALIVE, OVER, GONE, ERASED, UNKNOWN = IDS
ROWS = (
    Resting(SEALED, "sealed", DAY, 9 * DAY, 2 * DAY, False),
    Resting(ALSO, "sealed", DAY, 9 * DAY, 2 * DAY, False),
    Resting(ALIVE, "long-term", DAY, None, 2 * DAY, False),
    Resting(OVER, "sealed", DAY, 2 * DAY, 2 * DAY, False),
    Resting(GONE, "gone", DAY, None, 2 * DAY, False),
    Resting(ERASED, "gone", DAY, None, 2 * DAY, True),
)


@pytest.fixture
def service(codec: Codec) -> Served:
    made = make(codec, Door(None))
    made.reads.resting_rows |= {row.memory_id: row for row in ROWS} | {  # type: ignore[attr-defined]
        THEIRS: Resting(THEIRS, "sealed", DAY, 9 * DAY, 2 * DAY, False)
    }
    return made


@pytest.fixture
def client(service: Served) -> TestClient:
    return client_of(service)


def restore_body(*ids: str, **more: Any) -> dict[str, Any]:
    return {"namespace": "greenhouse", "memory_ids": list(ids), **more}


def test_what_rests_is_asked_for_and_of_the_rest_it_is_said_why_not(
    client: TestClient, service: Served, codec: Codec
) -> None:
    answer = client.post("/orders/restore", json=restore_body(*IDS, reference="ticket-8"))
    told = answer.json()
    assert (answer.status_code, told["status"], told["restored"], told["epoch"]) == (200, "decided", 1, 7)
    assert [one["status"] for one in told["memories"]] == [
        "restored", "sealed", "alive", "destroyed", "destroyed", "erased", "unknown",
    ]  # fmt: skip
    said = {one["memory_id"]: one["detail"] for one in told["memories"]}
    assert "did not agree (too few members were for it)" in said[ALSO] and "ask again" in said[ALSO]
    assert said[GONE] == "its key was destroyed on 1970-01-02 00:00:00 UTC"
    assert said[OVER] == "its grace time ended on 1970-01-03 00:00:00 UTC: its key goes"
    assert "no way back" in said[ERASED]
    ((topic, _, data),) = service.sent
    signed, order = REQUEST.opened(codec, GENESIS, data)
    assert (topic, signed.signer, order.memory_ids) == (topics.RESTORES, "service:erasure", (SEALED, ALSO))
    assert (order.ordered_by, order.reference) == ("whoever is on this machine", "ticket-8")
    after = client.get(f"/orders/{order.order_id}").json()
    assert after["status"] == "decided" and [one["memory_id"] for one in after["memories"]] == [SEALED, ALSO]


def test_nobody_is_asked_for_nothing(client: TestClient, service: Served) -> None:
    told = client.post("/orders/restore", json=restore_body(ALIVE, GONE, THEIRS)).json()
    assert (told["status"], told["order_id"], service.sent) == ("nothing to restore", None, [])
    # Another tenant's memory, sealed or not, is one that there is not.
    assert told["memories"][2] == {
        "memory_id": THEIRS, "status": "unknown", "detail": "this namespace has no such memory",
    }  # fmt: skip


def test_what_is_not_decided_in_time_is_said_so(client: TestClient, service: Served) -> None:
    service.carries_out = False
    answer = client.post("/orders/restore?wait_ms=0", json=restore_body(SEALED))
    assert (answer.status_code, answer.json()["status"]) == (202, "asked")
    assert client.get(f"/orders/{REQUESTED}").json()["status"] == "asked"
    assert client.get(f"/orders/{SEALED}").status_code == 404


@pytest.mark.parametrize(
    ("body", "field"),
    [
        (restore_body(), "memory_ids"),
        (restore_body("7"), "memory_ids"),
        (restore_body(SEALED, namespace="a/b"), "namespace"),
        (restore_body(SEALED, reference=" "), "reference"),
        (restore_body(*(f"5f0c8f0e-0000-5000-8000-{n:012d}" for n in range(101))), "memory_ids"),
        (restore_body(SEALED) | {"memory_id": SEALED}, "memory_id"),
    ],
)
def test_what_no_request_may_say_is_refused(
    client: TestClient, service: Served, body: dict[str, Any], field: str
) -> None:
    answer = client.post("/orders/restore", json=body)
    assert (answer.status_code, answer.json()["field"], service.sent) == (400, field, [])


def test_it_takes_the_right_to_forget(tmp_path: Path, codec: Codec) -> None:
    file = tmp_path / "keys.json"
    stored(file, (1, (access.FORGET,), ("greenhouse",)), (2, (access.ERASE, access.READ), ("*",)))
    service = make(codec, Door(file))
    service.reads.resting_rows[SEALED] = ROWS[0]  # type: ignore[attr-defined]
    client, may, may_not = client_of(service), bearer(1, "forget"), bearer(2, "erase")
    assert client.post("/orders/restore", json=restore_body(SEALED)).status_code == 401
    assert client.post("/orders/restore", json=restore_body(SEALED), headers=may_not).status_code == 403
    assert (
        client.post("/orders/restore", json=restore_body(SEALED) | {"namespace": "mill"}, headers=may).status_code
        == 403
    )
    assert client.post("/orders/restore", json=restore_body(SEALED), headers=may).status_code == 200
    ((_, _, data),) = service.sent
    assert REQUEST.opened(codec, GENESIS, data)[1].ordered_by.startswith("key ")


def test_without_its_key_the_service_names_who_may_ask(codec: Codec) -> None:
    service = make(codec, Door(None), seed=None)
    service.reads.resting_rows[SEALED] = ROWS[0]  # type: ignore[attr-defined]
    answer = client_of(service).post("/orders/restore", json=restore_body(SEALED))
    assert (answer.status_code, answer.json()["error"]) == (400, "not_entitled") and not service.sent


@pytest.mark.parametrize(
    ("outcome", "reason", "status"),
    [
        ("restored", "quorum", "restored"),
        ("kept", "too_few_votes", "sealed"),
        ("voided", "unreadable", "sealed"),
        ("voided", "not forgotten", "alive"),
        ("voided", "key gone", "destroyed"),
        ("voided", "grace over", "destroyed"),
        ("voided", "unknown memory", "unknown"),
    ],
)
def test_every_end_is_told(outcome: str, reason: str, status: str) -> None:
    assert decided(SEALED, outcome, reason).status == status
