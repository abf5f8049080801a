"""Entries: explicit writes into slots, for ways in that keep files, items or a history under keys
(docs/use/episodes.md).

A writer reads its own writes at once, and the later of two writes holds.
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
    """The entries of a client's namespace. Writes are serialized; reads are concurrent and see earlier writes."""

    def __init__(self, memory: AsyncMemory) -> None:
        self.memory = memory
        self.changing = asyncio.Lock()
        """Held during a read-modify-write."""
        self.after: str | None = None
        """The token of the last write, as long as no read has seen it."""
        self._writing = asyncio.Lock()
        self._dated_until = 0.0

    async def read(self, ask: Callable[[str | None], Awaitable[T]]) -> T:
        """Calls `ask` with the token of the last write, so that the answer includes it. Raises NotYet if that write is
        not seen in time, and forgets the token: a write that intake refused after Kafka took it would otherwise delay
        every read."""
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
        """Publishes them in order. Raises Invalid before anything is written, and Contested afterwards, if a slot that
        one of them clears is still filled."""
        if not episodes:
            return
        async with self._writing:
            # Records sent together are dated a millisecond apart, up to a second: a following write must not be dated
            # earlier, or it would not take its slot.
            await asyncio.sleep(max(0.0, self._dated_until - time.monotonic()))
            receipts = await self.memory.add_all(episodes)
            self._dated_until = time.monotonic() + min(len(episodes), _SPREAD_MS) / 1_000
            self.after = receipts[-1].token
        await self._gone([one for one, said in zip(receipts, episodes, strict=True) if said.get("clears")])

    async def _gone(self, receipts: Sequence[Receipt]) -> None:
        """Checks that deletions took effect. Raises Contested if a memory stays until members vote."""
        if not receipts:
            return
        try:
            done = [await self.memory.outcome(receipts[-1], _OUTCOME_S)]
            # The outcome of the last implies those of all others.
            for at in range(0, len(receipts) - 1, _AT_ONCE):
                some = receipts[at : min(at + _AT_ONCE, len(receipts) - 1)]
                done += await asyncio.gather(*(self.memory.outcome(one, _OUTCOME_S) for one in some))
        except NoOutcome as error:
            _LOG.warning("the outcome of a deletion is not known yet: %s", error)
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
        """Records a use of memories that were given to an agent; logs a failure, as the answer is valid without it."""
        try:
            await self.memory.use_all(list(memory_ids))
        except MemquorumError as error:
            _LOG.warning("a read may not count as a use: %s", error)


def cleared(key: str, path: str | None, said: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The episode that clears a slot. `said`: the fields that an entry's episode there would have beside its
    content."""
    about = {name: one for name, one in (said or {}).items() if name in Clearing.__optional_keys__}
    return about | {"explicit": True, "clears": True, "key": key, "path": path}


def taken_back(memory_id: str) -> dict[str, Any]:
    """The episode that takes back a memory that is no entry."""
    return {"explicit": True, "clears": True, "supersedes": [memory_id]}
