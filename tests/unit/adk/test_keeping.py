"""A service's publications, queries and erasures."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any, cast

import pytest

from memquorum.adk import keeping
from memquorum.adk.keeping import Keeping
from memquorum.adk.telling import EventText, Whose
from memquorum.client import Contested, Invalid, NotFound, Unreachable
from memquorum.client.entries import Entries

ADA = Whose("host", "ada")
MEMORY_ID = "2e3c7585-47ae-4ec9-a610-30f0026c9b57"


class Asked:
    """Entries that write down what is asked of them. `shown`: the only memory that there is."""

    def __init__(self, **shown: Any) -> None:
        self.written: list[Mapping[str, Any]] = []
        self.only: list[dict[str, Any]] = []
        self.down = False
        self.memory = SimpleNamespace(namespace="n", retrieve=self._retrieve, get=self._get, erase=self._erase)
        self._shown = SimpleNamespace(**{"agent": "host", "subject": "ada", "namespace": "n"} | shown)

    def keeping(self, scope: str = "app", **more: Any) -> Keeping:
        """A service's, over these."""
        return Keeping(cast(Entries, self), scope, **more)

    async def write(self, episodes: Sequence[Mapping[str, Any]]) -> None:
        """Takes them, or cannot."""
        if self.down:
            raise Unreachable("down")
        self.written += episodes

    async def read(self, ask: Callable[[str | None], Awaitable[Any]]) -> Any:
        """What is answered."""
        return await ask(None)

    async def _retrieve(self, query: str, budget_tokens: int, **only: Any) -> Any:
        self.only.append({"query": query, "budget_tokens": budget_tokens} | only)
        return SimpleNamespace(items=())

    async def _get(self, memory_id: str, **_: Any) -> Any:
        if memory_id != MEMORY_ID:
            raise NotFound(memory_id)
        return self._shown

    async def _erase(self, **said: Any) -> Any:
        return said


async def test_an_event_is_published_once_but_again_where_that_failed() -> None:
    asked = Asked()
    service = asked.keeping()
    first, second = EventText("One.", "user", "e1"), EventText("Two.", "host", "e2")
    await service.hear(ADA, "1", [first])
    await service.hear(ADA, "1", [first, second, second])
    assert [one["content"] for one in asked.written] == ["One.", "Two."]
    asked.down = True
    third = EventText("Three.", "user", "e3")
    with pytest.raises(Unreachable):
        await service.hear(ADA, "1", [first, second, third])
    asked.down = False
    await service.hear(ADA, "1", [first, second, third])
    assert [one["content"] for one in asked.written] == ["One.", "Two.", "Three."]


async def test_what_is_known_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keeping, "_KNOWN_MOST", 2)
    asked = Asked()
    service = asked.keeping()
    for at in (1, 2, 3, 3, 1):
        await service.hear(ADA, "1", [EventText(str(at), "user", f"e{at}")])
    assert [one["content"] for one in asked.written] == ["1", "2", "3", "1"]


async def test_a_memory_is_an_explicit_write_and_one_without_words_is_refused() -> None:
    asked = Asked()
    service = asked.keeping(saying={"sensitivity": 0.5, "explicit": False})
    await service.keep(ADA, [EventText("Thanks!", "user", attributes={"kind": "thanks"})])
    (one,) = asked.written
    assert (one["explicit"], one["sensitivity"], one["attributes"]) == (True, 0.5, {"kind": "thanks"})
    with pytest.raises(Invalid):
        await service.keep(ADA, [EventText("More."), EventText(" ")])
    assert len(asked.written) == 1


@pytest.mark.parametrize(
    ("scope", "within"),
    [("app", {"agents": ["host"], "subjects": ["ada"]}), ("user", {"subjects": ["ada"]}), ("namespace", {})],
)
async def test_a_search_keeps_to_its_scope_whatever_else_bounds_it(scope: str, within: dict[str, Any]) -> None:
    asked = Asked()
    service = asked.keeping(scope, only={"redact": True, **{name: ["*"] for name in within}})
    await service.find(ADA, " What does Ada eat?\0", 500, 7)
    assert asked.only == [
        {"query": "What does Ada eat?", "budget_tokens": 500, "k_max": 7, "after": None, "redact": True, **within}
    ]
    assert await service.find(ADA, " \0 ", 500, 7) == () and len(asked.only) == 1


def test_another_scope_is_refused() -> None:
    with pytest.raises(Invalid):
        Asked().keeping("everybody")


@pytest.mark.parametrize(
    ("other", "told"),
    [({"agent": "other"}, "another app or agent wrote it"), ({"subject": "bob"}, "about another user")],
)
async def test_nobody_takes_back_what_is_anothers(other: dict[str, str], told: str) -> None:
    asked = Asked(**other)
    with pytest.raises(Contested, match=f"{MEMORY_ID} stays: .*{told}"):
        await asked.keeping("namespace").take_back(ADA, MEMORY_ID)
    assert asked.written == []


async def test_of_another_namespace_nothing_is_told() -> None:
    asked = Asked(namespace="m", agent="other")
    await asked.keeping("namespace").take_back(ADA, MEMORY_ID)
    assert asked.written == []


async def test_a_memory_is_taken_back_in_the_name_of_its_app() -> None:
    asked = Asked()
    await asked.keeping().take_back(ADA, "no-id")
    await asked.keeping().take_back(ADA, MEMORY_ID)
    (one,) = asked.written
    assert (one["agent"], one["subject"], one["clears"], one["supersedes"]) == ("host", "ada", True, [MEMORY_ID])


async def test_a_user_is_erased_and_nobody_is_everybody() -> None:
    assert await Asked().keeping().erase("ada", dry_run=True) == {"subject": "ada", "dry_run": True}
    with pytest.raises(Invalid):
        await Asked().keeping().erase("", dry_run=False)
