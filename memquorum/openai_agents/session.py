"""A session of OpenAI's agents whose history is in a client's namespace."""

from __future__ import annotations

from typing import Any

from agents.items import TResponseInputItem
from agents.memory.session import SessionABC
from agents.memory.session_settings import SessionSettings, coerce_session_settings, resolve_session_limit

from memquorum.client import Invalid, Memory
from memquorum.client.values import Episode
from memquorum.core import labelling
from memquorum.core.api.answers import Erasure
from memquorum.openai_agents.history import History


class MemquorumSession(SessionABC):
    """A conversation's history as memories of a client's namespace: lossless, in order, on any event loop."""

    def __init__(
        self,
        session_id: str,
        memory: Memory,
        *,
        path: str = "sessions",
        subject: str | None = None,
        saying: Episode | None = None,
        session_settings: SessionSettings | dict[str, Any] | None = None,
    ) -> None:
        """`memory`: the client; it stays open for others. `path`: the path of conversations in the namespace.
        `subject`: whom the conversation is about, for an erasure (default: the agent). `saying`: further fields of its
        episodes, as `{"sensitivity": 0.5}`. Raises Invalid."""
        if (fault := labelling.path_fault(path)) is not None:
            raise Invalid(fault.code, "path", fault.detail)
        self.session_id = session_id
        self.session_settings = coerce_session_settings(session_settings or SessionSettings())
        told: Episode = {"subject": subject, **(saying or {})}
        self._memory, self._history = memory, History(memory.entries, session_id, path, told)

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """Returns the latest items, oldest first: all, or as many as `limit` or the settings say. They count as used.
        Raises NotYet if the last added items are not seen in time."""
        wanted = resolve_session_limit(limit, self.session_settings)
        return await self._memory.loop.wait(self._history.get(wanted))

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Appends items. Raises Invalid for an item that is no JSON or too long, before any is added."""
        await self._memory.loop.wait(self._history.add(items))

    async def pop_item(self) -> TResponseInputItem | None:
        """Hides the last item at once and returns it; None if the conversation is empty."""
        return await self._memory.loop.wait(self._history.pop())

    async def clear_session(self) -> None:
        """Hides all items at once; `erase` destroys them."""
        await self._memory.loop.wait(self._history.clear())

    async def erase(self, *, dry_run: bool = True) -> Erasure:
        """Shows what an erasure of the conversation takes, hidden items too, with all memories derived from it. With
        `dry_run=False` it is ordered, and cannot be undone."""
        return await self._memory.loop.wait(self._history.erase(dry_run=dry_run))
