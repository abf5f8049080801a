"""The client for programs without an event loop: the asynchronous one on a loop of its own, in a thread."""

from __future__ import annotations

import functools
from collections.abc import Callable, Coroutine
from pathlib import Path
from types import TracebackType
from typing import Any, Concatenate, ParamSpec, Self, TypeVar, Unpack

from memquorum.client.entries import Entries
from memquorum.client.finishing import About, SyncTask
from memquorum.client.looping import OwnLoop
from memquorum.client.memory import AsyncMemory
from memquorum.core.experience.noting import NEAR

T = TypeVar("T")
P = ParamSpec("P")


def _same(method: Callable[Concatenate[AsyncMemory, P], Coroutine[Any, Any, T]]) -> Callable[Concatenate[Memory, P], T]:
    """Wraps a method of the asynchronous client, with its signature and docstring, to run on the client's own loop."""

    @functools.wraps(method)
    def run(self: Memory, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return self._loop.run(method(self._memory, *args, **kwargs))

    return run


class Memory:
    """A namespace's memory, for one agent. Use as `with`, or call `close`; a client still open at the end of the
    program is closed then, and one dropped before with a ResourceWarning. Safe to share between threads.

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
        self._loop = OwnLoop(self, self._memory._disconnect, "memquorum-client", "this client is closed")
        self._entries = Entries(self._memory)

    @property
    def namespace(self) -> str:
        """The namespace that this client reads and writes."""
        return self._memory.namespace

    @property
    def loop(self) -> OwnLoop:
        """The loop that this client runs on, for objects built on it such as files and histories."""
        return self._loop

    @property
    def entries(self) -> Entries:
        """The client's entries under keys, for work on its loop."""
        return self._entries

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Delivers pending records and closes the connections. A second call does nothing."""
        self._loop.end(self._memory.close)

    def task(self, goal: str, *, inputs: str | None = None, near: float = NEAR, **about: Unpack[About]) -> SyncTask:
        """Opens a task for `with`: see `AsyncMemory.task`. Raises Invalid."""
        return SyncTask(self._memory.task(goal, inputs=inputs, near=near, **about), self._loop.run)

    add = _same(AsyncMemory.add)
    add_all = _same(AsyncMemory.add_all)
    clear = _same(AsyncMemory.clear)
    outcome = _same(AsyncMemory.outcome)
    event = _same(AsyncMemory.event)
    access = _same(AsyncMemory.access)
    search = _same(AsyncMemory.search)
    retrieve = _same(AsyncMemory.retrieve)
    recall = _same(AsyncMemory.recall)
    context = _same(AsyncMemory.context)
    use = _same(AsyncMemory.use)
    use_all = _same(AsyncMemory.use_all)
    end_session = _same(AsyncMemory.end_session)
    finish_task = _same(AsyncMemory.finish_task)
    give_feedback = _same(AsyncMemory.give_feedback)
    tasks = _same(AsyncMemory.tasks)
    finished_task = _same(AsyncMemory.finished_task)
    experience = _same(AsyncMemory.experience)
    experiences = _same(AsyncMemory.experiences)
    session = _same(AsyncMemory.session)
    memories = _same(AsyncMemory.memories)
    slot = _same(AsyncMemory.slot)
    paths = _same(AsyncMemory.paths)
    get = _same(AsyncMemory.get)
    explain = _same(AsyncMemory.explain)
    decisions = _same(AsyncMemory.decisions)
    goals = _same(AsyncMemory.goals)
    pins = _same(AsyncMemory.pins)
    holds = _same(AsyncMemory.holds)
    orders = _same(AsyncMemory.orders)
    epochs = _same(AsyncMemory.epochs)
    conflicts = _same(AsyncMemory.conflicts)
    sessions = _same(AsyncMemory.sessions)
    open_epoch = _same(AsyncMemory.open_epoch)
    members = _same(AsyncMemory.members)
    journal = _same(AsyncMemory.journal)
    verify_journal = _same(AsyncMemory.verify_journal)
    diff = _same(AsyncMemory.diff)
    namespaces = _same(AsyncMemory.namespaces)
    state = _same(AsyncMemory.state)
    policy = _same(AsyncMemory.policy)
    fleet = _same(AsyncMemory.fleet)
    trace = _same(AsyncMemory.trace)
    dead_letters = _same(AsyncMemory.dead_letters)
    evidence = _same(AsyncMemory.evidence)
    keys = _same(AsyncMemory.keys)
    make_key = _same(AsyncMemory.make_key)
    revoke_key = _same(AsyncMemory.revoke_key)
    rewards = _same(AsyncMemory.rewards)
    rollups = _same(AsyncMemory.rollups)
    rollup = _same(AsyncMemory.rollup)
    pin = _same(AsyncMemory.pin)
    unpin = _same(AsyncMemory.unpin)
    profile = _same(AsyncMemory.profile)
    set_profile = _same(AsyncMemory.set_profile)
    reclassify = _same(AsyncMemory.reclassify)
    begin_goal = _same(AsyncMemory.begin_goal)
    end_goal = _same(AsyncMemory.end_goal)
    report = _same(AsyncMemory.report)
    erase = _same(AsyncMemory.erase)
    erasure_receipt = _same(AsyncMemory.erasure_receipt)
    restore = _same(AsyncMemory.restore)
    forget = _same(AsyncMemory.forget)
    rollback = _same(AsyncMemory.rollback)
    order = _same(AsyncMemory.order)
