"""A session of OpenAI's agents over the history that a client's namespace keeps."""

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
        """`memory`: the client; it stays open for others. `path`: where in the namespace conversations are. `subject`:
        whom the conversation is about, which an erasure can name; the agent otherwise. `saying`: what else its episodes
        say, as `{"sensitivity": 0.5}`. Raises Invalid."""
        if (fault := labelling.path_fault(path)) is not None:
            raise Invalid(fault.code, "path", fault.detail)
        self.session_id = session_id
        self.session_settings = coerce_session_settings(session_settings or SessionSettings())
        told: Episode = {"subject": subject, **(saying or {})}
        self._memory, self._history = memory, History(memory.entries, session_id, path, told)

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """The latest items, oldest first: all, or so many as `limit` or the settings say. They count as used. Raises
        NotYet where what was added last is not there in time."""
        wanted = resolve_session_limit(limit, self.session_settings)
        return await self._memory.loop.wait(self._history.get(wanted))

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Items behind the others. Raises Invalid for what is no JSON or has no room, and then adds none."""
        await self._memory.loop.wait(self._history.add(items))

    async def pop_item(self) -> TResponseInputItem | None:
        """The last item, which is hidden at once; None where there is none."""
        return await self._memory.loop.wait(self._history.pop())

    async def clear_session(self) -> None:
        """All items are hidden at once; `erase` destroys them."""
        await self._memory.loop.wait(self._history.clear())

    async def erase(self, *, dry_run: bool = True) -> Erasure:
        """What an erasure of the conversation takes, what was hidden of it too, with all that was made of it. With
        `dry_run=False` it is ordered, and there is no way back."""
        return await self._memory.loop.wait(self._history.erase(dry_run=dry_run))
