"""The refusals that the service keeps: bounded, found by digests, told to a key with rights for that event."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from memquorum import topics
from memquorum.core import ids
from memquorum.core.access import RIGHTS, Sight
from memquorum.core.avro import Codec
from memquorum.core.identity import stamps
from memquorum.core.records import IntakeRefused
from tests.builders.served import bearer, client_of, make, stored
from workers.retrieval import memories
from workers.retrieval.door import Door
from workers.retrieval.refusals import Asked, Following, Refusals
from workers.retrieval.service import Service

TOPIC = "memory.episode.recorded.v1"


def letter(
    event_id: str = "e1", offset: int = 0, *, namespace: str = "greenhouse", agent: str | None = "planner",
    reason: str = "over_quota", detail: str = "20 episodes a minute; publish it again later",
) -> IntakeRefused:  # fmt: skip
    return IntakeRefused(
        TOPIC, 1, offset, reason, detail, 1_750_000_000_000, "k", b"sealed", "namespace",
        event=ids.event_digest(namespace, event_id),
        publisher=None if agent is None else ids.event_digest(namespace, event_id, agent),
    )  # fmt: skip


def place(offset: int) -> str:
    return f"{TOPIC}/1/{offset}"


def place_of(refusals: Refusals, *asked: Any) -> str | None:
    found = refusals.find(Asked(*asked))
    return None if found is None else found.place


def test_a_refusal_is_found_by_who_knows_namespace_and_event() -> None:
    refusals = Refusals()
    refusals.take(letter())
    assert place_of(refusals, "greenhouse", "e1") == place(0)
    assert place_of(refusals, "greenhouse", "e1", "planner") == place(0)
    for other in (("mill", "e1"), ("greenhouse", "e2"), ("greenhouse", "e1", "stranger"), ("greenhouse:", "e1")):
        assert place_of(refusals, *other) is None, other


class Message:
    """A record of the dead letters, as a consumer gives it."""

    def __init__(self, value: bytes, stamp: bytes | None) -> None:
        self._value, self._headers = value, [] if stamp is None else [(stamps.HEADER, stamp)]

    def topic(self) -> str:
        return topics.REFUSED

    def partition(self) -> int:
        return 0

    def offset(self) -> int:
        return 7

    def value(self) -> bytes:
        return self._value

    def headers(self) -> list[tuple[str, bytes]]:
        return self._headers


def test_a_letter_that_a_stranger_wrote_refuses_nobody(codec: Codec) -> None:
    writer = stamps.Writer(b"k" * 32, 4)
    following = Following("nowhere:1", 4, codec, writer.reader(), lambda _: None)
    value = codec.encode(letter())
    read: Any = [following._letter(Message(value, one)) for one in (writer.stamp(topics.REFUSED, 0, value), None, b"x")]
    assert read == [letter(), None, None]


def test_a_letter_that_names_no_event_is_not_kept() -> None:
    refusals = Refusals()
    refusals.take(IntakeRefused(TOPIC, 1, 0, "bad_json", "not JSON", 1, "k", b""))
    assert len(refusals) == 0


def test_whoever_names_the_place_is_told_of_that_record_alone() -> None:
    """Published again under the same id, an event is not taken for refused because it was before."""
    refusals = Refusals()
    refusals.take(letter(offset=3))
    assert place_of(refusals, "greenhouse", "e1", "planner", place(3)) == place(3)
    assert place_of(refusals, "greenhouse", "e1", "planner", place(7)) is None
    assert place_of(refusals, "mill", "e1", "planner", place(3)) is None
    refusals.take(letter(offset=7))
    assert place_of(refusals, "greenhouse", "e1") == place(7)
    assert place_of(refusals, "greenhouse", "e1", "planner", place(3)) == place(3)


def test_a_stranger_who_names_the_same_event_is_not_the_one_who_is_refused() -> None:
    refusals = Refusals()
    refusals.take(letter(agent="stranger"))
    assert place_of(refusals, "greenhouse", "e1", "planner") is None
    refusals.take(letter(agent=None))
    assert place_of(refusals, "greenhouse", "e1", "planner") is None


def test_the_newest_are_kept_and_no_more() -> None:
    refusals = Refusals(most=10)
    for number in range(25):
        refusals.take(letter(f"e{number}", number))
    assert [number for number in range(25) if place_of(refusals, "greenhouse", f"e{number}")] == list(range(15, 25))
    assert len(refusals) == 30


def test_what_a_letter_says_is_cut_so_that_memory_is_bounded() -> None:
    refusals = Refusals()
    refusals.take(letter(detail="x" * 100_000))
    found = refusals.find(Asked("greenhouse", "e1"))
    assert found is not None and len(found.detail) == 2_000


async def test_who_waits_wakes_when_the_refusal_comes() -> None:
    refusals = Refusals()
    asked = [Asked("greenhouse", "e1"), Asked("greenhouse", "e1", "planner"), Asked("greenhouse", "e1", None, place(0))]
    others = [Asked("mill", "e1", None, place(0)), Asked("greenhouse", "e1", "stranger"), Asked("greenhouse", "e2")]
    waiting = [asyncio.create_task(refusals.wait(one, 60)) for one in (*asked, *others)]
    await asyncio.sleep(0)
    refusals.take(letter())
    async with asyncio.timeout(10):
        found = await asyncio.gather(*waiting[: len(asked)])
    assert [one and one.place for one in found] == [place(0)] * len(asked)
    assert not any(one.done() for one in waiting[len(asked) :])
    for one in waiting:
        one.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)
    assert refusals._waiting == {}, "whoever goes is not kept"


@pytest.fixture
def service(codec: Codec, tmp_path: Path) -> Service:
    """Keys 1 to 5 have a right each in the greenhouse; key 9 has all of them in the mill."""
    file = tmp_path / "api-keys.json"
    each = ((number, (right,), ("greenhouse",)) for number, right in enumerate(RIGHTS, 1))
    stored(file, *each, (9, RIGHTS, ("mill",)))
    made = make(codec, Door(file))
    made.refusals.take(letter())
    return made


@pytest.fixture
def client(service: Service) -> TestClient:
    return client_of(service)


@pytest.mark.parametrize(("number", "right"), [*enumerate(RIGHTS, 1)])
def test_each_right_is_told_of_a_refusal_or_kept_out(client: TestClient, number: int, right: str) -> None:
    answer = client.get("/events/greenhouse/e1", headers=bearer(number, right))
    if right not in ("read", "publish"):
        assert answer.status_code == 403 and "over_quota" not in answer.text
        return
    found = answer.json()
    assert (found["outcome"], found["reason"], found["field"]) == ("refused", "over_quota", "namespace")
    assert found["detail"] == "20 episodes a minute; publish it again later"


def test_a_refusal_is_told_to_nobody_of_another_namespace(client: TestClient, service: Service) -> None:
    answer = client.get("/events/greenhouse/e1", headers=bearer(9))
    assert answer.status_code == 403 and "quota" not in answer.text
    for query in ("", f"?place={place(0)}", "?agent=planner"):
        found = client.get(f"/events/mill/e1{query}", headers=bearer(9)).json()
        assert (found["outcome"], found["reason"], found["detail"]) == (None, None, None), query


def test_what_the_store_has_wins_over_a_refusal(
    client: TestClient, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def outcomes(_: Sight, events: list[tuple[str, str]]) -> dict[tuple[str, str], dict[str, Any]]:
        return {events[0]: {**memories._NOTHING, "outcome": "reinforced", "agent": "planner"}}

    monkeypatch.setattr(service.reads, "outcomes", outcomes)
    for query in ("", "?wait_ms=5000"):
        found = client.get(f"/events/greenhouse/e1{query}", headers=bearer(1)).json()
        assert (found["outcome"], found["reason"]) == ("reinforced", None)


def test_that_an_id_is_anothers_is_told_as_where_the_store_knows_it(client: TestClient, service: Service) -> None:
    service.refusals.take(letter("e2", 5, reason="taken", detail="publish under another event id"))
    found = client.get("/events/greenhouse/e2?agent=planner", headers=bearer(2)).json()
    assert (found["outcome"], found["detail"]) == ("taken", "publish under another event id")


def test_a_place_that_is_none_is_refused(client: TestClient) -> None:
    answer = client.get("/events/greenhouse/e1?place=somewhere", headers=bearer(1))
    assert (answer.status_code, answer.json()["field"]) == (400, "place")
