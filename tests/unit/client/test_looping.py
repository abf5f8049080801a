"""A loop of its own ends when its owner ends it, drops it, or the program ends; what is left is done first."""

from __future__ import annotations

import asyncio
import threading

import pytest

from memquorum.client.looping import OwnLoop, _running


class Owner:
    """Has a loop, and notes what is done last."""

    def __init__(self, done: list[str]) -> None:
        async def left() -> None:
            done.append(threading.current_thread().name)

        self.loop = OwnLoop(self, left, "own", "closed")


def _thread(of: OwnLoop) -> threading.Thread:
    return of._thread


def test_what_is_dropped_open_does_what_is_left_and_ends_with_one_warning() -> None:
    done = list[str]()
    owner = Owner(done)
    loop, thread = owner.loop, _thread(owner.loop)
    with pytest.warns(ResourceWarning, match="Owner was dropped without being closed: use it as `with`") as told:
        del owner
    thread.join(10)
    assert (done, loop.ended, thread.is_alive(), len(told)) == (["own"], True, False, 1)
    assert loop not in _running


def test_what_is_dropped_in_the_loops_own_thread_ends_too() -> None:
    done = list[str]()
    owners = [Owner(done)]
    thread = _thread(owners[0].loop)

    async def drop() -> None:
        owners.clear()

    with pytest.warns(ResourceWarning):
        asyncio.run_coroutine_threadsafe(drop(), owners[0].loop._loop).result(10)
        thread.join(10)
    assert done == ["own"] and not thread.is_alive()


def test_what_is_ended_warns_of_nothing_and_runs_nothing_more(recwarn: pytest.WarningsRecorder) -> None:
    done = list[str]()
    owner = Owner(done)
    loop = owner.loop

    async def last() -> None:
        done.append("last")

    loop.end(last)
    loop.end(last)
    del owner
    assert (done, loop.ended, list(recwarn)) == (["last"], True, [])
    with pytest.raises(RuntimeError, match="closed"):
        loop.run(last())


def test_a_program_that_ends_waits_for_what_it_left_and_for_what_it_dropped(recwarn: pytest.WarningsRecorder) -> None:
    done = list[str]()
    owner, dropped = Owner(done), Owner(done)
    loop, other = owner.loop, dropped.loop
    owner.loop.end_with_program()
    assert done == ["own"] and loop.ended and not list(recwarn)
    del dropped
    other.end_with_program()
    assert other.ended and len(done) == 2
