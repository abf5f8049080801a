"""Callers of mem0's API, and the errors of wrong requests, as mem0's client reads them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from memquorum.core.avro import Codec
from memquorum.mem0.wire import WAYS
from tests.builders.served import HERS, THEIRS, Served, bearer, make, refusing, stored
from workers.retrieval.app import LOOPBACK, around
from workers.retrieval.door import Door
from workers.retrieval.limits import Busy

PLACE = "/mem0/greenhouse"
ADA = {"filters": {"user_id": "ada"}}


def token(key: int) -> dict[str, str]:
    return {"Authorization": bearer(key)["Authorization"].replace("Bearer", "Token")}


@pytest.fixture
def service(codec: Codec, tmp_path: Path) -> Served:
    keys = tmp_path / "api-keys.json"
    everything = ("read", "publish", "forget", "erase", "audit")
    stored(keys, (1, ("read",), ("greenhouse",)), (2, everything, ("greenhouse",)), (3, everything, ("*",)))
    return make(codec, Door(keys))


@pytest.fixture
def http(service: Served) -> TestClient:
    return TestClient(around(service, LOOPBACK, service.meters), base_url="http://127.0.0.1")


def test_a_key_is_mem0s_token_and_reads_its_namespaces(http: TestClient) -> None:
    assert http.get(f"{PLACE}/v1/ping/", headers=token(1)).json()["status"] == "ok"
    found = http.post(f"{PLACE}/v3/memories/search/", headers=token(1), json={"query": "q", **ADA}).json()
    assert [one["id"] for one in found["results"]] == [HERS]
    assert http.get(f"{PLACE}/v1/memories/{HERS}/", headers=token(1)).json()["memory"] == "t"


@pytest.mark.parametrize("way", WAYS, ids=lambda way: f"{way.method} {way.path}")
def test_nobody_comes_in_without_a_key_or_into_anothers_namespace(http: TestClient, way: Any) -> None:
    path = way.path.format(id=HERS, type="user", name="ada")
    for headers, place, status in (({}, PLACE, 401), (token(9), PLACE, 401), (token(2), "/mem0/mill", 403)):
        answer = http.request(way.method, place + path, headers=headers, json={"query": "q", "messages": "x", **ADA})
        assert answer.status_code == status, answer.text
        assert set(answer.json()) == {"detail"}


def test_what_is_anothers_is_not_there(http: TestClient, service: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    async def nothing(*_: Any) -> None:
        return None

    monkeypatch.setattr(service.reads, "slot", nothing)
    for method, path in (("GET", ""), ("PUT", ""), ("DELETE", ""), ("GET", "history/")):
        said = {"text": "x"} if method == "PUT" else None
        answer = http.request(method, f"{PLACE}/v1/memories/{THEIRS}/{path}", headers=token(2), json=said)
        assert answer.status_code == 404, (method, path, answer.text)


def test_what_came_another_way_is_voted_on(http: TestClient) -> None:
    for method, said in (("PUT", {"text": "x"}), ("DELETE", None)):
        answer = http.request(method, f"{PLACE}/v1/memories/{HERS}/", headers=token(2), json=said)
        assert answer.status_code == 400 and "members vote" in answer.json()["detail"], answer.text


def test_a_key_that_may_only_read_writes_and_erases_nothing(http: TestClient, service: Served) -> None:
    for method, path, body in (
        ("POST", "/v3/memories/add/", {"messages": "Ada eats no meat.", "user_id": "ada"}),
        ("DELETE", "/v2/entities/user/ada/", None),
    ):
        answer = http.request(method, PLACE + path, headers=token(1), json=body)
        assert answer.status_code == 403 and "right" in answer.json()["detail"], answer.text


@pytest.mark.parametrize(
    ("path", "body", "told"),
    [
        ("search/", {"query": "q"}, "at least one of user_id"),
        ("search/", {"query": 3, **ADA}, "query"),
        ("search/", ADA, "query: is missing"),
        ("search/", {"query": "q", "top_k": 0, **ADA}, "top_k"),
        ("", {"page": "x", **ADA}, "page"),
        ("", {"page": 0, **ADA}, "page"),
        ("add/", {"user_id": "ada"}, "messages: is missing"),
        ("add/", {"messages": [], "user_id": "ada"}, "messages"),
        ("add/", {"messages": [{"role": "user", "content": {"image": "x"}}], "user_id": "ada"}, "messages"),
        ("add/", {"messages": "x", "user_id": "ada", "colour": "red"}, "colour: is not known"),
        ("add/", {"messages": "x", "user_id": "ada", "expiration_date": "2027-01-01"}, "expires"),
        ("add/", {"messages": "x", "user_id": "ada", "timestamp": "soon"}, "timestamp"),
        ("add/", {"messages": "x", "user_id": "ada", "metadata": "red"}, "metadata"),
        ("add/", {"messages": "x", "user_id": "ada", "self": 1}, "self: is not known"),
        ("add/", {"messages": "x", "user_id": "ada", "infer": "no"}, "infer"),
        ("add/", {"messages": "The pump leaks.", "user_id": "ada", "agent_id": "Operator"}, "agent"),
        ("search/", {"query": "q", "calls": 1, **ADA}, "calls: is not known"),
        ("search/", {"query": "q", "user_id": "ada", **ADA}, "user_id: is not known"),
        ("search/", {"query": "q", "top_k": "5", **ADA}, "top_k"),
        ("search/", {"query": "q", "threshold": "x", **ADA}, "threshold"),
        ("?page=1", {"page": 1, **ADA}, "page: is said in the query string and in the body"),
        ("add/?messages=x&user_id=ada", {}, "messages: is not taken in the query string"),
        ("?page=1&page=2", ADA, "twice"),
    ],
)
def test_bad_input_is_told_what_is_wrong(http: TestClient, path: str, body: dict[str, Any], told: str) -> None:
    answer = http.post(f"{PLACE}/v3/memories/{path}", headers=token(2), json=body)
    assert answer.status_code == 400 and told in answer.json()["detail"], answer.text


def test_a_path_names_the_memory_and_nothing_else_does(http: TestClient) -> None:
    answer = http.put(f"{PLACE}/v1/memories/{HERS}/", headers=token(2), json={"memory_id": THEIRS, "text": "x"})
    assert answer.status_code == 400 and "memory_id: is not known" in answer.json()["detail"], answer.text
    for one in ({"memory_id": HERS, "self": 1}, {"memory_id": 7}):
        answer = http.put(f"{PLACE}/v1/batch/", headers=token(2), json={"memories": [one]})
        assert answer.status_code == 400, answer.text


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b'{"query": "q", "query": "r"}', "query: a field occurs twice"),
        (b'{"query": NaN}', "query: NaN is not JSON"),
        (b'{"query": "q", "top_k": 1e400}', "top_k: is not a finite number"),
        (b'{"query": "q", "filters": {"user_id": {"in": [1e400]}}}', "filters: is not a finite number"),
        (b'{"query": "q", "top_k": 99999999999999999999}', "top_k: does not fit 64 bits"),
        (b'{"query": "\\ud800"}', "query: half of a surrogate pair"),
        (b'{"filters": ' + b"[" * 50_000 + b"}", "nested deeper"),
        (b'{"k": ' + b"7" * 5_000 + b"}", "a number of 5000 digits"),
        (b"", "Expecting value"),
    ],
)
def test_json_is_read_as_strictly_as_elsewhere(http: TestClient, content: bytes, told: str) -> None:
    headers = token(2) | {"Content-Type": "application/json"}
    answer = http.post(f"{PLACE}/v3/memories/search/", headers=headers, content=content)
    assert answer.status_code == 400 and told in answer.json()["detail"], answer.text


def test_a_body_in_chunks_is_read_as_any_other_and_no_further_than_one(http: TestClient, service: Served) -> None:
    headers = token(2) | {"Content-Type": "application/json"}
    chunks = iter([b'{"query": "q", "filters": ', b'{"user_id": "ada"}}'])
    answer = http.post(f"{PLACE}/v3/memories/search/", headers=headers, content=chunks)
    assert answer.status_code == 200 and [one["id"] for one in answer.json()["results"]] == [HERS]
    many = (b" " * 4_096 for _ in range(service.bounds.body_bytes // 4_096 + 2))
    assert http.post(f"{PLACE}/v3/memories/search/", headers=headers, content=many).status_code == 413


def test_bytes_that_are_no_object_are_refused(http: TestClient, service: Served) -> None:
    for content in (b"{", b"[]", b"\xff"):
        answer = http.post(
            f"{PLACE}/v3/memories/search/", headers=token(2) | {"Content-Type": "application/json"}, content=content
        )
        assert answer.status_code == 400, content
    long = b" " * (service.bounds.body_bytes + 1)
    headers = token(2) | {"Content-Type": "application/json"}
    assert http.post(f"{PLACE}/v3/memories/search/", headers=headers, content=long).status_code == 413


def test_who_comes_when_the_service_is_busy_is_told_to_try_again(
    http: TestClient, service: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    @asynccontextmanager
    async def turn(*_: Any) -> AsyncIterator[None]:
        raise Busy(True, "this key has 32 requests under way")
        yield

    monkeypatch.setattr(service.limits, "turn", turn)
    answer = http.post(f"{PLACE}/v3/memories/search/", headers=token(2), json={"query": "q", **ADA})
    assert (answer.status_code, answer.headers["Retry-After"]) == (429, "1"), answer.text


def test_what_intake_refuses_is_told_with_its_reason(
    http: TestClient, service: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    refusing(service, monkeypatch)
    said = {"messages": [{"role": "user", "content": "Ada likes tea."}], "user_id": "ada", "infer": False}
    answer = http.post(f"{PLACE}/v3/memories/add/", headers=token(2), json=said)
    assert answer.status_code == 400, answer.text
    assert "was refused (over_quota): namespace: 20 episodes a minute" in answer.json()["detail"]
