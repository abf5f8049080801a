"""Entries: explicit writes into slots, for ways in that keep files, items or a history under keys (docs/episodes.md).

Who writes them reads them at once, and the later of two writes is the one that holds.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from memquorum.client.errors import MemquorumError, NotFound, NotYet
from memquorum.client.memory import AsyncMemory
from memquorum.core.api.answers import Listed, Shown

T = TypeVar("T")
GONE = "$gone"
NOTHING: dict[str, Any] = {"content": "Nothing is kept here any more.", "attributes": {GONE: True}}
"""What is written to a slot whose entry is deleted: it takes the entry's place."""
THERE = {GONE: {"$ne": True}}
"""What is asked of whatever is there."""

_LOG = logging.getLogger("memquorum.client")
_PAGE, _SPREAD_MS = 100, 1_000


class Entries:
    """The entries of a client's namespace. One at a time writes, any number reads, and sees what was written."""

    def __init__(self, memory: AsyncMemory) -> None:
        self.memory = memory
        self.changing = asyncio.Lock()
        """Held by whoever reads what it is about to write anew."""
        self.after: str | None = None
        """The token of the last write, as long as no read has seen it."""
        self._writing = asyncio.Lock()
        self._dated_until = 0.0

    async def read(self, ask: Callable[[str | None], Awaitable[T]]) -> T:
        """What is answered when it is asked behind the last write. Raises NotYet where that is not seen in time: once,
        since what was refused behind Kafka would otherwise be waited for by every read."""
        after = self.after
        try:
            found = await ask(after)
        except NotYet:
            self._seen(after)
            raise
        self._seen(after)
        return found

    def _seen(self, after: str | None) -> None:
        if self.after == after:
            self.after = None

    async def write(self, episodes: Sequence[Mapping[str, Any]]) -> None:
        """Publishes them in order. Raises Invalid, and then writes none."""
        if not episodes:
            return
        async with self._writing:
            # What is sent at once is dated a millisecond apart, a second in all: who comes right behind it is not to
            # be dated earlier, or it would take no slot.
            await asyncio.sleep(max(0.0, self._dated_until - time.monotonic()))
            receipts = await self.memory.add_all(episodes)
            self._dated_until = time.monotonic() + min(len(episodes), _SPREAD_MS) / 1_000
            self.after = receipts[-1].token

    async def fills(self, key: str, path: str) -> Shown | None:
        """The entry that fills a slot. Raises Invalid."""
        try:
            found = await self.read(lambda after: self.memory.slot(key, path, after=after))
        except NotFound:
            return None
        return None if gone(found) else found

    async def below(self, path: str) -> list[Listed]:
        """The entries at a path and below it, by path and key. Raises Invalid."""
        found: dict[tuple[str, str], Listed] = {}
        cursor: str | None = None
        while True:
            page = await self.read(self._page(path, cursor))
            found |= {(one.path or "", one.key): one for one in page.memories if one.key is not None}
            if page.next is None:
                return [one for _, one in sorted(found.items()) if not gone(one)]
            cursor = page.next

    def _page(self, path: str, cursor: str | None) -> Callable[[str | None], Awaitable[Any]]:
        return lambda after: self.memory.memories(path=path, cursor=cursor, limit=_PAGE, after=after)

    async def use(self, memory_ids: Iterable[str]) -> None:
        """They were given to an agent, and count as used; what was given is no worse where that fails."""
        try:
            await self.memory.use_all(list(memory_ids))
        except MemquorumError as error:
            _LOG.warning("what was read may not count as used: %s", error)


def cleared(key: str, path: str | None) -> dict[str, Any]:
    """The episode that empties a slot."""
    return {"explicit": True, "key": key, "path": path, **NOTHING}


def gone(one: Shown) -> bool:
    """Whether it says that nothing is kept in its slot."""
    return one.text is None or bool((one.attributes or {}).get(GONE))
