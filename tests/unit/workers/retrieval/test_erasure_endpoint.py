"""Erasures over HTTP: none by mistake, and none of another tenant's memories."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec import convert
from starlette.testclient import TestClient

from db.erasure_rows import Named
from memquorum import topics
from memquorum.client import orders
from memquorum.core import access
from memquorum.core.api.answers import Erasure
from memquorum.core.api.endpoints import WAIT_MS
from memquorum.core.avro import Codec
from memquorum.core.orders.erase import ERASURE
from memquorum.core.records import ErasedEpisode
from tests.builders.served import GENESIS, HERS, ORDER, REQUESTED, THEIRS, Served, bearer, client_of, make, stored
from workers.retrieval.door import Door

ADA = {"namespace": "greenhouse", "subject": "ada"}


@pytest.fixture
def service(codec: Codec) -> Served:
    return make(codec, Door(None))


@pytest.fixture
def client(service: Served) -> TestClient:
    return client_of(service)


@pytest.mark.parametrize("dry", [{}, {"dry_run": True}, {"dry_run": None}])
def test_everything_that_would_go_is_shown_and_nothing_goes(
    client: TestClient, service: Served, dry: dict[str, Any]
) -> None:
    told = client.post("/orders/erase", json=ADA | dry).json()
    assert (told["status"], told["dry_run"], told["memories"], told["episodes"]) == ("nothing ordered", True, 1, 2)
    bare = {"summary": None, "sent_to": []}
    assert told["going"] == [
        {"memory_id": HERS, "was": "short-term", "agent": "a", "created": 1, "because": None} | bare,
        {"memory_id": THEIRS, "was": "dropped", "agent": None, "created": None, "because": HERS} | bare,
    ]
    stays = {"memory_id": ORDER, "agent": "bob", "created": 2, "why": "another agent said it: bob"}
    assert (told["staying"], told["staying_more"]) == ([stays], 0)
    assert service.sent == []
    less = client.post("/orders/erase", json=ADA | dry | {"listed": 1}).json()
    assert (len(less["going"]), less["more"], less["episodes"]) == (1, 1, 2)


def test_what_becomes_of_summaries_is_shown_beforehand(
    client: TestClient, service: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    going = [
        Named(ErasedEpisode(i, "short-term", b"c", fate), "consolidator", 1, None)
        for i, fate in ((HERS, "anew"), (THEIRS, "few"))
    ]

    async def summaries(*_: object) -> list[Named]:
        return going

    monkeypatch.setattr(service.reads, "taken", summaries)
    told = client.post("/orders/erase", json=ADA).json()
    assert (told["summaries"], told["anew"]) == (2, 1)
    assert [one["summary"] for one in told["going"]] == ["anew", "few"]


def test_to_whom_it_had_been_sent_is_shown_beforehand(
    client: TestClient, service: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    hosts = {HERS: ("b.example.org", "a.example.org"), THEIRS: ("a.example.org",), ORDER: ()}

    async def sent(*_: object) -> list[Named]:
        return [
            Named(ErasedEpisode(i, "sealed", b"c", None, of), "ada", 1_000, None) for i, of in sorted(hosts.items())
        ]

    monkeypatch.setattr(service.reads, "taken", sent)
    # Unlisted memories had been sent too.
    told = client.post("/orders/erase", json=ADA | {"listed": 1}).json()
    assert told["recipients"] == ["a.example.org", "b.example.org"]
    assert [one["sent_to"] for one in told["going"]] == [list(of) for _, of in sorted(hosts.items())[:1]]
    said = "\n".join(orders.lines(convert(told, Erasure)))
    assert "  something of it was sent to b.example.org, to a model there: tell them of the erasure" in said
    listed = client.post("/orders/erase", json=ADA).json()
    assert f"{THEIRS}  sealed, by ada, 1970-01-01 00:00:01 UTC; sent to a.example.org" in "\n".join(
        orders.lines(convert(listed, Erasure))
    )


def test_an_order_is_signed_and_waited_for(client: TestClient, service: Served, codec: Codec) -> None:
    answer = client.post("/orders/erase", json=ADA | {"dry_run": False, "reference": "ticket-7"})
    told = answer.json()
    assert (answer.status_code, told["status"], told["dry_run"]) == (200, "erased", False)
    ((topic, _, data),) = service.sent
    signed, order = ERASURE.opened(codec, GENESIS, data)
    assert (topic, signed.signer) == (topics.ERASURES, "service:erasure")
    assert (order.namespace, order.selector, order.value) == ("greenhouse", "subject", "ada")
    assert (order.ordered_by, order.reference) == ("whoever is on this machine", "ticket-7")
    assert len(told["staying"]) == 1, "as of the look before the order"
    after = client.get(f"/orders/{order.order_id}").json()
    assert (after["kind"], after["status"], after["reference"]) == ("erase", "erased", "ticket-7")
    counts = ("memories", "episodes", "summaries", "anew", "recipients")
    assert after["took"] == {name: told[name] for name in (*counts, "first_seq", "residue_until")}


def test_what_stays_and_names_the_person_is_shown_to_who_may_read(
    client: TestClient, codec: Codec, tmp_path: Path
) -> None:
    found = [{"memory_id": REQUESTED, "agent": "bob", "created": 3, "why": "it names ada"}]
    told = client.post("/orders/erase", json=ADA).json()
    assert (told["naming"], told["naming_count"]) == (found, 1)
    said = "\n".join(orders.lines(convert(told, Erasure)))
    assert "stays and has the name in its words, 1 memory: erase by id" in said and f"  {REQUESTED}  by bob" in said
    none = client.post("/orders/erase", json=ADA | {"listed": 0}).json()
    assert (none["naming"], none["naming_count"]) == ([], 1)
    assert "  and 1 more" in "\n".join(orders.lines(convert(none, Erasure)))
    done = client.post("/orders/erase", json=ADA | {"dry_run": False}).json()
    assert (done["status"], done["naming"]) == ("erased", found), "as of the look before the order"
    for selector in ({"source": "ada"}, {"memory_id": HERS}):
        other = client.post("/orders/erase", json={"namespace": "greenhouse", **selector}).json()
        assert (other["naming"], other["naming_count"]) == ([], None)
    stored(tmp_path / "keys.json", (1, ("erase",), ("greenhouse",)), (2, ("erase", "read"), ("greenhouse",)))
    client = client_of(make(codec, Door(tmp_path / "keys.json")))
    blind, seeing = (client.post("/orders/erase", json=ADA, headers=bearer(key)).json() for key in (1, 2))
    assert (blind["naming"], blind["naming_count"]) == ([], None), "or names could be tried out against texts"
    assert "a key with the right `read` is shown them" in "\n".join(orders.lines(convert(blind, Erasure)))
    assert seeing["naming"] == found


@pytest.mark.parametrize("said", ["Zo\u00eb", "Zoe\u0308"])
def test_either_spelling_takes_what_lies_under_both(
    client: TestClient, service: Served, codec: Codec, monkeypatch: pytest.MonkeyPatch, said: str
) -> None:
    """A path that an earlier release stored as it came takes an order of its own: an order takes exactly
    what it names.
    """
    found = {"Zo\u00eb": HERS, "Zoe\u0308": THEIRS}

    async def taken(_: object, __: str, selector: str, value: str) -> list[Named]:
        assert selector == "subject"
        return [Named(ErasedEpisode(found[value], "short-term", b"c"), "ann", 1, None)] if value in found else []

    monkeypatch.setattr(service.reads, "taken", taken)
    asked = {"namespace": "greenhouse", "subject": said}
    shown = client.post("/orders/erase", json=asked).json()
    assert ([one["memory_id"] for one in shown["going"]], shown["memories"]) == ([HERS, THEIRS], 2)
    told = client.post("/orders/erase", json=asked | {"dry_run": False}).json()
    ordered = [ERASURE.opened(codec, GENESIS, data)[1] for _, _, data in service.sent]
    assert [one.value for one in ordered] == list(found)
    assert [one.order_id for one in ordered] == [told["order_id"], *told["also"]]
    assert told["status"] == "erased"
    del found["Zoe\u0308"]
    service.sent.clear()
    assert client.post("/orders/erase", json=asked | {"dry_run": False}).json()["also"] == []
    assert [ERASURE.opened(codec, GENESIS, data)[1].value for _, _, data in service.sent] == ["Zo\u00eb"]


def test_what_is_not_carried_out_in_time_is_said_so(client: TestClient, service: Served) -> None:
    service.carries_out = False
    answer = client.post("/orders/erase?wait_ms=0", json={"everything": True, "dry_run": False})
    assert (answer.status_code, answer.json()["status"]) == (202, "ordered")
    missing = client.get(f"/orders/{answer.json()['order_id']}")
    assert (missing.status_code, missing.json()["field"]) == (404, "order_id")


def test_who_ordered_what_was_withheld_is_told_at_once_and_what_to_do(client: TestClient, service: Served) -> None:
    """A hold that came in between the look and the order."""
    service.withholds = True
    answer = client.post("/orders/erase", json=ADA | {"dry_run": False})
    told = answer.json()
    assert (answer.status_code, told["status"], told["dry_run"]) == (200, "withheld", False)
    assert "hold" in told["why"] and "anew" in told["why"]
    assert HERS not in answer.text
    again = client.get(f"/orders/{told['order_id']}")
    assert (again.status_code, again.json()["status"], again.json()["why"]) == (200, "withheld", told["why"])


@pytest.mark.parametrize(
    ("asked", "field"),
    [
        ({}, None),
        ({"subject": "ada", "agent": "bob"}, None),
        ({"subject": "ada", "everything": True}, None),
        ({"everything": False}, None),
        ({"types": ["episodic"]}, "before"),
        ({"subject": "ada", "types": ["episodic"]}, "before"),
        ({"subject": "ada", "before": 5}, None),
        ({"before": 5, "types": ["dreams"]}, "types"),
        ({"before": -1}, "before"),
        ({"before": 2**60}, "before"),
        ({"before": 4_000_000_000_000}, "before"),
        ({"before": "yesterday"}, "before"),
        ({"subject": ""}, "subject"),
        ({"memory_id": "7"}, "memory_id"),
        ({"source": "\0"}, "source"),
        ({"agent": "x" * 129}, "agent"),
        ({"subject": "ada", "namespace": "a/b"}, "namespace"),
        ({"subject": "ada", "reference": " "}, "reference"),
        ({"subject": "ada", "listed": 1_001}, "listed"),
        ({"subject": "ada", "dry_run": "no"}, "dry_run"),
    ],
)
def test_what_names_nothing_or_two_things_is_refused(
    client: TestClient, service: Served, asked: dict[str, Any], field: str | None
) -> None:
    answer = client.post("/orders/erase", json=asked | {"dry_run": asked.get("dry_run", False)})
    assert (answer.status_code, answer.json()["field"]) == (400, field)
    assert service.sent == []


def test_without_its_key_the_service_shows_and_does_not_order(codec: Codec) -> None:
    service = make(codec, Door(None), seed=None)
    client = client_of(service)
    assert client.post("/orders/erase", json=ADA).json()["episodes"] == 2
    answer = client.post("/orders/erase", json=ADA | {"dry_run": False})
    assert (answer.status_code, answer.json()["error"]) == (400, "not_entitled")
    assert "memquorum admin memories erase" in answer.json()["detail"]
    assert service.sent == []


@pytest.mark.parametrize(
    ("rights", "spaces", "status"),
    [
        (("erase",), ("greenhouse",), 200),
        (("erase",), ("mill",), 403),
        (("read", "publish", "forget", "audit"), ("*",), 403),
    ],
)
def test_only_who_has_the_right_there_sees_or_orders(
    codec: Codec, tmp_path: Path, rights: tuple[str, ...], spaces: tuple[str, ...], status: int
) -> None:
    stored(tmp_path / "keys", (1, rights, spaces))
    service = make(codec, Door(tmp_path / "keys"))
    client = client_of(service)
    for dry_run in (True, False):
        answer = client.post("/orders/erase", json=ADA | {"dry_run": dry_run}, headers=bearer(1))
        assert answer.status_code == status, answer.text
    assert len(service.sent) == (status == 200)
    if service.sent:
        assert ERASURE.opened(codec, GENESIS, service.sent[0][2])[1].ordered_by == f"key {'01' * 6}"
    assert client.post("/orders/erase", json=ADA).status_code == 401


@pytest.mark.parametrize(("spaces", "status"), [(("greenhouse",), 200), (("mill",), 404)])
def test_an_order_of_another_tenant_is_one_that_never_was(
    codec: Codec, tmp_path: Path, spaces: tuple[str, ...], status: int
) -> None:
    stored(tmp_path / "keys", (1, (access.ERASE,), spaces))
    client = client_of(make(codec, Door(tmp_path / "keys")))
    assert client.get(f"/orders/{ORDER}", headers=bearer(1)).status_code == status


@pytest.mark.parametrize(
    ("rights", "order_id", "status"),
    [
        (("erase",), ORDER, 200), (("erase",), REQUESTED, 403),
        (("forget",), ORDER, 403), (("forget",), REQUESTED, 200),
        (("audit",), ORDER, 200), (("audit",), REQUESTED, 200), (("read", "publish"), ORDER, 403),
    ],
)  # fmt: skip
def test_an_order_is_told_to_who_may_give_such_a_one_or_audits(
    codec: Codec, tmp_path: Path, rights: tuple[str, ...], order_id: str, status: int
) -> None:
    stored(tmp_path / "keys", (1, rights, ("greenhouse",)))
    client = client_of(make(codec, Door(tmp_path / "keys")))
    assert client.get(f"/orders/{order_id}", headers=bearer(1)).status_code == status


def test_the_wait_is_bounded(client: TestClient) -> None:
    assert client.post("/orders/erase?wait_ms=60001", json=ADA).json()["field"] == "wait_ms"
    assert WAIT_MS <= 60_000


@pytest.mark.parametrize(
    ("asked", "value"),
    [
        ({"types": ["task", "episodic"]}, "episodic,task before 2023-11-14T22:13:20.000Z"),
        ({}, "episodic,semantic,social,task before 2023-11-14T22:13:20.000Z"),
    ],
)
def test_an_age_names_types_and_a_moment(
    client: TestClient, service: Served, codec: Codec, asked: dict[str, Any], value: str
) -> None:
    aged = {"namespace": "greenhouse", "before": 1_700_000_000_000} | asked
    told = client.post("/orders/erase", json=aged).json()
    assert (told["status"], told["selector"], told["value"]) == ("nothing ordered", "age", value)
    assert service.sent == []
    client.post("/orders/erase", json=aged | {"dry_run": False})
    _, order = ERASURE.opened(codec, GENESIS, service.sent[0][2])
    assert (order.selector, order.value, order.rule) == ("age", value, None)
