"""The list of a namespace's memories over HTTP: pages, what they are asked with, and what a key sees."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from memquorum.core.access import Sight
from memquorum.core.avro import Codec
from memquorum.core.retrieval.paging import cursor
from tests.builders.served import HERS, THEIRS, Store, bearer, client_of, make, stored
from workers.retrieval.door import Door

PLACE = cursor("memories", "greenhouse", f"1/{HERS}")
TOLD, TOLD_THEM, UNKNOWN = (f"5f0c8f0e-0000-5000-8000-000000000{n}" for n in (310, 311, 312))


@pytest.fixture
def service(codec: Codec) -> Any:
    return make(codec, Door(None))


def ask(client: Any, **asked: Any) -> Any:
    return client.post("/memories/list", json={"namespace": "greenhouse", **asked})


def test_page_by_page_until_the_end(service: Any) -> None:
    client, behind, times = client_of(service), None, []
    for _ in range(3):
        page = ask(client, limit=1, cursor=behind).json()
        times += [one["occurred_at"] for one in page["memories"]]
        behind = page.get("next")
    assert (times, behind) == ([1, 2, 3], None)
    whole = ask(client).json()
    assert len(whole["memories"]) == 3 and "next" not in whole
    assert (whole["memories"][0]["goals"], whole["memories"][0]["due_at"] > 0) == (["water"], True)


def test_what_is_asked_for_is_asked_of_the_store(service: Any) -> None:
    client = client_of(service)
    assert ask(client, tiers=["sealed"], subjects=["ada"], sessions=["s"], cursor=PLACE).status_code == 200
    store: Store = service.reads
    (asked,) = store.listings
    assert (asked.gates.tiers, asked.gates.subjects, asked.gates.sessions) == (("sealed",), ("ada",), ("s",))
    assert (asked.behind, asked.limit) == ((1, HERS), 100)


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"tiers": ["draft"]}, "tiers"),
        ({"tiers": ["gone"]}, "tiers"),
        ({"tiers": []}, "tiers"),
        ({"limit": 0}, "limit"),
        ({"limit": 1_001}, "limit"),
        ({"cursor": "1"}, "cursor"),
        ({"cursor": cursor("memories", "greenhouse", f"x/{HERS}")}, "cursor"),
        ({"cursor": cursor("memories", "greenhouse", f"{'9' * 16}/{HERS}")}, "cursor"),
        ({"cursor": cursor("memories", "mill", f"1/{HERS}")}, "cursor"),
        ({"subjects": []}, "subjects"),
        ({"subjects": [""]}, "subjects"),
        ({"subject": "ada"}, "subject"),
        ({"sensitivity_max": 2}, "sensitivity_max"),
    ],
)
def test_what_cannot_be_is_refused(service: Any, wrong: dict[str, Any], field: str) -> None:
    refused = ask(client_of(service), **wrong)
    assert (refused.status_code, refused.json()["field"]) == (400, field)
    assert not service.reads.listings


def test_a_key_sees_its_namespaces_alone(codec: Codec, tmp_path: Path) -> None:
    stored(tmp_path / "keys.json", (1, ("read",), ("greenhouse",)), (2, ("publish",), ("*",)))
    client = client_of(make(codec, Door(tmp_path / "keys.json")))
    told = {"namespace": "greenhouse"}
    assert client.post("/memories/list", json=told, headers=bearer(1)).status_code == 200
    assert client.post("/memories/list", json=told, headers=bearer(2)).status_code == 403
    assert client.post("/memories/list", json=told).status_code == 401
    refused = client.post("/memories/list", json={"namespace": "mill"}, headers=bearer(1))
    assert (refused.status_code, refused.json()["field"]) == (403, "namespace")


def test_texts_are_masked_where_that_is_asked(service: Any) -> None:
    service.reads.text = "Ada's number is +49 30 901820."
    assert "901820" not in ask(client_of(service), redact=True).text
    assert "901820" in ask(client_of(service)).text


def test_paths_page_by_page_until_the_end(service: Any) -> None:
    client, behind, found = client_of(service), None, []
    for _ in range(3):
        page = client.post("/memories/paths", json={"namespace": "greenhouse", "limit": 1, "cursor": behind}).json()
        found += page["paths"]
        behind = page.get("next")
    assert (found, behind) == (["plan", "users/ada", "users/bob"], None)


def test_a_slot_shows_what_fills_it_as_the_reader_may_see_it(service: Any) -> None:
    service.reads.text = "Ada's number is +49 30 901820."
    asked = {"namespace": "greenhouse", "key": "door", "path": "users/ada", "sensitivity_max": 0.3}
    client = client_of(service)
    found = client.post("/memories/slot", json=asked)
    assert (found.status_code, found.json()["memory_id"], found.json()["due_at"] > 0) == (200, HERS, True)
    assert "901820" in found.text and "901820" not in client.post("/memories/slot", json=asked | {"redact": True}).text
    assert service.reads.filters[0].sensitivity_max == 300_000
    none = client.post("/memories/slot", json=asked | {"key": "gate"})
    assert (none.status_code, none.json()["field"]) == (404, "key")
    assert "gate" not in none.text, "a key is personal data"


@pytest.mark.parametrize(
    ("address", "wrong", "field"),
    [
        ("slot", {}, "key"),
        ("slot", {"key": ""}, "key"),
        ("slot", {"key": "k", "path": "a//b"}, "path"),
        ("slot", {"key": "k", "sensitivity_max": 2}, "sensitivity_max"),
        ("paths", {"path": "/a"}, "path"),
        ("paths", {"cursor": cursor("paths", "greenhouse", "a/")}, "cursor"),
        ("paths", {"limit": 0}, "limit"),
        ("paths", {"limit": 1_001}, "limit"),
        ("paths", {"purpose": "  "}, "purpose"),
    ],
)
def test_what_is_no_slot_or_page_of_paths_is_refused(
    service: Any, address: str, wrong: dict[str, Any], field: str
) -> None:
    refused = client_of(service).post(f"/memories/{address}", json={"namespace": "greenhouse", **wrong})
    assert (refused.status_code, refused.json()["field"]) == (400, field)


@pytest.mark.parametrize(("address", "more"), [("slot", {"key": "door"}), ("paths", {})])
def test_a_key_sees_slots_and_paths_of_its_namespaces_alone(
    codec: Codec, tmp_path: Path, address: str, more: dict[str, Any]
) -> None:
    stored(tmp_path / "keys.json", (1, ("read",), ("greenhouse",)), (2, ("publish",), ("*",)))
    client = client_of(make(codec, Door(tmp_path / "keys.json")))
    address, told = f"/memories/{address}", {"namespace": "greenhouse", **more}
    assert client.post(address, json=told, headers=bearer(1)).status_code == 200
    assert client.post(address, json=told, headers=bearer(2)).status_code == 403
    refused = client.post(address, json=told | {"namespace": "mill"}, headers=bearer(1))
    assert (refused.status_code, refused.json()["field"]) == (403, "namespace")


class Echoing(Store):
    """One episode reinforced hers, and another one theirs."""

    async def echoed(self, _: Sight, memory_id: str) -> str | None:
        return {TOLD: HERS, TOLD_THEM: THEIRS}.get(memory_id)


@pytest.mark.parametrize("way", ["", "/explain"])
def test_an_id_that_was_told_of_what_was_known_names_the_memory_that_its_reader_may_see(
    codec: Codec, tmp_path: Path, way: str
) -> None:
    stored(tmp_path / "keys.json", (1, ("read",), ("greenhouse",)))
    service = make(codec, Door(tmp_path / "keys.json"))
    service.reads = Echoing()  # type: ignore[assignment]
    client = client_of(service)
    named, hidden, unknown = (
        client.get(f"/memories/{one}{way}", headers=bearer(1)) for one in (TOLD, TOLD_THEM, UNKNOWN)
    )
    assert {one.status_code for one in (named, hidden, unknown)} == {404}
    assert HERS in named.json()["detail"] and "reinforced" in named.json()["detail"]
    assert hidden.json()["detail"].replace(TOLD_THEM, UNKNOWN) == unknown.json()["detail"]


@pytest.mark.parametrize("way", ["", "/explain"])
def test_in_another_namespace_it_says_where_the_memory_is_only_to_who_may_read_there(
    codec: Codec, tmp_path: Path, way: str
) -> None:
    stored(tmp_path / "keys.json", (1, ("read",), ("greenhouse", "plant")), (2, ("read",), ("plant",)))
    service = make(codec, Door(tmp_path / "keys.json"))
    service.reads = Echoing()  # type: ignore[assignment]
    client = client_of(service)

    def told(memory: str, key: int) -> str:
        answer = client.get(f"/memories/{memory}{way}", params={"namespace": "plant"}, headers=bearer(key))
        assert answer.status_code == 404
        detail: str = answer.json()["detail"]
        return detail

    if not way:  # the double has no account of a memory
        assert told(HERS, 1) == f"no memory {HERS} in 'plant': it is in 'greenhouse'"
    for memory, key in ((HERS, 2), (TOLD, 1), (TOLD, 2)):
        assert told(memory, key) == told(UNKNOWN, key).replace(UNKNOWN, memory), (memory, key)
