"""A rehearsal of a lost machine by the commands of docs/operate/backup.md: used, copied, destroyed, put back, used on.

Between the copy of the topics and that of the vault a person is erased: that person stays erased.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from infra import genesis, settings
from memquorum.core.policy import UNCAPPED
from tests import ROOT
from tests.support.clock import tick
from tests.support.commands import ran
from tests.support.sessions import DAY, SHARDS, START, Plant, configured
from tests.support.waiting import until

KEPT = ("genesis.json", "master.key", "keys", "settings.json")
SPACES = ("greenhouse", "harbour", "kiln")
ROWS = """SELECT m.id::text, m.namespace, m.tier, m.created, c.body FROM memory m LEFT JOIN content c
    ON c.memory_id = m.id ORDER BY 1"""
DECIDED = "SELECT count(*) FROM journal WHERE effect = 'decided'"
ERASED = "SELECT count(*) FROM erasure"
# As docs/operate/auditing.md has it.
RENAMED = "DROP DATABASE memory WITH (FORCE); ALTER DATABASE rebuilt RENAME TO memory"


def start(folder: Path, *more: str) -> Plant:
    """Starts an installation as an operator does."""
    operate(folder, "fleet", "up", *more)
    return Plant(settings.load({}, folder))


def operate(folder: Path, *words: str, told: str = "") -> None:
    """Runs an operator's command in a process of its own. `told`: its input."""
    known = {name: value for name, value in os.environ.items() if not name.startswith(settings.PREFIX)}
    command = [sys.executable, "-m", "infra", "admin", *words, "--run-dir", str(folder)]
    done = subprocess.run(
        command, cwd=ROOT, env=known, input=told, capture_output=True, text=True, timeout=150, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture
def folders(tmp_path: Path) -> Iterator[tuple[Path, Path, Path]]:
    """The folders of the machine that is lost, of the copies, and of the next machine."""
    found = (tmp_path / "lost", tmp_path / "copies", tmp_path / "next")
    for one in found:
        one.mkdir()
    yield found
    for folder in (found[0], found[2]):
        ran("infra", "admin", "fleet", "down", "--run-dir", str(folder))


def remember(fleet: Plant) -> list[str]:
    """Stores memories of three people in three namespaces; returns their ids."""
    found = []
    for space in SPACES:
        with fleet.client(space) as memory:
            for at, who in enumerate(("ada", "bob", "cyd")):
                fleet.now += 1_000
                told = memory.add(
                    f"The spare key of {space} {at} hangs behind pump {at + 3}.",
                    subject=who, explicit=True, occurred_at=fleet.now, wait=True,
                )  # fmt: skip
                assert told.memory_id
                found.append(told.memory_id)
    return found


def vote(fleet: Plant, space: str, memory_id: str) -> None:
    """Has the members vote on forgetting a memory."""
    before = fleet.rows(DECIDED)[0][0]
    with fleet.client(space) as memory:
        memory.forget(memory_id, dry_run=False, timeout=0.1)
    fleet.later(lambda: fleet.rows(DECIDED)[0][0] > before, "nothing was decided")


def erase(fleet: Plant, who: str) -> None:
    """Erases a person everywhere, and waits until the journal says so."""
    before = fleet.rows(ERASED)[0][0]
    for space in SPACES:
        with fleet.client(space) as memory:
            memory.erase(subject=who, dry_run=False, reference="rehearsal")
    fleet.until(lambda: fleet.rows(ERASED)[0][0] >= before + len(SPACES), f"{who} was not erased")


def refused(folder: Path, *arguments: str) -> str:
    """Runs an operator's command that has to fail; returns its error."""
    done = ran("infra", "admin", *arguments, "--run-dir", str(folder))
    assert done.returncode == 1, done.stdout + done.stderr
    return done.stderr


def test_a_lost_machine_is_replaced_from_its_copies(folders: tuple[Path, Path, Path]) -> None:
    lost, copies, following = folders
    told = configured(lost)
    genesis.create(told, SHARDS, policy={"caps": UNCAPPED})
    told.save()
    fleet = start(lost)
    tick(fleet.line, START)
    ids = remember(fleet)
    vote(fleet, SPACES[0], ids[0])
    fleet.turn(DAY)
    rows, now = fleet.rows(ROWS), fleet.now

    # The backup.
    assert "wrote" in fleet.infra("kafka", "export", str(copies / "topics"))
    erase(fleet, "cyd")
    fleet.infra("backup", "make", str(copies / "vault.dump"))
    for name in KEPT:
        copied = shutil.copytree if (lost / name).is_dir() else shutil.copy
        copied(lost / name, copies / name)

    # The loss, of everything: databases, topics, sign-states.
    assert ran("infra", "admin", "fleet", "down", "--run-dir", str(lost)).stdout == "stopped\n"
    shutil.rmtree(lost)

    # The next machine.
    for name in KEPT:
        copied = shutil.copytree if (copies / name).is_dir() else shutil.copy
        copied(copies / name, following / name)
    start(following, "--servers")
    fleet = Plant(settings.load({}, following), now)
    fleet.infra("kafka", "import", str(copies / "topics"))
    assert fleet.infra("members", "begin").count("began") == 4
    assert "is never replaced" in refused(following, "members", "begin")
    fleet.infra("backup", "restore", str(copies / "vault.dump"))
    assert "`--without-keys` goes on" in refused(following, "audit", "rebuild", "--whole")
    rebuilt = fleet.infra("audit", "rebuild", "--whole", "--without-keys")
    operate(following, "database", "psql", "--role", "superuser", "--database", "vault", told=RENAMED)
    assert ran("infra", "admin", "fleet", "down", "--run-dir", str(following)).returncode == 0
    fleet = start(following)
    fleet.now = now

    # All memories are there again, but for the texts of who was erased meanwhile.
    gone = {one for at, one in enumerate(ids) if at % 3 == 2}
    assert all(f"without a key: {one}" in rebuilt for one in gone)
    assert fleet.rows(ROWS) == [(*row[:-1], None if row[0] in gone else row[-1]) for row in rows]
    erase(fleet, "cyd")
    assert "nothing is wrong" in fleet.infra("audit", "verify")

    # It works on: it finds, stores, votes, erases and proves.
    with fleet.client(SPACES[1]) as memory:
        assert ids[3] in {hit.memory_id for hit in memory.search("Where is the spare key of harbour 0?")}
    ids += remember(fleet)
    vote(fleet, SPACES[1], ids[4])
    erase(fleet, "bob")
    fleet.later(
        lambda: fleet.rows("SELECT count(*) FROM erasure WHERE epoch IS NULL")[0][0] == 0, "no member attested", DAY
    )
    assert "nothing is wrong" in fleet.infra("audit", "verify")
    assert "equal" in until(lambda: fleet.infra("audit", "rebuild"))
    assert "no evidence against anybody" in fleet.infra("audit", "evidence", "--verify")
    # Others may have read what the members sign from now on.
    assert "holds records: sign-states are begun only after" in refused(following, "members", "begin", "--member", "7")
