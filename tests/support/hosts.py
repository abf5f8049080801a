r"""Another host on this machine: a network namespace with a network of its own, in which a process finds the servers.

    unshare --net PYTHON -m tests.support.hosts FOLDER PORT,PORT COMMAND...

The servers listen on 127.0.0.1 of this machine alone. In the namespace a relay listens at the same ports, and passes
each connection through a socket in a folder to the `Link` of the test, which can be cut.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

_BYTES = 1 << 16
_PR_SET_PDEATHSIG = 1


def why_not() -> str | None:
    """Returns why this machine has no network namespaces for tests; None if it has."""
    try:
        done = subprocess.run(
            ["unshare", "--net", "ip", "link", "set", "lo", "up"], capture_output=True, text=True, check=False
        )
    except FileNotFoundError as error:
        return f"no network namespaces here: {error}"
    return f"no network namespaces here: {done.stderr.strip()}" if done.returncode else None


def there(folder: Path, ports: Sequence[int], command: Sequence[str]) -> tuple[str, ...]:
    """The command that runs a command on the other host."""
    named = ",".join(map(str, ports))
    return ("unshare", "--net", sys.executable, "-m", "tests.support.hosts", str(folder), named, *command)


class Link:
    """The way from the other host to the servers of this one."""

    def __init__(self, folder: Path, ports: Sequence[int]) -> None:
        self._open: set[socket.socket] = set()
        self._whole = threading.Event()
        self._whole.set()
        self._doors = []
        for port in ports:
            door = socket.socket(socket.AF_UNIX)
            door.bind(str(_place(folder, port)))
            door.listen(64)
            self._doors.append(door)
            _accept(door, partial(self._connect, port), self._open)

    def _connect(self, port: int) -> socket.socket:
        if not self._whole.is_set():
            raise ConnectionRefusedError
        return socket.create_connection(("127.0.0.1", port))

    @contextlib.contextmanager
    def cut(self) -> Iterator[None]:
        """For the length of the block nothing comes through."""
        self._whole.clear()
        for one in list(self._open):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
        try:
            yield
        finally:
            self._whole.set()

    def close(self) -> None:
        for one in (*self._doors, *self._open):
            one.close()


def _place(folder: Path, port: int) -> Path:
    return folder / f"{port}.sock"


def _accept(door: socket.socket, connect: Callable[[], socket.socket], kept: set[socket.socket]) -> None:
    """Accepts connections in a thread, and passes each on to a new one, until the door is closed."""

    def work() -> None:
        while True:
            try:
                one, _ = door.accept()
            except OSError:
                return
            try:
                other = connect()
            except OSError:
                one.close()
                continue
            kept.update((one, other))
            for source, to in ((one, other), (other, one)):
                threading.Thread(target=_pass, args=(source, to, kept), daemon=True).start()

    threading.Thread(target=work, daemon=True).start()


def _pass(source: socket.socket, to: socket.socket, kept: set[socket.socket]) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(_BYTES):
            to.sendall(data)
    for one in (source, to):
        with contextlib.suppress(OSError):
            one.shutdown(socket.SHUT_RDWR)
    kept.discard(source)


def _relay(folder: Path, ports: Sequence[int]) -> None:
    for port in ports:
        _accept(socket.create_server(("127.0.0.1", port)), partial(_through, _place(folder, port)), set())


def _through(place: Path) -> socket.socket:
    found = socket.socket(socket.AF_UNIX)
    found.connect(str(place))
    return found


def main(folder: Path, ports: Sequence[int], command: Sequence[str]) -> None:
    """Runs the relay in a child, which dies with the process, and becomes the command."""
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    listens, told = os.pipe()
    parent = os.getpid()
    if os.fork() == 0:
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)
        _relay(folder, ports)
        os.write(told, b".")
        while True:
            signal.pause()
    os.read(listens, 1)
    os.execv(command[0], [*command])


if __name__ == "__main__":
    main(Path(sys.argv[1]), [int(port) for port in sys.argv[2].split(",")], sys.argv[3:])
