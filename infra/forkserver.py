"""Starts the fleet's processes by forking one that has imported their modules (`infra.forked`).

Each process imports some 1,200 modules, one or two seconds of a processor; an installation starts eleven at once, and a
restart of all would take that again before any works.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from infra.embedded.processes import EmbeddedError, spawn, stop, tail

# Importing takes a few seconds, more if the machine is busy or nothing is compiled yet.
_PATIENCE_S = 60.0
_LOOK_S = 0.02
_SERVER = (sys.executable, "-u", "-m", "infra.forked")
MESSAGE_MOST = 1024 * 1024

ENDED_WITH_SERVER = -signal.SIGKILL


class Forked:
    """A process that a fork server started; has the methods of `subprocess.Popen` that a fleet calls."""

    def __init__(self, pid: int, server: ForkServer) -> None:
        self.pid, self._server = pid, server
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """Its exit status, negative for a signal; None while it runs."""
        if self.returncode is None:
            self._server.look()
        return self.returncode

    def send_signal(self, by: int) -> None:
        """Sends a signal, unless it has ended."""
        if self.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, by)

    def wait(self, timeout: float | None = None) -> int:
        """Its exit status, once it has ended. Raises subprocess.TimeoutExpired."""
        deadline = None if timeout is None else time.monotonic() + timeout
        while (status := self.poll()) is None:
            if deadline is not None and time.monotonic() > deadline:
                raise subprocess.TimeoutExpired(f"process {self.pid}", timeout or 0.0)
            time.sleep(_LOOK_S)
        return status


class ForkServer:
    """A fork server as a child of this process, with which it ends. Not thread-safe.

    The kernel kills the forked processes when the server ends; the next `start` begins another server.
    """

    def __init__(self, log: Path, command: Sequence[str] = _SERVER) -> None:
        """`log`: of the server's own output. `command`: of the server, without the number of its socket."""
        self._log, self._command = log, command
        self._process: subprocess.Popen[bytes] | None = None
        self._orders: socket.socket | None = None
        self._running: dict[int, Forked] = {}
        self._looked = 0.0

    def begin(self) -> None:
        """Starts the server, unless it runs; does not wait until it has imported everything."""
        if self._orders is not None:
            return
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            command = [*self._command, str(theirs.fileno())]
            self._process = spawn(command, self._log, by=signal.SIGKILL, keep=(theirs.fileno(),))
        ours.settimeout(_PATIENCE_S)
        self._orders = ours

    def start(self, name: str, command: Sequence[str], log: Path, environment: Mapping[str, str]) -> Forked:
        """Starts `python -m infra COMMAND` in a session of its own; appends its output to `log`.

        Raises EmbeddedError if the process could not be started.
        """
        order = {"name": name, "command": list(command), "log": str(log), "environment": dict(environment)}
        for _ in range(2):  # the server may have been killed since it was last asked
            self.begin()
            pid = self._ask(order)
            if isinstance(pid, int):
                found = self._running[pid] = Forked(pid, self)
                return found
        raise EmbeddedError(f"no process was forked for {name}; {tail(self._log)}")

    def look(self) -> None:
        """Notes which processes have ended; one request serves all that a fleet polls in a row."""
        now = time.monotonic()
        if self._orders is None or now - self._looked < _LOOK_S:
            return
        self._looked = now
        ended = self._ask({})
        if isinstance(ended, dict):
            for pid, status in ended.items():
                if found := self._running.pop(int(pid), None):
                    found.returncode = int(status)

    def close(self) -> None:
        """Ends the server, and with it the rest of its processes."""
        if self._process is not None:
            self._lost()

    def _ask(self, order: Mapping[str, Any]) -> Any:
        """Sends an order and returns the answer; None if the server has ended, or is silent for a minute."""
        assert self._orders is not None
        try:
            self._orders.send(json.dumps(order).encode())
            if told := self._orders.recv(MESSAGE_MOST):
                return json.loads(told)
        except OSError:
            pass
        self._lost()
        return None

    def _lost(self) -> None:
        assert self._orders is not None and self._process is not None
        self._orders.close()
        stop(self._process, signal.SIGKILL, 1.0)
        for found in self._running.values():
            found.returncode = ENDED_WITH_SERVER
        self._running, self._orders, self._process = {}, None, None
