"""mem0's calls on memories that they did not add."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest
from msgspec import structs

from memquorum.client.errors import Invalid, NotAllowed, NotFound
from memquorum.client.memory import AsyncMemory
from memquorum.core.api.answers import Shown
from memquorum.mcp.calls import Call, Last, document
from memquorum.mem0.calls import Calls

ELSEWHERE = Shown(
    "m", "n", "The pump leaks.", "short-term", "anna", "anna", "e", 1, 1, None, None, None, None, None, None, None,
    None, None, key="gate", path="users/anna",
)  # fmt: skip


class Speaker:
    """Shows one memory that came another way, and notes what it is told to do."""

    def __init__(self) -> None:
        self.did: list[str] = []

    async def slot(self, *_: Any, **__: Any) -> Shown:
        raise NotFound("nothing fills it")

    async def get(self, _: str) -> Shown:
        return ELSEWHERE

    async def clear(self, *_: Any, **__: Any) -> None:
        self.did.append("clear")

    async def add(self, *_: Any, **__: Any) -> None:
        self.did.append("add")


class Slots:
    """Keeps what is added in slots, and takes the same said again with the same attributes as a repetition."""

    def __init__(self) -> None:
        self.there: dict[str, tuple[str, Any]] = {}
        self.outcomes: list[str] = []
        self.added: list[dict[str, Any]] = []

    async def slot(self, key: str, *_: Any, **__: Any) -> Any:
        if key not in self.there:
            raise NotFound("nothing fills it")
        text, attributes = self.there[key]
        return SimpleNamespace(text=text, attributes=attributes)

    async def add_all(self, episodes: list[dict[str, Any]]) -> list[Any]:
        receipts = []
        self.added += episodes
        for one in episodes:
            said = (one["content"], one["attributes"])
            same = self.there.get(one["key"]) == said
            self.there[one["key"]] = said
            receipts.append(SimpleNamespace(outcome="reinforced" if same else "stored"))
        return receipts

    async def outcome(self, receipt: Any) -> Any:
        return receipt


async def test_what_is_said_again_without_metadata_keeps_them() -> None:
    slots = Slots()
    calls = Calls(lambda _: cast(AsyncMemory, slots))
    events = []
    for more in ({"metadata": {"kind": "food"}}, {}, {"metadata": None}, {"metadata": {"kind": "taste"}}):
        (one,) = (await calls.add("Ada eats no meat.", user_id="ada", app_id="menu", **more))["results"]
        events.append(one["event"])
    assert events == ["ADD", "NOOP", "NOOP", "ADD"]
    (key,) = slots.there
    assert slots.there[key][1] == {"kind": "taste", "app_id": "menu"}
    slots.there[key] = ("Ada eats fish.", {"kind": "fish"})  # what says something else is no repetition
    await calls.add("Ada eats no meat.", user_id="ada", app_id="menu")
    assert slots.there[key] == ("Ada eats no meat.", {"app_id": "menu"})


async def test_who_may_only_publish_adds_without_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    async def barred(*_: Any, **__: Any) -> Any:
        raise NotAllowed("no right to read")

    slots = Slots()
    monkeypatch.setattr(slots, "slot", barred)
    (one,) = (await Calls(lambda _: cast(AsyncMemory, slots)).add("Ada eats no meat.", user_id="ada"))["results"]
    assert one["event"] == "ADD"


async def test_what_came_another_way_is_not_hidden() -> None:
    speaker = Speaker()
    calls = Calls(lambda _: cast(AsyncMemory, speaker))
    for ask in (calls.delete("m"), calls.update("m", text="It leaks no more.")):
        with pytest.raises(Invalid, match="members vote"):
            await ask
    assert speaker.did == []
    assert (await calls.get("m"))["memory"] == "The pump leaks."


async def test_of_a_chat_what_has_a_text_is_stored_and_the_rest_left_out() -> None:
    slots = Slots()
    call = {"role": "assistant", "content": None, "tool_calls": [{"id": "1", "function": {"name": "menu"}}]}
    chat = [
        {"role": "system", "content": "You plan the kitchen of the harbour school."},
        {"role": "user", "content": "Ada eats no meat."},
        call,
        {
            "role": "tool",
            "content": [{"type": "text", "text": "Monday: rice."}, {"type": "text", "text": "Tuesday: soup."}],
        },
        {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]},
        {"role": "assistant", "content": "  "},
    ]
    done = await Calls(lambda _: cast(AsyncMemory, slots)).add(chat, user_id="ada", infer=False)
    texts = [text for text, _ in slots.there.values()]
    assert texts == [chat[0]["content"], "Ada eats no meat.", "Monday: rice.\nTuesday: soup."]
    assert [one["role"] for one in done["results"]] == ["system", "user", "tool"]
    assert [one["role"] for one in done["left_out"]] == ["assistant", "user", "assistant"]
    # A role that would be orders to a model is published by nobody who has not signed it.
    assert [one["role"] for one in slots.added] == [None, "user", "tool"]


@pytest.mark.parametrize("messages", [[{"content": {}}], [{"content": [7]}], [7], [{"role": 1, "content": "x"}], []])
async def test_what_is_no_message_is_refused(messages: Any) -> None:
    with pytest.raises(Invalid, match="messages"):
        await Calls(lambda _: cast(AsyncMemory, Slots())).add(messages, user_id="ada")


@pytest.mark.parametrize(
    ("tier", "by", "told"),
    [
        ("superseded", "B", "it is superseded by B: POST /orders/restore asks for it back"),
        ("superseded", None, "it is superseded: POST /orders/restore asks for it back"),
        ("sealed", None, "it is sealed: POST /orders/restore asks for it back"),
        ("gone", None, "it is gone"),
    ],
)
async def test_what_has_no_text_says_by_what_and_how_it_comes_back(
    tier: str, by: str | None, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def gone(*_: Any) -> Shown:
        return structs.replace(ELSEWHERE, text=None, tier=tier, superseded_by=by)

    monkeypatch.setattr(Speaker, "get", gone)
    with pytest.raises(NotFound) as refused:
        await Calls(lambda _: cast(AsyncMemory, Speaker())).get("m")
    assert str(refused.value).endswith(f"no memory m is there any more, {told}")
    call = Call(cast(AsyncMemory, Speaker()), frozenset({"read"}), Last())
    with pytest.raises(NotFound) as refused:
        await document(call, "m")
    back = " restore_memory asks for it back." if tier != "gone" else ""
    state = told.removeprefix("it is ").partition(":")[0]
    assert str(refused.value) == f"memory m is {state}: it has no text.{back} explain_memory tells why"
