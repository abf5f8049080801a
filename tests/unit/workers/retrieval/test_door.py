"""Access to the retrieval service: no caller without a key, where there are keys; and each where its key reaches."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from memquorum.core import access
from memquorum.core.access import AccessError
from memquorum.core.avro import Codec
from memquorum.encoders.hashing import HashingEncoder
from tests.builders import genesis
from tests.builders.served import HERS, SEARCH, THEIRS, bearer, client_of, filled, make, stored
from workers.retrieval import serving
from workers.retrieval.door import Door, Locked
from workers.retrieval.routes import ENDPOINTS
from workers.retrieval.service import Service


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "api-keys.json"


@pytest.fixture
def service(codec: Codec, file: Path) -> Service:
    stored(file, (1, ("read",), ("greenhouse", "team-*")), (2, ("publish",), ("*",)))
    return make(codec, Door(file))


@pytest.fixture
def client(service: Service) -> TestClient:
    return client_of(service)


@pytest.mark.parametrize("endpoint", ENDPOINTS, ids=lambda e: e.path)
def test_no_key_no_entry_except_to_ask_for_its_health(client: TestClient, endpoint: Any) -> None:
    said = SEARCH if endpoint.method == "POST" else None
    answer = client.request(endpoint.method, filled(endpoint.path), json=said)
    if not endpoint.rights:
        assert endpoint.path in ("/livez", "/readyz", "/openapi.json") and answer.status_code == 200
        return
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"] == "Bearer"
    told = answer.json()
    assert (told["error"], told["field"]) == ("no_key", "authorization")
    assert "memquorum admin keys add" in told["detail"]
    wrong = client.request(endpoint.method, filled(endpoint.path), headers=bearer(9), json=said)
    assert (wrong.status_code, wrong.json()["error"]) == (401, "bad_key")


def test_a_key_opens_its_namespaces_and_its_rights(client: TestClient) -> None:
    found = client.post("/search", json=SEARCH, headers=bearer(1))
    assert [hit["memory_id"] for hit in found.json()["hits"]] == [HERS]
    assert client.post("/search", json=SEARCH | {"namespace": "team-b"}, headers=bearer(1)).json()["hits"] == []
    elsewhere = client.post("/search", json=SEARCH | {"namespace": "mill"}, headers=bearer(1))
    assert (elsewhere.status_code, elsewhere.json()["field"]) == (403, "namespace")
    nowhere = client.post("/search", json=SEARCH | {"namespace": "nowhere"}, headers=bearer(1))
    assert nowhere.json()["detail"] == elsewhere.json()["detail"].replace("mill", "nowhere")
    lacks = client.post("/search", json=SEARCH, headers=bearer(2))
    assert (lacks.status_code, lacks.json()["field"]) == (403, "right")
    assert lacks.json()["detail"] == "this key lacks the right 'read'"
    assert client.get("/events/mill/e", headers=bearer(1)).status_code == 403
    assert client.get("/events/mill/e", headers=bearer(2)).status_code == 200


@pytest.mark.parametrize("path", ["/retrieve", "/recall"])
def test_what_is_not_ones_own_is_not_even_looked_for(client: TestClient, path: str) -> None:
    elsewhere = client.post(path, json=SEARCH | {"namespace": "mill"}, headers=bearer(1))
    assert (elsewhere.status_code, elsewhere.json()["field"]) == (403, "namespace")
    assert client.post(path, json=SEARCH, headers=bearer(2)).json()["field"] == "right"


def test_an_id_of_another_tenant_is_answered_as_one_that_is_none(client: TestClient) -> None:
    other, unknown = HERS.replace("0001", "0003"), client.get(f"/memories/{THEIRS}", headers=bearer(1))
    none = client.get(f"/memories/{other}", headers=bearer(1))
    assert (unknown.status_code, unknown.text) == (404, none.text.replace(other, THEIRS))
    assert unknown.headers == none.headers
    assert client.get(f"/memories/{HERS}", headers=bearer(1)).status_code == 200


def test_a_right_is_asked_for_before_the_request_is_read(client: TestClient) -> None:
    headers = bearer(2) | {"Content-Type": "application/json"}
    assert client.post("/search", content=b"{", headers=headers).status_code == 403


def test_what_changes_in_the_file_counts_at_once(client: TestClient, service: Service, file: Path) -> None:
    assert client.get(f"/memories/{HERS}", headers=bearer(1)).status_code == 200
    file.write_bytes(access.dump(access.load(file.read_bytes()).without("01" * 6, 5)))
    assert client.get(f"/memories/{HERS}", headers=bearer(1)).json()["error"] == "revoked_key"
    for broken in (lambda: file.write_text("{"), file.unlink):
        broken()
        for headers in (bearer(1), {}):
            shut = client.get(f"/memories/{HERS}", headers=headers)
            assert (shut.status_code, shut.json()["error"]) == (503, "unavailable")
            assert str(file) not in shut.text
        ready = client.get("/readyz")
        assert (ready.status_code, ready.json()["access"]) == (503, "keys") and ready.json()["keys"]
    assert str(file) not in ready.text
    stored(file, (1, ("read",), ("*",)))
    assert client.get(f"/memories/{THEIRS}", headers=bearer(1)).status_code == 200
    service.uses.fails = "no broker at 10.0.0.7:9092"
    assert "10.0.0.7" in client.get("/readyz", headers=bearer(1)).json()["kafka"]
    for unknown in ({}, bearer(9)):
        ready = client.get("/readyz", headers=unknown)
        assert ready.status_code == 503 and ready.json()["kafka"] and "10.0.0.7" not in ready.text
    service.uses.fails = ""
    assert client.get("/readyz").json()["keys"] == ""


def test_what_is_wrong_in_the_file_is_for_the_log_and_not_for_strangers(
    client: TestClient, file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file.write_text(file.read_text().replace('"greenhouse"', '"secret project"'))
    for path in (f"/memories/{HERS}", "/memories/x", "/readyz", "/readyz"):
        answer = client.get(path)
        assert answer.status_code == 503
        assert "secret project" not in answer.text and str(file) not in answer.text
    assert [("secret project" in line, str(file) in line) for line in caplog.messages] == [(True, True)]


def test_without_keys_it_is_open_and_says_so_until_there_are_some(service: Service, file: Path) -> None:
    file.unlink()
    service.door = Door(file)
    client = client_of(service)
    assert client.get("/readyz").json()["access"] == "everyone"
    assert client.get(f"/memories/{THEIRS}").status_code == 200
    stored(file, (1, ("read",), ("greenhouse",)))
    assert client.get(f"/memories/{THEIRS}").status_code == 401
    assert client.get("/readyz").json()["access"] == "keys"


def test_a_file_that_holds_no_keys_opens_nothing(file: Path) -> None:
    file.write_text("[]")
    with pytest.raises(AccessError, match=r"api-keys\.json: no file of API keys"):
        Door(file)
    file.unlink()
    door = Door(file)
    file.write_text("[]")
    for _ in range(2):
        with pytest.raises(Locked):
            door.enter(None)
    assert not door.open


@pytest.mark.parametrize("host", ["0.0.0.0", "192.0.2.1", "::", "example.org"])
def test_beyond_this_machine_it_is_not_served_without_a_key(codec: Codec, file: Path, host: str) -> None:
    given: dict[str, Any] = {"memory_dsn": "", "bootstrap": "", "genesis": genesis.make(), "codec": codec}
    for expired in (False, True):
        if expired:
            stored(file, (1, ("read",), ("*",)), expires_at=2)
        with pytest.raises(serving.Unguarded, match="memquorum admin keys add"):
            serving.run(**given, encoder=HashingEncoder(), host=host, port=0, keys=file)


def test_that_it_is_open_stands_in_the_log(
    codec: Codec, file: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serving._Server, "run", lambda _: None)
    given: dict[str, Any] = {"memory_dsn": "", "bootstrap": "", "genesis": genesis.make(), "codec": codec}
    with caplog.at_level(logging.INFO, "memquorum.retrieval"):
        serving.run(**given, encoder=HashingEncoder(), host="127.0.0.1", port=7, keys=file)
    assert "whoever reaches 127.0.0.1:7 on this machine may do everything" in caplog.text
    caplog.clear()
    stored(file, (1, ("read",), ("*",)))
    with caplog.at_level(logging.INFO, "memquorum.retrieval"):
        serving.run(**given, encoder=HashingEncoder(), host="127.0.0.1", port=7, keys=file)
    assert "API keys are in force" in caplog.text
