"""An event loop in a thread of its own, for programs that have none."""

from __future__ import annotations

import asyncio
import atexit
import os
import threading
import warnings
import weakref
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from memquorum.client.errors import Closed

T = TypeVar("T")
Last = Callable[[], Coroutine[Any, Any, None]]
"""The coroutine that a loop runs before it ends."""

_PATIENCE_S = 5.0
"""The seconds that an ending program waits for a loop whose owner was dropped."""
_running: set[OwnLoop] = set()
_inherited: list[object] = []
"""Loops of a parent process. Keeps references, as dropping one would close descriptors that the parent waits on."""


class OwnLoop:
    """An event loop in a thread that runs until it is ended, its owner is dropped, or the program ends. Safe to share
    between threads and other event loops. A forked process starts another thread and loop."""

    def __init__(self, owner: object, left: Last, thread: str, closed: str) -> None:
        """`owner`: the object whose lifetime the loop has; `left`: run last if the owner does not end the loop; it may
        not refer to the owner, nor start a thread, as an ending interpreter allows none; `thread`: the thread's name;
        `closed`: the message of the error after the end."""
        self._left, self._closed, self._named, self._gone = left, closed, thread, False
        self._begin()
        self._owned = weakref.finalize(owner, self._leave, type(owner).__name__)
        self._owned.atexit = False

    def _begin(self) -> None:
        self._process, self._beginning = os.getpid(), threading.Lock()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._turn, name=self._named, daemon=True)
        self._thread.start()
        _running.add(self)

    def forked(self) -> None:
        """Forgets the parent's loop: called in a child process, before anything else runs there."""
        _inherited.append((self._loop, self._thread))
        self._beginning = threading.Lock()

    @property
    def _here(self) -> bool:
        """True if its thread belongs to this process."""
        return self._process == os.getpid()

    @property
    def ended(self) -> bool:
        """True once nothing can be run any more."""
        return self._gone

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Runs a coroutine on the loop and blocks the calling thread until it returns. Raises Closed once it has
        ended."""
        return asyncio.run_coroutine_threadsafe(self._open(work), self._loop).result()

    async def wait(self, work: Coroutine[Any, Any, T]) -> T:
        """Does as `run` does, for a caller on another event loop."""
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(self._open(work), self._loop))

    def end(self, last: Last) -> None:
        """Runs `last` and ends the loop, even if `last` fails. A second call does nothing."""
        self._owned.detach()
        if self.ended:
            return
        if not self._here:  # the open connections are the parent's
            self._gone = True
            _running.discard(self)
            return
        try:
            self.run(last())
        finally:
            self._stop()
            self._thread.join()

    def end_with_program(self) -> None:
        """Ends the loop if its owner still exists; if that was dropped, waits a while until the loop has ended."""
        if self._owned.alive:
            self.end(self._left)
        else:
            self._thread.join(_PATIENCE_S)

    def _turn(self) -> None:
        self._loop.run_forever()
        self._loop.close()
        self._gone = True
        _running.discard(self)

    def _stop(self, _: object = None) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)

    def _leave(self, owner: str) -> None:
        """Schedules the end and returns: an object may be dropped in any thread, also the loop's own."""
        if self._here and not self.ended:
            asyncio.run_coroutine_threadsafe(self._left(), self._loop).add_done_callback(self._stop)
            told = f"{owner} was dropped without being closed: use it as `with`, or call close()"
            warnings.warn(told, ResourceWarning, stacklevel=2)

    def _open(self, work: Coroutine[Any, Any, T]) -> Coroutine[Any, Any, T]:
        if self.ended:
            work.close()
            raise Closed(self._closed)
        with self._beginning:
            if not self._here:
                self._begin()
        return work


def _after_fork() -> None:
    for loop in list(_running):
        loop.forked()


os.register_at_fork(after_in_child=_after_fork)


@atexit.register
def _at_exit() -> None:
    """Ends the loops that a program left open, as each open connection would log a complaint otherwise."""
    for loop in list(_running):
        loop.end_with_program()
