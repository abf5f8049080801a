"""The list of a namespace's memories over HTTP: pages, what they are asked with, and what a key sees."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from memquorum.core.avro import Codec
from tests.builders.served import HERS, Store, bearer, client_of, make, stored
from workers.retrieval.door import Door

PLACE = f"1/{HERS}"


@pytest.fixture
def service(codec: Codec) -> Any:
    return make(codec, Door(None))


def ask(client: Any, **asked: Any) -> Any:
    return client.post("/memories/list", json={"namespace": "greenhouse", **asked})


def test_page_by_page_until_the_end(service: Any) -> None:
    client, cursor, times = client_of(service), None, []
    for _ in range(3):
        page = ask(client, limit=1, cursor=cursor).json()
        times += [one["occurred_at"] for one in page["memories"]]
        cursor = page.get("next")
    assert (times, cursor) == ([1, 2, 3], None)
    whole = ask(client).json()
    assert len(whole["memories"]) == 3 and "next" not in whole
    assert (whole["memories"][0]["goals"], whole["memories"][0]["due_at"] > 0) == (["water"], True)


def test_what_is_asked_for_is_asked_of_the_store(service: Any) -> None:
    client = client_of(service)
    assert ask(client, tiers=["sealed"], subjects=["ada"], sessions=["s"], cursor=PLACE).status_code == 200
    store: Store = service.reads
    (asked,) = store.listings
    assert (asked.filters.tiers, asked.subjects, asked.filters.sessions) == (("sealed",), ("ada",), ("s",))
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
        ({"cursor": f"x/{HERS}"}, "cursor"),
        ({"cursor": f"{'9' * 16}/{HERS}"}, "cursor"),
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
