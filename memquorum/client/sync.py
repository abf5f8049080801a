"""The client for programs without an event loop: the asynchronous one on a loop of its own, in a thread."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine, Iterable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar, Unpack

from memquorum.client.memory import AsyncMemory
from memquorum.client.values import Context, Erasure, Explanation, Forget, Gates, Only, Receipt, Restore
from memquorum.core.retrieval.query import Hit

T = TypeVar("T")


class Memory:
    """A namespace's memory, for one agent. Use as `with`, or call `close`. Safe to share between threads.

    Arguments, results and errors are those of `AsyncMemory`.
    """

    def __init__(
        self,
        *,
        namespace: str | None = None,
        agent: str | None = None,
        kafka: str | None = None,
        url: str | None = None,
        seed: bytes | None = None,
        genesis: Path | None = None,
        api_key: str | None = None,
    ) -> None:
        """See `AsyncMemory`. Raises NotConfigured."""
        self._memory = AsyncMemory(
            namespace=namespace, agent=agent, kafka=kafka, url=url, seed=seed, genesis=genesis, api_key=api_key
        )
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="memquorum-client", daemon=True)
        self._thread.start()

    @property
    def namespace(self) -> str:
        """Where this client reads and writes."""
        return self._memory.namespace

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Delivers what is under way and lets connections go. A second call does nothing."""
        if self._loop.is_closed():
            return
        try:
            self._run(self._memory.close())
        finally:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()

    def add(
        self,
        content: str,
        *,
        wait: bool = False,
        timeout: float = 30.0,
        session: str | None = None,
        role: str | None = None,
        subject: str | None = None,
        source: str | None = None,
        derives_from: Sequence[str] | None = None,
        type: str | None = None,
        sensitivity: float | None = None,
        purposes: Sequence[str] | None = None,
        jurisdiction: str | None = None,
        reward: float | None = None,
        confidence: float | None = None,
        uncertainty: float | None = None,
        event_id: str | None = None,
        occurred_at: int | None = None,
        agent: str | None = None,
        namespace: str | None = None,
    ) -> Receipt:
        """Publishes what happened; with `wait` returns once it is searchable."""
        return self._run(self._memory.add(
            content, wait=wait, timeout=timeout,
            session=session, role=role, subject=subject, source=source, derives_from=derives_from, type=type,
            sensitivity=sensitivity, purposes=purposes, jurisdiction=jurisdiction, reward=reward,
            confidence=confidence, uncertainty=uncertainty, event_id=event_id, occurred_at=occurred_at,
            agent=agent, namespace=namespace,
        ))  # fmt: skip

    def add_all(self, episodes: Iterable[Mapping[str, Any]]) -> list[Receipt]:
        """Publishes many, in order."""
        return self._run(self._memory.add_all(episodes))

    def outcome(self, receipt: Receipt, timeout: float = 30.0) -> Receipt:
        """The receipt with its outcome, as soon as there is one."""
        return self._run(self._memory.outcome(receipt, timeout))

    def search(
        self, query: str, k: int = 10, *, peek: bool = False, exact: bool = False, **only: Unpack[Only]
    ) -> list[Hit]:
        """The k memories nearest in meaning; they count as used, unless you `peek`."""
        return self._run(self._memory.search(query, k, peek=peek, exact=exact, **only))

    def retrieve(self, query: str, budget_tokens: int = 2_000, **filters: Any) -> Context:
        """The memories that answer best and fit the budget, by meaning and by words; they count as used."""
        return self._run(self._memory.retrieve(query, budget_tokens, **filters))

    def recall(self, memory_id: str | None = None, **asked: Any) -> Context:
        """What surrounds a memory, or those that answer a `query` best, in the order of time; it counts as used."""
        return self._run(self._memory.recall(memory_id, **asked))

    def context(self, query: str | None = None, budget_tokens: int = 2_000, **asked: Any) -> Context:
        """What to put into a prompt: what this agent said last, and what answers best; str() of it is the text."""
        return self._run(self._memory.context(query, budget_tokens, **asked))

    def use(self, memory_id: str) -> Receipt:
        """Says that a memory was used."""
        return self._run(self._memory.use(memory_id))

    def get(self, memory_id: str, **gates: Unpack[Gates]) -> dict[str, Any]:
        """One memory; its text is None once it is forgotten."""
        return self._run(self._memory.get(memory_id, **gates))

    def explain(self, memory_id: str, **gates: Unpack[Gates]) -> Explanation:
        """Why a memory is where it is."""
        return self._run(self._memory.explain(memory_id, **gates))

    def erasure_receipt(self, order_id: str) -> dict[str, Any]:
        """What proves an erasure."""
        return self._run(self._memory.erasure_receipt(order_id))

    def pin(self, memory_id: str, *, reference: str | None = None) -> dict[str, Any]:
        """A memory is not forgotten until it is unpinned."""
        return self._run(self._memory.pin(memory_id, reference=reference))

    def begin_goal(self, goal: str, needs: Sequence[str]) -> dict[str, Any]:
        """What a goal needs is not forgotten until it ends."""
        return self._run(self._memory.begin_goal(goal, needs))

    def end_goal(self, goal: str, needs: Sequence[str] = ()) -> dict[str, Any]:
        """What the goal alone needed may be forgotten again."""
        return self._run(self._memory.end_goal(goal, needs))

    def unpin(self, memory_id: str, *, reference: str | None = None) -> dict[str, Any]:
        """It may be forgotten again."""
        return self._run(self._memory.unpin(memory_id, reference=reference))

    def erase(self, **asked: Any) -> Erasure:
        """What an erasure would take; with `dry_run=False` it is ordered."""
        return self._run(self._memory.erase(**asked))

    def erasure(self, order_id: str) -> Erasure:
        """What became of an order to erase."""
        return self._run(self._memory.erasure(order_id))

    def restore(self, *memory_ids: str, **asked: Any) -> Restore:
        """Asks for memories back that were forgotten and rest sealed."""
        return self._run(self._memory.restore(*memory_ids, **asked))

    def forget(self, *memory_ids: str, **asked: Any) -> Forget:
        """What a vote to forget memories would look at; with `dry_run=False` they are nominated."""
        return self._run(self._memory.forget(*memory_ids, **asked))

    def restore_outcome(self, order_id: str) -> Restore:
        """What became of a request to restore."""
        return self._run(self._memory.restore_outcome(order_id))

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        if self._loop.is_closed():
            work.close()
            raise RuntimeError("this client is closed")
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()
