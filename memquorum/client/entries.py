"""Entries: explicit writes into slots, for ways in that keep files, items or a history under keys (docs/episodes.md).

Who writes them reads them at once, and the later of two writes is the one that holds.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from memquorum.client.errors import Contested, MemquorumError, NoOutcome, NotFound, NotYet
from memquorum.client.memory import AsyncMemory
from memquorum.client.values import Clearing, Receipt
from memquorum.core.api.answers import Listed, Shown

T = TypeVar("T")
_LOG = logging.getLogger("memquorum.client")
_PAGE, _SPREAD_MS = 100, 1_000
_OUTCOME_S, _AT_ONCE = 10.0, 16


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
        """Publishes them in order. Raises Invalid, and then writes none; and Contested once they are written, where
        something fills a slot still that one of them clears."""
        if not episodes:
            return
        async with self._writing:
            # What is sent at once is dated a millisecond apart, a second in all: who comes right behind it is not to
            # be dated earlier, or it would take no slot.
            await asyncio.sleep(max(0.0, self._dated_until - time.monotonic()))
            receipts = await self.memory.add_all(episodes)
            self._dated_until = time.monotonic() + min(len(episodes), _SPREAD_MS) / 1_000
            self.after = receipts[-1].token
        await self._gone([one for one, said in zip(receipts, episodes, strict=True) if said.get("clears")])

    async def _gone(self, receipts: Sequence[Receipt]) -> None:
        """Whoever deletes is told where that is not for it alone to say. Raises Contested."""
        if not receipts:
            return
        try:
            done = [await self.memory.outcome(receipts[-1], _OUTCOME_S)]
            # With the last, all others have their outcome.
            for at in range(0, len(receipts) - 1, _AT_ONCE):
                some = receipts[at : min(at + _AT_ONCE, len(receipts) - 1)]
                done += await asyncio.gather(*(self.memory.outcome(one, _OUTCOME_S) for one in some))
        except NoOutcome as error:
            _LOG.warning("whether this is deleted is not known yet: %s", error)
            return
        if stays := [memory_id for one in done for memory_id in one.stays]:
            raise Contested(stays)

    async def fills(self, key: str, path: str, *, use: bool = False) -> Shown | None:
        """The entry that fills a slot; with `use` it counts as used. Raises Invalid."""
        try:
            found = await self.read(lambda after: self.memory.slot(key, path, use=use, after=after))
        except NotFound:
            return None
        return None if found.text is None else found

    async def below(self, path: str) -> list[Listed]:
        """The entries at a path and below it, by path and key. Raises Invalid."""
        found: dict[tuple[str, str], Listed] = {}
        cursor: str | None = None
        while True:
            page = await self.read(self._page(path, cursor))
            found |= {(one.path or "", one.key): one for one in page.memories if one.key is not None}
            if page.next is None:
                return [one for _, one in sorted(found.items()) if one.text is not None]
            cursor = page.next

    def _page(self, path: str, cursor: str | None) -> Callable[[str | None], Awaitable[Any]]:
        return lambda after: self.memory.memories(path=path, cursor=cursor, limit=_PAGE, after=after)

    async def use(self, memory_ids: Iterable[str]) -> None:
        """They were given to an agent, and count as used; what was given is no worse where that fails."""
        try:
            await self.memory.use_all(list(memory_ids))
        except MemquorumError as error:
            _LOG.warning("what was read may not count as used: %s", error)


def cleared(key: str, path: str | None, said: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The write that clears a slot. `said`: what the episode of an entry there would say beside its content."""
    about = {name: one for name, one in (said or {}).items() if name in Clearing.__optional_keys__}
    return about | {"explicit": True, "clears": True, "key": key, "path": path}


def taken_back(memory_id: str) -> dict[str, Any]:
    """The write that takes back a memory that is no entry."""
    return {"explicit": True, "clears": True, "supersedes": [memory_id]}
