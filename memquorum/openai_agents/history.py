"""A conversation's items in their order, over the entries of a namespace.

Each item is an explicit write under a key of its own, which sorts as the items do: no item takes another's place,
whoever writes beside.
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
        """`below`: the path of all conversations. `said`: what each item's episode says beside it. Raises Invalid."""
        label = items.path_of([conversation]) or ""
        self._path = names.normal(f"{below}/{label}")
        # It is the source of all items, too, which an erasure names: so it is a name itself.
        for one in (label, self._path):
            if (fault := names.name_fault(one)) is not None:
                raise Invalid(fault.code, "session_id", f"as {one!r}: {fault.detail}")
        self._entries, self._said = entries, {"session": label, "source": self._path, **said}
        self._last, self._used = 0, dict[str, float]()

    async def get(self, limit: int | None) -> list[Item]:
        """The latest items, oldest first; all of them where no limit is said. They count as used."""
        found = await self._kept()
        given = found if limit is None else found[max(0, len(found) - limit) :] if limit > 0 else []
        await self._use([part.memory_id for _, parts in given for part in parts])
        return [item for item, _ in given]

    async def add(self, new: Sequence[Mapping[str, Any]]) -> None:
        """Items behind those that are there. Raises Invalid, and then none is added."""
        told = [messages.written(one) for one in new]
        async with self._entries.changing:
            episodes = [
                {**self._said, "explicit": True, "path": self._path, "key": f"{key}{part}"} | one
                for key, parts in ((self._next(), parts) for parts in told)
                for part, one in parts.items()
            ]
            await self._entries.write(episodes)

    async def pop(self) -> Item | None:
        """The last item, which is hidden at once; None where there is none."""
        async with self._entries.changing:
            found = await self._kept()
            if not found:
                return None
            item, parts = found[-1]
            await self._hide(parts)
            return item

    async def clear(self) -> None:
        """All items are hidden at once."""
        async with self._entries.changing:
            await self._hide(await self._entries.below(self._path))

    async def erase(self, *, dry_run: bool) -> Erasure:
        """All items are destroyed, and those that were hidden."""
        return await self._entries.memory.erase(source=self._path, dry_run=dry_run)

    async def _kept(self) -> list[tuple[Item, list[Listed]]]:
        """Each item, in order, with the memories that it lies in: one of which a part is gone is none."""
        found: dict[str, list[Listed]] = {}
        for one in await self._entries.below(self._path):
            if one.path is not None and names.normal(one.path) == self._path and one.key is not None:
                found.setdefault(one.key.split(".")[0], []).append(one)
        self._last = max(self._last, *map(_number, found), 0)
        return [(item, parts) for parts in found.values() if (item := messages.read(parts)) is not None]

    async def _hide(self, going: Iterable[Listed]) -> None:
        await self._entries.write([cleared(one.key or "", one.path, self._said) for one in going])

    def _next(self) -> str:
        """A key behind all that were seen: the time in microseconds, and what keeps writers apart."""
        self._last = max(self._last + 1, time.time_ns() // 1_000)
        return f"{self._last:0{_DIGITS}d}-{secrets.token_hex(4)}"

    async def _use(self, memory_ids: Sequence[str]) -> None:
        """Says of each that it was used, where that was not said in the last minutes: a turn reads all of them."""
        now = time.monotonic()
        new = [one for one in memory_ids if now - self._used.get(one, -_USED_S) >= _USED_S]
        self._used = {one: at for one, at in self._used.items() if now - at < _USED_S} | dict.fromkeys(new, now)
        if new:
            await self._entries.use(new)


def _number(key: str) -> int:
    begin = key.split("-", maxsplit=1)[0]
    return int(begin) if len(begin) == _DIGITS and begin.isascii() and begin.isdecimal() else 0
