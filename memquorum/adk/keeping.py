"""Publishes conversations of a service, searches and takes back memories, over the entries of a namespace."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from memquorum.adk import telling
from memquorum.adk.telling import EventText, Whose
from memquorum.client import Contested, Invalid, NotFound
from memquorum.client.entries import Entries, taken_back
from memquorum.client.talk import asked
from memquorum.client.values import Only
from memquorum.core.api.answers import Answering, Erasure

_KNOWN_MOST = 100_000
_OTHERS = "it is about another user"
SCOPES = ("app", "user", "namespace")


class Keeping:
    """The memories of one service's apps and users."""

    def __init__(
        self, entries: Entries, scope: str, saying: Mapping[str, Any] | None = None, only: Only | None = None
    ) -> None:
        """`scope`: the memories that a search may return. `saying`: further fields of each episode; `only`: filters of
        the memories. Raises Invalid."""
        if scope not in SCOPES:
            raise Invalid("out_of_range", "scope", f"must be one of {', '.join(SCOPES)}, not {scope!r:.80}")
        self._entries, self._scope = entries, scope
        self._saying, self._only = dict(saying or {}), dict(only or {})
        self._known: OrderedDict[str, None] = OrderedDict()

    async def hear(self, of: Whose, session_id: str | None, told: Iterable[EventText]) -> None:
        """Publishes messages in order, except those that this service has published before: a session is passed again
        after each turn. Raises Invalid before anything is published."""
        said = [one for each in told for one in telling.episodes(of, session_id, each, self._saying)]
        new = {one["event_id"]: one for one in reversed(said) if one["event_id"] not in self._known}
        await self._entries.write(list(reversed(new.values())))
        self._known |= dict.fromkeys(new)
        while len(self._known) > _KNOWN_MOST:
            self._known.popitem(last=False)

    async def keep(self, of: Whose, told: Sequence[EventText]) -> None:
        """Publishes entries to keep, whatever their salience. Raises Invalid before anything is published."""
        said = [list(telling.entries(of, each, self._saying)) for each in told]
        if not all(said):
            raise Invalid("missing_field", "memories", "a memory without words: only text is kept")
        await self._entries.write([one for each in said for one in each])

    async def find(self, of: Whose, query: str, budget_tokens: int, most: int) -> tuple[Answering, ...]:
        """Returns the memories that answer best, best first. They count as used. Raises NotYet if the last write is not
        seen in time."""
        if not (question := asked(query)):
            return ()
        only: Any = {**self._only, **self._within(of)}
        read = self._entries.memory.retrieve
        found = await self._entries.read(lambda after: read(question, budget_tokens, k_max=most, after=after, **only))
        return found.items

    async def take_back(self, of: Whose, memory_id: str) -> None:
        """Hides a memory of the app about the user, at once; ignores an unknown id. Raises Contested if it is not the
        app's alone, or not about this user."""
        try:
            found = await self._entries.read(lambda after: self._entries.memory.get(memory_id, after=after))
        except NotFound:
            return
        if found.namespace != self._entries.memory.namespace:
            return
        if (found.agent, found.subject) != (of.app, of.user):
            raise Contested([memory_id], "another app or agent wrote it" if found.agent != of.app else _OTHERS)
        await self._entries.write([taken_back(memory_id) | {"agent": of.app, "subject": of.user}])

    async def erase(self, user_id: str, *, dry_run: bool) -> Erasure:
        """Destroys all memories of the namespace about a user, whichever agent wrote them. Raises Invalid."""
        user = telling.whose("any", user_id).user
        return await self._entries.memory.erase(subject=user, dry_run=dry_run)

    def _within(self, of: Whose) -> Only:
        """The filters of memories that may answer the user of an app."""
        if self._scope == "namespace":
            return {}
        return {"subjects": [of.user]} if self._scope == "user" else {"agents": [of.app], "subjects": [of.user]}
