"""Starts processes, watches them, restarts those that die, and stops all in reverse order."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

from infra import ends
from infra.embedded.processes import spawn
from infra.ends import Ends
from infra.forkserver import ForkServer
from memquorum import wholefiles
from memquorum.commands import HALTED

log = logging.getLogger(__name__)

# The limit of the back-off: an outage of a server may cost no more beyond itself.
_BACKOFF_S = (0.2, 0.5, 1.0, 2.0, 3.0)
_SETTLED_S = 30.0  # a process that ran this long starts with the first back-off again
_STOP_S = 4.0

_INFRA = (sys.executable, "-m", "infra")
_RUN = ("admin", "fleet", "run")

KINDS = ("intake", "streams", "replica", "commit", "consolidator", "rehearsal", "verifier", "retrieval", "events")
"""The kinds of processes, in the order of their start."""

State = Literal["running", "waiting", "halted", "stopped"]


@dataclass(frozen=True, slots=True)
class Role:
    """A process to be: its name, which names its log too, and its command."""

    name: str
    command: tuple[str, ...]

    @property
    def kind(self) -> str:
        """Its name; of a replica, whichever member's, and of each range of shards: replica, commit."""
        return self.name.partition("-")[0]


def roles(
    members: int, *, events: bool = False, replica_shards: Sequence[str] = (), commit_shards: Sequence[str] = ()
) -> list[Role]:
    """The fleet's processes in the order of their start. `events`: also the one that tells other tools of the
    journal. `replica_shards`, `commit_shards`: the ranges of the processes that share the shards of a member, and of
    commit; none where one process has all."""
    several = {
        "replica": [
            _role("replica", member, shards) for member in range(members) for shards in replica_shards or ("",)
        ],
        "commit": [_role("commit", None, shards) for shards in commit_shards or ("",)],
    }
    kinds = [kind for kind in KINDS if events or kind != "events"]
    return [role for kind in kinds for role in several.get(kind, [_role(kind, None, "")])]


def _role(kind: str, member: int | None, shards: str) -> Role:
    of_member = () if member is None else ("--member", str(member))
    of_shards = ("--shards", shards) if shards else ()
    return Role(named(kind, member, shards), (*_INFRA, *_RUN, kind, *of_member, *of_shards))


def named(kind: str, member: int | None, shards: str) -> str:
    """The name of a process: in its log, its traces, and every table. `shards`: its range; empty: it has all."""
    return "-".join([kind, *([] if member is None else [str(member)]), *([shards] if shards else [])])


class Process(Protocol):
    """A process that was started, as `subprocess.Popen` has it."""

    pid: int

    def poll(self) -> int | None:
        """Its exit status, negative for a signal; None while it runs."""

    def send_signal(self, sig: int, /) -> None:
        """Sends a signal, unless it has ended."""

    def wait(self, timeout: float | None = None) -> int:
        """Its exit status, once it has ended. Raises subprocess.TimeoutExpired."""


Start = Callable[[Role, Path, Mapping[str, str]], Process]
"""Starts a role: (role, log, environment)."""


def start_anew(role: Role, log: Path, environment: Mapping[str, str]) -> Process:
    """Starts a new interpreter. It is killed when the supervisor dies: one that is busy ignores a gentle signal."""
    return spawn(role.command, log, by=signal.SIGKILL, env=environment)


def start_forked(server: ForkServer) -> Start:
    """Starts roles by a fork server, which has imported their modules."""

    def start(role: Role, log: Path, environment: Mapping[str, str]) -> Process:
        return server.start(role.name, role.command[len(_INFRA) :], log, environment)

    return start


