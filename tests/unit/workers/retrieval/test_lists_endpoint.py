"""Goals, pins, holds, orders, epochs and members over HTTP: pages, and what a key sees."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest
from starlette.testclient import TestClient

from memquorum.core.access import RIGHTS
from memquorum.core.accounts.pages import LISTS
from memquorum.core.avro import Codec
from memquorum.core.retrieval.paging import cursor
from tests.builders.served import (
    GENESIS,
    HERS,
    ORDER,
    REQUESTED,
    THEIRS,
    Served,
    Store,
    bearer,
    client_of,
    make,
    stored,
)
from tests.builders.shard import NAMESPACE
from workers.retrieval.door import Door

EACH = pytest.mark.parametrize("what", LISTS)
PINNED = (HERS, "pin", ORDER, "key 1", "ticket-7", 6, "service:erasure")
HELD = (HERS, "hold", REQUESTED, "counsel", None, 7, "operator")


@pytest.fixture
def service(codec: Codec) -> Served:
    """In the greenhouse a memory is pinned and held, and two goals need it; the mill's is pinned."""
    made = make(codec, Door(None))
    goals = [(HERS, f"goal:{name}", ORDER, "ada", name, 5, "service:erasure") for name in ("sow", "water")]
    cast(Store, made.reads).protected = [PINNED, HELD, *goals, (THEIRS, *PINNED[1:])]
    return made


def ask(client: TestClient, what: str, **asked: Any) -> Any:
    return client.post(f"/{what}/list", json=asked)


@EACH
def test_pages_follow_each_other_and_each_entry_is_on_one(service: Served, what: str) -> None:
    client, seen, behind = client_of(service), [], None
    while True:
        more = {} if behind is None else {"cursor": behind}
        page = ask(client, what, namespace=NAMESPACE, limit=1, **more).json()
        assert len(page[what]) == 1
        seen += page[what]
        behind = page.get("next")
        if behind is None:
            break
    whole = ask(client, what, namespace=NAMESPACE).json()
    assert whole[what] == seen and "next" not in whole
    assert len(seen) == {"goals": 2, "pins": 1, "holds": 1, "orders": 2, "epochs": 3, "members": 4}[what]


def test_what_each_says(service: Served) -> None:
    client = client_of(service)
    told = {what: ask(client, what, namespace=NAMESPACE).json()[what][0] for what in LISTS}
    assert told["pins"] == {
        "memory_id": HERS, "kind": "pin", "order_id": ORDER, "ordered_by": "key 1", "reference": "ticket-7",
        "accepted_at": 6, "signer": "service:erasure",
    }  # fmt: skip
    assert (told["holds"]["kind"], told["holds"]["ordered_by"]) == ("hold", "counsel")
    lapses = 5 + GENESIS.policy.protection.lapse_ms
    assert told["goals"] == {
        "goal": "sow", "needs": 1, "memory_ids": [HERS], "said_at": 5, "lapses_at": lapses, "ordered_by": ["ada"],
    }  # fmt: skip
    assert (told["orders"]["order_id"], told["orders"]["status"]) == (REQUESTED, "asked")
    assert told["epochs"]["outcomes"] == {"kept": 1}
    assert told["members"]["public_key"] == GENESIS.members[0].public_key.hex()
    page = ask(client, "members", namespace=NAMESPACE).json()
    assert (page["shard"], page["config"], page["quorum"], page["faulty"]) == (0, 0, GENESIS.quorum, 1)
    assert ask(client, "members", namespace=NAMESPACE, seated=False).json()["members"] == []
    assert ask(client, "members", namespace=NAMESPACE, roles=["nobody's"]).json()["members"] == []


@EACH
def test_a_key_sees_its_namespaces_alone_and_a_cursor_of_another_leads_nowhere(
    codec: Codec, tmp_path: Path, what: str
) -> None:
    opens = {"goals": {"read", "forget", "audit"}, "pins": {"read", "forget", "audit"}}
    opens["orders"] = {"erase", "forget", "audit"}
    stored(tmp_path / "keys.json", *((at, (right,), (NAMESPACE,)) for at, right in enumerate(RIGHTS, 1)))
    client = client_of(make(codec, Door(tmp_path / "keys.json")))

    def status(key: int, **asked: Any) -> tuple[int, str | None]:
        answer = client.post(f"/{what}/list", json=asked, headers=bearer(key))
        return answer.status_code, answer.json().get("field")

    for at, right in enumerate(RIGHTS, 1):
        may = right in opens.get(what, {"read", "audit"})
        assert status(at, namespace=NAMESPACE)[0] == (200 if may else 403), right
        assert status(at, namespace="mill") == (403, "namespace" if may else "right")
    place: str | int = "sow" if what == "goals" else 1
    assert status(5, namespace=NAMESPACE, cursor=cursor(what, "mill", place)) == (400, "cursor")


@pytest.mark.parametrize("what", ["epochs", "members"])
def test_a_whole_shard_is_for_who_audits_all_namespaces(codec: Codec, tmp_path: Path, what: str) -> None:
    keys = (1, ("audit",), (NAMESPACE,)), (2, ("read",), ("*",)), (3, ("audit",), ("*",))
    stored(tmp_path / "keys.json", *keys)
    client = client_of(make(codec, Door(tmp_path / "keys.json")))
    answers = [client.post(f"/{what}/list", json={"shard": 2}, headers=bearer(key)) for key in (1, 2, 3)]
    assert [(one.status_code, one.json().get("field")) for one in answers] == [
        (403, "namespace"), (403, "right"), (200, None),
    ]  # fmt: skip
    told = answers[2].json()
    assert told["shard"] == 2 and told[what] and "namespace" not in told


def test_orders_of_a_kind_that_a_key_may_not_give_are_refused(codec: Codec, tmp_path: Path) -> None:
    stored(tmp_path / "keys.json", (1, ("erase",), ("*",)))
    client = client_of(make(codec, Door(tmp_path / "keys.json")))
    refused = client.post("/orders/list", json={"kinds": ["protect"]}, headers=bearer(1))
    assert (refused.status_code, refused.json()["field"]) == (403, "right")
