"""The client's queries beside search and lists: outcomes of events, rights of the key, rewards and roll-ups."""

from __future__ import annotations

from typing import Any, TypeVar, Unpack

from memquorum.client import wire
from memquorum.client.values import Gates
from memquorum.core.api.answers import Access, Became, Rewards, Rollup, Rollups

T = TypeVar("T")


class Asking:
    """Queries that use no memory. All raise NotAllowed and Unreachable."""

    @property
    def namespace(self) -> str:
        """The namespace that the queries are about."""
        raise NotImplementedError

    async def _get(self, kind: type[T], path: str, **parameters: Any) -> T:
        raise NotImplementedError

    async def access(self) -> Access:
        """Returns what the API key may do, and where; every right but `admin` everywhere if the service
        requires no key."""
        return await self._get(Access, "/access")

    async def event(self, event_id: str, timeout: float = 0.0, *, content: str | None = None) -> Became:
        """Returns the outcome of the event with this id, as far as it is known after `timeout` seconds. `content`: the
        text that was published; the outcome is `reused` if the first one under the id is another."""
        path = f"/events/{wire.path_id(self.namespace)}/{wire.path_id(event_id)}"
        said = {} if content is None else {"said": wire.digest(content)}
        return await self._get(Became, path, **wire.waiting(timeout), **said)

    async def rewards(self, agent: str | None = None) -> Rewards:
        """Returns the rewards that agents of this namespace got for their changes to its memory; `agent`: of this one
        alone."""
        named = {} if agent is None else {"agent": agent}
        return await self._get(Rewards, f"/rewards/{wire.path_id(self.namespace)}", **named)

    async def rollups(self, *, as_of: int | None = None, persona: str | None = None, **gates: Unpack[Gates]) -> Rollups:
        """Lists the things that this namespace has roll-ups of, each with its number of sentences across sessions.

        `as_of`: as of this time, in milliseconds; `persona`: only sentences about this subject, or by this agent.
        """
        path = f"/rollups/{wire.path_id(self.namespace)}"
        return await self._get(Rollups, path, **_rolled_up(as_of, persona), **wire.gates(gates))

    async def rollup(
        self, topic: str, *, as_of: int | None = None, persona: str | None = None, history: bool = False,
        **gates: Unpack[Gates],
    ) -> Rollup:  # fmt: skip
        """Returns the roll-up of one thing: its sentences across sessions, word for word, now or as of a time in
        milliseconds. `history`: also the patches that led to it. Raises NotFound if there is no roll-up of this
        name."""
        path = f"/rollups/{wire.path_id(self.namespace)}/{wire.path_id(topic, 'topic')}"
        more = {"history": "true"} if history else {}
        return await self._get(Rollup, path, **_rolled_up(as_of, persona), **more, **wire.gates(gates))


def _rolled_up(as_of: int | None, persona: str | None) -> dict[str, Any]:
    """The query parameters that select a state of a roll-up and a persona."""
    asked = {"as_of": as_of, "persona": persona}
    return {name: value for name, value in asked.items() if value is not None}
