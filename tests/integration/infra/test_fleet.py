"""The supervisor of processes: it starts again what dies, leaves alone what has halted, and leaves nothing behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from infra import fleet
from infra.fleet import Fleet, Role
from memquorum.commands import HALTED
from tests import ROOT
from tests.support.waiting import until

# Announces itself, then obeys: ends with the status that it finds in the file `end`.
WORKER = """
import os, sys, time
from pathlib import Path
from infra.fleet import announce
announce(Path(sys.argv[1]), sys.argv[2])
end = Path(sys.argv[1]) / f"end-{sys.argv[2]}"
while not end.exists():
    time.sleep(0.02)
status = int(end.read_text())
end.unlink()
sys.exit(status)
"""
STUBBORN = """
import signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("deaf", flush=True)
time.sleep(99)
"""


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT)}


def _worker(ready: Path, name: str) -> Role:
    return Role(name, (sys.executable, "-c", WORKER, str(ready), name))


@pytest.fixture
def two(tmp_path: Path) -> Iterator[Fleet]:
    ready = tmp_path / "ready"
    found = Fleet([_worker(ready, "a"), _worker(ready, "b")], tmp_path / "logs", ready, lambda _: _environment())
    found.start()
    until(lambda: found.waiting_for() == [])
    yield found
    found.stop()


def _pid(found: Fleet, name: str) -> int:
    pid = found.describe()[name]["pid"]
    assert isinstance(pid, int)
    return pid


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return "Z" not in Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]


def test_what_is_killed_comes_back_under_another_number(two: Fleet) -> None:
    before, other = _pid(two, "a"), _pid(two, "b")
    os.kill(before, signal.SIGKILL)
    until(lambda: two.check() and two.describe()["a"]["state"] == "waiting")
    assert two.waiting_for() == ["a"]
    until(lambda: not two.check() and two.waiting_for() == [])
    assert (_pid(two, "a") != before, _pid(two, "b"), two.describe()["a"]["starts"]) == (True, other, 2)


def test_a_contradiction_is_not_started_again(two: Fleet, tmp_path: Path) -> None:
    end = tmp_path / "ready" / "end-a"
    end.with_suffix(".new").write_text(str(HALTED))
    end.with_suffix(".new").rename(end)  # at once: of an empty file the worker would end otherwise
    until(lambda: two.check() and two.describe()["a"]["state"] == "halted")
    two._children[0]._again = 0  # even if its time had come
    assert not two.check()
    assert two.describe()["a"] == {"pid": None, "state": "halted", "starts": 1}


def test_who_keeps_dying_is_started_less_and_less_often(tmp_path: Path) -> None:
    dying = Fleet(
        [Role("x", (sys.executable, "-c", "raise SystemExit(1)"))], tmp_path, tmp_path / "r", lambda _: _environment()
    )
    dying.start()
    child = dying._children[0]
    pauses = []
    while len(pauses) < 4:
        until(lambda: dying.check() and child._state == "waiting")
        pauses.append(round(child._again - time.monotonic(), 1))
        child._again = 0
    dying.stop()
    assert pauses == [0.2, 0.5, 1.0, 2.0]


def test_stop_leaves_nobody_not_even_who_does_not_listen(tmp_path: Path) -> None:
    ready = tmp_path / "ready"
    deaf = Role("deaf", (sys.executable, "-c", STUBBORN))
    found = Fleet([_worker(ready, "a"), deaf], tmp_path / "logs", ready, lambda _: _environment())
    found.start()
    until(lambda: (tmp_path / "logs" / "deaf.log").read_text() == "deaf\n" and found.waiting_for() == ["deaf"])
    pids = [_pid(found, "a"), _pid(found, "deaf")]
    started = time.monotonic()
    found.stop()
    assert time.monotonic() - started < 5
    assert not any(_exists(pid) for pid in pids)


def test_processes_die_with_a_supervisor_that_is_killed(tmp_path: Path) -> None:
    code = f"""
import os, sys, time
from pathlib import Path
from infra.fleet import Fleet, Role
here = Path({str(tmp_path)!r})
f = Fleet([Role("deaf", (sys.executable, "-c", {STUBBORN!r}))], here, here, lambda _: os.environ)
f.start()
print(f.describe()["deaf"]["pid"], flush=True)
time.sleep(99)
"""
    supervisor = subprocess.Popen(
        [sys.executable, "-c", code], env=_environment(), stdout=subprocess.PIPE, text=True, cwd=ROOT
    )
    try:
        assert supervisor.stdout is not None
        child = int(supervisor.stdout.readline())
        until(lambda: (tmp_path / "deaf.log").read_text() == "deaf\n")
    finally:
        supervisor.kill()
        supervisor.wait()
    until(lambda: not _exists(child))


def test_the_line_has_all_its_roles_in_order() -> None:
    assert [role.name for role in fleet.roles(4)] == [
        *(
            "intake",
            "streams",
            "replica-0",
            "replica-1",
            "replica-2",
            "replica-3",
            "commit",
            "consolidator",
            "rehearsal",
            "verifier",
            "retrieval",
        )
    ]
    assert [role.name for role in fleet.roles(4, events=True)][-2:] == ["retrieval", "events"]


def test_two_of_a_role_may_announce_themselves_at_once(tmp_path: Path) -> None:
    often = "import sys; from pathlib import Path; from infra.fleet import announce\n"
    often += "for _ in range(2000): announce(Path(sys.argv[1]), 'streams')"
    command = (sys.executable, "-c", often, str(tmp_path))
    both = [subprocess.Popen(command, env=_environment(), stderr=subprocess.PIPE) for _ in range(2)]
    assert [(one.communicate(timeout=60)[1], one.returncode) for one in both] == [(b"", 0)] * 2
    assert [path.name for path in tmp_path.iterdir()] == ["streams"]
    assert (tmp_path / "streams").read_text() in {str(one.pid) for one in both}


ENDING = """
import sys
from pathlib import Path
from infra import logs
from infra.fleet import announce
from workers.kafka.loop import about
logs.configure(sys.argv[2], "info", "json")
announce(Path(sys.argv[1]), sys.argv[2])
with about("record memory.accepted.v1/3/120"):
    raise ValueError("the words of a text")
"""


def test_a_process_that_the_same_error_ends_three_times_is_an_alarm_that_names_the_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fleet, "_BACKOFF_S", (0.01,))
    role = Role("commit", (sys.executable, "-c", ENDING, str(tmp_path / "ready"), "commit"))
    found = Fleet([role], tmp_path / "logs", tmp_path / "ready", lambda _: _environment())
    found.start()
    try:
        until(lambda: found.check() and "alarm" in found.describe()["commit"])
        alarm = str(found.describe()["commit"]["alarm"])
    finally:
        found.stop()
    assert alarm.startswith("ended 3 times in a row by ValueError in <string>:")
    assert alarm.endswith("working on record memory.accepted.v1/3/120")
    assert "words" not in alarm
