"""The two stores: one on a loop of its own, for any program, and one on the program's loop."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypedDict, Unpack

from langgraph.store.base import BaseStore, Op, Result
from langgraph.store.base.batch import AsyncBatchedBaseStore

from memquorum.client import AsyncMemory
from memquorum.client.looping import OwnLoop
from memquorum.core.api.answers import Erasure
from memquorum.langgraph.operations import Operations, Saying


class Where(TypedDict, total=False):
    """The arguments that select a memory, as those of `memquorum.client.Memory`."""

    namespace: str | None
    agent: str | None
    kafka: str | None
    url: str | None
    seed: bytes | None
    genesis: Path | None
    api_key: str | None


def _made(
    where: Where, index: Mapping[str, Any] | None, filterable: Collection[str] | None, saying: Saying | None
) -> Operations:
    fields = (index or {}).get("fields")
    return Operations(AsyncMemory(**where), fields=fields, filterable=filterable, saying=saying)


class MemquorumStore(BaseStore):
    """A namespace of a memory as LangGraph's store, for one agent; safe to share between threads and event loops.

    Use as `with`, or call `close`. Every method has its asynchronous twin, as BaseStore has them.
    """

    def __init__(
        self,
        *,
        index: Mapping[str, Any] | None = None,
        filterable: Collection[str] | None = None,
        saying: Saying | None = None,
        **where: Unpack[Where],
    ) -> None:
        """`index`: `{"fields": ["text"]}`, the parts of a value that it is indexed by; the memory has its own encoder,
        so `embed` and `dims` are ignored. `filterable`: the fields that filters compare, for values with more than 30
        scalars. `saying`: returns further fields of an item's episode. `where`: as `Memory` takes it. Raises
        NotConfigured."""
        self.index_config = index
        self._operations = _made(where, index, filterable, saying)
        self._loop = OwnLoop(self, self._operations.memory._disconnect, "memquorum-langgraph", "this store is closed")

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Carries operations out: reads first, then all writes; returns the answers in order."""
        return self._loop.run(self._operations.run(list(ops)))

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """The same, for a program with an event loop."""
        return await self._loop.wait(self._operations.run(list(ops)))

    def erase(self, *, dry_run: bool = True, **named: Any) -> Erasure:
        """Erases irreversibly, as `Memory.erase`: `subject="ada"`, `memory_id=`, `everything=True`. With `dry_run` it
        shows what would be erased. `delete` can be undone within its grace time; this cannot."""
        return self._loop.run(self._operations.memory.erase(dry_run=dry_run, **named))

    async def aerase(self, *, dry_run: bool = True, **named: Any) -> Erasure:
        """The same, for a program with an event loop."""
        return await self._loop.wait(self._operations.memory.erase(dry_run=dry_run, **named))

    def close(self) -> None:
        """Delivers pending records and closes the connections. A second call does nothing."""
        self._loop.end(self._operations.memory.close)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


class AsyncMemquorumStore(AsyncBatchedBaseStore):
    """The store on the event loop on which it is made: requests of one turn of the loop are sent as one batch. Its
    synchronous methods are for other threads. Use as `async with`, or call `aclose`."""

    def __init__(
        self,
        *,
        index: Mapping[str, Any] | None = None,
        filterable: Collection[str] | None = None,
        saying: Saying | None = None,
        **where: Unpack[Where],
    ) -> None:
        """See `MemquorumStore`. Raises NotConfigured, and RuntimeError without a running loop."""
        super().__init__()
        self.index_config = index
        self._operations = _made(where, index, filterable, saying)

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Carries operations out: reads first, then all writes; returns the answers in order."""
        return await self._operations.run(ops)

    async def aerase(self, *, dry_run: bool = True, **named: Any) -> Erasure:
        """Erases irreversibly; see `MemquorumStore.erase`."""
        return await self._operations.memory.erase(dry_run=dry_run, **named)

    async def aclose(self) -> None:
        """Delivers pending records and closes the connections."""
        if self._task is not None:
            self._task.cancel()
        await self._operations.memory.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.aclose()
