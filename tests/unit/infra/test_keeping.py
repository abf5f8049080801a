"""When the installation sweeps by itself."""

from __future__ import annotations

import argparse
import logging
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psycopg
import pytest

from db.sweeping import MayNotSweep, Swept
from infra import keeping, sweep, sweeps
from infra.settings import Settings
from memquorum.core.accounts.telling import moment

HOUR = 3_600_000


class World:
    def __init__(self, folder: Path) -> None:
        self.settings = replace(Settings(run_dir=folder), state_dir=folder / "state", sweep_hours=24, crowd_least=0)
        self.now, self.sweeps = 1_000, 0
        self.wrong: Exception | None = None
        self.copies: list[str] = []

    def sweep(self, _: Any) -> Iterator[tuple[str, Swept]]:
        if self.wrong is not None:
            raise self.wrong
        self.sweeps += 1
        yield "memory", Swept("content", 2, 1)

    def look(self, now: int, **changes: Any) -> int:
        self.now = now
        self.settings = replace(self.settings, **changes)
        # Anew each time, as after a restart.
        keeping.Keeper(self.settings, lambda: self.now).look()
        return self.sweeps


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    made = World(tmp_path)
    monkeypatch.setattr(sweep, "databases", made.sweep)
    monkeypatch.setattr(keeping.copies, "rebuild_lines", lambda _: made.copies)
    return made


def test_it_sweeps_an_interval_after_the_first_look_and_then_after_each(world: World) -> None:
    assert sweeps.last(world.settings) is None
    assert world.look(1_000) == 0
    assert world.look(1_000 + 24 * HOUR - 1) == 0
    assert world.look(1_000 + 24 * HOUR) == 1
    assert sweeps.last(world.settings) == sweeps.Last(1_000 + 24 * HOUR, sweeps.TIMER)
    assert world.look(2_000 + 24 * HOUR) == 1
    assert world.look(1_000 + 48 * HOUR) == 2


def test_a_rebuild_that_was_kept_is_named_where_it_cannot_be_swept(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    world.copies = ["database 'again' is a rebuild that was kept"]
    world.look(1_000)
    assert not caplog.messages
    world.look(1_000 + 24 * HOUR)
    assert any("'again'" in said for said in caplog.messages)
    assert sweeps.last(world.settings) == sweeps.Last(1_000 + 24 * HOUR, sweeps.TIMER)


def test_with_no_interval_it_never_sweeps(world: World) -> None:
    assert world.look(1_000, sweep_hours=0) == world.look(1_000 + 900 * HOUR) == 0


@pytest.mark.parametrize("wrong", [MayNotSweep("must be owner of table content"), psycopg.OperationalError("gone")])
def test_what_fails_is_said_once_and_tried_again(
    world: World, wrong: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    world.look(1_000)
    world.wrong, world.now = wrong, 1_000 + 24 * HOUR
    keeper = keeping.Keeper(world.settings, lambda: world.now)
    with caplog.at_level(logging.WARNING):
        keeper.look()
        keeper.look()
    assert len(caplog.records) == 1 and sweeps.last(world.settings) == sweeps.Last(1_000, None)
    world.wrong = None
    keeper.look()
    assert world.sweeps == 1


def test_a_sweep_by_hand_is_told_and_puts_off_the_next(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    assert sweeps.describe(world.settings).startswith("old bytes not yet removed from files; the timer begins")
    world.look(1_000)
    first = f"first time by itself from {moment(1_000 + 24 * HOUR)} on"
    assert sweeps.describe(world.settings) == f"old bytes not yet removed from files; {first}"
    monkeypatch.setattr(sweep.copies, "drop_all", lambda _: [])
    monkeypatch.setattr(sweep.sweeping, "recycles", lambda _: False)
    monkeypatch.setattr(sweep.genesis, "read", lambda _: SimpleNamespace(shards=1))
    monkeypatch.setattr(sweep.outside, "topic_states", lambda *_: [])
    monkeypatch.setattr(sweep.time, "time_ns", lambda: 5 * HOUR * 1_000_000)
    there = replace(world.settings, bootstrap="b", memory_dsn="dbname=m", vault_dsn="dbname=v")
    assert sweep.run(there, argparse.Namespace(json=False, outside=False)) == 0
    swept = f"old bytes last removed from files at {moment(5 * HOUR)} (by hand, `memquorum admin database sweep`)"
    assert sweeps.describe(world.settings) == f"{swept}; next by itself from {moment(29 * HOUR)} on"
    done = world.sweeps
    assert world.look(29 * HOUR - 1) == done and world.look(29 * HOUR) == done + 1
    assert f"{moment(29 * HOUR)} (by its timer)" in sweeps.describe(world.settings)
    assert "never by itself" in sweeps.describe(replace(world.settings, sweep_hours=0))
