"""Named entries in memory, for tests of what is stored in them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any, cast

from memquorum.client import Contested
from memquorum.client.entries import Entries
from memquorum.core.api.answers import Listed


class Kept:
    """Slots and their contents; `written` has all episodes, `used` the ids that were used.

    Contents of another agent, and those `pinned` by id, are not cleared.
    """

    def __init__(self) -> None:
        self.changing = asyncio.Lock()
        self.slots: dict[tuple[str, str], Listed] = {}
        self.written: list[dict[str, Any]] = []
        self.used: list[str] = []
        self.pinned: set[str] = set()
        self.memory = SimpleNamespace(agent="host")

    def entries(self) -> Entries:
        """Returns the agent's entries over these slots."""
        return cast(Entries, self)

    async def write(self, episodes: Sequence[Mapping[str, Any]]) -> None:
        """Applies the episodes in order. Raises Contested where a slot is not cleared."""
        stays: list[str] = []
        for said in episodes:
            self.written.append(dict(said))
            slot = (said["path"], said["key"])
            if said.get("clears") or (said.get("attributes") or {}).get("$gone"):
                there = self.slots.get(slot)
                if there is not None and (there.memory_id in self.pinned or there.agent != said.get("agent", "host")):
                    stays.append(there.memory_id)
                else:
                    self.slots.pop(slot, None)
                continue
            shown: dict[str, Any] = dict.fromkeys(Listed.__struct_fields__) | {
                "memory_id": f"id{len(self.written)}", "text": said["content"], "attributes": said["attributes"],
                "key": said["key"], "path": said["path"], "subject": said.get("subject", "host"), "type": "episodic",
                "role": said.get("role"), "agent": said.get("agent", "host"),
            }  # fmt: skip
            self.slots[slot] = Listed(**shown)
        if stays:
            raise Contested(stays)

    async def fills(self, key: str, path: str, *, use: bool = False) -> Listed | None:
        """Returns the content of a slot, and notes its use with `use`."""
        found = self.slots.get((path, key))
        self.used += [found.memory_id] if use and found is not None else []
        return found

    async def below(self, path: str) -> list[Listed]:
        """Returns the contents of the slots at a path and below it."""
        found = sorted(self.slots.items())
        return [one for (at, _), one in found if at == path or at.startswith(f"{path}/")]

    async def use(self, memory_ids: Iterable[str]) -> None:
        """Notes the use of memories."""
        self.used += memory_ids
