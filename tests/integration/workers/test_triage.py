"""Triage on a running installation: what nobody uses is nominated by its decay score, and goes by the vote alone.

The clock is driven in lockstep: a step is over once what it opened has been voted on and applied.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import pytest

from infra import genesis, run_folder, supervisor
from infra.demo.driver import Driver
from infra.demo.steps import Tick
from infra.settings import Settings
from memquorum.client import Memory
from memquorum.client.values import Receipt
from memquorum.schema_files import load_codec
from tests.support.sessions import SHARDS, configured, rows

START = 1_750_000_000_000
MINUTE, HOUR = 60_000, 3_600_000
SPACE = "hall"
SAID = [
    f"The {thing} was {how} today."
    for thing in ("room", "door", "light", "floor", "table", "chair", "wall", "desk")
    for how in ("warm", "fine", "clean", "dry", "cold")
]
AN_EPOCH, A_DAY = 4, 10
"""The number of memories that the shipped caps let an epoch and a day forget."""
A_FEW_BEATS = 20
"""Four seconds in which nothing is journalled: longer than it takes to read what is in the topics already."""


@pytest.fixture(scope="module")
def line(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Settings]:
    """The whole fleet with the shipped policy, except that its members forget readily."""
    told = configured(tmp_path_factory.mktemp("line"))
    genesis.create(told, SHARDS, policy={"forget": {"theta_ppm": 700_000}})
    with supervisor.started(told) as running:
        yield running


@pytest.fixture
def move(line: Settings) -> Iterator[Callable[[float], None]]:
    """Moves the time to so many hours after START."""
    made = genesis.read(line)
    driver = Driver(line.bootstrap, made, load_codec(), line.memory_dsn, active=range(made.shards))
    with closing(driver):
        yield lambda hours: driver.run([Tick(START + round(hours * HOUR))], lambda: None)


def votes(line: Settings) -> list[tuple[str, str, str, str]]:
    """The votes to forget, in their order: (memory, outcome, reason, what opened the epoch)."""
    told = """SELECT o.memory_id::text, o.outcome, o.reason, d.trigger
        FROM outcome o JOIN decision d USING (shard, epoch) JOIN memory m ON m.id = o.memory_id
        WHERE m.namespace = %(n)s AND o.kind = 'forget' ORDER BY d.as_of, o.position"""
    return rows(line, told, n=SPACE)


def lived(memory: Memory, texts: list[str], **said: Any) -> list[Receipt]:
    told = memory.add_all({"content": text, "occurred_at": START - HOUR, **said} for text in texts)
    return [memory.outcome(receipt, timeout=60) for receipt in told]


def test_what_fades_is_nominated_by_its_decay_score_and_goes_by_votes_within_the_caps(
    line: Settings, move: Callable[[float], None]
) -> None:
    move(-1)
    with Memory(kafka=line.bootstrap, url=line.retrieval_url, namespace=SPACE, agent="anna") as memory:
        dull = lived(memory, SAID, reward=0.0)
        salient = lived(memory, ["Pump 7 holds 3.8 bar at its inlet since Marta changed the gasket."])
        wanted = lived(memory, ["The hall was dim today."], reward=0.0, explicit=True)
        assert {one.outcome for one in (*dull, *salient, *wanted)} == {"stored"}
        saliences = dict(rows(line, "SELECT memory_id::text, salience_ppm FROM strength"))
        assert all(saliences[one.memory_id] < 700_000 for one in dull) and saliences[salient[0].memory_id] >= 700_000
        pinned, watched = dull[0].memory_id, dull[-1].memory_id
        assert memory.pin(pinned) is not None
        move(10)
        assert votes(line) == [], "nothing has expired, and nothing is nominated"
        told = memory.explain(watched).in_numbers()
        assert "Its decay score is" in told and "it has not expired" in told and "by its decay score" in told

        spared = {one.memory_id for one in (*salient, *wanted)} | {pinned}
        seen = list[tuple[str, str, str, str]]()
        for hours in (30, 30.5, 31, 31.5, 32):
            move(hours)
            found = votes(line)[len(seen) :]
            assert len(found) <= AN_EPOCH, "no more of a namespace than its cap leaves in an epoch"
            seen += found
        assert len({memory_id for memory_id, *_ in seen}) > AN_EPOCH
        assert spared.isdisjoint(memory_id for memory_id, *_ in seen)
        assert [trigger for *_, trigger in seen][:: len(seen) - 1] == ["interval", "triage"]
        gone = {memory_id for memory_id, outcome, *_ in seen if outcome == "forgotten"}
        assert len(gone) == A_DAY, "members let go what they may, and no more than the day's cap"
        nominated = memory.explain(seen[0][0]).in_numbers()
        assert "because its decay score had fallen under what short-term memory keeps" in nominated
        assert "opened for what had expired" in memory.explain(seen[-1][0]).in_numbers()
    tiers = dict(rows(line, "SELECT tier, count(*) FROM memory WHERE namespace = %(n)s GROUP BY 1", n=SPACE))
    assert tiers["sealed"] == len({one for one, outcome, *_ in votes(line) if outcome == "forgotten"})


def test_who_drives_the_clock_takes_no_tick_for_its_own_that_another_has_driven(line: Settings) -> None:
    made = genesis.read(line)
    commit = int(run_folder.read_pids(line.run_dir)["processes"]["commit"]["pid"] or 0)
    first, then = START + 50 * HOUR, START + 51 * HOUR
    beats = 0

    def beat() -> None:
        nonlocal beats
        beats += 1
        if beats == A_FEW_BEATS:
            os.kill(commit, signal.SIGCONT)

    for as_of in (first, then):
        with closing(Driver(line.bootstrap, made, load_codec(), line.memory_dsn)) as driver:
            if as_of == then:
                os.kill(commit, signal.SIGSTOP)
            try:
                driver.run([Tick(as_of)], beat if as_of == then else lambda: None)
            finally:
                os.kill(commit, signal.SIGCONT)
    assert beats >= A_FEW_BEATS, "a driver that another came before has not waited"
    assert rows(line, "SELECT min(as_of) FROM shard") == [(then,)]
