r"""The faults of a running installation, each as data with a function.

A fault's function returns when the fault is over: at the kill, at the SIGCONT, when the disk has room again, when the
second process is gone. Its result is reported beside the recovery time. The supervisor is not told.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

from infra import run_folder
from infra.embedded.processes import spawn, stop
from infra.settings import Settings
from tests import ROOT
from tests.faults import raising
from tests.faults.publications import WORDS

MEMBERS = 4
WORKERS = (
    "intake",
    "streams",
    *(f"replica-{i}" for i in range(MEMBERS)),
    "commit",
    "consolidator",
    "rehearsal",
    "verifier",
    "retrieval",
)
SERVERS = ("kafka", "postgres")
_PATIENCE_S = 30.0
FREEZE_S = 30.0
DISK_S = 10.0
RAISING_S = 20.0


class NotAsExpected(AssertionError):
    """A fault met something else than it should: a second process was let in, a dead one was not started again."""


@dataclass
class Site:
    """Where faults happen. `disks`: server → its small file system, where there is one."""

    running: Settings
    dice: Random
    disks: dict[str, Disk] = field(default_factory=dict)
    freeze_s: float = FREEZE_S
    disk_s: float = DISK_S
    raising_s: float = RAISING_S

    def wait(self, seconds: float) -> None:
        """As long as a fault, or the calm before it, is to last."""
        threading.Event().wait(seconds)

    def pid(self, name: str) -> int:
        """The process of that name, waited for while it is being started again."""
        deadline = time.monotonic() + _PATIENCE_S
        while True:
            described = run_folder.read_pids(self.running.run_dir).get("processes", {}).get(name, {})
            if described.get("pid") is not None and Path(f"/proc/{described['pid']}").exists():
                return int(described["pid"])
            if time.monotonic() > deadline:
                raise NotAsExpected(f"{name} is {described.get('state', 'unknown')} and was not started again")
            time.sleep(0.05)  # pids.json gives no notice


@dataclass(frozen=True, slots=True)
class Fault:
    """`name` is unique. `what`: for the table. `needs`: a server whose small file system it needs."""

    name: str
    what: str
    act: Callable[[Site], dict[str, Any]]
    needs: str = ""


def _kill(names: tuple[str, ...], site: Site) -> dict[str, Any]:
    for name in names:
        with contextlib.suppress(ProcessLookupError):
            os.kill(site.pid(name), signal.SIGKILL)
    return {}


def _kill_several(site: Site) -> dict[str, Any]:
    names = tuple(site.dice.sample((*WORKERS, *SERVERS), site.dice.randint(2, 5)))
    _kill(names, site)
    return {"killed": list(names)}


def _freeze(name: str, site: Site) -> dict[str, Any]:
    stopped = family(site.pid(name))
    for pid in stopped:
        _signal(pid, signal.SIGSTOP)
    site.wait(site.freeze_s)
    for pid in reversed(stopped):
        _signal(pid, signal.SIGCONT)
    return {"seconds": site.freeze_s}


def family(pid: int) -> list[int]:
    """A process and what descends from it: Postgres's back ends are sessions of their own."""
    found = [pid]
    with contextlib.suppress(OSError):
        for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
            found += family(int(child))
    return found


def _signal(pid: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)


def _second_streams(site: Site) -> dict[str, Any]:
    """Joins the group, takes some partitions, and dies."""
    announced, log = site.running.run_dir / "ready" / "streams", _second_log(site, "streams")
    first, said = site.pid("streams"), log.stat().st_size if log.exists() else 0
    with _second(site, "streams") as process:
        # Both say that they work, whenever the group has shared out its partitions: only the log tells who.
        _until(lambda: process.poll() is not None or b"streams works" in log.read_bytes()[said:], "the second joined")
        if process.poll() is not None:
            raise NotAsExpected(f"the second streams worker ended with {process.returncode}")
        site.wait(site.dice.uniform(1, 4))
        process.kill()
        process.wait()
    announced.write_text(str(first))
    return {}


def _second_replica(site: Site) -> dict[str, Any]:
    member = site.dice.randrange(MEMBERS)
    first = site.pid(f"replica-{member}")
    with _second(site, "replica", "--member", str(member)) as process:
        _until(lambda: process.poll() is not None, "the second replica was refused")
        if process.returncode == 0 or not Path(f"/proc/{first}").exists():
            raise NotAsExpected(f"a second replica {member} ended with {process.returncode}")
    return {"member": member, "status": process.returncode}


def _second_commit(site: Site) -> dict[str, Any]:
    """One of the two ends within seconds; the supervisor starts the first again if it was that one."""
    first = site.pid("commit")
    with _second(site, "commit") as process:
        _until(lambda: process.poll() is not None or not Path(f"/proc/{first}").exists(), "one of two was fenced")
        fenced = "the second" if process.poll() is not None else "the first"
    return {"fenced": fenced}


