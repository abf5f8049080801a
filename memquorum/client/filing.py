"""The client's methods for paths and keys: read a slot, clear it, list paths."""

from __future__ import annotations

import logging
import uuid
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar, Unpack

from memquorum.client import wire
from memquorum.client.errors import Unreachable
from memquorum.client.values import Clearing, Filed, Gates, Receipt
from memquorum.core import ids
from memquorum.core.api.answers import Paths, Shown, Used
from memquorum.core.records import USES_MOST

T = TypeVar("T")
_LOG = logging.getLogger("memquorum.client")


class Filing:
    """The client's methods for paths and keys."""

    @property
    def namespace(self) -> str:
        """The namespace of the slots."""
        raise NotImplementedError

    async def _ask(self, kind: type[T], method: str, path: str, **request: Any) -> T:
        raise NotImplementedError

    async def add_all(self, episodes: Iterable[Mapping[str, Any]]) -> list[Receipt]:
        """Adds many, in order, confirmed together."""
        raise NotImplementedError

    async def use(self, memory_id: str) -> Receipt:
        """Says that a memory was used."""
        raise NotImplementedError

    def _user(self) -> str | None:
        """The agent whose use the service may record when it reads by key; None if the client signs and so publishes
        uses itself."""
        raise NotImplementedError

    async def _tell_uses(self, agent: str, memory_ids: Sequence[str]) -> list[Receipt]:
        """Through the service, which publishes them."""
        found = list[Receipt]()
        for at in range(0, len(memory_ids), USES_MOST):
            event_id, some = str(uuid.uuid4()), memory_ids[at : at + USES_MOST]
            told = {"agent": agent, "namespace": self.namespace, "memory_ids": list(some), "event_id": event_id}
            await self._ask(Used, "POST", "/memories/uses", json=told, params={"confirm": "true"})
            found += [Receipt(self.namespace, ids.use_event_id(agent, event_id), one) for one in some]
        return found

    async def outcome(self, receipt: Receipt, timeout: float = 30.0) -> Receipt:
        """The receipt with its outcome."""
        raise NotImplementedError

    async def clear(
        self,
        key: str | None = None,
        path: str | None = None,
        *,
        memory_id: str | None = None,
        wait: bool = False,
        timeout: float = 30.0,
        **said: Unpack[Clearing],
    ) -> Receipt:
        """Clears a slot: what this agent wrote under the key at that path is served no more; a vote can restore it, and
        only `erase` destroys it. With `memory_id` instead, takes back a memory that only this agent has published.

        A memory that members promoted, that is pinned, or that another agent wrote or repeated, stays until they vote
        on it: the outcome is then `contested`. An empty slot is no error: the outcome is `empty`. `said`: fields of the
        write itself, such as `subject` and `session`; it has no content. Raises what `add` raises.
        """
        named = {"key": key, "path": path, "supersedes": None if memory_id is None else [memory_id]}
        (receipt,) = await self.add_all([{**said, "explicit": True, "clears": True, **named}])
        return await self.outcome(receipt, timeout) if wait else receipt

    async def slot(
        self,
        key: str,
        path: str | None = None,
        *,
        use: bool = False,
        after: Receipt | str | None = None,
        **gates: Unpack[Gates],
    ) -> Shown:
        """Returns the memory that fills a slot: the latest of those filed under the key at that path, and not below. It
        fills the slot also while members vote on a memory that it contradicts. Raises NotFound if the slot is empty, or
        if a search with these `gates` would leave the memory out. `use`: counts as a use, once a minute, without
        delaying the answer."""
        asked = wire.within(self.namespace, {"key": key, "path": path, **gates})
        by = self._user() if use else None
        if by is not None:
            asked |= {"use": True, "agent": by}
        found = await self._ask(Shown, "POST", "/memories/slot", json=asked, params=_after(after))
        if use and by is None:
            await self._used(found)
        return found

    async def _used(self, found: Shown) -> None:
        """Publishes the use of a memory that was read, if the service may not record it."""
        if found.text is not None:
            try:
                await self.use(found.memory_id)
            except Unreachable as error:  # the answer is valid without it
                _LOG.warning("a read may not count as a use: %s", error)

    async def paths(
        self,
        *,
        cursor: str | None = None,
        limit: int | None = None,
        after: Receipt | str | None = None,
        **filed: Unpack[Filed],
    ) -> Paths:
        """Lists the paths that memories are filed at, all or those at a path and below, `limit` (100) at a time in the
        order of their characters. `cursor`: `next` of the page before. Raises Invalid."""
        asked = wire.within(self.namespace, {"cursor": cursor, "limit": limit, **filed})
        return await self._ask(Paths, "POST", "/memories/paths", json=asked, params=_after(after))


def _after(after: Receipt | str | None) -> dict[str, str]:
    return {} if after is None else {"after": after.token if isinstance(after, Receipt) else after}
