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
"""What is to be done on a loop before it ends."""

_PATIENCE_S = 5.0
"""So long a program that ends waits for a loop whose owner it has dropped."""
_running: set[OwnLoop] = set()
_inherited: list[object] = []
"""The loops of a parent process. They are kept, for dropping them would close what the parent waits on."""


class OwnLoop:
    """Runs from the start until it is ended, its owner is dropped, or the program ends. Safe to share between threads
    and other event loops. A process that was forked has the loop without its thread, and begins another one."""

    def __init__(self, owner: object, left: Last, thread: str, closed: str) -> None:
        """`owner`: whose it is; `left`: what is done last where the owner does not end it, which may not refer to the
        owner, nor start a thread, as an interpreter that ends allows none; `thread`: what its thread is called;
        `closed`: what is said to who comes when it has ended."""
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
        """Leaves the parent's loop alone: called in a child process, before anything else runs there."""
        _inherited.append((self._loop, self._thread))
        self._beginning = threading.Lock()

    @property
    def _here(self) -> bool:
        """Whether its thread is one of this process."""
        return self._process == os.getpid()

    @property
    def ended(self) -> bool:
        """Whether nothing can be run any more."""
        return self._gone

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """The result, which the calling thread waits for. Raises Closed once it has ended."""
        return asyncio.run_coroutine_threadsafe(self._open(work), self._loop).result()

    async def wait(self, work: Coroutine[Any, Any, T]) -> T:
        """The same, for a caller on another event loop."""
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(self._open(work), self._loop))

    def end(self, last: Last) -> None:
        """Runs what is to be done last, and ends, whatever becomes of that. A second call does nothing."""
        self._owned.detach()
        if self.ended:
            return
        if not self._here:  # what is open is the parent's
            self._gone = True
            _running.discard(self)
            return
        try:
            self.run(last())
        finally:
            self._stop()
            self._thread.join()

    def end_with_program(self) -> None:
        """Ends where its owner is there still; where that was dropped, waits a while until it has ended."""
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
        """Has it end without anybody who waits: what is dropped is dropped in any thread, the loop's own too."""
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
    """Ends what a program left open: it would complain of each connection otherwise."""
    for loop in list(_running):
        loop.end_with_program()
