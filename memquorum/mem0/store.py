"""A class in place of mem0's `Memory`: the same calls, answered by an installation. No language model infers
anything."""

from __future__ import annotations

from collections.abc import Coroutine
from types import TracebackType
from typing import Any, Self, TypeVar

from memquorum.client.errors import Invalid, NotFound
from memquorum.client.looping import OwnLoop
from memquorum.client.memory import AsyncMemory
from memquorum.mem0.calls import AGENT, Calls
from memquorum.mem0.filters import ENTITIES

T = TypeVar("T")
THRESHOLD, TOP_K = 0.1, 20


class Memory:
    """Offers the calls of mem0's `Memory` on an installation. Use as `with`, or call `close`.

    `add` stores each message as it is; `infer` (the default) leaves out small talk. `search` and `get_all` want a user,
    agent, run or app in their `filters`, as mem0's do. `delete` hides, and `erase` destroys.
    """

    def __init__(self, config: Any = None, **place: Any) -> None:
        """`place`: namespace, url, kafka, api_key, as the client takes them; missing ones are found as the client does.
        A config of mem0's, which names models and stores, is refused: an installation has its own. Raises Invalid."""
        if config is not None:
            raise Invalid("unknown_field", "config", "models and stores belong to the installation: say namespace=…")
        speakers: dict[str, AsyncMemory] = {}

        def speaker(agent: str) -> AsyncMemory:
            if agent not in speakers:
                speakers[agent] = AsyncMemory(**{**place, "agent": agent})
            return speakers[agent]

        async def close() -> None:
            for one in speakers.values():
                await one.close()

        speaker(AGENT)  # fails at once without a configuration
        self._calls, self._close = Calls(speaker), close
        self._loop = OwnLoop(self, close, "mem0", "this memory is closed")

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        return self._loop.run(work)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Delivers pending records and closes the connections."""
        self._loop.end(self._close)

    def add(
        self, messages: Any, *, user_id: str | None = None, agent_id: str | None = None, run_id: str | None = None,
        metadata: dict[str, Any] | None = None, infer: bool = True, memory_type: str | None = None,
        prompt: str | None = None, **more: Any,
    ) -> dict[str, Any]:  # fmt: skip
        """Stores messages: `{"results": [{"id", "memory", "event"}]}`. Raises Invalid if it names no user, agent, run
        or app."""
        if user_id is agent_id is run_id is None:
            raise Invalid("missing_field", "user_id", "name at least one of user_id, agent_id, run_id")
        asked = {"user_id": user_id, "agent_id": agent_id, "run_id": run_id, "metadata": metadata, "infer": infer}
        return self._run(self._calls.add(messages, **asked, memory_type=memory_type, prompt=prompt, **more))

    def search(
        self, query: str, *, top_k: int = TOP_K, filters: dict[str, Any] | None = None, threshold: float = THRESHOLD,
        rerank: bool = False, **more: Any,
    ) -> dict[str, Any]:  # fmt: skip
        """Returns the memories nearest in meaning: `{"results": [{"id", "memory", "score", …}]}`."""
        _at_top(more)
        return self._run(self._calls.search(query, top_k=top_k, filters=filters, threshold=threshold))

    def get_all(self, *, filters: dict[str, Any] | None = None, top_k: int = TOP_K, **more: Any) -> dict[str, Any]:
        """The memories that pass, `top_k` at most."""
        _at_top(more)
        return {"results": self._run(self._calls.get_all(filters=filters, page_size=top_k))["results"]}

    def get(self, memory_id: str) -> dict[str, Any] | None:
        """One memory, or None."""
        try:
            return self._run(self._calls.get(memory_id))
        except NotFound:
            return None

    def update(
        self, memory_id: str, data: str | None = None, metadata: dict[str, Any] | None = None, **more: Any
    ) -> Any:
        """Replaces text or metadata: `{"message"}`."""
        self._run(self._calls.update(memory_id, data=data, metadata=metadata, **more))
        return {"message": "Memory updated successfully!"}

    def delete(self, memory_id: str) -> dict[str, Any]:
        """Hides a memory at once."""
        return self._run(self._calls.delete(memory_id))

    def delete_all(
        self, user_id: str | None = None, agent_id: str | None = None, run_id: str | None = None
    ) -> dict[str, Any]:
        """Hides all memories of a user, an agent or a run."""
        return self._run(self._calls.delete_all(user_id=user_id, agent_id=agent_id, run_id=run_id))

    def history(self, memory_id: str) -> list[dict[str, Any]]:
        """Returns a memory's history."""
        return self._run(self._calls.history(memory_id))

    def erase(self, user_id: str | None = None, agent_id: str | None = None) -> dict[str, Any]:
        """Destroys all memories about a user, or by an agent. This cannot be undone."""
        if (user_id is None) == (agent_id is None):
            raise Invalid("missing_field", "user_id", "name a user or an agent")
        kind, name = ("user", user_id) if user_id is not None else ("agent", agent_id)
        return self._run(self._calls.erase(kind, str(name)))


def _at_top(more: dict[str, Any]) -> None:
    """Refuses entity names beside the filters, as mem0 does. Raises Invalid."""
    named = sorted(set(more) & set(ENTITIES))
    if named:
        raise Invalid("unknown_field", named[0], f"say filters={{'{named[0]}': …}}")
