"""Processes that are forked: each is its own, its end is told, and none outlives the server or the supervisor."""

from __future__ import annotations

import ast
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from infra import forked
from infra.embedded.processes import EmbeddedError
from infra.forkserver import ENDED_WITH_SERVER, Forked, ForkServer
from tests import ROOT
from tests.support.waiting import until

# The server as it is, whose processes run what they are told in place of a command of `infra`.
SERVER = """
import socket, sys
from infra.forked import serve
exec(serve(socket.socket(fileno=int(sys.argv[1])))[0])
"""
TOLD = "import os; print(os.environ, os.getsid(0) == os.getpid(), open('/proc/self/comm').read().strip())"
WAIT = "import time; print('here'); time.sleep(99)"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ForkServer]:
    found = ForkServer(tmp_path / "server.log", (sys.executable, "-u", "-c", SERVER))
    yield found
    found.close()


def start(server: ForkServer, log: Path, code: str, **environment: str) -> Forked:
    return server.start(log.stem, [code], log, environment)


def waiting(server: ForkServer, log: Path) -> Forked:
    """A process that waits, once it runs."""
    found = start(server, log, WAIT)
    until(lambda: log.exists() and log.read_text() == "here\n")
    return found


def exists(pid: int) -> bool:
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except FileNotFoundError:
        return False


def test_a_process_has_its_own_environment_session_name_and_log(server: ForkServer, tmp_path: Path) -> None:
    assert start(server, tmp_path / "replica-0.log", TOLD, A="1").wait(9) == 0
    assert start(server, tmp_path / "replica-1.log", TOLD, B="2").wait(9) == 0
    assert (tmp_path / "replica-0.log").read_text() == "environ({'A': '1'}) True replica-0\n"
    assert (tmp_path / "replica-1.log").read_text() == "environ({'B': '2'}) True replica-1\n"
    assert (tmp_path / "replica-0.log").stat().st_mode & 0o077 == 0
    assert not (tmp_path / "server.log").read_text()


def test_how_each_ended_is_told(server: ForkServer, tmp_path: Path) -> None:
    wanted = {"fine": ("pass", 0), "halts": ("raise SystemExit(5)", 5), "fails": ("1 / 0", 1)}
    running = {name: start(server, tmp_path / f"{name}.log", code) for name, (code, _) in wanted.items()}
    assert {name: one.wait(9) for name, one in running.items()} == {
        name: status for name, (_, status) in wanted.items()
    }
    assert "ZeroDivisionError" in (tmp_path / "fails.log").read_text()


def test_who_is_asked_to_stop_ends_and_who_was_killed_too(server: ForkServer, tmp_path: Path) -> None:
    asked, killed, left = (waiting(server, tmp_path / f"{at}.log") for at in range(3))
    assert asked.poll() is None
    with pytest.raises(subprocess.TimeoutExpired):
        asked.wait(0)
    asked.send_signal(signal.SIGTERM)
    os.killpg(killed.pid, signal.SIGKILL)
    assert (asked.wait(9), killed.wait(9), left.poll()) == (-signal.SIGTERM, -signal.SIGKILL, None)
    asked.send_signal(signal.SIGTERM)  # the number may be another process's by now
    server.close()
    assert left.poll() == ENDED_WITH_SERVER
    until(lambda: not exists(left.pid), "it outlived its server")


def test_what_ran_under_a_killed_server_has_ended_and_the_next_start_begins_another(
    server: ForkServer, tmp_path: Path
) -> None:
    first = waiting(server, tmp_path / "first.log")
    assert server._process is not None
    os.kill(server._process.pid, signal.SIGKILL)
    until(lambda: not exists(first.pid), "it outlived its server")
    second = waiting(server, tmp_path / "second.log")
    assert (first.poll(), second.poll()) == (ENDED_WITH_SERVER, None)


def test_none_outlives_a_supervisor_that_was_killed(tmp_path: Path) -> None:
    code = f"""
import sys, time
from pathlib import Path
from infra.forkserver import ForkServer
server = ForkServer(Path({str(tmp_path)!r}) / "server.log", (sys.executable, "-u", "-c", {SERVER!r}))
print(server.start("left", [{WAIT!r}], Path({str(tmp_path)!r}) / "left.log", {{}}).pid, flush=True)
time.sleep(99)
"""
    supervisor = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, cwd=ROOT)
    try:
        assert supervisor.stdout is not None
        child = int(supervisor.stdout.readline())
        assert exists(child)
    finally:
        supervisor.kill()
        supervisor.wait()
    until(lambda: not exists(child))


def test_a_server_that_does_not_start_is_told_with_what_it_said(tmp_path: Path) -> None:
    broken = ForkServer(tmp_path / "server.log", (sys.executable, "-c", "raise SystemExit('no memory')"))
    with pytest.raises(EmbeddedError, match=r"(?s)no process was forked for intake.*no memory"):
        broken.start("intake", ["run", "intake"], tmp_path / "intake.log", {})


def test_what_a_role_imports_is_imported_before_it_is_forked() -> None:
    """Checks imports within functions of `infra.roles`. Encoders that most installations lack are left out."""
    tree = ast.parse((ROOT / "infra" / "roles.py").read_text())
    within = {
        _module(one, name)
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef)
        for one in ast.walk(function)
        if isinstance(one, ast.ImportFrom)
        for name in one.names
    }
    assert len(within) > 25
    rare = {f"memquorum.encoders.{name}" for name in ("contradiction", "multilingual", "names", "recognising", "torch")}
    assert within - rare - {"memquorum.encoders.folder"} <= set(forked.IMPORTED)


def _module(one: ast.ImportFrom, name: ast.alias) -> str:
    """The module that a line imports, or imports from."""
    inner = ROOT.joinpath(*str(one.module).split("."), f"{name.name}.py")
    return f"{one.module}.{name.name}" if inner.exists() else str(one.module)
