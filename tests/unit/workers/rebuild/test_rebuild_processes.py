"""A rebuild's threads and processes: they all end where one fails, or where somebody presses Ctrl-C."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import KafkaError, KafkaException

from db.vault import PostgresVault
from memquorum.core.journal.replay import CannotReplay
from memquorum.schema_files import load_codec
from tests.builders import genesis
from tests.inmemory.vault import InMemoryVault
from workers.rebuild.apart import Apart, PartLost
from workers.rebuild.shard import Counts, Course, Ended, Job, together
from workers.rebuild.worker import dealt

_LONG_S = 60.0
_ROOT = Path(__file__).parents[4]


def _links(first: Any = lambda: None) -> Iterator[tuple[int, Any]]:
    """Many entries of a shard; before the tenth something happens."""
    for offset in range(int(_LONG_S * 1_000)):
        if offset == 10:
            first()
        time.sleep(0.001)
        yield offset, None


def _interrupt() -> None:
    os.kill(os.getpid(), signal.SIGINT)


def _fail() -> None:
    raise OSError("no disk")


def _cannot() -> None:
    raise CannotReplay("shard 2: no")


def _kafka() -> None:
    raise KafkaException(KafkaError(KafkaError._ALL_BROKERS_DOWN))


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _go() -> None:
    """It only takes long."""


@dataclass(frozen=True)
class Walk:
    """In place of a job: each shard's number of entries, or all of them, and what happens in one shard."""

    entries: int | None = None
    bad: int | None = None
    what: Any = None

    def shard(self, shard: int, course: Course) -> Counts:
        links = _links(self.what) if shard == self.bad else _links()
        if self.entries is not None:
            links = ((offset, None) for offset in range(self.entries * (shard + 1)))
        return Counts(sum(1 for _ in course.along(shard, links)), shard, 1)


def _rebuild(walk: Any, mine: list[int], *others: list[int], course: Course | None = None) -> Counts:
    course = course or Course()
    with ExitStack() as stack:
        apart = [stack.enter_context(Apart(walk, shards, 2, course)) for shards in others]
        calls = [*(one.result for one in apart), *(partial(walk.shard, shard, course) for shard in mine)]
        return together(calls, course, 2 + len(apart))


def test_the_shards_of_all_processes_are_counted_and_told_of() -> None:
    told: dict[int, int] = {}
    done = _rebuild(Walk(600), [0], [1, 2], [3], course=Course(told.__setitem__))
    assert done == Counts(600 * 10, 6, 4)
    assert told == {0: 500, 1: 1_000, 2: 1_500, 3: 2_000}


@pytest.mark.parametrize(("what", "raised"), [(_interrupt, KeyboardInterrupt), (_fail, OSError)])
@pytest.mark.parametrize("others", [[], [[3, 4]]], ids=["threads", "processes"])
def test_no_shard_is_gone_on_with(what: Any, raised: type[BaseException], others: list[list[int]]) -> None:
    # A shell lets what it starts in the background ignore Ctrl-C.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    began = time.monotonic()
    with pytest.raises(raised):
        _rebuild(Walk(None, 0, what), [0, 1, 2], *others)
    assert time.monotonic() - began < _LONG_S / 2


@pytest.mark.parametrize(
    ("what", "raised", "said"),
    [
        (_cannot, CannotReplay, "shard 2: no"),
        (_kafka, PartLost, "KafkaException: .*_ALL_BROKERS_DOWN"),
        (_die, PartLost, "status -9"),
    ],
)
def test_what_another_process_meets_is_raised_here(what: Any, raised: type[Exception], said: str) -> None:
    began = time.monotonic()
    with pytest.raises(raised, match=said):
        _rebuild(Walk(None, 2, what), [0], [1, 2])
    assert time.monotonic() - began < _LONG_S / 2


def test_another_process_ends_with_whoever_began_it() -> None:
    course = Course()
    with Apart(Walk(), [0], 1, course) as apart:
        apart._process.stdin.close()  # as the kernel does for one that was killed
        with pytest.raises(Ended):
            apart.result()


_KILLED = f"""
import os, signal
from {__name__} import Walk
from workers.rebuild.apart import Apart
from workers.rebuild.shard import Course
Apart(Walk(), [0], 1, Course(lambda shard, offset: os.kill(os.getpid(), signal.SIGKILL))).result()
"""


def test_another_process_says_in_a_line_that_whoever_began_it_was_killed() -> None:
    done = subprocess.run([sys.executable, "-c", _KILLED], capture_output=True, text=True, check=False, cwd=_ROOT)
    assert done.returncode == -signal.SIGKILL
    assert done.stderr == "rebuild: whoever began this process was killed: its shards end here\n"


def test_a_process_that_cannot_be_given_its_job_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(PartLost, match="status 1"):
        Apart(Walk(what=bytes(1_000_000)), [0], 1, Course())


@pytest.mark.parametrize(
    ("ends", "processes", "hands"),
    [
        ([5, 5, 5, 5], 2, [[0, 2], [1, 3]]),
        ([1, 9, 3, 4], 2, [[1], [3, 2, 0]]),
        ([0, 0, 0, 0], 2, [[0, 2], [1, 3]]),
        ([7, 7], 1, [[0, 1]]),
        ([7], 16, [[0]]),
    ],
)
def test_each_process_has_about_as_much_to_do(ends: list[int], processes: int, hands: list[list[int]]) -> None:
    assert dealt(ends, processes) == hands


def test_another_process_can_be_given_what_a_rebuild_needs() -> None:
    job = Job("localhost:1", genesis.make(), load_codec(), "dbname=x", PostgresVault("dbname=v", bytes(32)))
    given = pickle.loads(pickle.dumps(job))
    assert (given.genesis, given.codec.names()) == (job.genesis, job.codec.names())
    assert isinstance(given.vault, PostgresVault)


def test_no_key_is_opened_that_the_journal_calls_destroyed() -> None:
    vault = InMemoryVault()
    vault.create([(name, "n", "ada") for name in ("a", "b")])
    job = Job("localhost:1", genesis.make(), load_codec(), "dbname=x", vault, gone=frozenset("a"))
    assert set(job.keys(["a", "b"])) == {"b"}
