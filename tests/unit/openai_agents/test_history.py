"""Items in their order: what keys they are written under, which are read, hidden and used."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from memquorum.client.errors import Invalid
from memquorum.openai_agents import history
from memquorum.openai_agents.history import History
from tests.builders.entries import Kept


def user_message(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


@pytest.fixture
def slots() -> Kept:
    return Kept()


async def test_an_item_is_a_slot_of_its_own_at_the_path_of_the_session(slots: Kept) -> None:
    await History(slots.entries(), "ada/1", "sessions", {"subject": "ada"}).add(
        [user_message("No meat."), user_message("No meat.")]
    )
    assert len(slots.slots) == 2
    for one in slots.written:
        assert (one["explicit"], one["path"], one["subject"]) == (True, "sessions/ada%2F1", "ada")
        assert (one["session"], one["source"], one["role"]) == ("ada%2F1", "sessions/ada%2F1", "user")


async def test_items_come_in_their_order_whatever_the_clock_does(slots: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    first = History(slots.entries(), "s", "sessions", {})
    clock = [2_000_000]
    monkeypatch.setattr(history.time, "time_ns", lambda: clock[0])
    for text in "abc":
        await first.add([user_message(text)])
        clock[0] -= 1_000_000
    second = History(slots.entries(), "s", "sessions", {})
    assert [one["content"] for one in await second.get(None)] == ["a", "b", "c"]
    await second.add([user_message("d"), user_message("e")])
    assert [one["content"] for one in await first.get(None)] == ["a", "b", "c", "d", "e"]
    assert [one["content"] for one in await first.get(2)] == ["d", "e"] and await first.get(0) == []


async def test_who_writes_at_the_same_moment_takes_nobodys_place(slots: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history.time, "time_ns", lambda: 5_000)
    for at in range(5):
        await History(slots.entries(), "s", "sessions", {}).add([user_message(str(at))])
    assert len(await History(slots.entries(), "s", "sessions", {}).get(None)) == 5


async def test_the_last_is_popped_with_all_its_parts(slots: Kept) -> None:
    one = History(slots.entries(), "s", "sessions", {})
    long = {"type": "function_call_output", "output": "x" * 200_000}
    await one.add([user_message("a"), long])
    assert len(slots.slots) == 5
    assert await one.pop() == long and len(slots.slots) == 1
    assert await one.pop() == user_message("a") and await one.pop() is None and slots.slots == {}


async def test_what_is_popped_at_once_is_popped_once(slots: Kept) -> None:
    one = History(slots.entries(), "s", "sessions", {})
    await one.add([user_message(str(at)) for at in range(4)])
    popped = await asyncio.gather(*(one.pop() for _ in range(4)))
    assert [item and item["content"] for item in popped] == ["3", "2", "1", "0"]


async def test_of_an_item_with_a_part_gone_nothing_is_read_and_all_is_cleared(slots: Kept) -> None:
    one = History(slots.entries(), "s", "sessions", {})
    await one.add([user_message("a"), {"output": "x" * 200_000}])
    slots.slots.pop(max(slots.slots))
    assert await one.get(None) == [user_message("a")]
    await one.clear()
    assert slots.slots == {}


async def test_another_session_is_not_seen(slots: Kept) -> None:
    await History(slots.entries(), "ada", "sessions", {}).add([user_message("a")])
    await History(slots.entries(), "deeper", "sessions/ada", {}).add([user_message("b")])
    assert len(await History(slots.entries(), "ada", "sessions", {}).get(None)) == 1
    assert await History(slots.entries(), "ad", "sessions", {}).get(None) == []


async def test_what_is_read_counts_as_used_once_in_a_while(slots: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [1_000.0]
    monkeypatch.setattr(history.time, "monotonic", lambda: clock[0])
    one = History(slots.entries(), "s", "sessions", {})
    await one.add([user_message("a"), user_message("b")])
    await one.get(1)
    assert slots.used == ["id2"]
    await one.get(None)
    assert slots.used == ["id2", "id1"]
    clock[0] += 601
    await one.get(None)
    assert slots.used == ["id2", "id1", "id1", "id2"]


@pytest.mark.parametrize(("session", "below"), [("", "s"), (" a", ""), ("x" * 129, "s"), ("x" * 120, "long-path")])
def test_what_can_be_no_name_is_refused(slots: Kept, session: str, below: str) -> None:
    with pytest.raises(Invalid):
        History(slots.entries(), session, below or "x" * 127, {})
