"""The embedded installation: servers, topics, databases, cluster and fleet, under one supervising process.

`serve` is that process. `started` runs it as a child during a `with` block; `launch` leaves it running. The run
folder's pids.json lists the processes; a lock beside it tells whether its supervisor is alive.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import logging
import os
import signal
import subprocess
import sys
import time
from argparse import Namespace
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, Any

from db.migrate import migrate
from infra import genesis, kafkalogins, logins, reencode_command, settings, summariser, topic_files, webhook_command
from infra.embedded.brokers import Brokers, standing
from infra.embedded.kafka_broker import Demands
from infra.embedded.postgres import Postgres
from infra.embedded.processes import EmbeddedError, free_port, spawn, stop, tail
from infra.fleet import Fleet, Role, roles, start_anew, start_forked
from infra.forkserver import ForkServer
from infra.operator_command import command
from infra.roles import check_encoders, ranges_of
from infra.run_folder import LOCK, PIDS, alive, read_pids
from infra.servers import Servers
from infra.settings import DIVIDED, Mendable, Settings, SettingsError, console_url
from memquorum import terminal, wholefiles
from memquorum.commands import flag, option, seconds
from workers.kafka.loop import Stop

log = logging.getLogger(__name__)

ROOT = Path(__file__).resolve().parents[1]
_LOG = "supervisor.log"
_BEAT_S = 0.1
_LOCK_S = 2.0
_READY_S = 120.0
_DOWN_S = 30.0

Progress = Callable[[str], None]


class SupervisorError(Mendable, RuntimeError):
    """The installation did not start or stop; the message says which part, and quotes its log."""


@dataclass
class _Books:
    """pids.json: the state of the supervisor and its processes."""

    file: Path
    state: dict[str, Any] = field(default_factory=lambda: {"supervisor": os.getpid(), "state": "starting", "step": ""})

    def write(self, **changes: Any) -> None:
        self.state |= changes
        wholefiles.write(self.file, json.dumps(self.state, indent=2) + "\n")


_OWN_SERVERS = ("MEMQUORUM_BOOTSTRAP", "MEMQUORUM_MEMORY_DSN", "MEMQUORUM_VAULT_DSN")


@command(
    "fleet up",
    flag("--foreground", "stay, log to the terminal, stop on Ctrl-C"),
    flag("--servers", "Kafka and Postgres alone, to put a backup back"),
    option(
        "--wait",
        type=seconds,
        default=_READY_S,
        metavar="SECONDS",
        help=f"for all to be ready (default: {_READY_S:.0f}); what is not by then is stopped; not with --foreground",
    ),
    login="administrator",
    process=lambda parsed: "supervisor" if parsed.foreground else None,
    example="fleet up",
)
def _up(given: Settings, parsed: Namespace) -> int:
    """Starts the embedded servers and the fleet."""
    for name in _OWN_SERVERS:
        if os.environ.get(name):
            raise SettingsError(f"`up` starts servers of its own: unset {name}, or start the roles with `run`")
    if parsed.foreground:
        serve(given, lambda running: print("\n".join(_addresses(running)), flush=True), servers_alone=parsed.servers)
        return 0
    check_encoders(given)
    summariser.check(given)
    webhook_command.targets(given)
    console = terminal.console(stderr=True)
    with console.status("starting") as line:
        running = launch(
            given, lambda step: line.update(f"starting: {step}"), parsed.wait, servers_alone=parsed.servers
        )
    if parsed.servers:
        print(f"Kafka and Postgres of {running.run_dir} are ready, and no process of the fleet is started")
        return 0
    print("\n".join(_addresses(running)))
    print("  make status | make psql | make down")
    return 0


def _addresses(running: Settings) -> list[str]:
    """The lines printed once all are ready: the addresses, and what is still to do."""
    told = [
        f"memquorum is ready. Its folder is {running.run_dir}",
        f"  Kafka      {running.bootstrap}",
        f"  retrieval  {running.retrieval_url}",
        f"  console    {console_url(running)}",
    ]
    if running.summariser_url:  # texts are sent to others, perhaps because of a setting made weeks ago
        told += [f"  {summariser.describe(running)}", f"             (summariser_url in {running.file})"]
    if (found := reencode_command.others(running)) and found[1]:
        told.append(f"  {reencode_command.describe(*found)}: run `memquorum admin memories reencode`")
    return told


@command("fleet down", example="fleet down")
def _down(given: Settings, parsed: Namespace) -> int:
    """Stops what `up` started."""
    print("stopped" if down(given.run_dir) else f"nothing runs in {given.run_dir}")
    return 0


def serve(
    configured: Settings, ready: Callable[[Settings], None] = lambda _: None, *, servers_alone: bool = False
) -> None:
    """Starts all parts, watches them until SIGTERM or SIGINT, stops them. Call from the main thread.

    `servers_alone`: starts no process of the fleet. `ready` is called once with the settings in force, when every
    process is ready. Raises SupervisorError if another supervisor has the run folder, or the error of a part that did
    not start.
    """
    stopping = Stop().on_signals()
    run_dir = configured.run_dir
    run_dir.mkdir(parents=True, exist_ok=True)
    _close_to_others(run_dir)
    with _locked(run_dir), contextlib.ExitStack() as parts:
        books = _Books(run_dir / PIDS)
        try:
            _run(configured, parts, books, stopping, ready, servers_alone=servers_alone)
        except Exception as error:
            books.write(state="failed", step=str(error))
            raise
        finally:
            if books.state["state"] != "failed":
                books.write(state="stopping", step="stopping")


def _close_to_others(run_dir: Path) -> None:
    """Removes the rights of other users from the folders of an installation that an earlier version made."""
    for folder in run_dir.iterdir():
        if folder.is_dir() and not folder.is_symlink():
            folder.chmod(folder.stat().st_mode & 0o700)


def _run(
    configured: Settings,
    parts: contextlib.ExitStack,
    books: _Books,
    stopping: Stop,
    told: Callable[[Settings], None],
    *,
    servers_alone: bool,
) -> None:
    # It imports while the servers start. Only on Linux does the kernel kill its processes with it.
    forks = None
    if sys.platform == "linux" and not servers_alone:
        forks = ForkServer(configured.logs_dir / "forkserver.log")
    if forks:
        parts.callback(forks.close)
        forks.begin()
    books.write(step="keys")
    genesis.create(configured)
    books.write(step="Kafka")
    folder = configured.run_dir / "kafka"
    count = standing(folder) or configured.brokers
    if count != configured.brokers:
        log.warning("%s holds %d brokers and keeps them; the setting says %d", folder, count, configured.brokers)
    kafka = Brokers(folder, count, _ports(configured.bootstrap), _demands(configured))
    parts.enter_context(kafka)
    if kafka.nodes[0].demands is not None:
        kafkalogins.tell_passwords(kafka.nodes[0].administered, configured.kafka_dir)
    books.write(step="Postgres")
    postgres = Postgres(configured.run_dir / "postgres", throwaway=configured.throwaway)
    parts.enter_context(postgres)
    now = replace(
        configured,
        bootstrap=kafka.bootstrap,
        memory_dsn=postgres.dsn("memory"),
        vault_dsn=postgres.dsn("vault"),
        retrieval_port=free_port(configured.retrieval_port),
        brokers=count,
        replication=max(configured.replication, min(count, 3)),
        min_isr=max(configured.min_isr, min(count, 2)),
    )
    books.write(step="topics and databases")
    provision(now)
    now.save()
    books.write(step="processes")
    ready = configured.run_dir / "ready"
    # Only in their environment: a process added with `run` must not replace one of these.
    named = replace(now, instance="supervised")
    wanted = [] if servers_alone else _wanted(now)
    start = start_forked(forks) if forks else start_anew
    fleet = Fleet(wanted, now.logs_dir, ready, lambda process: environment(named, process), start)
    parts.callback(fleet.stop)
    fleet.start()
    _watch(fleet, Servers(kafka.nodes, postgres), books, stopping, lambda: told(now))


def _wanted(now: Settings) -> list[Role]:
    """The processes of an installation. Raises SettingsError if the settings divide the shards wrongly."""
    made = genesis.read(now)
    divided = {f"{role}_shards": ranges_of(now, role, made.shards) for role in DIVIDED}
    return roles(genesis.identities(now, made), events=webhook_command.wanted(now), **divided)


def environment(named: Settings, process: str) -> dict[str, str]:
    """The environment of a process, with its own login."""
    return {**_inherited(), **logins.of(named, process).environment(), "PYTHONUNBUFFERED": "1"}


def _demands(configured: Settings) -> Demands | None:
    """The logins that clients of the embedded brokers need; makes the files for them."""
    if configured.kafka_protocol == "PLAINTEXT":
        return None
    return Demands(configured.kafka_protocol, kafkalogins.make(configured))


def provision(now: Settings) -> None:
    """Makes the missing topics, databases, tables and rights. A second call changes nothing."""
    address, made = kafkalogins.of(now, kafkalogins.ADMIN).bootstrap, genesis.read(now)
    for line in topic_files.ensure(address, made.shards, now.replication, now.min_isr, made.cluster):
        log.warning("topic %s", line)
    if now.kafka_protocol != "PLAINTEXT":
        kafkalogins.ensure_acls(address)
    migrate(now.memory_dsn, "memory")
    migrate(now.vault_dsn, "vault")
    logins.provision(now)


def _watch(fleet: Fleet, servers: Servers, books: _Books, stopping: Stop, ready: Callable[[], None]) -> None:
    changed = True
    while not stopping:
        if changed:
            books.write(processes=servers.describe() | fleet.describe())
        if books.state["state"] == "starting":
            missing = fleet.waiting_for()
            books.write(step=f"processes: waiting for {', '.join(missing)}" if missing else "ready")
            if not missing:
                books.write(state="ready")
                ready()
        # Both, always: neither waits for the other.
        changed = any([servers.check(), fleet.check()])
        stopping.wait(_BEAT_S)


@contextlib.contextmanager
def started(configured: Settings, progress: Progress | None = None) -> Iterator[Settings]:
    """Runs an installation during the block, as a child of this process: it dies with it, even by SIGKILL.

    `configured` is saved to the run folder first; an existing genesis file is used. Yields the settings in force. Call
    from the main thread. Raises SupervisorError.
    """
    _refuse_second(configured.run_dir)
    process = _spawn(configured, attached=True)
    try:
        _await_ready(configured.run_dir, process, progress or (lambda _: None))
        yield settings.load({}, configured.run_dir)
    finally:
        stop(process, signal.SIGTERM, _DOWN_S)


def launch(
    configured: Settings, progress: Progress, wait_s: float = _READY_S, *, servers_alone: bool = False
) -> Settings:
    """Starts an installation, or its servers alone, that stays when this process ends; `down` stops it. If it is not
    ready after `wait_s` seconds, it is stopped. Raises SupervisorError."""
    _refuse_second(configured.run_dir)
    process = _spawn(configured, attached=False, more=("--servers",) if servers_alone else ())
    try:
        _await_ready(configured.run_dir, process, progress, wait_s)
    except BaseException:
        stop(process, signal.SIGTERM, _DOWN_S)
        raise
    return settings.load({}, configured.run_dir)


def down(run_dir: Path) -> bool:
    """Stops the installation of a run folder and waits until it has stopped; True if there was one."""
    pid = read_pids(run_dir).get("supervisor")
    if pid is None:
        return False
    os.kill(pid, signal.SIGTERM)
    deadline = time.monotonic() + _DOWN_S
    while alive(run_dir):
        if time.monotonic() > deadline:
            os.kill(pid, signal.SIGKILL)  # its processes die with it
        time.sleep(_BEAT_S)
    return True


def _spawn(configured: Settings, attached: bool, more: tuple[str, ...] = ()) -> subprocess.Popen[bytes]:
    configured.save()
    (configured.run_dir / PIDS).unlink(missing_ok=True)
    words = ("admin", "fleet", "up", "--foreground", "--run-dir", str(configured.run_dir), *more)
    command = [sys.executable, "-m", "infra", *words]
    environment = {**_inherited(), "PYTHONUNBUFFERED": "1"}
    file = configured.logs_dir / _LOG
    if attached:
        return spawn(command, file, by=signal.SIGTERM, env=environment, cwd=ROOT)
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("ab") as out:
        return subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            env=environment,
            cwd=ROOT,
            start_new_session=True,
        )


def _await_ready(run_dir: Path, process: subprocess.Popen[bytes], progress: Progress, wait_s: float = _READY_S) -> None:
    said = ""
    deadline = time.monotonic() + wait_s
    while True:
        found = read_pids(run_dir)
        step = str(found.get("step", ""))
        if step and step != said:
            said = step
            progress(step)
        if found.get("state") == "ready":
            return
        if process.poll() is not None:
            raise SupervisorError(f"the installation did not start: {_why(run_dir)}")
        if time.monotonic() > deadline:
            raise SupervisorError(
                f"not ready after {wait_s:g} s ({said}); `up --wait SECONDS` waits longer, and the logs are in "
                f"{run_dir / 'logs'}"
            )
        time.sleep(_BEAT_S)


def _why(run_dir: Path) -> str:
    """The last error of a supervisor that is gone."""
    with contextlib.suppress(FileNotFoundError, ValueError):
        found = json.loads((run_dir / PIDS).read_text())
        if found.get("state") == "failed":
            return str(found["step"])
    return tail(run_dir / "logs" / _LOG)


def _refuse_second(run_dir: Path) -> None:
    if alive(run_dir):
        raise SupervisorError(f"an installation runs in {run_dir} already: see `make status`, `make down`")


@contextlib.contextmanager
def _locked(run_dir: Path) -> Iterator[None]:
    with (run_dir / LOCK).open("w") as lock:
        deadline = time.monotonic() + _LOCK_S
        while not _taken(lock):
            if time.monotonic() > deadline:
                raise SupervisorError(f"another supervisor has {run_dir}")
            time.sleep(_BEAT_S)
        yield


def _taken(lock: IO[str]) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    except BlockingIOError:  # another supervisor, or a process that only checks for one
        return False


def _inherited() -> dict[str, str]:
    """Our environment without settings, which are passed in settings.json, or explicitly."""
    return {name: value for name, value in os.environ.items() if not name.startswith(settings.PREFIX)}


def _ports(bootstrap: str) -> list[int]:
    ports = (address.rpartition(":")[2] for address in bootstrap.split(","))
    return [int(port) if port.isdecimal() else 0 for port in ports]


__all__ = [
    "EmbeddedError",
    "SupervisorError",
    "down",
    "environment",
    "launch",
    "provision",
    "read_pids",
    "serve",
    "started",
]
