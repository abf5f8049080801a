"""Decisions about a namespace's memories over HTTP: pages, their parameters, and what a key sees."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest
from starlette.testclient import TestClient

from memquorum.core.accounts.decisions import PageStart, cursor
from memquorum.core.avro import Codec
from tests.builders import votes
from tests.builders.decided import first_page
from tests.builders.served import GENESIS, Served, Store, bearer, client_of, make, stored
from tests.builders.shard import NAMESPACE, Shard, memory_id
from workers.retrieval.door import Door


@pytest.fixture
def service(codec: Codec) -> Served:
    """Two promotions were voted on in the greenhouse, and a page has one."""
    made, shard = make(codec, Door(None)), Shard(codec, GENESIS)
    for name in "ab":
        shard.episode(name)
        shard.tick(200_000)
        shard.decide([votes.proposal(memory_id(name), "promote")])
    cast(Store, made.reads).decided[NAMESPACE] = first_page(shard, limit=1)
    return made


def ask(client: TestClient, **asked: Any) -> Any:
    return client.post("/decisions/list", json={"namespace": NAMESPACE, **asked})


def test_a_page_has_what_was_decided_and_where_the_next_begins(service: Served) -> None:
    told = ask(client_of(service), limit=1).json()
    (one,) = told["decisions"]
    assert (one["outcome"], one["memories"]) == ("promoted", [{"memory_id": memory_id("b"), "state": "long-term"}])
    assert one["vote"]["yes"] == 4 and one["numbers"][0].startswith("Epoch 2 of shard 0, ")
    assert one["lines"][0].endswith("four of four members agreed that it is worth keeping for long.")
    assert told["next"] == cursor(NAMESPACE, PageStart(2, 0))
    assert ask(client_of(service), cursor=told["next"]).status_code == 200
    assert [one.behind for one in cast(Store, service.reads).wanted] == [None, PageStart(2, 0)]


@pytest.mark.parametrize(("wrong", "field"), [({"kinds": ["x"]}, "kinds"), ({"cursor": "1/x"}, "cursor")])
def test_what_cannot_be_is_refused_before_the_store_is_asked(service: Served, wrong: Any, field: str) -> None:
    refused = ask(client_of(service), **wrong)
    assert (refused.status_code, refused.json()["field"]) == (400, field)
    assert not cast(Store, service.reads).wanted


def test_a_key_sees_its_namespaces_alone_and_a_cursor_of_another_leads_nowhere(codec: Codec, tmp_path: Path) -> None:
    keys = (1, ("read",), (NAMESPACE,)), (2, ("publish",), ("*",)), (3, ("audit",), ("*",))
    stored(tmp_path / "keys.json", *keys)
    client = client_of(make(codec, Door(tmp_path / "keys.json")))

    def asked(namespace: str, key: int | None, **more: Any) -> Any:
        headers = bearer(key) if key else {}
        return client.post("/decisions/list", json={"namespace": namespace, **more}, headers=headers)

    assert [asked(NAMESPACE, key).status_code for key in (1, 2, 3, None)] == [200, 403, 200, 401]
    refused = asked("mill", 1)
    assert (refused.status_code, refused.json()["field"]) == (403, "namespace")
    refused = asked(NAMESPACE, 1, cursor=cursor("mill", PageStart(1, 0)))
    assert (refused.status_code, refused.json()["field"]) == (400, "cursor")