@contextlib.contextmanager
def _second(site: Site, *role: str) -> Iterator[subprocess.Popen[bytes]]:
    command = [sys.executable, "-m", "infra", "admin", "fleet", "run", *role, "--run-dir", str(site.running.run_dir)]
    environment = {k: v for k, v in os.environ.items() if not k.startswith("MEMQUORUM_")}
    process = spawn(command, _second_log(site, role[0]), by=signal.SIGKILL, env=environment, cwd=ROOT)
    try:
        yield process
    finally:
        stop(process, signal.SIGKILL, 5)


def _second_log(site: Site, role: str) -> Path:
    return site.running.logs_dir / f"second-{role}.log"


def _until(done: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + _PATIENCE_S
    while not done():
        if time.monotonic() > deadline:
            raise NotAsExpected(f"not within {_PATIENCE_S:.0f} s: {what}")
        time.sleep(0.05)


def _rules_raise(site: Site) -> dict[str, Any]:
    """Rules raise on two texts of five of the load, in every process at once. None of them may end by it."""
    running, word = site.running, site.dice.choice(WORDS)
    before, already = raising.starts(running), raising.failed(running)
    with raising.raising(running.run_dir, word):
        site.wait(site.raising_s)
        found = raising.failed(running)
    told = {name: count - already.get(name, 0) for name, count in found.items() if count > already.get(name, 0)}
    if not told:
        raise NotAsExpected("no rule failed")
    ended = [name for name, count in raising.starts(running).items() if count != before[name]]
    if ended:
        raise NotAsExpected(f"ended because a rule raised on a text with {word!r}: {', '.join(ended)}")
    return {"seconds": site.raising_s, "word": word, "failed": told}


# Full disks --------------------------------------------------------------------------------------------------------


@dataclass
class Disk:
    """A file system in memory of limited size. Full is made by taking away the room that is left."""

    folder: Path
    mebibytes: int = 3_000

    def mount(self) -> bool:
        """Whether this machine lets us; needs root and the right to mount."""
        self.folder.mkdir(parents=True, exist_ok=True)
        return self._run("mount", "-t", "tmpfs", "-o", f"size={self.mebibytes}m,mode=755", "tmpfs", str(self.folder))

    def fill(self) -> None:
        """Leaves no page."""
        found = os.statvfs(self.folder)
        used = (found.f_blocks - found.f_bfree) * found.f_frsize
        # A write in the meantime makes the kernel refuse a size below it: then a little more.
        for more in range(0, 64 << 20, 64 << 10):
            if self._run("mount", "-o", f"remount,size={used + more}", str(self.folder)):
                return
        raise NotAsExpected(f"{self.folder} could not be filled")

    def free(self) -> None:
        """Gives the room back."""
        if not self._run("mount", "-o", f"remount,size={self.mebibytes}m", str(self.folder)):
            raise NotAsExpected(f"{self.folder} got no room again")

    def unmount(self) -> None:
        """As it was; what it held is gone, but for the server's log."""
        for log in self.folder.glob("*.log"):
            with contextlib.suppress(OSError):
                (self.folder.parent / "logs" / log.name).write_bytes(log.read_bytes())
        self._run("umount", "-l", str(self.folder))

    @staticmethod
    def _run(*command: str) -> bool:
        return subprocess.run(command, capture_output=True, check=False).returncode == 0


@contextlib.contextmanager
def disks(run_dir: Path) -> Iterator[dict[str, Disk]]:
    """A small file system for each server of an installation that has not started yet; {} where none can be made."""
    made: dict[str, Disk] = {}
    try:
        if os.geteuid() == 0:
            for name in SERVERS:
                disk = Disk(run_dir / name)
                if disk.mount():
                    made[name] = disk
        yield made
    finally:
        for disk in made.values():
            disk.unmount()


def _full_disk(name: str, site: Site) -> dict[str, Any]:
    disk = site.disks[name]
    disk.fill()
    site.wait(site.disk_s)
    disk.free()
    return {"seconds": site.disk_s}


FAULTS: dict[str, Fault] = {
    fault.name: fault
    for fault in (
        *(Fault(f"kill {name}", f"`kill -9` of {name}", partial(_kill, (name,))) for name in (*WORKERS, *SERVERS)),
        *(Fault(f"freeze {name}", f"SIGSTOP of {name}", partial(_freeze, name)) for name in (*WORKERS, *SERVERS)),
        *(Fault(f"full disk {name}", f"{name}'s disk is full", partial(_full_disk, name), name) for name in SERVERS),
        Fault("kill several", "`kill -9` of two to five processes at once", _kill_several),
        Fault("kill all workers", "`kill -9` of every process but the servers", partial(_kill, WORKERS)),
        Fault("second streams", "a second Faust worker joins and is killed", _second_streams),
        Fault("second replica", "a second process of the same member", _second_replica),
        Fault("second commit", "a second commit worker", _second_commit),
        Fault("rules raise", "rules over texts raise on every text that holds a certain word", _rules_raise),
    )
}
