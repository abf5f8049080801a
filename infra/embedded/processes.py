"""Helpers of both embedded servers: free ports, children that end with their parent, the end of a log."""

from __future__ import annotations

import contextlib
import ctypes
import os
import random
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from infra.logs import readable
from infra.settings import Mendable

_PR_SET_PDEATHSIG = 1
_PORT_MIN, _PORT_TRIES, _ATTEMPTS = 10_000, 50, 3
# Not `random`'s own generator, which a test may have seeded: two processes with one seed would ask for the same ports.
_CHANCE = random.SystemRandom()
_GIVEN: set[int] = set()
# Loaded before any fork: the child between fork and exec must run little more than a system call.
_LIBC = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None


class EmbeddedError(Mendable, RuntimeError):
    """A server did not start or stop; the message names its log and quotes the end of it."""


def free_port(wanted: int = 0) -> int:
    """Returns a TCP port of 127.0.0.1 that is free now: the wanted one if possible, else any.

    Never one of the kernel's ports for outgoing connections: while a server is down, a reconnecting client could be
    given the server's own port as its source, and be connected with itself, and the server would find the port taken.
    Another process may take it before its user does; this one is given it once, since a server that wants two asks for
    both before it binds either.
    """
    first = _first_of_clients()
    room = range(_PORT_MIN, first) if first > 2 * _PORT_MIN else range(0, 1)
    tries = [wanted] if wanted else []
    for port in (*tries, *_CHANCE.sample(room, min(len(room), _PORT_TRIES)), 0):
        if port in _GIVEN and port != wanted:
            continue
        with socket.socket() as probe:
            # As servers do, so that a closing connection of the last run does not block the port.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            found = int(probe.getsockname()[1])
            _GIVEN.add(found)
            return found
    raise EmbeddedError("no TCP port of 127.0.0.1 is free")


def start_on_free_ports(start: Callable[[], str], stop: Callable[[], None]) -> str:
    """Calls `start` and returns its result. Stops it and tries again if another process took a port between our asking
    for it and the server's binding it."""
    for attempt in range(1, _ATTEMPTS + 1):
        try:
            return start()
        except EmbeddedError as error:
            stop()
            if attempt == _ATTEMPTS or "Address already in use" not in str(error):
                raise
    raise AssertionError("unreachable")


def _first_of_clients() -> int:
    """The first port that the kernel gives to outgoing connections."""
    try:
        return int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    except (OSError, ValueError, IndexError):
        return 32_768


def die_with_parent(by: signal.Signals) -> Callable[[], None] | None:
    """A `preexec_fn` by which the kernel sends `by` to the child when the thread that started it ends (Linux only).

    Start such children from the main thread. A change of user in the child cancels this: `setpriv --pdeathsig`.
    """
    libc, parent = _LIBC, os.getpid()
    if libc is None:
        return None

    def ask() -> None:
        libc.prctl(_PR_SET_PDEATHSIG, int(by), 0, 0, 0)
        if os.getppid() != parent:  # the parent died between fork and prctl
            os._exit(1)

    return ask


def spawn(
    command: Sequence[str],
    log: Path,
    by: signal.Signals = signal.SIGTERM,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    *,
    keep: Sequence[int] = (),
) -> subprocess.Popen[bytes]:
    """Starts a process in its own session, so that a terminal's Ctrl-C reaches only us; appends its output to `log`.
    `keep`: open files that it inherits.

    Its own session also makes it a process group: `stop` can end a server together with its children.
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("ab") as out:
        return subprocess.Popen(
            list(command),
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            env=None if env is None else dict(env),
            cwd=cwd,
            pass_fds=keep,
            start_new_session=True,
            preexec_fn=die_with_parent(by),  # noqa: PLW1509 - it makes two system calls and takes no lock
        )


def stop(process: subprocess.Popen[bytes], by: signal.Signals, patience_s: float) -> int:
    """Asks the process to end, and kills its group if it has not ended after `patience_s`. Returns its exit status."""
    if process.poll() is None:
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(by)
        try:
            return process.wait(patience_s)
        except subprocess.TimeoutExpired:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
    return process.wait()


def tail(log: Path, lines: int = 15) -> str:
    """The last lines of a log, indented, for an error message."""
    if not log.exists():
        return f"  ({log} was never written)"
    end = log.read_text(errors="replace").splitlines()[-lines:]
    told = "\n".join(map(readable, end)).splitlines()[-lines:]
    return f"the end of {log}:\n" + "\n".join(f"  {line}" for line in told)
