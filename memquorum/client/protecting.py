"""`memquorum pin` and `unpin`, and the client's methods behind them."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from memquorum.client.errors import Invalid

if TYPE_CHECKING:
    from memquorum.client import Memory

DONE, NOT_YET = 0, 1


class Protecting:
    """What a client can ask to have kept."""

    @property
    def namespace(self) -> str:
        """Whose memories it speaks of."""
        raise NotImplementedError

    async def _ask(self, method: str, path: str, **request: Any) -> dict[str, Any]:
        raise NotImplementedError

    async def pin(self, memory_id: str, *, reference: str | None = None) -> dict[str, Any]:
        """A memory is not forgotten until it is unpinned, however it decays and whoever votes. An erasure goes over it.
        Where a pin stands already none is made: `status` is "pinned already", and `detail` says whose it is.
        Raises NotFound for what is not alive, Invalid, Unreachable."""
        return await self._order("/pin", memory_id, reference)

    async def unpin(self, memory_id: str, *, reference: str | None = None) -> dict[str, Any]:
        """It may be forgotten again; "nothing to unpin" where no pin stands. Raises NotFound, Invalid, Unreachable."""
        return await self._order("/unpin", memory_id, reference)

    async def begin_goal(self, goal: str, needs: Sequence[str]) -> dict[str, Any]:
        """Memories that a goal needs, 100 at most at a time, are not forgotten until it ends; an erasure goes over it.
        Said again, it adds to them. Raises NotFound for what is not alive, Invalid, Unreachable."""
        return await self._goal("/goals", goal, memory_ids=list(needs))

    async def end_goal(self, goal: str, needs: Sequence[str] = ()) -> dict[str, Any]:
        """What the goal alone needed may be forgotten again. `needs`: what it was said to need so lately that this was
        answered by "ordered". Raises Invalid, Unreachable."""
        return await self._goal("/goals/end", goal, memory_ids=list(needs))

    async def _goal(self, path: str, goal: str, **said: Any) -> dict[str, Any]:
        return await self._ask("POST", path, json={"namespace": self.namespace, "goal": goal} | said)

    async def _order(self, path: str, memory_id: str, reference: str | None) -> dict[str, Any]:
        asked = {"namespace": self.namespace, "memory_id": memory_id}
        return await self._ask("POST", path, json=asked | ({"reference": reference} if reference else {}))


def options(command: argparse.ArgumentParser, action: str) -> None:
    """Adds what `pin` and `unpin` take."""
    command.add_argument("memory_id", metavar="ID")
    command.add_argument("--reference", metavar="TEXT", help="why: a name for the reason elsewhere")
    command.set_defaults(action=action)


def goal_options(command: argparse.ArgumentParser) -> None:
    """Adds what `goal` takes."""
    command.add_argument("goal", metavar="NAME")
    what = command.add_mutually_exclusive_group(required=True)
    what.add_argument("--needs", nargs="+", metavar="ID", help="memories that are not forgotten until the goal ends")
    what.add_argument("--end", action="store_true", help="the goal is reached, or given up")


def goal(parsed: argparse.Namespace) -> int:
    """Orders and waits. 1 where it did not hold in time: it will."""
    _unsigned(parsed)
    with _opened(parsed) as memory:
        found = memory.end_goal(parsed.goal) if parsed.end else memory.begin_goal(parsed.goal, parsed.needs)
    if parsed.json:
        print(json.dumps(found))
    else:
        print(f"{found['status']}: goal {found['goal']!r} needs {len(found['memory_ids'])} memories")
    return NOT_YET if found["status"] in ("ordered", "not yet") else DONE


def run(parsed: argparse.Namespace) -> int:
    """Orders and waits. 1 where it did not hold in time: it will."""
    _unsigned(parsed)
    with _opened(parsed) as memory:
        found = getattr(memory, parsed.action)(parsed.memory_id, reference=parsed.reference)
    if parsed.json:
        print(json.dumps(found))
    else:
        by = ", ".join(f"{one['kind']} by {one['ordered_by']}" for one in found["protected_by"]) or "nothing"
        order = f"; order {found['order_id']}" if found["order_id"] else ""
        print(f"{found['status']} {found['memory_id']}: protected by {by}{order}")
        if found["detail"]:
            print(f"  {found['detail']}")
    return NOT_YET if found["status"] == "ordered" else DONE


def _unsigned(parsed: argparse.Namespace) -> None:
    if parsed.sign is not None:
        raise Invalid("not_entitled", None, "an order is signed by the service: leave out --sign")


def _opened(parsed: argparse.Namespace) -> Memory:
    from memquorum.client import Memory  # the client imports this module

    return Memory(namespace=parsed.namespace, agent=parsed.agent, kafka=parsed.kafka, url=parsed.url)
