"""What a client can order: that memories are erased, forgotten, brought back or kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from memquorum.client import wire
from memquorum.core.api.answers import Erasure, Forget, Needed, Ordered, Pinned, Restore, Rollback

T = TypeVar("T")


class Ordering:
    """What a client can order. Each method returns once it is so, or after `timeout` seconds, 20 at most: then the
    order is on its way, and `order` tells what becomes of it. All raise Invalid, NotAllowed and Unreachable."""

    @property
    def namespace(self) -> str:
        """Whose memories it speaks of."""
        raise NotImplementedError

    async def _ask(self, kind: type[T], method: str, path: str, **request: Any) -> T:
        raise NotImplementedError

    async def _order(self, answer: type[T], what: str, timeout: float, **said: Any) -> T:
        """Has the service give an order and wait for what becomes of it. `what`: as the endpoint is named."""
        asked = {"namespace": self.namespace} | {name: value for name, value in said.items() if value is not None}
        return await self._ask(answer, "POST", f"/orders/{what}", json=asked, params=wire.waiting(timeout))

    async def order(self, order_id: str, timeout: float = 0.0) -> Ordered:
        """What became of an order of any kind, as soon as it is answered. Raises NotFound while it is on its way."""
        return await self._ask(Ordered, "GET", f"/orders/{wire.path_id(order_id)}", params=wire.waiting(timeout))

    async def erase(
        self,
        *,
        memory_id: str | None = None,
        subject: str | None = None,
        agent: str | None = None,
        source: str | None = None,
        types: Sequence[str] = (),
        before: int | None = None,
        everything: bool = False,
        dry_run: bool = True,
        reference: str | None = None,
        timeout: float = 10.0,
    ) -> Erasure:
        """What an erasure of one memory, subject, agent, source, of all that occurred `before` a time (milliseconds
        since the epoch; of some `types` alone, where they are named), or of everything here takes, with all that was
        made of it. With `dry_run=False` it is ordered, and there is no way back.
        """
        return await self._order(
            Erasure, "erase", timeout, memory_id=memory_id, subject=subject, agent=agent, source=source,
            types=wire.several("types", types) or None, before=before, everything=everything, dry_run=dry_run,
            reference=reference,
        )  # fmt: skip

    async def erasure_receipt(self, order_id: str) -> dict[str, Any]:
        """What proves an erasure (docs/erasing.md); `attested` is None until the members have decided. Raises
        NotFound."""
        return await self._ask(dict[str, Any], "GET", f"/orders/{wire.path_id(order_id)}/receipt")

    async def restore(self, *memory_ids: str, reference: str | None = None, timeout: float = 10.0) -> Restore:
        """Asks for memories back that were forgotten and rest sealed: the members vote on it. What is alive, destroyed
        or erased is told as that."""
        return await self._order(Restore, "restore", timeout, memory_ids=memory_ids, reference=reference)

    async def forget(
        self, *memory_ids: str, dry_run: bool = True, reference: str | None = None, timeout: float = 10.0
    ) -> Forget:
        """What a vote to forget memories would look at now. With `dry_run=False` they are nominated, and the members
        vote as always."""
        said = {"memory_ids": memory_ids, "dry_run": dry_run, "reference": reference}
        return await self._order(Forget, "forget", timeout, **said)

    async def rollback(
        self, memory_id: str, *, to: int, reference: str | None = None, timeout: float = 10.0
    ) -> Rollback:
        """Asks that a memory of experience weighs again what it did at an older version, `to`: the members vote on it.
        `experience` tells which versions there are. Raises NotFound for what this namespace has not."""
        return await self._order(Rollback, "rollback", timeout, memory_id=memory_id, to=to, reference=reference)

    async def pin(self, memory_id: str, *, reference: str | None = None, timeout: float = 10.0) -> Pinned:
        """A memory is not forgotten until it is unpinned, however it decays and whoever votes. An erasure goes over it.
        Where a pin stands already none is made: `status` is "pinned already", and `detail` says whose it is.
        Raises NotFound for what is not alive."""
        return await self._order(Pinned, "pin", timeout, memory_id=memory_id, reference=reference)

    async def unpin(self, memory_id: str, *, reference: str | None = None, timeout: float = 10.0) -> Pinned:
        """It may be forgotten again; "nothing to unpin" where no pin stands. Raises NotFound."""
        return await self._order(Pinned, "unpin", timeout, memory_id=memory_id, reference=reference)

    async def begin_goal(self, goal: str, needs: Sequence[str], *, timeout: float = 10.0) -> Needed:
        """Memories that a goal needs, 100 at most at a time, are not forgotten until it ends; an erasure goes over it.
        Said again, it adds to them. Raises NotFound for what is not alive."""
        return await self._order(Needed, "begin_goal", timeout, goal=goal, memory_ids=wire.several("needs", needs))

    async def end_goal(self, goal: str, needs: Sequence[str] = (), *, timeout: float = 10.0) -> Needed:
        """What the goal alone needed may be forgotten again. `needs`: what it was said to need so lately that this was
        answered by "ordered"."""
        return await self._order(Needed, "end_goal", timeout, goal=goal, memory_ids=wire.several("needs", needs))
