"""A member and commit in two processes each, under load: killed, started again, and given other shards."""

from __future__ import annotations

import tempfile
from collections.abc import Collection, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from infra.fleet import Role
from infra.settings import Settings
from tests.faults import divided, rounds
from tests.faults.load import Rates
from tests.support import hosts

RATES = Rates(episodes=6, accesses=2, tasks=0.3, lessons=0)


def decide(line: divided.Divided, on: rounds.Round, shards: Collection[int] = range(4)) -> None:
    """Waits until every one of the shards has decided something new: members vote, and commit stores."""
    before = dict(on.witness.seen.decided)

    def new() -> bool:
        return all(on.witness.seen.decided[shard] > before.get(shard, 0) for shard in shards)

    line.until(new, f"nothing new is decided since {before}")


def check(on: rounds.Round) -> None:
    """No episode is lost, stored twice or contradicted: sums, audit, and a rebuild."""
    found, problems = rounds.check(on)
    assert not problems
    assert found["verified"]["decisions"] > 0
    assert found["rebuild_equal"]


@pytest.mark.slow
def test_processes_that_share_shards_lose_and_double_nothing(tmp_path: Path) -> None:
    with divided.installation(tmp_path, replica_shards="0-1 2-3", commit_shards="0-1 2-3", rates=RATES) as (line, on):
        decide(line, on)
        line.kill("replica-3-0-1")
        line.kill("commit-2-3")
        decide(line, on)
        # Shard 1 of the member and of commit goes from one process to another, shard 0 to one of its own.
        line.move("0 1-3", "0 1-3")
        decide(line, on)
        line.kill("replica-3-1-3")
        line.move("", "")
        decide(line, on)
        check(on)
    member = tmp_path / "state" / f"replica-{divided.MEMBER}"
    assert sorted(one.name for one in member.glob("shards-*")) == ["shards-0", "shards-0-1", "shards-1-3", "shards-2-3"]


@pytest.fixture
def sockets() -> Iterator[Path]:
    """A folder whose name leaves room for those of sockets."""
    with tempfile.TemporaryDirectory(prefix="host-") as folder:
        yield Path(folder)


@pytest.mark.slow
@pytest.mark.skipif(bool(hosts.why_not()), reason=hosts.why_not() or "")
def test_a_host_that_is_cut_off_holds_up_its_own_shards_alone(tmp_path: Path, sockets: Path) -> None:
    """The processes of the shards 2 and 3 run in a network of their own."""
    links: list[hosts.Link] = []

    def there(running: Settings, role: Role) -> Role:
        port = int(running.bootstrap.rpartition(":")[2])
        if not links:
            links.append(hosts.Link(sockets, [port]))
        return replace(role, command=hosts.there(sockets, [port], role.command)) if role.name.endswith("-2-3") else role

    try:
        with divided.installation(
            tmp_path, replica_shards="0-1 2-3", commit_shards="0-1 2-3", rates=RATES, there=there
        ) as (line, on):
            decide(line, on)
            with links[0].cut():
                stored = dict(on.witness.seen.seq)
                decide(line, on, (0, 1))
                # Records that had come before the cut may still be applied.
                assert all(on.witness.seen.seq[shard] - stored[shard] < 500 for shard in (2, 3))
            decide(line, on)
            check(on)
    finally:
        for link in links:
            link.close()
