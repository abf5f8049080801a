"""API keys over HTTP: an admin lists, makes and revokes them as far as its own key goes, and reads nothing by that."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from memquorum.core.avro import Codec
from tests.builders.served import HERS, SEARCH, bearer, client_of, make, stored
from workers.retrieval import keyfile
from workers.retrieval.door import Door

ADMIN, BOTH, READS, OF_MILL = 1, 2, 3, 4


@pytest.fixture
def file(tmp_path: Path) -> Path:
    stored(
        tmp_path / "keys.json",
        (ADMIN, ("admin",), ("greenhouse", "team-*")),
        (BOTH, ("read", "admin"), ("greenhouse", "team-*")),
        (READS, ("read",), ("greenhouse",)),
        (OF_MILL, ("read", "audit"), ("mill",)),
    )
    return tmp_path / "keys.json"


@pytest.fixture
def client(codec: Codec, file: Path) -> TestClient:
    return client_of(make(codec, Door(file)))


def asks(client: TestClient, by: int, **wanted: Any) -> Any:
    body = {"name": "planner", "namespaces": ["greenhouse"], "rights": ["read"], **wanted}
    return client.post("/keys", json=body, headers=bearer(by))


def revokes(client: TestClient, by: int, key: int | str) -> Any:
    return client.post("/keys/revoke", json={"key_id": f"{key:02x}" * 6}, headers=bearer(by))


def test_a_key_is_made_told_once_opens_at_once_and_is_revoked_at_once(
    client: TestClient, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    answer = asks(client, BOTH, days=2)
    told = answer.json()
    assert answer.status_code == 201 and told["made"]["made_by"] == f"{BOTH:02x}" * 6
    assert told["made"]["expires_at"] - told["made"]["created_at"] == 2 * 86_400_000
    key = {"Authorization": f"Bearer {told['key']}"}
    assert client.post("/search", json=SEARCH, headers=key).status_code == 200
    assert client.post("/search", json=SEARCH | {"namespace": "team-b"}, headers=key).status_code == 403
    listed = client.post("/keys/list", json={}, headers=bearer(BOTH)).text
    assert told["made"]["key_id"] in listed and told["key"].split("_", 2)[2] not in listed + caplog.text
    gone = client.post("/keys/revoke", json={"key_id": told["made"]["key_id"]}, headers=bearer(ADMIN))
    assert (gone.status_code, gone.json()["opens"], gone.json()["revoked_by"]) == (200, False, f"{ADMIN:02x}" * 6)
    assert client.post("/search", json=SEARCH, headers=key).json()["error"] == "revoked_key"
    assert "made the key" in caplog.text and "revoked the key" in caplog.text


@pytest.mark.parametrize(
    ("by", "wanted", "field"),
    [
        (READS, {}, "right"),
        (OF_MILL, {"namespaces": ["mill"]}, "right"),
        (ADMIN, {}, "right"),
        (BOTH, {"rights": ["erase"]}, "right"),
        (BOTH, {"namespaces": ["mill"]}, "namespace"),
        (BOTH, {"namespaces": ["*"]}, "namespace"),
    ],
)
def test_what_a_key_may_not_grant_is_refused_and_no_key_is_made(
    client: TestClient, file: Path, by: int, wanted: dict[str, Any], field: str
) -> None:
    before = file.read_bytes()
    answer = asks(client, by, **wanted)
    assert (answer.status_code, answer.json()["field"]) == (403, field)
    assert file.read_bytes() == before


@pytest.mark.parametrize(
    ("wanted", "field"),
    [
        ({"name": " "}, "name"), ({"name": "\u202e"}, "name"), ({"namespaces": []}, "namespaces"),
        ({"namespaces": ["a b"]}, "namespaces"), ({"rights": []}, "rights"), ({"rights": ["write"]}, "rights"),
        ({"slots": ["door"]}, "slots"), ({"days": 0}, "days"), ({"days": 36_501}, "days"), ({"days": "2"}, "days"),
        ({"colour": 1}, "colour"),
    ],
)  # fmt: skip
def test_what_is_no_key_names_its_field(client: TestClient, wanted: dict[str, Any], field: str) -> None:
    answer = asks(client, BOTH, **wanted)
    assert (answer.status_code, answer.json()["field"]) == (400, field), answer.text


def test_keys_of_other_namespaces_are_neither_listed_nor_revoked(client: TestClient, file: Path) -> None:
    listed = client.post("/keys/list", json={}, headers=bearer(ADMIN)).json()["keys"]
    assert [one["key_id"][:2] for one in listed] == ["03", "02", "01"]
    before = file.read_bytes()
    theirs, unknown = revokes(client, ADMIN, OF_MILL), revokes(client, ADMIN, 9)
    assert theirs.status_code == unknown.status_code == 404
    assert theirs.text.replace("04", "09") == unknown.text and file.read_bytes() == before
    for by in (READS, OF_MILL):
        assert client.post("/keys/list", json={}, headers=bearer(by)).status_code == 403
        assert revokes(client, by, READS).status_code == 403


def test_the_list_pages(client: TestClient) -> None:
    first = client.post("/keys/list", json={"limit": 2}, headers=bearer(ADMIN)).json()
    rest = client.post("/keys/list", json={"limit": 2, "cursor": first["next"]}, headers=bearer(ADMIN)).json()
    assert [one["key_id"][:2] for one in first["keys"] + rest["keys"]] == ["03", "02", "01"] and "next" not in rest
    assert client.post("/keys/list", json={"cursor": "x"}, headers=bearer(ADMIN)).json()["field"] == "cursor"


def test_a_key_that_is_only_an_admin_reads_nothing(client: TestClient) -> None:
    for method, path, body in (
        ("POST", "/search", SEARCH), ("POST", "/context", SEARCH), ("GET", f"/memories/{HERS}", None),
        ("GET", f"/memories/{HERS}/explain", None), ("POST", "/memories/list", {"namespace": "greenhouse"}),
        ("POST", "/journal/list", {"namespace": "greenhouse"}), ("GET", "/namespaces/greenhouse", None),
    ):  # fmt: skip
        answer = client.request(method, path, json=body, headers=bearer(ADMIN))
        assert (answer.status_code, answer.json()["field"]) == (403, "right"), path
    assert client.get("/access", headers=bearer(ADMIN)).json()["rights"] == ["admin"]


def test_the_mode_without_keys_makes_none(codec: Codec, tmp_path: Path) -> None:
    client = client_of(make(codec, Door(tmp_path / "keys.json")))
    for path, body in (("", {"name": "a", "namespaces": ["a"], "rights": ["read"]}), ("/list", {}), ("/revoke", {})):
        answer = client.post(f"/keys{path}", json=body)
        assert answer.status_code == 403 and "memquorum admin keys add" in answer.json()["detail"]
    assert not (tmp_path / "keys.json").exists()
    assert "admin" not in client.get("/access").json()["rights"]


def test_an_admin_may_revoke_itself_and_is_out(client: TestClient) -> None:
    assert revokes(client, BOTH, BOTH).status_code == 200
    assert client.post("/keys/list", json={}, headers=bearer(BOTH)).json()["error"] == "revoked_key"


def test_a_file_that_cannot_be_written_is_the_operators_matter(
    client: TestClient, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(*_: object) -> None:
        raise OSError("read-only file system: /secret/place")

    monkeypatch.setattr(keyfile, "write_secret", refuse)
    answer = asks(client, BOTH)
    assert (answer.status_code, answer.json()["error"]) == (400, "not_entitled")
    assert "/secret/place" in caplog.text and "/secret/place" not in answer.text
