"""Stores a conversation's items in their order, over the entries of a namespace.

Each item is an explicit write under a key of its own, which sorts as the items do: concurrent writers never replace
each other's items.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from memquorum.client import Invalid, items
from memquorum.client.entries import Entries, cleared
from memquorum.client.values import Episode
from memquorum.core import names
from memquorum.core.api.answers import Erasure, Listed
from memquorum.openai_agents import messages
from memquorum.openai_agents.messages import Item

_USED_S, _DIGITS = 600.0, 20


class History:
    """The items of one conversation, for one agent."""

    def __init__(self, entries: Entries, conversation: str, below: str, said: Episode) -> None:
        """`below`: the path of all conversations. `said`: further fields of each item's episode. Raises Invalid."""
        label = items.path_of([conversation]) or ""
        self._path = names.normal(f"{below}/{label}")
        # It is the source of all items, too, which an erasure names: so it is a name itself.
        for one in (label, self._path):
            if (fault := names.name_fault(one)) is not None:
                raise Invalid(fault.code, "session_id", f"as {one!r}: {fault.detail}")
        self._entries, self._said = entries, {"session": label, "source": self._path, **said}
        self._last, self._used = 0, dict[str, float]()

    async def get(self, limit: int | None) -> list[Item]:
        """Returns the latest items, oldest first; all without a limit. They count as used."""
        found = await self._kept()
        given = found if limit is None else found[max(0, len(found) - limit) :] if limit > 0 else []
        await self._use([part.memory_id for _, parts in given for part in parts])
        return [item for item, _ in given]

    async def add(self, new: Sequence[Mapping[str, Any]]) -> None:
        """Appends items. Raises Invalid before any is added."""
        told = [messages.written(one) for one in new]
        async with self._entries.changing:
            episodes = [
                {**self._said, "explicit": True, "path": self._path, "key": f"{key}{part}"} | one
                for key, parts in ((self._next(), parts) for parts in told)
                for part, one in parts.items()
            ]
            await self._entries.write(episodes)

    async def pop(self) -> Item | None:
        """Hides the last item at once and returns it; None if the conversation is empty."""
        async with self._entries.changing:
            found = await self._kept()
            if not found:
                return None
            item, parts = found[-1]
            await self._hide(parts)
            return item

    async def clear(self) -> None:
        """Hides all items at once."""
        async with self._entries.changing:
            await self._hide(await self._entries.below(self._path))

    async def erase(self, *, dry_run: bool) -> Erasure:
        """Destroys all items, hidden ones too."""
        return await self._entries.memory.erase(source=self._path, dry_run=dry_run)

    async def _kept(self) -> list[tuple[Item, list[Listed]]]:
        """Returns each item, in order, with the memories that hold it; an item with a missing part is left out."""
        found: dict[str, list[Listed]] = {}
        for one in await self._entries.below(self._path):
            if one.path is not None and names.normal(one.path) == self._path and one.key is not None:
                found.setdefault(one.key.split(".")[0], []).append(one)
        self._last = max(self._last, *map(_number, found), 0)
        return [(item, parts) for parts in found.values() if (item := messages.read(parts)) is not None]

    async def _hide(self, going: Iterable[Listed]) -> None:
        await self._entries.write([cleared(one.key or "", one.path, self._said) for one in going])

    def _next(self) -> str:
        """A key after all that were seen: the time in microseconds, and a suffix that differs between writers."""
        self._last = max(self._last + 1, time.time_ns() // 1_000)
        return f"{self._last:0{_DIGITS}d}-{secrets.token_hex(4)}"

    async def _use(self, memory_ids: Sequence[str]) -> None:
        """Records a use of each memory, unless it did so in the last minutes: a turn reads all of them."""
        now = time.monotonic()
        new = [one for one in memory_ids if now - self._used.get(one, -_USED_S) >= _USED_S]
        self._used = {one: at for one, at in self._used.items() if now - at < _USED_S} | dict.fromkeys(new, now)
        if new:
            await self._entries.use(new)


def _number(key: str) -> int:
    begin = key.split("-", maxsplit=1)[0]
    return int(begin) if len(begin) == _DIGITS and begin.isascii() and begin.isdecimal() else 0
