"""Draws among near-ties on a running installation: what is withheld, who pays, and what becomes of who has paid."""

from __future__ import annotations

import json
from contextlib import closing
from typing import Any

import psycopg
import pytest

from infra import commands, genesis, supervisor
from infra.demo.driver import Driver
from infra.demo.steps import Tick
from infra.settings import Settings
from memquorum.client import Memory
from memquorum.core.policy import PPM
from memquorum.schema_files import load_codec
from tests.support.sessions import configured

START = 1_750_000_000_000
MINUTE, HOUR = 60_000, 3_600_000
SPACE, BUDGET = "yard", 120
THINGS = ("room", "door", "light", "floor", "roof", "stair", "lamp", "desk", "wall", "gate", "bell", "shelf", "lock")
POLICY = {
    "budget": {
        "tokens": f"{SPACE}={BUDGET}/worth", "band_ppm": PPM, "epsilon_ppm": PPM, "subject_epsilon_ppm": 3 * PPM,
    },
    "caps": {"epoch_share": "1", "day_share": "1"},
}  # fmt: skip
"""What is worth up to twice the least counts as alike, and each subject may pay for three draws."""


def run(line: Settings, *arguments: str) -> int:
    """The operator's command, in this process."""
    parsed = commands.parser(arguments[0]).parse_args(arguments)
    return int(parsed.command(line, parsed))


def rows(line: Settings, statement: str) -> list[tuple[Any, ...]]:
    with psycopg.connect(line.memory_dsn) as connection:
        return connection.execute(statement, {"n": SPACE}).fetchall()


def gone(line: Settings) -> list[str]:
    told = "SELECT id::text FROM memory WHERE namespace = %(n)s AND tier = 'sealed' ORDER BY created, id"
    return [one for (one,) in rows(line, told)]


SPENT = """SELECT m.subject, sum(s.spent_ppm)::bigint FROM spent s JOIN memory m ON m.id = s.memory_id
WHERE s.namespace = %(n)s GROUP BY m.subject ORDER BY m.subject"""


def test_near_ties_are_drawn_until_their_subjects_have_spent_what_they_may(
    tmp_path_factory: pytest.TempPathFactory, capsys: pytest.CaptureFixture[str]
) -> None:
    told = configured(tmp_path_factory.mktemp("line"))
    genesis.create(told, policy=POLICY)
    with supervisor.started(told) as line:
        made = genesis.read(line)

        def move(minutes: int) -> None:
            driver = Driver(line.bootstrap, made, load_codec(), line.memory_dsn, active=range(made.shards))
            with closing(driver):
                driver.run([Tick(START + minutes * MINUTE)], lambda: None)

        def say(memory: Memory, how: str) -> None:
            receipts = memory.add_all(
                {"content": f"The {thing} of the yard was {how} today.", "occurred_at": START - HOUR, "explicit": True,
                 "subject": "ada"}
                for thing in THINGS
            )  # fmt: skip
            for receipt in receipts:
                memory.outcome(receipt, timeout=60)

        move(-2)
        with Memory(kafka=line.bootstrap, url=line.retrieval_url, namespace=SPACE, agent="anna") as memory:
            say(memory, "warm")
            say(memory, "loud")
            assert run(line, "forget", "--dry-run", "--policy", "worth") == 0
            assert "an epoch draws among them by lot" in capsys.readouterr().out
            move(0)
            first = gone(line)
            assert len(first) > 5
            assert rows(line, SPENT) == [("ada", 3 * PPM)], "three draws, and nobody else paid"
            accounts = [memory.explain(one).in_numbers() for one in first]
            assert sum("It was drawn among" in one and "1 subject pays for that" in one for one in accounts) == 3
            refused = [one for one in accounts if "So nothing was drawn, and it was the next in order." in one]
            assert refused
            assert all("Its features and its score are withheld" in one for one in accounts)
            assert not any("The nominator weighed" in one for one in accounts)

            say(memory, "cold")
            move(3)
            second = [one for one in gone(line) if one not in first]
            assert second
            assert rows(line, SPENT) == [("ada", 3 * PPM)], "who has spent is drawn no more"
            assert not any("It was drawn among" in memory.explain(one).in_numbers() for one in second)
            assert run(line, "status") == 0
            shown = capsys.readouterr().out
            assert "draws among near-ties: a subject has spent ε = 3 at most, 1 have spent what they may" in shown
            assert "ada" not in shown
        assert run(line, "verify", "--json") == 0
        report = json.loads(capsys.readouterr().out)
        assert report["counts"]["scores_withheld"] == len(first) + len(second)
