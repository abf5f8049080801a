"""What mem0's calls do with what was not added by them."""

from __future__ import annotations

from typing import Any, cast

import pytest

from memquorum.client.errors import Invalid, NotFound
from memquorum.client.memory import AsyncMemory
from memquorum.core.api.answers import Shown
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


async def test_what_came_another_way_is_not_hidden() -> None:
    speaker = Speaker()
    calls = Calls(lambda _: cast(AsyncMemory, speaker))
    for ask in (calls.delete("m"), calls.update("m", text="It leaks no more.")):
        with pytest.raises(Invalid, match="members vote"):
            await ask
    assert speaker.did == []
    assert (await calls.get("m"))["memory"] == "The pump leaks."
