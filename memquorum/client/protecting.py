"""What the client asks to have kept: pins and goals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from memquorum.core.api.answers import Needed, Pinned

T = TypeVar("T")


class Protecting:
    """What a client can ask to have kept."""

    @property
    def namespace(self) -> str:
        """Whose memories it speaks of."""
        raise NotImplementedError

    async def _ask(self, kind: type[T], method: str, path: str, **request: Any) -> T:
        raise NotImplementedError

    async def pin(self, memory_id: str, *, reference: str | None = None) -> Pinned:
        """A memory is not forgotten until it is unpinned, however it decays and whoever votes. An erasure goes over it.
        Where a pin stands already none is made: `status` is "pinned already", and `detail` says whose it is.
        Raises NotFound for what is not alive, Invalid, Unreachable."""
        return await self._order("/pin", memory_id, reference)

    async def unpin(self, memory_id: str, *, reference: str | None = None) -> Pinned:
        """It may be forgotten again; "nothing to unpin" where no pin stands. Raises NotFound, Invalid, Unreachable."""
        return await self._order("/unpin", memory_id, reference)

    async def begin_goal(self, goal: str, needs: Sequence[str]) -> Needed:
        """Memories that a goal needs, 100 at most at a time, are not forgotten until it ends; an erasure goes over it.
        Said again, it adds to them. Raises NotFound for what is not alive, Invalid, Unreachable."""
        return await self._goal("/goals", goal, memory_ids=list(needs))

    async def end_goal(self, goal: str, needs: Sequence[str] = ()) -> Needed:
        """What the goal alone needed may be forgotten again. `needs`: what it was said to need so lately that this was
        answered by "ordered". Raises Invalid, Unreachable."""
        return await self._goal("/goals/end", goal, memory_ids=list(needs))

    async def _goal(self, path: str, goal: str, **said: Any) -> Needed:
        return await self._ask(Needed, "POST", path, json={"namespace": self.namespace, "goal": goal} | said)

    async def _order(self, path: str, memory_id: str, reference: str | None) -> Pinned:
        asked = {"namespace": self.namespace, "memory_id": memory_id}
        return await self._ask(Pinned, "POST", path, json=asked | ({"reference": reference} if reference else {}))
