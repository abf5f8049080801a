"""The journal for people: its cursors tell a key nothing of others, and its feed brings what is new, once for all."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any, cast

import pytest

from memquorum.core.access import EVERYONE, Caller, Sight
from memquorum.core.accounts.chronicle import Line
from memquorum.core.avro import Codec
from memquorum.core.retrieval.query import BadRequest
from tests.builders.served import SINCE, Store, bearer, client_of, make, stored
from workers.retrieval.door import Door
from workers.retrieval.following import OF_ONE, Cursors, Feed
from workers.retrieval.limits import Busy

MINE, OTHER = (Caller(name, ("*",), frozenset({"read"})) for name in ("010101010101", "020202020202"))
SIGHT = Sight(("greenhouse",))


def line(seq: int) -> Line:
    return Line(seq, SINCE + seq, "decided", "", None, None, seq, {"kept": 1})


# Cursors --------------------------------------------------------------------------------------------------------------


def test_a_cursor_opens_for_its_key_and_namespace_alone() -> None:
    cursors = Cursors(bytes(32))
    cursor = cursors.seal(MINE, "greenhouse", 812)
    assert cursors.open(MINE, "greenhouse", cursor) == 812
    assert Cursors(bytes(32)).open(MINE, "greenhouse", cursor) == 812, "it is good when the service starts again"
    for caller, namespace, of in (
        (OTHER, "greenhouse", cursors),
        (MINE, "mill", cursors),
        (MINE, "greenhouse", Cursors(None)),
    ):
        with pytest.raises(BadRequest) as refused:
            of.open(caller, namespace, cursor)
        assert refused.value.field == "cursor"


@pytest.mark.parametrize("cursor", ["", "a" * 100, "!" * 90, "\u0661" * 70])
def test_what_is_no_cursor_is_refused(cursor: str) -> None:
    with pytest.raises(BadRequest):
        Cursors(None).open(EVERYONE, "greenhouse", cursor)


def test_a_cursor_shows_no_number() -> None:
    cursors = Cursors(None)
    assert len({cursors.seal(MINE, "greenhouse", 5) for _ in range(3)}) == 3, "the same place looks different each time"


# The list -------------------------------------------------------------------------------------------------------------


def test_pages_of_the_journal_follow_each_other(codec: Codec) -> None:
    service = make(codec, Door(None))
    cast(Store, service.reads).lines = [line(seq) for seq in (9, 7, 4)]
    http, asked = client_of(service), {"namespace": "greenhouse", "limit": 2}
    first = http.post("/journal/list", json=asked).json()
    assert [one["epoch"] for one in first["entries"]] == [9, 7]
    assert first["entries"][0]["words"] == "The members decided in epoch 9: 1 kept."
    second = http.post("/journal/list", json=asked | {"cursor": first["next"]}).json()
    assert [one["epoch"] for one in second["entries"]] == [4] and "next" not in second
    assert service.cursors.open(EVERYONE, "greenhouse", first["latest"]) == 9


def test_an_entry_that_cannot_be_read_is_told_as_that(codec: Codec) -> None:
    service = make(codec, Door(None))
    cast(Store, service.reads).lines = [Line(3, SINCE, "stored", "e", None, b"nothing")]
    answer = client_of(service).post("/journal/list", json={"namespace": "greenhouse"})
    assert "cannot be read" in answer.json()["entries"][0]["words"]


# The feed -------------------------------------------------------------------------------------------------------------


def events(text: str) -> list[dict[str, Any]]:
    return [json.loads(one.partition("data: ")[2]) for one in text.split("\n\n") if one.startswith("id: ")]


def test_the_feed_goes_on_after_a_cursor(codec: Codec) -> None:
    service = make(codec, Door(None))
    cast(Store, service.reads).lines = [line(seq) for seq in (9, 7, 4)]
    http = client_of(service)
    assert events(http.get("/journal/greenhouse/feed").text) == [], "without a cursor it begins now"
    after = service.cursors.seal(EVERYONE, "greenhouse", 4)
    answer = http.get(f"/journal/greenhouse/feed?cursor={after}")
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert [one["epoch"] for one in events(answer.text)] == [7, 9], "the oldest first"
    last = answer.text.split("id: ")[-1].partition("\n")[0]
    assert events(http.get(f"/journal/greenhouse/feed?cursor={last}").text) == []


def test_a_feed_of_anothers_namespace_is_refused(codec: Codec, tmp_path: Path) -> None:
    stored(tmp_path / "keys", (1, ("read",), ("greenhouse",)), (2, ("publish",), ("greenhouse",)))
    http = client_of(make(codec, Door(tmp_path / "keys")))
    assert http.get("/journal/mill/feed", headers=bearer(1)).status_code == 403
    assert http.get("/journal/greenhouse/feed", headers=bearer(2)).status_code == 403
    assert http.get("/journal/greenhouse/feed", headers=bearer(1)).status_code == 200


def test_a_key_has_so_many_feeds_and_no_more() -> None:
    feed = Feed(cast(Any, Store()))
    for _ in range(OF_ONE):
        feed.enter(MINE)
    with pytest.raises(Busy):
        feed.enter(MINE)
    feed.enter(OTHER)
    feed.leave(MINE)
    feed.enter(MINE)


async def test_a_notification_wakes_all_who_follow_and_the_store_is_asked_once() -> None:
    store = Store()
    store.lines = [line(5)]
    feed = Feed(cast(Any, store))
    followers = [feed.lines(SIGHT, "greenhouse", 0, 5) for _ in range(5)]
    assert [await anext(one) for one in followers] == [[]] * 5
    waiting = [asyncio.create_task(cast(Any, anext(one))) for one in followers]
    await asyncio.sleep(0)
    store.lines, before = [line(8), line(6), line(5)], len(store.followed)
    feed.heard("1:99")
    feed.heard("0:8")
    for task in waiting:
        assert [one.seq for one in await task] == [6, 8]
    assert len(store.followed) == before + 1, "one question serves all of them"
    for one in followers:
        await one.aclose()


async def test_who_comes_later_is_told_what_lies_between() -> None:
    store = Store()
    store.lines = [line(8), line(6), line(5)]
    feed = Feed(cast(Any, store))
    early, late = feed.lines(SIGHT, "greenhouse", 0, 6), feed.lines(SIGHT, "greenhouse", 0, 4)
    assert [one.seq for one in await anext(early)] == [8]
    assert [one.seq for one in await anext(late)] == [5, 6, 8]
    await early.aclose()
    await late.aclose()
