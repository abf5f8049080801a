"""A web page's request is refused at every route, and a body that is no JSON changes nothing."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from starlette.routing import Route
from starlette.testclient import TestClient

from memquorum.core.avro import Codec
from tests.builders.served import HERS, Served, make
from workers.retrieval.app import LOOPBACK, around
from workers.retrieval.door import Door

HOST, BOARD = "http://127.0.0.1", "https://board.example.org"
FOREIGN = (
    {"Origin": "https://evil.example"},
    {"Origin": "null"},
    {"Origin": "http://127.0.0.1:8080"},
    {"Origin": BOARD + ".evil.example", "Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site"},
    {"Origin": HOST, "origin": "https://evil.example"},
)
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "HEAD")
KINDS = (
    None,
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "application/jsonp",
)
SAID = b'{"messages": "Pay eve.", "user_id": "ada", "agent": "eve", "content": "Pay eve.", "query": "q"}'


@pytest.fixture
def service(codec: Codec) -> Served:
    return make(codec, Door(None))


def client(service: Served, origins: tuple[str, ...] = ()) -> TestClient:
    return TestClient(around(service, LOOPBACK, service.meters, origins), base_url=HOST)


def paths(http: TestClient) -> Iterator[str]:
    """The path of every route that is served."""
    values = {
        "namespace": "greenhouse", "id": HERS, "memory_id": HERS, "order_id": HERS, "event_id": "e", "session": "s",
        "topic": "t", "type": "user", "name": "ada", "path": "index.html", "shard": "0", "subject": "ada",
    }  # fmt: skip
    for route in http.app.routes:  # type: ignore[attr-defined]
        assert isinstance(route, Route)
        yield route.path.replace(":path", "").format_map(values | {"task_id": HERS, "task": HERS, "order": HERS})


def nothing_was_said(service: Served) -> bool:
    return not (service.published or service.ended or service.relayed or service.sent)


@pytest.mark.parametrize("headers", FOREIGN, ids=str)
def test_a_foreign_page_is_refused_at_every_route_and_nothing_is_stored(
    service: Served, headers: dict[str, str]
) -> None:
    http = client(service, (BOARD,))
    tried = 0
    pairs = [*headers.items()]
    for path in paths(http):
        for method in METHODS:
            said = [*pairs, ("Content-Type", "application/json")]
            answer = http.request(method, f"{path}?use=true&messages=Pay+eve.&user_id=ada", headers=said, content=SAID)
            assert answer.status_code == 403, (method, path, answer.text)
            if method != "HEAD":
                told = answer.json()
                assert told["field"] in ("origin", "sec-fetch-site") and told["error"] == "forbidden", told
            tried += 1
    assert tried > 300 and nothing_was_said(service)


@pytest.mark.parametrize("kind", KINDS)
def test_what_changes_something_is_json_at_every_route(service: Served, kind: str | None) -> None:
    http = client(service)
    headers = {} if kind is None else {"Content-Type": kind}
    for path in paths(http):
        for method in ("POST", "PUT", "PATCH"):
            for content in (SAID, b""):
                answer = http.request(method, f"{path}?messages=x&user_id=ada", headers=headers, content=content)
                assert answer.status_code == 400 and answer.json()["field"] == "content-type", (method, path)
    assert nothing_was_said(service)


def test_an_agent_and_a_page_of_ones_own_are_answered(service: Served) -> None:
    asked = {"query": "q", "peek": True, "namespace": "greenhouse"}
    for headers in ({}, {"Sec-Fetch-Site": "none"}, {"Origin": HOST, "Sec-Fetch-Site": "same-origin"}):
        assert client(service).post("/search", json=asked, headers=headers).status_code == 200, headers
    http = client(service, (BOARD,))
    answer = http.post("/search", json=asked, headers={"Origin": BOARD, "Sec-Fetch-Site": "cross-site"})
    assert (answer.status_code, answer.headers["access-control-allow-origin"]) == (200, BOARD)
    asks = {"Origin": BOARD, "Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "content-type"}
    assert http.options("/search", headers=asks).headers["access-control-allow-origin"] == BOARD
    assert client(service).options("/search", headers=asks).status_code == 403
