"""A rebuild that is killed goes on where it stood when it is started again, or says why it starts anew."""

from __future__ import annotations

import pickle
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg import conninfo

from db import kept_rebuilds
from db.vault import PostgresVault
from infra import checks, copies, settings
from infra.embedded.postgres import Postgres
from memquorum import __version__
from memquorum.core.avro import Codec
from tests.support.commit_process import GENESIS, MASTER
from tests.support.flow import Flow
from tests.support.watch import Worker, await_seq

SHARDS = (0, 2, 3)
NAME = "cut_off"
# Kills itself in the middle of a shard, some transactions after the first.
KILLED = """
import os, pickle, signal, sys
from contextlib import contextmanager
from infra import checks
from workers.rebuild import shard

@contextmanager
def watched(what):
    yield lambda at: at.done < 55 or os.kill(os.getpid(), signal.SIGKILL)

shard._BATCH, shard._TELL_EVERY = 10, 1
os.sched_getaffinity = lambda _: {0}
checks._progress = watched
checks.genesis.service_stamps = lambda _: None
given, name = pickle.load(open(sys.argv[1], "rb"))
checks.rebuilt(given, name, keep=True)
"""


@pytest.fixture
def killed(
    installed: settings.Settings, postgres: Postgres, codec: Codec, databases: tuple[str, str], tmp_path: Path
) -> Iterator[str]:
    """A database that a rebuild of three shards was writing when it was killed: its connection string."""
    flow = Flow(installed.bootstrap, codec, GENESIS, PostgresVault(installed.vault_dsn, MASTER))
    with Worker(installed.bootstrap, codec, databases) as worker:
        for shard in SHARDS:
            flow.episodes(shard, [f"e{i}" for i in range(30)], at=900)
            flow.tick(shard, 1_000)
        flow.flush()
        for shard in SHARDS:
            await_seq(databases, shard, 31, worker)
    (tmp_path / "given").write_bytes(pickle.dumps((installed, NAME)))
    done = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path / "given")], check=False, capture_output=True)
    assert done.returncode == -signal.SIGKILL, done.stderr.decode()
    yield conninfo.make_conninfo(installed.memory_dsn, dbname=NAME)
    kept_rebuilds.drop(installed.memory_dsn, NAME)


def written(dsn: str) -> int:
    """Returns the number of entries in a database."""
    with psycopg.connect(dsn) as link:
        return int(link.execute("SELECT count(*) FROM journal").fetchall()[0][0])


def test_a_rebuild_that_was_killed_goes_on_and_ends_equal(
    killed: str, installed: settings.Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    there = written(killed)
    assert 0 < there < 93 and copies.list_rebuilds(installed) == [NAME]
    told = checks.rebuilt(installed, NAME, keep=True)
    assert "it goes on" in capsys.readouterr().err
    assert (told["resumed"], told["entries"], told["memories"]) == (there, 93, 90)
    # The last entry of each shard is a tick.
    assert 90 - there <= told["contents"] <= 93 - there, "what was there is not opened again"
    assert told["equal"] and told["store"] == told["rebuilt"] and written(killed) == 93
    # One that ended is made anew, as before.
    assert checks.rebuilt(installed, NAME)["resumed"] == 0 and capsys.readouterr().err == ""


def test_it_says_why_it_starts_anew(
    killed: str, installed: settings.Settings, codec: Codec, capsys: pytest.CaptureFixture[str]
) -> None:
    def heard(**said: object) -> str:
        told = checks.rebuilt(installed, NAME, keep=True, **said)  # type: ignore[arg-type]
        assert told["resumed"] == 0 and told.get("equal", True)
        return capsys.readouterr().err

    def unfinished(scope: str) -> None:
        kept_rebuilds.mark(installed.memory_dsn, NAME, GENESIS.cluster, scope)

    mine = Flow(installed.bootstrap, codec, GENESIS, PostgresVault(installed.vault_dsn, MASTER)).namespace(0)
    assert f"it is of memquorum {__version__}, everything, and not of" in heard(namespace=mine)
    unfinished(f"memquorum {__version__}, namespace {mine}")
    assert "memories may have been erased since" in heard(namespace=mine, until_as_of=999)
    assert heard() == ""
    unfinished(f"memquorum {__version__}, everything")
    with psycopg.connect(killed) as link:
        link.execute("UPDATE shard SET hash = sha256(hash) WHERE shard = 2")
    assert "shard 2 of the database stands at entry 31" in heard()
