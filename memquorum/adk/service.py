"""A memory service of Google's ADK over a client's namespace."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Literal

from google.adk.events.event import Event
from google.adk.memory.base_memory_service import BaseMemoryService, SearchMemoryResponse
from google.adk.memory.memory_entry import MemoryEntry
from google.adk.sessions.session import Session
from google.genai import types

from memquorum.adk import telling
from memquorum.adk.keeping import Keeping
from memquorum.adk.telling import EventText
from memquorum.client import Invalid, Memory
from memquorum.client.values import Episode, Only
from memquorum.core import names
from memquorum.core.api.answers import Answering, Erasure
from memquorum.core.showing import quoting


class MemquorumMemoryService(BaseMemoryService):
    """Stores an app's conversations as memories of a client's namespace: the app is their agent, the user their
    subject. Works on any event loop."""

    def __init__(
        self,
        memory: Memory,
        *,
        scope: Literal["app", "user", "namespace"] = "app",
        most: int = 10,
        budget_tokens: int = 1_000,
        saying: Episode | None = None,
        only: Only | None = None,
    ) -> None:
        """`memory`: the client; it stays open for others. `scope`: the memories that a search may return: those of the
        app about the user, those of all agents about the user, or all of the namespace. `most`, `budget_tokens`: the
        number of memories that a search returns, and of their tokens. `saying`: further fields of episodes, as
        `{"sensitivity": 0.5}`. `only`: filters of the memories, as `retrieve` takes them. Raises Invalid."""
        self._memory, self._most, self._budget_tokens = memory, most, budget_tokens
        self._keeping = Keeping(memory.entries, scope, saying, only)

    async def add_session_to_memory(self, session: Session) -> None:
        """Publishes a session's events, except those that it has published before. Raises Invalid."""
        await self.add_events_to_memory(
            app_name=session.app_name, user_id=session.user_id, events=session.events, session_id=session.id
        )

    async def add_events_to_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        events: Sequence[Event],
        session_id: str | None = None,
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Publishes events. `custom_metadata`: the attributes of each. Raises Invalid before anything is published."""
        told = [
            EventText(_words(one.content), one.author, one.id, round(one.timestamp * 1_000), custom_metadata)
            for one in events
            if not one.partial
        ]
        work = self._keeping.hear(telling.whose(app_name, user_id), session_id, told)
        await self._memory.loop.wait(work)

    async def add_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        memories: Sequence[MemoryEntry],
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Publishes entries to keep, whatever their salience. `custom_metadata`, of all or of one, become its
        attributes; the memory gives the id. Raises Invalid before anything is published."""
        told = [
            EventText(
                _words(one.content), one.author, None, _at(one), {**(custom_metadata or {}), **one.custom_metadata}
            )
            for one in memories
        ]
        await self._memory.loop.wait(self._keeping.keep(telling.whose(app_name, user_id), told))

    async def search_memory(self, *, app_name: str, user_id: str, query: str) -> SearchMemoryResponse:
        """Returns the best answers to a query within the scope, best first, each text quoted as a JSON string, since
        ADK's tools put it into prompts. They count as used. Raises Invalid, NotYet."""
        of = telling.whose(app_name, user_id)
        found = await self._memory.loop.wait(self._keeping.find(of, query, self._budget_tokens, self._most))
        return SearchMemoryResponse(memories=[_entry(one) for one in found])

    async def delete_memory(self, *, app_name: str, user_id: str, memory_id: str | None = None) -> None:
        """Hides a memory of the app about the user, at once; a vote can restore it. Ignores an unknown id. Raises
        Contested for a memory that stays, as another app's, another user's or a pinned one: members have to vote on it;
        Invalid without an id."""
        of = telling.whose(app_name, user_id)
        if not memory_id:
            told = "say which memory: without an id all stay. `erase_user` destroys what is known of a user"
            raise Invalid("missing_field", "memory_id", told)
        await self._memory.loop.wait(self._keeping.take_back(of, memory_id))

    async def erase_user(self, user_id: str, *, dry_run: bool = True) -> Erasure:
        """Shows what an erasure of a user takes, whichever app or agent wrote it, with all memories derived from it.
        With `dry_run=False` it is ordered, and cannot be undone. Raises Invalid."""
        return await self._memory.loop.wait(self._keeping.erase(user_id, dry_run=dry_run))


def _words(content: types.Content | None) -> str:
    """The text of a content, without a model's thoughts."""
    parts = (content.parts if content else None) or []
    return " ".join(part.text for part in parts if part.text and not part.thought)


def _at(entry: MemoryEntry) -> int | None:
    """The time of an entry, in milliseconds. Raises Invalid if it is not in ISO 8601."""
    if entry.timestamp is None:
        return None
    try:
        return round(datetime.fromisoformat(entry.timestamp).timestamp() * 1_000)
    except ValueError:
        raise Invalid("wrong_type", "timestamp", "a time is ISO 8601, as in 2026-01-31T12:00:00+00:00") from None


def _entry(found: Answering) -> MemoryEntry:
    said: dict[str, Any] = found.attributes or {}
    return MemoryEntry(
        id=found.memory_id,
        content=types.Content(role=telling.speaker(found.role), parts=[types.Part(text=quoting.quoted(found.text))]),
        # Memories from before such roles had to be signed.
        author=None if found.role is None or names.above(found.role) else found.role,
        timestamp=datetime.fromtimestamp(found.occurred_at / 1_000, UTC).isoformat(timespec="seconds"),
        custom_metadata=said,
    )
