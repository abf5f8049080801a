"""Runs the loops of one process beside each other: what ends one ends all."""

from __future__ import annotations

import threading
from collections.abc import Callable

from workers.kafka.loop import Stop


def run(stop: Stop, first: Callable[[], None], *others: Callable[[], None]) -> None:
    """Runs the first here and the others in threads, until all have ended. Raises what the first to fail raised."""
    failed: list[BaseException] = []

    def guarded(work: Callable[[], None]) -> None:
        try:
            work()
        except BaseException as error:
            failed.append(error)
        finally:
            stop.set()

    threads = [threading.Thread(target=guarded, args=(work,), name=f"loop-{at}") for at, work in enumerate(others, 1)]
    for thread in threads:
        thread.start()
    guarded(first)
    for thread in threads:
        thread.join()
    if failed:
        raise failed[0]
