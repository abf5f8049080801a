"""The real parts under measurement: broker, Postgres, and those processes of the line that a row needs."""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import psycopg

from bench import cpu
from infra import genesis, settings, supervisor
from infra.embedded.kafka_broker import Kafka
from infra.embedded.postgres import Postgres
from infra.embedded.processes import free_port
from infra.fleet import Fleet, roles
from infra.settings import Settings
from memquorum.core.avro import Codec
from memquorum.core.identity.membership import Genesis
from memquorum.schema_files import load_codec


def replicas(members: int) -> tuple[str, ...]:
    """The members' processes."""
    return tuple(f"replica-{member}" for member in range(members))


REPLICAS = replicas(4)
WHOLE = ("intake", "streams", *REPLICAS, "commit", "consolidator", "rehearsal", "verifier", "retrieval")
AGENTS = {"ada": 0, "ben": 1, "cleo": 2, "dan": 3}
"""Agent → member: each member has one whose episodes it judges by."""

_READY_S = 60.0


@dataclass
class Parts:
    """Broker and Postgres, running; processes of the line by `start`."""

    settings: Settings
    genesis: Genesis
    codec: Codec
    kafka: Kafka
    postgres: Postgres
    _fleet: Fleet | None = field(default=None, repr=False)

    @property
    def bootstrap(self) -> str:
        return self.kafka.bootstrap

    def start(self, *names: str) -> None:
        """Starts processes of the line, in its order, and waits until they work."""
        assert self._fleet is None
        chosen = [role for role in roles(self.genesis.n) if role.name in names]
        ready = self.settings.run_dir / "ready"
        self._fleet = Fleet(
            chosen, self.settings.logs_dir, ready, lambda process: supervisor.environment(self.settings, process)
        )
        self._fleet.start()
        deadline = time.monotonic() + _READY_S
        while waiting := self._fleet.waiting_for():
            assert time.monotonic() < deadline, f"not ready: {waiting}; logs in {self.settings.logs_dir}"
            time.sleep(0.05)

    def stop(self, *, died: bool = False) -> None:
        """Ends the processes; broker and Postgres stay. `died`: one was killed on purpose."""
        if self._fleet is not None:
            if not died:
                self.check()
            self._fleet.stop()
            self._fleet = None

    def check(self) -> None:
        """Fails if a process has died: its figures would be of something else."""
        gone = [name for name, pid in self.pids().items() if cpu.stat(pid) is None]
        assert not gone, f"died: {gone}; logs in {self.settings.logs_dir}"

    def pids(self) -> dict[str, int]:
        """Name → process id, servers included."""
        found: dict[str, Any] = {"kafka": self.kafka.process, "postgres": self.postgres.process}
        pids = {name: process.pid for name, process in found.items() if process is not None}
        for name, about in (self._fleet.describe() if self._fleet else {}).items():
            assert isinstance(about["pid"], int)
            pids[name] = about["pid"]
        return pids

    def memory_mib(self) -> dict[str, float]:
        """Resident memory by process; of Postgres, whose processes share theirs, the proportional sum over all."""
        return {name: _resident_kib(pid, name == "postgres") / 1024 for name, pid in self.pids().items()}

    def cpu_s(self) -> dict[str, float]:
        """Processor time used so far by process, with its children's."""
        return {name: cpu.used_s(pid) for name, pid in self.pids().items()}

    @contextmanager
    def reader(self) -> Iterator[psycopg.Connection]:
        """A connection to the store that hears of the journal."""
        with psycopg.connect(self.settings.memory_dsn, autocommit=True) as connection:
            connection.execute("LISTEN journal")
            yield connection

    def until_applied(self, entries: int, seconds: float = 600) -> None:
        """Waits until the shards' journals have so many entries together."""
        deadline = time.monotonic() + seconds
        with self.reader() as connection:
            while (found := applied(connection)) < entries:
                self.check()
                assert time.monotonic() < deadline, f"{found} of {entries} entries after {seconds:.0f} s"
                for _ in connection.notifies(timeout=0.5, stop_after=1):
                    pass


def applied(connection: psycopg.Connection) -> int:
    """Journal entries of all shards together."""
    row = connection.execute("SELECT coalesce(sum(seq), 0)::bigint FROM shard").fetchone()
    assert row is not None
    return int(row[0])


@contextmanager
def parts(
    *names: str,
    policy: Mapping[str, Any] | None = None,
    encoder: str = "minilm",
    clock: str = "driven",
    members: int = 4,
    agents: Mapping[str, int] = AGENTS,
) -> Iterator[Parts]:
    """Servers as `make up` starts them (Postgres flushes to disk), in a folder that goes afterwards, and processes.

    `policy`: what differs from the shipped one. `agents`: whose member is not told by the hash."""
    with tempfile.TemporaryDirectory(prefix="memquorum-bench-") as folder:
        wanted = replace(
            settings.load({}, Path(folder)),
            clock=clock,
            encoder=encoder,
            log_level="warning",
            retrieval_port=free_port(),
            members=members,
        )
        made = genesis.create(wanted, agents=agents, policy=policy)
        with Kafka(Path(folder) / "kafka") as kafka, Postgres(Path(folder) / "postgres") as postgres:
            now = replace(
                wanted,
                bootstrap=kafka.bootstrap,
                memory_dsn=postgres.dsn("memory"),
                vault_dsn=postgres.dsn("vault"),
            )
            supervisor.provision(now)
            now.save()
            running = Parts(now, made, load_codec(), kafka, postgres)
            try:
                if names:
                    running.start(*names)
                yield running
            finally:
                if sys.exc_info()[0] is None:
                    running.stop()
                elif running._fleet is not None:
                    _tell_logs(now)
                    running._fleet.stop()


def _tell_logs(now: Settings) -> None:
    """The folder goes: what the processes said last must be seen now."""
    for file in sorted(now.logs_dir.glob("*.log")):
        lines = file.read_text(encoding="utf-8", errors="replace").splitlines()[-5:]
        for line in lines:
            print(f"  {file.stem}: {line[:300]}", file=sys.stderr)


def difference(before: Mapping[str, float], after: Mapping[str, float]) -> dict[str, float]:
    """After − before, of what is in both."""
    return {name: after[name] - before[name] for name in after if name in before}


def names_of(shards: Collection[int], genesis_: Genesis) -> dict[int, str]:
    """A namespace in each of the shards."""
    from memquorum.core.ids import shard_of

    found: dict[int, str] = {}
    number = 0
    while set(shards) - found.keys():
        name = f"bench-{number}"
        found.setdefault(shard_of(name, genesis_.shards), name)
        number += 1
    return {shard: found[shard] for shard in shards}


def _resident_kib(pid: int, whole_tree: bool) -> int:
    if not whole_tree:
        return _field(Path(f"/proc/{pid}/status"), "VmRSS:")
    return sum(_field(Path(f"/proc/{p}/smaps_rollup"), "Pss:") for p in cpu.tree(pid))


def _field(file: Path, name: str) -> int:
    try:
        return next((int(line.split()[1]) for line in file.read_text().splitlines() if line.startswith(name)), 0)
    except (FileNotFoundError, ProcessLookupError):
        return 0