class Fleet:
    """The processes of a list of roles. Not thread-safe; call all of it from one thread, which must outlive them.

    The kernel kills the processes when that thread ends, so none outlives a supervisor that was killed itself.
    """

    def __init__(
        self,
        roles: Sequence[Role],
        logs: Path,
        ready: Path,
        environment: Callable[[str], Mapping[str, str]],
        start: Start = start_anew,
    ) -> None:
        """`ready`: the folder in which a process that can work writes a file with its name, holding its number.

        `environment`: of a kind of process (`Role.kind`)."""
        self._ready = ready
        for folder in (ready, logs):
            folder.mkdir(parents=True, exist_ok=True)
        self._children = [
            _Child(role, logs / f"{role.name}.log", dict(environment(role.kind)), start) for role in roles
        ]

    def start(self) -> None:
        """Starts every process; does not wait until they work."""
        for child in self._children:
            child.start()

    def check(self) -> bool:
        """Restarts processes that died and whose back-off is over; true if anything changed. Call it a few times a
        second."""
        now = time.monotonic()
        return any([child.check(now) for child in self._children])

    def waiting_for(self) -> list[str]:
        """The names of processes that are not ready yet."""
        return [child.role.name for child in self._children if not child.ready(self._ready)]

    def describe(self) -> dict[str, dict[str, object]]:
        """Name → pid, state, number of starts, for pids.json."""
        return {child.role.name: child.describe() for child in self._children}

    def stop(self) -> None:
        """Stops every process, the last started first; kills those that have not ended after 4 s."""
        running = [child for child in reversed(self._children) if child.ask_to_stop()]
        deadline = time.monotonic() + _STOP_S
        for child in running:
            child.end(max(0.0, deadline - time.monotonic()))


class _Child:
    def __init__(self, role: Role, file: Path, environment: dict[str, str], start: Start) -> None:
        self.role, self._log, self._environment, self._start = role, file, environment, start
        self._process: Process | None = None
        self._state: State = "stopped"
        self._ends, self._since, self._alarm = Ends(), 0, ""
        self._starts = self._failures = 0
        self._started = self._again = 0.0

    def start(self) -> None:
        self._since = self._log.stat().st_size if self._log.exists() else 0
        self._process = self._start(self.role, self._log, self._environment)
        self._state, self._started = "running", time.monotonic()
        self._starts += 1

    def check(self, now: float) -> bool:
        if self._state == "waiting" and now >= self._again:
            self.start()
            return True
        status = self._process.poll() if self._state == "running" and self._process else None
        if status is None:
            return self._told(now)
        # It has met a contradiction (a digest conflict, a forked journal): starting it again would only repeat it, or
        # worse. A person must look.
        if status == HALTED:
            self._state = "halted"
            log.error("%s has halted on a contradiction and stays down; it says why in %s", self.role.name, self._log)
            return True
        self._failures = 0 if now - self._started > _SETTLED_S else self._failures + 1
        pause = _BACKOFF_S[min(self._failures, len(_BACKOFF_S)) - 1] if self._failures else 0.0
        self._state, self._again = "waiting", now + pause
        end = ends.read(self._log, self._since, status)
        self._ends.add(end, now)
        log.warning("%s ended with status %d (%s); again in %.1f s", self.role.name, status, end.error, pause)
        self._told(now)
        return True

    def _told(self, now: float) -> bool:
        """Raises or ends the alarm that the same error ends it again and again; whether that changed."""
        before, self._alarm = self._alarm, self._ends.alarm(now) or ""
        if self._alarm and self._alarm != before:
            log.error(
                "ALARM: %s %s: see docs/operate/operating.md, a process that ends again and again",
                self.role.name,
                self._alarm,
            )
        return self._alarm != before

    def ready(self, folder: Path) -> bool:
        if self._state != "running" or self._process is None:
            return False
        try:
            return (folder / self.role.name).read_text() == str(self._process.pid)
        except FileNotFoundError:
            return False

    def describe(self) -> dict[str, object]:
        pid = self._process.pid if self._process and self._state == "running" else None
        return {"pid": pid, "state": self._state, "starts": self._starts} | (
            {"alarm": self._alarm} if self._alarm else {}
        )

    def ask_to_stop(self) -> bool:
        was_running = self._state == "running" and self._process is not None and self._process.poll() is None
        self._state = "stopped"
        if was_running and self._process is not None:
            self._process.send_signal(signal.SIGTERM)
        return was_running

    def end(self, patience_s: float) -> None:
        assert self._process is not None
        try:
            self._process.wait(patience_s)
        except subprocess.TimeoutExpired:
            log.warning("%s did not stop when asked and is killed", self.role.name)
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()


def announce(folder: Path, name: str) -> None:
    """Says, from within a process, that it works now."""
    wholefiles.write(folder / name, str(os.getpid()))
