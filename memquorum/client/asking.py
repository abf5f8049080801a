"""What a client can ask beside its reads: what became of an event, what its key may do, rewards and roll-ups."""

from __future__ import annotations

from typing import Any, TypeVar, Unpack

from memquorum.client import wire
from memquorum.client.values import Gates
from memquorum.core.api.answers import Access, Became, Rewards, Rollup, Rollups

T = TypeVar("T")


class Asking:
    """What a client can ask that uses no memory. All raise NotAllowed and Unreachable."""

    @property
    def namespace(self) -> str:
        """Which namespace it asks about."""
        raise NotImplementedError

    async def _get(self, kind: type[T], path: str, **parameters: Any) -> T:
        raise NotImplementedError

    async def access(self) -> Access:
        """What the API key may do, and where; all of it everywhere where the service wants none."""
        return await self._get(Access, "/access")

    async def event(self, event_id: str, timeout: float = 0.0) -> Became:
        """What became of what was published under this id, as far as that is known after `timeout` seconds."""
        path = f"/events/{wire.path_id(self.namespace)}/{wire.path_id(event_id)}"
        return await self._get(Became, path, **wire.waiting(timeout))

    async def rewards(self, agent: str | None = None) -> Rewards:
        """What the agents of this namespace were given for what they did to its memory, or one of them."""
        named = {} if agent is None else {"agent": agent}
        return await self._get(Rewards, f"/rewards/{wire.path_id(self.namespace)}", **named)

    async def rollups(self, *, as_of: int | None = None, persona: str | None = None, **gates: Unpack[Gates]) -> Rollups:
        """What things this namespace has roll-ups of, each with how much is said of it across sessions.

        `as_of`: as they stood at this time, in milliseconds; `persona`: of sentences about this subject, or by this
        agent, alone.
        """
        path = f"/rollups/{wire.path_id(self.namespace)}"
        return await self._get(Rollups, path, **_rolled_up(as_of, persona), **wire.gates(gates))

    async def rollup(
        self, topic: str, *, as_of: int | None = None, persona: str | None = None, history: bool = False,
        **gates: Unpack[Gates],
    ) -> Rollup:  # fmt: skip
        """What is said of one thing across sessions, word for word, now or as of a time in milliseconds. `history`:
        also the patches that made it so. Raises NotFound where no roll-up is called so."""
        path = f"/rollups/{wire.path_id(self.namespace)}/{wire.path_id(topic, 'topic')}"
        more = {"history": "true"} if history else {}
        return await self._get(Rollup, path, **_rolled_up(as_of, persona), **more, **wire.gates(gates))


def _rolled_up(as_of: int | None, persona: str | None) -> dict[str, Any]:
    """Which state of a roll-up, and of whom, as a query string has it."""
    asked = {"as_of": as_of, "persona": persona}
    return {name: value for name, value in asked.items() if value is not None}
