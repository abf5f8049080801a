"""Uses that are told over HTTP, and what is read by key: what counts, how often, and for whom."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from memquorum.core import ids
from memquorum.core.avro import Codec
from memquorum.core.records import AccessRecorded
from memquorum.core.retrieval import using
from memquorum.core.retrieval.using import Lately
from memquorum.telemetry.tracing import Hop
from tests.builders.served import HERS, Served, bearer, client_of, make, stored
from workers.retrieval.door import Door

TOLD = {"namespace": "greenhouse", "agent": "ann", "memory_ids": [HERS]}
SLOT = {"namespace": "greenhouse", "key": "k"}


class Kept:
    """Stands for what publishes uses, and takes no more than `room`."""

    def __init__(self, room: int = 10_000) -> None:
        self.room = room
        self.published: list[AccessRecorded] = []

    async def count(
        self, accesses: Sequence[AccessRecorded], _: Hop, *, confirm: bool, asked: Any = None
    ) -> tuple[int, str | None]:
        if len(accesses) > self.room:
            return 0, "no room"
        self.published += accesses
        return len(accesses), None


@pytest.fixture
def service(codec: Codec) -> Served:
    found = make(codec, Door(None))
    found.uses = Kept()  # type: ignore[assignment]
    return found


def published(service: Served) -> list[AccessRecorded]:
    kept: Any = service.uses
    found: list[AccessRecorded] = kept.published
    return found


def test_a_use_that_is_told_is_published(service: Served) -> None:
    answer = client_of(service).post("/memories/uses", json=TOLD | {"memory_ids": [HERS.upper(), HERS]})
    told = answer.json()
    assert (answer.status_code, told["namespace"], told["used"]) == (202, "greenhouse", 1)
    (use,) = published(service)
    assert use == AccessRecorded("ann", (HERS,), "greenhouse", ids.use_event_id("ann", told["event_id"]))


def test_who_repeats_a_request_says_the_same_again(service: Served) -> None:
    client = client_of(service)
    for _ in range(2):
        assert client.post("/memories/uses", json=TOLD | {"event_id": "u1"}).json()["event_id"] == "u1"
    first, again = published(service)
    assert first == again


def test_a_memory_counts_once_a_minute_for_an_agent(service: Served) -> None:
    client = client_of(service)
    used = [client.post("/memories/uses", json=TOLD).json()["used"] for _ in range(3)]
    assert used == [1, 0, 0]
    assert client.post("/memories/uses", json=TOLD | {"agent": "eve"}).json()["used"] == 1
    assert [one.agent for one in published(service)] == ["ann", "eve"]


def test_what_is_read_by_key_counts_where_its_reader_says_so(service: Served) -> None:
    client = client_of(service)
    assert client.post("/memories/slot", json=SLOT).status_code == 200
    assert client.post("/memories/slot", json=SLOT | {"agent": "ann"}).status_code == 200
    assert published(service) == []
    for _ in range(3):
        assert client.post("/memories/slot", json=SLOT | {"agent": "ann", "use": True}).status_code == 200
    assert [(one.agent, one.memory_ids, one.namespace) for one in published(service)] == [
        ("ann", (HERS,), "greenhouse")
    ]
    assert client.post("/memories/slot", json=SLOT | {"key": "gate", "agent": "ann", "use": True}).status_code == 404
    answer = client.post("/memories/slot", json=SLOT | {"use": True})
    assert (answer.status_code, answer.json()["field"]) == (400, "agent")


def test_what_is_read_by_its_id_counts_where_its_reader_says_so(service: Served) -> None:
    client = client_of(service)
    for asked in ({}, {"agent": "ann"}, {"agent": "ann", "use": "false"}):
        assert client.get(f"/memories/{HERS}", params=asked).status_code == 200
    assert published(service) == []
    for _ in range(3):
        assert client.get(f"/memories/{HERS}", params={"agent": "ann", "use": "true"}).status_code == 200
    assert [(one.agent, one.memory_ids, one.namespace) for one in published(service)] == [
        ("ann", (HERS,), "greenhouse")
    ]
    strange = client.get(f"/memories/{HERS}", params={"agent": "eve", "use": "true", "namespace": "mill"})
    assert (strange.status_code, len(published(service))) == (404, 1)
    answer = client.get(f"/memories/{HERS}", params={"use": "true"})
    assert (answer.status_code, answer.json()["field"]) == (400, "agent")


def test_what_is_read_counts_no_more_often_than_a_key_may_use(codec: Codec) -> None:
    """Reads beyond that are answered all the same, as without room."""
    service = make(codec, Door(None))
    service.uses, service.lately = Kept(), Lately(2)  # type: ignore[assignment]
    client = client_of(service)
    for agent in ("ann", "eve", "sam"):
        assert client.get(f"/memories/{HERS}", params={"agent": agent, "use": "true"}).status_code == 200
        assert client.post("/memories/slot", json=SLOT | {"agent": f"{agent} again", "use": True}).status_code == 200
    assert [one.agent for one in published(service)] == ["ann", "ann again"]
    assert client.post("/memories/uses", json=TOLD).status_code == 429, "it is one account"


def test_what_there_is_no_room_for_is_to_be_told_again_and_stops_no_read(codec: Codec) -> None:
    service = make(codec, Door(None))
    service.uses = Kept(room=0)  # type: ignore[assignment]
    client = client_of(service)
    answer = client.post("/memories/uses", json=TOLD | {"event_id": "u1"})
    assert answer.status_code == 503 and answer.headers["retry-after"]
    assert client.post("/memories/slot", json=SLOT | {"agent": "ann", "use": True}).status_code == 200


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"memory_ids": []}, "memory_ids"), ({"memory_ids": [HERS] * 101}, "memory_ids"),
        ({"memory_ids": ["m1"]}, "memory_ids"), ({"memory_ids": None}, "memory_ids"), ({"agent": " a"}, "agent"),
        ({"agent": None}, "agent"), ({"namespace": "!n"}, "namespace"), ({"event_id": ""}, "event_id"),
        ({"uses": 7}, "uses"),
    ],
)  # fmt: skip
def test_what_tells_of_no_use_is_refused_by_name(service: Served, changed: dict[str, Any], field: str) -> None:
    answer = client_of(service).post("/memories/uses", json=TOLD | changed)
    assert (answer.status_code, answer.json()["field"]) == (400, field)
    assert published(service) == []


def test_it_takes_the_right_to_read_there(codec: Codec, tmp_path: Path) -> None:
    file = tmp_path / "api-keys.json"
    stored(file, (1, ("read",), ("greenhouse",)), (2, ("read",), ("mill",)), (3, ("publish",), ("greenhouse",)))
    service = make(codec, Door(file))
    service.uses = Kept()  # type: ignore[assignment]
    client = client_of(service)
    assert client.post("/memories/uses", json=TOLD).status_code == 401
    for number, right in ((2, "read"), (3, "publish")):
        assert client.post("/memories/uses", json=TOLD, headers=bearer(number, right)).status_code == 403
    assert client.post("/memories/uses", json=TOLD, headers=bearer(1, "read")).status_code == 202
    assert len(published(service)) == 1


def test_a_key_tells_of_so_many_uses_a_minute_and_no_more() -> None:
    lately = using.Lately(10)
    assert lately.spend("a", 6, 0.0) and not lately.spend("a", 5, 59.0) and lately.spend("a", 4, 59.0)
    assert lately.spend("b", 10, 59.0), "another key has its own"
    assert lately.spend("a", 10, 60.0)


def test_what_is_kept_in_mind_is_bounded_and_over_after_a_minute() -> None:
    lately = using.Lately(2)
    assert lately.new("n", "a", ("1", "2", "3"), 0.0) == ("1", "2", "3")
    assert lately.new("n", "a", ("1", "2", "3"), 1.0) == ("1",)
    assert lately.new("n", "a", ("3",), 59.0) == () and lately.new("n", "a", ("3",), 60.0) == ("3",)
