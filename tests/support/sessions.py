"""A running installation with sessions that are filled, ended and consolidated, by a clock that the test drives."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import psycopg

from infra import genesis, settings, supervisor
from infra.settings import Settings
from memquorum.client import Memory
from memquorum.core.policy import PPM, UNCAPPED
from tests.builders import genesis as keys
from tests.builders.notes import NOTES as TWELVE
from tests.support.clock import journalled, tick
from tests.support.commands import ran
from tests.support.waiting import later, until

_T = TypeVar("_T")
START = 1_750_000_000_000
# Each agent costs as much as all agents of such a test do; two, since one alone would be a special case.
SHARDS = 2
MINUTE, HOUR, DAY = 60_000, 3_600_000, 24 * 3_600_000
NOTES = TWELVE[:5]

# Each of the notes is worth keeping, and most of them are to be forgotten.
LOSES: Mapping[str, Any] = {"strict": "strict-*", "lost_rank_ppm": PPM + 1, "share_ppm": 350_000}


def configured(folder: Path, **changed: Any) -> Settings:
    """Returns the settings of an installation whose clock the test drives."""
    return replace(settings.load({}, folder), clock="driven", encoder="hashing", throwaway=True, **changed)


# Limits of these namespaces alone, so that no other test loses anything.
FEW, ROOMS = "few-*=1/0/0", "rooms-*=0/0/5"
FADED, FLOORED = "faded-*=social:2d", "floored-*=100/worth/task:40"
SIGNED, SIGNING = "vault", "planner"
RETAINED: Mapping[str, Any] = {"after": "retained-*=episodic:30d", "every_ms": HOUR}


@contextmanager
def driven(told: Settings, consolidate: Mapping[str, Any] = LOSES, **policy: Any) -> Iterator[Settings]:
    """Starts the whole fleet with a driven clock, at START, without a daily cap on forgetting.

    SIGNED takes only signed records, and SIGNING has a key. `policy`: further sections.
    """
    genesis.create(
        told, SHARDS, policy={"caps": UNCAPPED, "consolidate": consolidate, "erase": RETAINED} | policy,
        agent_keys={SIGNING: keys.public_key(f"agent:{SIGNING}")}, signed=[SIGNED],
    )  # fmt: skip
    with supervisor.started(told) as running:
        tick(running, START)
        yield running


def rows(line: Settings, statement: str, **named: Any) -> list[tuple[Any, ...]]:
    """Queries the store."""
    with psycopg.connect(line.memory_dsn) as connection:
        return connection.execute(statement, named).fetchall()


def tiers(line: Settings, namespace: str) -> dict[str, int]:
    """Counts each maker's memories in each tier."""
    told = "SELECT coalesce(made_by, agent) || ' ' || tier, count(*) FROM memory WHERE namespace = %(n)s GROUP BY 1"
    return dict(rows(line, told, n=namespace))


def running(pid: int) -> bool:
    """True if there is such a process, and it has not ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


@dataclass
class Plant:
    """The fleet, and its time."""

    line: Settings
    now: int = START

    def client(self, namespace: str, agent: str = "anna") -> Memory:
        """Opens a client of a namespace."""
        return Memory(kafka=self.line.bootstrap, url=self.line.retrieval_url, namespace=namespace, agent=agent)

    def infra(self, *arguments: str) -> str:
        """Runs an operator's command; returns its output."""
        done = ran("infra", "admin", *arguments, "--run-dir", str(self.line.run_dir))
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def live(self, memory: Memory, session: str = "shift-1", notes: Sequence[str] = NOTES, **said: Any) -> list[str]:
        """Publishes a session's episodes, a second apart; returns the ids of the stored ones."""
        ids = []
        for note in notes:
            self.now += 1_000
            receipt = memory.add(note, session=session, occurred_at=self.now, wait=True, **said)
            assert receipt.outcome == "stored" and receipt.memory_id is not None, note
            ids.append(receipt.memory_id)
        return ids

    def pid(self, role: str) -> int:
        """Returns the process that has a role, once there is one: after a kill the next may still be starting."""
        file = self.line.run_dir / "ready" / role
        return until(lambda: pid if running(pid := int(file.read_text())) else 0, f"there is no {role}")

    def kill(self, role: str) -> None:
        """Kills a process with SIGKILL; the supervisor starts another."""
        os.kill(self.pid(role), signal.SIGKILL)

    def turn(self, by: int = HOUR) -> None:
        """Moves the clock by so many milliseconds: an hour, so that an epoch opens."""
        self.now += by
        tick(self.line, self.now)

    def until(self, condition: Callable[[], _T], what: str = "it did not happen") -> _T:
        """Waits for a condition while time stands still."""
        with journalled(self.line) as pause:
            return until(condition, what, pause)

    def later(self, condition: Callable[[], _T], what: str = "it did not happen", by: int = HOUR) -> _T:
        """Waits for a condition while the hours go by, ever more rarely, or in longer steps."""
        with journalled(self.line) as pause:
            return later(lambda: self.turn(by), condition, what, pause)

    def rows(self, statement: str, **named: Any) -> list[tuple[Any, ...]]:
        """Queries the store."""
        return rows(self.line, statement, **named)

    def tiers(self, namespace: str) -> dict[str, int]:
        """Counts each maker's memories in each tier."""
        return tiers(self.line, namespace)

    def summaries(self, namespace: str, tier: str = "short-term") -> list[str]:
        """Returns the ids of the summaries in a tier, the oldest first."""
        told = (
            "SELECT id::text FROM memory WHERE namespace = %(n)s AND made_by IS NOT NULL AND tier = %(t)s "
            "ORDER BY created, id"
        )
        return [one for (one,) in self.rows(told, n=namespace, t=tier)]

    def sources(self, summary: str) -> list[str]:
        """Returns the sources of a summary."""
        told = "SELECT parent::text FROM provenance WHERE child = %(s)s ORDER BY parent"
        return [one for (one,) in self.rows(told, s=summary)]


@contextmanager
def plant(folder: Path) -> Iterator[Plant]:
    """Starts the fleet with limits: FEW takes one episode a minute, ROOMS five memories in all, FADED forgets people
    that nobody asks about for two days, FLOORED keeps 40 tokens of tasks within a budget of 100."""
    told = configured(folder, ingest_limits=f"{FEW} {ROOMS}")
    with driven(told, forget={"unused": FADED}, budget={"tokens": FLOORED}) as running:
        yield Plant(running)
