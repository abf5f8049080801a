"""Rebuilds some shards in a process of their own: both ends of it.

Python runs on one core, whatever the threads. The other process gets its job over a pipe, with the master key for the
vault, which no list of processes then shows, and answers over another. It ends when the first pipe closes: by its
starter's command, or with it.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO

from workers.rebuild.shard import Counts, Course, Job, together

# Not as a module that is run: its exceptions would be of other classes than here.
_CALL = f"from {__name__} import main; main()"
_ROOT = Path(__file__).parents[1]
# A transaction in progress is finished.
_END_S = 10.0
_AT, _DONE, _FAILED = "at", "done", "failed"


class PartLost(RuntimeError):
    """A process of the rebuild ended without an answer, or with an error that cannot be raised here."""


class Apart:
    """The starter's end of the other process. Use as a context manager; call `result` from a thread of its own."""

    def __init__(self, job: Job, shards: Sequence[int], threads: int, course: Course) -> None:
        """Starts it. `course` is given the progress of its shards, and tells it to end. Raises PartLost."""
        self._course = course
        path = os.pathsep.join(filter(None, (str(_ROOT), os.environ.get("PYTHONPATH"))))
        self._process = subprocess.Popen(
            [sys.executable, "-c", _CALL],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": path},
            # Ctrl-C is for this process, which tells the other.
            start_new_session=True,
        )
        assert self._process.stdin is not None
        try:
            pickle.dump((job, tuple(shards), threads), self._process.stdin)
            self._process.stdin.flush()
        except BrokenPipeError:
            self.__exit__(None, None, None)
            raise self._lost() from None
        course.on_halt.append(self._tell_to_end)

    def result(self) -> Counts:
        """Returns the counts, once it is done. Raises the other process's error, or PartLost."""
        assert self._process.stdout is not None
        while True:
            try:
                what, *told = pickle.load(self._process.stdout)
            except (EOFError, pickle.UnpicklingError):
                raise self._lost() from None
            if what == _AT:
                self._course.tell(*told)
            elif what == _DONE:
                done: Counts = told[0]
                return done
            else:
                raise told[0]

    def __enter__(self) -> Apart:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._tell_to_end()
        try:
            self._process.wait(_END_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        assert self._process.stdout is not None
        self._process.stdout.close()

    def _tell_to_end(self) -> None:
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):  # the unsent part of the job
            self._process.stdin.close()

    def _lost(self) -> PartLost:
        status = self._process.wait()
        return PartLost(f"a process of the rebuild ended with status {status}; what it said is above")


def main() -> None:
    """Runs the other process. If its starter was killed, it logs that and ends: its answer would not be read."""
    try:
        _answer()
    except BrokenPipeError:
        print("rebuild: whoever began this process was killed: its shards end here", file=sys.stderr, flush=True)
        os._exit(1)  # the pending answer would be written a second time


def _answer() -> None:
    # Output printed here must not mix with the answers.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    job, shards, threads = pickle.load(sys.stdin.buffer)
    turn = threading.Lock()

    def say(*what: Any) -> None:
        with turn:
            _write(answers, what)

    course = Course(partial(say, _AT))
    threading.Thread(target=_await_end, args=(course,), daemon=True).start()
    try:
        say(_DONE, together([partial(job.shard, shard, course) for shard in shards], course, threads))
    except Exception as error:
        say(_FAILED, _sendable(error))


def _write(answers: BinaryIO, what: tuple[Any, ...]) -> None:
    pickle.dump(what, answers)
    answers.flush()


def _await_end(course: Course) -> None:
    while os.read(0, 1):
        pass
    course.halt()


def _sendable(error: Exception) -> Exception:
    """The error, or its words if it cannot be pickled: those of the Kafka client cannot."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return PartLost(f"{type(error).__name__}: {error}")
    return error
