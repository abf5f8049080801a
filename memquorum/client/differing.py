"""Tells what a namespace learned and lost between two times, from its journal, its votes and its contradictions."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

from memquorum.client.deciding import Deciding
from memquorum.client.errors import NotFound
from memquorum.client.overseeing import Overseeing
from memquorum.core.accounts import changes
from memquorum.core.accounts.changes import Changes
from memquorum.core.api.answers import Conflict, Decision, JournalLine, Shown

TEXTS_MOST = 500
"""So many texts are asked for; later changes are told without."""
_AT_ONCE = 8


class Differing(Deciding, Overseeing):
    """The client's difference of two times. Raises Invalid, NotAllowed and Unreachable."""

    async def get(self, memory_id: str) -> Shown:
        """Returns one memory."""
        raise NotImplementedError

    async def diff(self, since: int, until: int | None = None) -> Changes:
        """Tells what became otherwise here with `since` ≤ time < `until` (now), in milliseconds: what was learned,
        promoted, overtaken, merged, forgotten, restored and erased. Texts are those that may be read today; memories
        that were forgotten or erased since have none. Reading them is no use of them. Needs the right to read."""
        until = int(time.time() * 1000) if until is None else until
        between = {"since": since, "until": until}
        effects = tuple(changes.FROM_JOURNAL)
        lines: list[JournalLine] = [one async for one in _all(self.journal, "entries", effects=effects, **between)]
        voted: list[Decision] = [one async for one in _all(self.decisions, "decisions", **between)]
        open_: list[Conflict] = [one async for one in _all(self.conflicts, "conflicts", **between)]
        # The lists have the latest first.
        told = (*changes.of_journal(lines[::-1]), *changes.of_votes(voted[::-1]), *changes.of_conflicts(open_[::-1]))
        found = changes.in_order(told)
        texts = await self._texts(changes.unread(found)[:TEXTS_MOST])
        return Changes(self.namespace, since, until, changes.with_texts(found, texts))

    async def _texts(self, memory_ids: tuple[str, ...]) -> dict[str, str | None]:
        turns = asyncio.Semaphore(_AT_ONCE)

        async def read(memory_id: str) -> str | None:
            async with turns:
                try:
                    return (await self.get(memory_id)).text
                except NotFound:  # erased, or not for this reader
                    return None

        return dict(zip(memory_ids, await asyncio.gather(*map(read, memory_ids)), strict=True))


async def _all(page: Callable[..., Awaitable[Any]], what: str, **asked: Any) -> AsyncIterator[Any]:
    """Yields the entries of all pages of a list."""
    cursor = None
    while True:
        found = await page(cursor=cursor, limit=100, **asked)
        for one in getattr(found, what):
            yield one
        cursor = found.next
        if cursor is None:
            return
