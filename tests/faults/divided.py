r"""An installation under load whose processes of one member, and of commit, share the shards.

The servers run under a supervisor. The processes run in two fleets of this one: those that share shards can be stopped,
and started again with other ranges, while the others and the load go on.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from random import Random

from infra import fleet, genesis, settings, supervisor
from infra.fleet import Fleet, Role
from infra.settings import Settings
from tests.faults import rounds
from tests.faults.library import Site
from tests.faults.load import Load, Rates
from tests.faults.witness import Witness

MEMBER = 3
"""The member whose shards several processes share."""
OTHERS = ("intake", "streams", "replica-0", "replica-1", "replica-2", "retrieval")
"""The processes that have all shards, without those that only add to what is stored."""
READY_S = 150.0
_BEAT_S = 0.1


@dataclass
class Divided:
    """The processes. Call its methods from the thread that started them."""

    running: Settings
    others: Fleet
    sharing: Fleet
    there: Callable[[Role], Role] = lambda role: role

    def pid(self, name: str) -> int:
        pid = self.sharing.describe()[name]["pid"]
        assert isinstance(pid, int), f"{name} does not run"
        return pid

    def kill(self, name: str) -> None:
        """Kills a process, and waits until another one of its name works."""
        killed = self.pid(name)
        os.kill(killed, signal.SIGKILL)
        self.until(lambda: self.sharing.describe()[name]["pid"] not in (killed, None), f"{name} is not started again")
        self.until(lambda: not self.sharing.waiting_for(), f"{name} does not work again")

    def move(self, replica_shards: str, commit_shards: str) -> None:
        """Stops the processes that share shards, and starts others with these ranges."""
        self.sharing.stop()
        self.running = replace(self.running, replica_shards=replica_shards, commit_shards=commit_shards)
        self.sharing = started(self.running, map(self.there, sharing(self.running)))
        self.until(lambda: not self.sharing.waiting_for(), "what shares the shards now does not work")

    def until(self, done: Callable[[], bool], otherwise: str, patience_s: float = READY_S) -> None:
        """Waits, and starts again what has died meanwhile."""
        deadline = time.monotonic() + patience_s
        while not done():
            assert time.monotonic() < deadline, f"{otherwise}; logs in {self.running.logs_dir}"
            self.others.check()
            self.sharing.check()
            time.sleep(_BEAT_S)  # a process that has ended gives no notice

    def stop(self) -> None:
        self.sharing.stop()
        self.others.stop()


def sharing(running: Settings) -> list[Role]:
    """The processes of the member, and of commit, by the ranges in the settings."""
    ranges = {f"{role}_shards": getattr(running, f"{role}_shards").split() for role in ("replica", "commit")}
    member = f"replica-{MEMBER}"
    return [role for role in fleet.roles(MEMBER + 1, **ranges) if role.name.startswith((member, "commit"))]


def started(running: Settings, roles: Iterable[Role]) -> Fleet:
    """A fleet of these processes, started."""
    made = Fleet(
        list(roles), running.logs_dir, running.run_dir / "ready", lambda kind: supervisor.environment(running, kind)
    )
    running.save()
    made.start()
    return made


@contextlib.contextmanager
def installation(
    folder: Path,
    *,
    replica_shards: str,
    commit_shards: str,
    rates: Rates,
    there: Callable[[Settings, Role], Role] = lambda _, role: role,
) -> Iterator[tuple[Divided, rounds.Round]]:
    """An installation in a folder, under load for the length of the block. `there`: the role as it is started on its
    host."""
    configured = replace(
        settings.load({}, folder),
        clock="driven", encoder="hashing", throwaway=True, replica_shards=replica_shards, commit_shards=commit_shards,
    )  # fmt: skip
    genesis.create(configured, policy=rounds.POLICY)
    running = supervisor.launch(configured, lambda _: None, 2 * READY_S, servers_alone=True)
    with contextlib.ExitStack() as parts:
        parts.callback(supervisor.down, folder)
        whole = [role for role in fleet.roles(MEMBER) if role.name in OTHERS]
        on_host = partial(there, running)
        others = started(replace(running, replica_shards=""), whole)
        made = Divided(running, others, started(running, map(on_host, sharing(running))), on_host)
        parts.callback(made.stop)
        made.until(lambda: not [*made.others.waiting_for(), *made.sharing.waiting_for()], "the processes do not work")
        witness = parts.enter_context(Witness(running))
        load = parts.enter_context(Load(running, witness, 1, rates))
        yield made, rounds.Round(Site(running, Random(1)), load, witness)
